//! How fast the machine is: warp instructions a second on fixed programs, beside a yardstick timed in the same run.

mod reference;

use std::time::{Duration, Instant};

use warpwise_simt::device::Device;
use warpwise_simt::machine::{Kernel, Launch, Machine, Mode};

use crate::kernels::Code;

const FMA_LOOP: &str = include_str!("fma_loop.ptx");
const MATMUL: &str = include_str!("matmul.ptx");

/// One measured figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
}

/// Each program runs this often; the fastest run counts, since others only disturb.
const RUNS: u32 = 5;

/// Size of the matrices, and of the grid of 16×16 blocks.
const MATMUL_N: u32 = 256;

/// Figures of the whole suite. `say` gets a line before each.
///
/// # Errors
/// What the machine says if it cannot run the programs.
pub fn run(device: &'static Device, say: &dyn Fn(&str)) -> Result<Vec<Figure>, String> {
    const RATE: &str = "warp instructions/s";
    const WARP_BYTES: &str = "bytes a resident warp";
    say("reference loop");
    let reference = reference_rate();
    say("FMA loop, functional");
    let fma_loop = fma_loop(device)?;
    say("matrix multiply, functional");
    let matmul = matmul(device, Mode::Functional)?;
    say("matrix multiply, with the cycle model");
    let cycles = self::matmul(device, Mode::Timed)?;
    let figure = |name, value, unit| Figure { name, value, unit };
    let warp_bytes = |entry, text| -> Result<f64, String> {
        Ok(prepare(&mut Machine::new(device), entry, text)?.warp_bytes() as f64)
    };
    Ok(vec![
        figure("reference_loop", reference, RATE),
        figure("ptx_fma_loop", fma_loop, RATE),
        figure("ptx_fma_loop_ratio", fma_loop / reference, "of reference_loop"),
        figure("ptx_matmul_256", matmul, RATE),
        figure("ptx_matmul_256_ratio", matmul / reference, "of reference_loop"),
        figure("ptx_cycles", cycles, RATE),
        figure("ptx_fma_loop_warp", warp_bytes("fma_loop", FMA_LOOP)?, WARP_BYTES),
        figure("ptx_matmul_256_warp", warp_bytes("matmul", MATMUL)?, WARP_BYTES),
    ])
}

/// The fastest of several runs, in instructions a second.
fn best(mut run: impl FnMut() -> Result<(u64, Duration), String>) -> Result<f64, String> {
    let mut best: f64 = 0.0;
    for _ in 0..RUNS {
        let (instructions, time) = run()?;
        best = best.max(instructions as f64 / time.as_secs_f64());
    }
    Ok(best)
}

fn reference_rate() -> f64 {
    const TURNS: u32 = 2_000_000;
    let timed = best(|| {
        let started = Instant::now();
        let instructions = reference::run(TURNS);
        Ok((instructions, started.elapsed()))
    });
    timed.unwrap_or(0.0)
}

fn fma_loop(device: &'static Device) -> Result<f64, String> {
    const BLOCKS: u32 = 16;
    const THREADS: u32 = 256;
    const TURNS: u32 = 20_000;
    let mut machine = one_thread(device);
    let kernel = prepare(&mut machine, "fma_loop", FMA_LOOP)?;
    let out = alloc(&mut machine, u64::from(BLOCKS * THREADS))?;
    let params = [&out.to_le_bytes()[..], &TURNS.to_le_bytes()].concat();
    let launch = Launch::new([BLOCKS, 1, 1], [THREADS, 1, 1], params);
    best(|| timed_launch(&mut machine, &kernel, &launch))
}

fn matmul(device: &'static Device, mode: Mode) -> Result<f64, String> {
    const TILE: u32 = 16;
    let mut machine = one_thread(device);
    let kernel = prepare(&mut machine, "matmul", MATMUL)?;
    let elements = u64::from(MATMUL_N * MATMUL_N);
    let mut params = Vec::new();
    for _ in 0..3 {
        let matrix = alloc(&mut machine, elements)?;
        machine.fill(matrix, elements * 4, 0).map_err(|error| error.to_string())?;
        params.extend(matrix.to_le_bytes());
    }
    params.extend(MATMUL_N.to_le_bytes());
    let blocks = MATMUL_N / TILE;
    let launch = Launch { mode, ..Launch::new([blocks, blocks, 1], [TILE, TILE, 1], params) };
    best(|| timed_launch(&mut machine, &kernel, &launch))
}

/// A machine whose cycle model takes one thread, so that computers with few and many cores compare.
fn one_thread(device: &Device) -> Machine {
    let mut machine = Machine::new(device);
    machine.system_mut().set_threads(1);
    machine
}

fn prepare(machine: &mut Machine, entry: &str, text: &str) -> Result<Kernel, String> {
    let code = Code::parse(entry, text).map_err(|error| error.to_string())?;
    let program = code.program(entry).map_err(|error| error.to_string())?;
    let module = machine.load(code.variables()).map_err(|error| error.to_string())?;
    machine.prepare(module, &program).map_err(|error| error.to_string())
}

/// Memory for so many floats.
fn alloc(machine: &mut Machine, floats: u64) -> Result<u64, String> {
    machine.alloc(floats * 4).map_err(|error| error.to_string())
}

fn timed_launch(machine: &mut Machine, kernel: &Kernel, launch: &Launch) -> Result<(u64, Duration), String> {
    let started = Instant::now();
    let report = machine.launch(kernel, launch).map_err(|error| error.to_string())?;
    let time = started.elapsed();
    if let Some(fault) = report.fault {
        return Err(fault.to_string());
    }
    Ok((report.counters.instructions(), time))
}
