//! Speed of the machine on small programs, functional and with the cycle model: `cargo bench -p warpwise-simt`. Prints, asserts
//! nothing.
//!
//! On Linux it counts the processor time of its thread, so that other programs disturb little; elsewhere the time that passes.

use std::time::Instant;

use warpwise_simt::device::Device;
use warpwise_simt::exec::CpuLevel;
use warpwise_simt::machine::{Launch, Machine, Mode};
use warpwise_simt::ptx::Module;

/// A program that fills the body of a kernel with the parameters `out` and `n`; `%r1` is the global thread index, `%rd1` the
/// address of its element in `out`, `%r2` is `n`.
struct Program {
    name: &'static str,
    body: &'static str,
    blocks: u32,
    threads: [u32; 2],
    n: u32,
}

/// One row of threads.
const ROW: [u32; 2] = [256, 1];

const PROGRAMS: &[Program] = &[
    Program {
        name: "fma loop",
        body: "mov.f32 %f1, 0f3F7FBE77; mov.f32 %f2, 0f3A83126F; mov.f32 %f3, 0f00000000;
            L: fma.rn.f32 %f3, %f3, %f1, %f2; fma.rn.f32 %f3, %f3, %f1, %f2; fma.rn.f32 %f3, %f3, %f1, %f2;
            fma.rn.f32 %f3, %f3, %f1, %f2; fma.rn.f32 %f3, %f3, %f1, %f2; fma.rn.f32 %f3, %f3, %f1, %f2;
            fma.rn.f32 %f3, %f3, %f1, %f2; fma.rn.f32 %f3, %f3, %f1, %f2;
            add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L; st.global.f32 [%rd1], %f3;",
        blocks: 16,
        threads: ROW,
        n: 20_000,
    },
    Program {
        name: "integer loop",
        body: "L: mad.lo.u32 %r4, %r4, %r1, %r3; xor.b32 %r5, %r4, %r1; shl.b32 %r6, %r5, 3; add.u64 %rd2, %rd2, %rd1;
            mul.wide.u32 %rd3, %r4, %r5; and.b32 %r4, %r6, 255; cvt.rn.f32.u32 %f1, %r4; selp.b32 %r5, %r4, %r1, %p1;
            add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L; st.global.u32 [%rd1], %r4;",
        blocks: 16,
        threads: ROW,
        n: 20_000,
    },
    Program {
        name: "loads and stores, contiguous",
        body: "L: ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r3; st.global.u32 [%rd1], %r4;
            add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L;",
        blocks: 16,
        threads: ROW,
        n: 10_000,
    },
    Program {
        name: "loads, scattered by 8 bytes",
        body: "and.b32 %r5, %r1, 15; mul.wide.u32 %rd2, %r5, 8; sub.u64 %rd3, %rd1, 0; add.u64 %rd3, %rd0, %rd2;
            L: ld.global.u32 %r4, [%rd3]; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L;",
        blocks: 16,
        threads: ROW,
        n: 10_000,
    },
    Program {
        name: "matrix multiply, 16 × 16 threads",
        // A row of 16 blocks computes a stripe of C; A and B lie on top of each other in `out`.
        body: "mov.u32 %r4, %tid.y; mad.lo.u32 %r5, %r4, 256, 0; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd0, %rd2;
            mad.lo.u32 %r6, %r7, 16, %r9; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd3, %rd0, %rd3; mov.u64 %rd4, 1024;
            mov.f32 %f1, 0f00000000;
            L: ld.global.f32 %f2, [%rd2]; ld.global.f32 %f3, [%rd3]; fma.rn.f32 %f1, %f2, %f3, %f1; add.s64 %rd2, %rd2, 4;
            add.s64 %rd3, %rd3, %rd4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L; st.global.f32 [%rd1], %f1;",
        blocks: 16,
        threads: [16, 16],
        n: 256,
    },
    Program {
        name: "divergent halves",
        body: "and.b32 %r4, %r1, 1; setp.eq.u32 %p2, %r4, 0;
            L: @%p2 bra E; add.u32 %r5, %r5, 3; bra J; E: add.u32 %r5, %r5, 5; J: add.u32 %r3, %r3, 1;
            setp.lt.u32 %p1, %r3, %r2; @%p1 bra L; st.global.u32 [%rd1], %r5;",
        blocks: 16,
        threads: ROW,
        n: 5_000,
    },
    Program {
        name: "shuffles",
        body: "mov.u32 %r4, %r1; L: shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; add.u32 %r4, %r4, %r5;
            add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L; st.global.u32 [%rd1], %r4;",
        blocks: 16,
        threads: ROW,
        n: 5_000,
    },
    Program { name: "short threads", body: "st.global.u32 [%rd1], %r1;", blocks: 20_000, threads: ROW, n: 0 },
    Program {
        name: "atomics, one address",
        body: "L: red.global.add.u32 [%rd0], 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L;",
        blocks: 16,
        threads: ROW,
        n: 500,
    },
];

fn text(body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {{\n\
         .reg .pred %p<4>; .reg .f32 %f<8>; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n\
         ld.param.u64 %rd0, [out]; ld.param.u32 %r2, [n]; mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ntid.x; mov.u32 %r9, %tid.x;\n\
         mad.lo.u32 %r1, %r7, %r8, %r9; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd0, %rd1;\n\
         mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u64 %rd2, 0;\n{body}\nret;\n}}\n"
    )
}

/// A moment to count from.
struct Started {
    wall: Instant,
    processor_ns: Option<u64>,
}

impl Started {
    fn now() -> Self {
        Self { wall: Instant::now(), processor_ns: processor_ns() }
    }

    fn seconds(&self) -> f64 {
        match (self.processor_ns, processor_ns()) {
            (Some(before), Some(now)) => (now - before) as f64 * 1e-9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// Processor time of this thread: the first number of its `schedstat`, which is exact only where the scheduler has just run.
fn processor_ns() -> Option<u64> {
    std::thread::yield_now();
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

/// Warp instructions a second, the best of five runs.
fn rate(program: &Program, level: CpuLevel, mode: Mode) -> Result<f64, Box<dyn std::error::Error>> {
    let module = Module::parse(program.name, &text(program.body))?;
    let mut machine = Machine::new(Device::default_device());
    machine.set_cpu_level(level);
    machine.system_mut().set_threads(1);
    let loaded = machine.load(module.variables())?;
    let kernel = machine.prepare(loaded, &module.lower("k")?)?;
    let out = machine.alloc(u64::from(program.blocks.max(256)) * 1024)?;
    let params = [&out.to_le_bytes()[..], &program.n.to_le_bytes()].concat();
    let block = [program.threads[0], program.threads[1], 1];
    let launch = Launch { mode, ..Launch::new([program.blocks, 1, 1], block, params) };
    let mut best: f64 = 0.0;
    for _ in 0..5 {
        let started = Started::now();
        let report = machine.launch(&kernel, &launch)?;
        let seconds = started.seconds();
        if let Some(fault) = report.fault {
            return Err(fault.into());
        }
        best = best.max(report.counters.instructions() as f64 / seconds);
    }
    Ok(best)
}

/// Runs the programs whose line holds one of the words given, or all.
fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let best = CpuLevel::detect();
    for program in PROGRAMS {
        for (level, mode) in [(best, Mode::Functional), (CpuLevel::Portable, Mode::Functional), (best, Mode::Timed)] {
            let line = format!("{:32} {:20}", program.name, format!("{mode:?}, {level:?}:"));
            if !only.is_empty() && !only.iter().any(|word| line.contains(word)) {
                continue;
            }
            match rate(program, level, mode) {
                Ok(rate) => println!("{line} {:7.1} million warp instructions/s", rate / 1e6),
                Err(error) => println!("{line} {error}"),
            }
        }
    }
}
