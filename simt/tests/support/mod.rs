//! Running a few lines of PTX on the machine: one output array, everything observable in the report.

#![allow(dead_code, reason = "each test file uses its part")]

use warpwise_simt::device::Device;
use warpwise_simt::exec::CpuLevel;
use warpwise_simt::fault::Fault;
use warpwise_simt::machine::{Kernel, Launch, Machine, Report};
use warpwise_simt::ptx::Module;

/// A kernel with the parameters `out` (a pointer, in `%out`) and `n` (in `%n`). `%i` is the linear global thread index, `%t` the
/// linear index in the block, `%mine` the address of word `%i` of `out`. Predicates `%p0…`, 32-bit `%r0…`, 64-bit `%d0…`, floats
/// `%f0…`.
pub fn text(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{declarations}\n\
         .visible .entry k(.param .u64 out, .param .u32 n) {{\n\
         .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<40>, %i, %t, %n; .reg .f32 %f<8>; .reg .b64 %d<16>, %out, %mine;\n\
         ld.param.u64 %out, [out]; ld.param.u32 %n, [n];\n\
         mov.u32 %r0, %tid.z; mov.u32 %r1, %ntid.y; mad.lo.u32 %r0, %r0, %r1, 0; mov.u32 %r1, %tid.y; add.u32 %r0, %r0, %r1;\n\
         mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %t, %r0, %r1, %r2;\n\
         mov.u32 %r2, %ntid.y; mul.lo.u32 %r1, %r1, %r2; mov.u32 %r2, %ntid.z; mul.lo.u32 %r1, %r1, %r2;\n\
         mov.u32 %r2, %ctaid.x; mad.lo.u32 %i, %r2, %r1, %t;\n\
         mul.wide.u32 %mine, %i, 4; add.u64 %mine, %out, %mine;\n\
         {body}\nret;\n}}\n"
    )
}

/// A machine with one kernel and its output array.
pub struct Bench {
    pub machine: Machine,
    pub kernel: Kernel,
    pub out: u64,
    pub words: usize,
}

impl Bench {
    /// `words` 32-bit words of output, zero at first.
    pub fn new(declarations: &str, body: &str, words: usize) -> Self {
        Self::at(CpuLevel::detect(), declarations, body, words)
    }

    pub fn at(level: CpuLevel, declarations: &str, body: &str, words: usize) -> Self {
        let text = text(declarations, body);
        let module = Module::parse("test.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let program = module.lower("k").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut machine = Machine::new(Device::default_device());
        machine.set_cpu_level(level);
        let loaded = machine.load(module.variables()).unwrap();
        let kernel = machine.prepare(loaded, &program).unwrap();
        let out = machine.alloc(4 * words as u64).unwrap();
        Self { machine, kernel, out, words }
    }

    /// A launch of so many blocks and threads; `n` is the second parameter.
    pub fn launch(&self, blocks: u32, threads: u32, n: u32) -> Launch {
        let params = [&self.out.to_le_bytes()[..], &n.to_le_bytes()].concat();
        Launch::new([blocks, 1, 1], [threads, 1, 1], params)
    }

    pub fn run(&mut self, launch: &Launch) -> Report {
        self.machine.launch(&self.kernel, launch).unwrap()
    }

    /// The output after a launch that must not fault.
    pub fn output(&mut self, launch: &Launch) -> Vec<u32> {
        let report = self.run(launch);
        assert_eq!(report.fault.map(|fault| fault.to_string()), None);
        self.read()
    }

    pub fn read(&self) -> Vec<u32> {
        let mut bytes = vec![0; 4 * self.words];
        self.machine.read(self.out, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// The fault of a launch that must have one.
    pub fn fault(&mut self, launch: &Launch) -> Fault {
        self.run(launch).fault.expect("the launch should fault")
    }
}

/// The output of a few lines run by so many threads of one block.
pub fn run(body: &str, threads: u32) -> Vec<u32> {
    let mut bench = Bench::new("", body, threads as usize);
    let launch = bench.launch(1, threads, 0);
    bench.output(&launch)
}

/// A counter of a report, as a number.
pub fn counter(report: &Report, name: &str) -> f64 {
    report.counters.get(name).unwrap_or_else(|| panic!("no counter {name}")).as_f64()
}
