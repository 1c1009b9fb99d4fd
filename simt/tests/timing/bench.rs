//! Kernels as PTX text, and a bench to run them on.

use warpwise_simt::device::find;
use warpwise_simt::machine::{Kernel, Launch, Machine, Mode, Report};
use warpwise_simt::ptx::Module;
use warpwise_simt::timing::{Observer, Timing};

/// A machine with one kernel after another on it.
pub struct Bench {
    pub machine: Machine,
    pub mode: Mode,
    pub watchdog_instructions: Option<u64>,
    pub step_budget: Option<u64>,
}

impl Bench {
    pub fn new(device: &str) -> Self {
        let mut machine = Machine::new(find(device).unwrap());
        machine.system_mut().set_threads(1);
        Self { machine, mode: Mode::Timed, watchdog_instructions: None, step_budget: None }
    }

    pub fn alloc(&mut self, bytes: u64) -> u64 {
        self.machine.alloc(bytes).unwrap()
    }

    /// An allocation with these words in it.
    pub fn upload(&mut self, words: &[u32]) -> u64 {
        let address = self.alloc(4 * words.len() as u64);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.machine.write(address, &bytes).unwrap();
        address
    }

    pub fn download(&self, address: u64, words: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * words];
        self.machine.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    /// Runs the first entry of a PTX text. Parameters are 64-bit each.
    pub fn run(&mut self, ptx: &str, blocks: u32, threads: u32, params: &[u64]) -> Report {
        let (kernel, _) = self.prepare(ptx);
        let launch = self.launch(blocks, threads, params);
        self.machine.launch(&kernel, &launch).unwrap()
    }

    /// As [`Bench::run`], before an observer. Gives the text of each instruction too.
    pub fn trace(
        &mut self,
        ptx: &str,
        blocks: u32,
        threads: u32,
        params: &[u64],
        observer: &mut dyn Observer,
    ) -> (Report, Vec<String>) {
        let (kernel, texts) = self.prepare(ptx);
        let launch = self.launch(blocks, threads, params);
        (self.machine.launch_traced(&kernel, &launch, observer).unwrap(), texts)
    }

    fn prepare(&mut self, ptx: &str) -> (Kernel, Vec<String>) {
        let module = Module::parse("test.ptx", ptx).unwrap();
        let entry = module.entries().next().unwrap().to_owned();
        let program = module.lower(&entry).unwrap();
        let id = self.machine.load(module.variables()).unwrap();
        let texts = program.info.iter().map(|info| info.text.to_string()).collect();
        (self.machine.prepare(id, &program).unwrap(), texts)
    }

    fn launch(&self, blocks: u32, threads: u32, params: &[u64]) -> Launch {
        let params = params.iter().flat_map(|param| param.to_le_bytes()).collect();
        Launch {
            mode: self.mode,
            watchdog_instructions: self.watchdog_instructions,
            step_budget: self.step_budget,
            ..Launch::new([blocks, 1, 1], [threads, 1, 1], params)
        }
    }

    /// As [`Bench::run`]; the launch must not fault.
    pub fn time(&mut self, ptx: &str, blocks: u32, threads: u32, params: &[u64]) -> Timing {
        let report = self.run(ptx, blocks, threads, params);
        assert_eq!(report.fault, None);
        report.timing.unwrap()
    }
}

/// A module with one entry `k` that takes `params` 64-bit parameters p0, p1, …
pub fn entry(params: usize, declarations: &str, body: &str) -> String {
    let params: Vec<String> = (0..params).map(|index| format!(".param .u64 p{index}")).collect();
    format!(
        ".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry k({})\n{{\n{declarations}\n{body}\nret;\n}}\n",
        params.join(", ")
    )
}
