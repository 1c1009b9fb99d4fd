//! Programs of SASS written by hand: inner-form instructions, each with the text and the control information that SASS would have.

use std::collections::HashMap;

use warpwise_simt::device::find;
use warpwise_simt::isa::*;
use warpwise_simt::machine::{Launch, Machine, Mode, Report};
use warpwise_simt::timing::{Completed, Issued, Observer, Placement, Timing};

/// A kernel with one 64-bit parameter in constants 0 and 1, 24 slots and 4 predicates.
#[derive(Clone, Debug)]
pub struct Code {
    program: Program,
}

impl Code {
    pub fn new() -> Self {
        let word = |offset| Constant::Param { offset, bytes: 4, signed: false };
        let program = Program {
            shared_reserved_bytes: 0,
            name: "k".to_owned(),
            isa: Isa::Sass,
            code: Vec::new(),
            info: Vec::new(),
            control: Vec::new(),
            params: vec![Param { name: "p".to_owned(), ty: Ty::U64, bytes: 8, offset: 0 }],
            constants: vec![word(0), word(4), Constant::Literal(0), Constant::Literal(1)],
            banks: Vec::new(),
            tables: Vec::new(),
            slot_count: 24,
            pred_count: 4,
            shared_static_bytes: 1024,
            shared_dynamic_offset: 1024,
            local_bytes: 64,
            max_threads: None,
            required_threads: None,
            min_blocks_per_sm: None,
            max_registers: None,
            estimated_registers: 24,
            barrier_count: 1,
            files: Vec::new(),
        };
        Self { program }
    }

    /// Adds an instruction. `control`: `s4` a stall of 4, `y` yields, `w0` and `r1` raise a counter until write-back or until the
    /// sources were read, `b02` waits for counters 0 and 2.
    pub fn then(mut self, text: &str, instr: Instr, control: &str) -> Self {
        self.program.code.push(instr);
        self.program.info.push(InstrInfo { text: text.into(), ..InstrInfo::default() });
        self.program.control.push(parse(control));
        self
    }

    pub fn repeat(self, times: usize, add: impl Fn(Self, usize) -> Self) -> Self {
        (0..times).fold(self, add)
    }

    pub fn exit(self, control: &str) -> Self {
        self.then("EXIT", Instr::new(Op::Exit), control)
    }

    pub fn program(&self) -> &Program {
        &self.program
    }
}

fn parse(text: &str) -> Control {
    let mut control = Control { stall_cycles: 1, ..Control::default() };
    for word in text.split_whitespace() {
        let (kind, rest) = word.split_at(1);
        let number = || rest.parse().unwrap();
        match kind {
            "s" => control.stall_cycles = number(),
            "y" => control.yields = true,
            "w" => control.write_barrier = Some(number()),
            "r" => control.read_barrier = Some(number()),
            "b" => control.wait_mask = rest.bytes().map(|digit| 1 << (digit - b'0')).sum(),
            _ => panic!("{word}"),
        }
    }
    control
}

/// `dst = a × b + c` of f32.
pub fn ffma(dst: u16, a: u16, b: u16, c: u16) -> Instr {
    lanewise(AluKind::Fma, Ty::F32, dst, &[a, b, c])
}

/// `dst = a + b` of u32.
pub fn iadd(dst: u16, a: u16, b: u16) -> Instr {
    lanewise(AluKind::Add, Ty::U32, dst, &[a, b])
}

pub fn lanewise(kind: AluKind, ty: Ty, dst: u16, sources: &[u16]) -> Instr {
    let mut src = [Src::NONE; 4];
    sources.iter().enumerate().for_each(|(place, slot)| src[place] = Src::slot(Slot(*slot)));
    let alu = Alu { kind, ty, from: ty, mods: Mods::default() };
    Instr { dst: [Some(Slot(dst)), None, None, None], src, ..Instr::new(Op::Alu(alu)) }
}

pub fn access(space: Space, ty: Ty) -> Access {
    Access {
        index: None,
        space,
        ty,
        count: 1,
        wide_address: space == Space::Global,
        cache: Cache::All,
        order: Order::Weak,
        scope: Scope::Gpu,
    }
}

/// Where the parameter points, in global memory; at zero in other spaces.
fn address(space: Space) -> Src {
    Src::constant(if space == Space::Global { 0 } else { 2 })
}

/// A load by all lanes from `offset` bytes past the parameter.
pub fn load(dst: u16, space: Space, ty: Ty, offset: i64) -> Instr {
    let op = Op::Load(access(space, ty));
    Instr { dst: [Some(Slot(dst)), None, None, None], addr: address(space), offset, ..Instr::new(op) }
}

pub fn store(src: u16, space: Space, ty: Ty, offset: i64) -> Instr {
    let sources = [Src::slot(Slot(src)), Src::NONE, Src::NONE, Src::NONE];
    Instr { src: sources, addr: address(space), offset, ..Instr::new(Op::Store(access(space, ty))) }
}

/// `dst = old; memory += src`, by all lanes at the parameter.
pub fn atomic_add(dst: Option<u16>, src: u16) -> Instr {
    let op = Op::Atomic(AtomicKind::Add, access(Space::Global, Ty::U32));
    let sources = [Src::slot(Slot(src)), Src::NONE, Src::NONE, Src::NONE];
    Instr { dst: [dst.map(Slot), None, None, None], src: sources, addr: address(Space::Global), ..Instr::new(op) }
}

/// What was issued when, of one launch.
pub struct Run {
    pub report: Report,
    pub issued: Vec<Issued>,
    pub arrivals: Vec<Completed>,
}

impl Run {
    /// Cycles between the issues of two instructions of the first warp.
    pub fn cycles(&self, from: u32, to: u32) -> u64 {
        self.cycle(0, to) - self.cycle(0, from)
    }

    /// When a warp of block 0 issued an instruction first.
    pub fn cycle(&self, warp: u32, pc: u32) -> u64 {
        let issue = self.issued.iter().find(|event| (event.block, event.warp_in_block, event.pc) == (0, warp, pc));
        issue.unwrap_or_else(|| panic!("warp {warp} never issued {pc}")).cycle
    }

    pub fn timing(&self) -> &Timing {
        self.report.timing.as_ref().unwrap()
    }
}

#[derive(Default)]
struct Log {
    issued: Vec<Issued>,
    arrivals: Vec<Completed>,
}

impl Observer for Log {
    fn issued(&mut self, event: &Issued) {
        self.issued.push(*event);
    }

    fn completed(&mut self, event: &Completed) {
        self.arrivals.push(*event);
    }

    fn ended(&mut self, _: &Placement) {}
}

/// A machine with 1 MiB of memory.
pub struct Bench {
    pub machine: Machine,
    pub memory: u64,
}

impl Bench {
    pub fn new(device: &str) -> Self {
        let mut machine = Machine::new(find(device).unwrap());
        machine.system_mut().set_threads(1);
        let memory = machine.alloc(1 << 20).unwrap();
        Self { machine, memory }
    }

    pub fn launch(&self, blocks: u32, threads: u32) -> Launch {
        let params = self.memory.to_le_bytes().to_vec();
        Launch { mode: Mode::Timed, ..Launch::new([blocks, 1, 1], [threads, 1, 1], params) }
    }

    /// Runs a launch before an observer; it must not fault.
    pub fn trace(&mut self, code: &Code, blocks: u32, threads: u32) -> Run {
        let module = self.machine.load(&[]).unwrap();
        let kernel = self.machine.prepare(module, code.program()).unwrap();
        let launch = self.launch(blocks, threads);
        let mut log = Log::default();
        let report = self.machine.launch_traced(&kernel, &launch, &mut log).unwrap();
        assert_eq!(report.fault, None);
        Run { report, issued: log.issued, arrivals: log.arrivals }
    }

    pub fn run(&mut self, code: &Code, blocks: u32, threads: u32) -> Report {
        let module = self.machine.load(&[]).unwrap();
        let kernel = self.machine.prepare(module, code.program()).unwrap();
        let launch = self.launch(blocks, threads);
        self.machine.launch(&kernel, &launch).unwrap()
    }

    pub fn word(&self, index: u64) -> u32 {
        let mut bytes = [0; 4];
        self.machine.read(self.memory + 4 * index, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }
}

/// One warp of one block on a device.
pub fn one_warp(device: &str, code: &Code) -> Run {
    one_block(device, code, 32)
}

/// The same with so many threads.
pub fn one_block(device: &str, code: &Code, threads: u32) -> Run {
    Bench::new(device).trace(code, 1, threads)
}

/// Issues of each scheduler of SM 0, in order.
pub fn by_scheduler(run: &Run) -> HashMap<u32, Vec<u64>> {
    let mut cycles: HashMap<u32, Vec<u64>> = HashMap::new();
    run.issued
        .iter()
        .filter(|event| event.sm == 0)
        .for_each(|event| cycles.entry(event.scheduler).or_default().push(event.cycle));
    cycles
}
