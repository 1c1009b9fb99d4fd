//! How fast the machine is: warp instructions a second on fixed programs, beside a yardstick timed in the same run.

mod reference;

use std::sync::Arc;
use std::time::{Duration, Instant};

use warpwise_simt::device::Device;
use warpwise_simt::machine::{Kernel, Launch, Machine, Mode};

use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::isa::Program;

use crate::kernels::{Code, Sass};
use crate::toolbox::{Target, Toolbox};

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
    let figure = |name, value, unit| Figure { name, value, unit };
    let mut figures = vec![figure("reference_loop", reference, RATE)];
    let ratio = "of reference_loop";
    let fma_of = Source::ptx("fma_loop", FMA_LOOP);
    let matmul_of = Source::ptx("matmul", MATMUL);
    say("FMA loop of PTX, functional");
    let fma = fma_loop(device, &fma_of)?;
    figures.extend([figure("ptx_fma_loop", fma, RATE), figure("ptx_fma_loop_ratio", fma / reference, ratio)]);
    say("matrix multiply of PTX, functional");
    let rate = matmul(device, &matmul_of, Mode::Functional, 1)?;
    figures.extend([figure("ptx_matmul_256", rate, RATE), figure("ptx_matmul_256_ratio", rate / reference, ratio)]);
    say("matrix multiply of PTX, with the cycle model");
    let rate = matmul(device, &matmul_of, Mode::Timed, 1)?;
    figures.extend([figure("ptx_cycles", rate, RATE), figure("ptx_cycles_ratio", rate / reference, ratio)]);
    match (Source::sass("fma_loop", FMA_LOOP, device), Source::sass("matmul", MATMUL, device)) {
        (Ok(fma_of), Ok(matmul_of)) => {
            say("FMA loop of SASS, functional");
            let fma = fma_loop(device, &fma_of)?;
            figures.extend([figure("sass_fma_loop", fma, RATE), figure("sass_fma_loop_ratio", fma / reference, ratio)]);
            say("matrix multiply of SASS, functional");
            let rate = matmul(device, &matmul_of, Mode::Functional, 1)?;
            figures.extend([
                figure("sass_matmul_256", rate, RATE),
                figure("sass_matmul_256_ratio", rate / reference, ratio),
            ]);
            say("matrix multiply of SASS, with the cycle model");
            let one = matmul(device, &matmul_of, Mode::Timed, 1)?;
            say("the same on two threads");
            let two = matmul(device, &matmul_of, Mode::Timed, 2)?;
            figures.extend([
                figure("sass_cycles", one, RATE),
                figure("sass_cycles_ratio", one / reference, ratio),
                figure("sass_cycles_2_threads", two, RATE),
                figure("sass_cycles_2_threads_ratio", two / one, "of sass_cycles"),
            ]);
        }
        (Err(reason), _) | (_, Err(reason)) => say(&format!("nothing of SASS: {reason}")),
    }
    let warp_bytes =
        |source: &Source| -> Result<f64, String> { Ok(source.prepare(&mut Machine::new(device))?.warp_bytes() as f64) };
    figures.push(figure("ptx_fma_loop_warp", warp_bytes(&fma_of)?, WARP_BYTES));
    figures.push(figure("ptx_matmul_256_warp", warp_bytes(&matmul_of)?, WARP_BYTES));
    Ok(figures)
}

/// A program and the PTX that it is from.
struct Source {
    code: Result<Code, String>,
    program: Result<Arc<Program>, String>,
}

impl Source {
    fn ptx(entry: &str, text: &str) -> Self {
        let code = Code::parse(entry, text).map_err(|error| error.to_string());
        let program = match &code {
            Ok(code) => code.program(entry).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        Self { code, program }
    }

    /// What ptxas makes of it for the device.
    fn sass(entry: &str, text: &str, device: &Device) -> Result<Self, String> {
        let tools = Toolbox::look(None);
        let arch = device.arch();
        let compiled = tools.compile(text, &Target::arch(&arch)).map_err(|error| error.to_string())?;
        let listing = tools.sass(text, &arch, ListingOptions::default()).map_err(|error| error.to_string())?;
        let sass = Sass::new(&compiled.cubin, listing).map_err(|error| error.to_string())?;
        let program = sass.program(entry).map_err(|error| error.to_string())?;
        Ok(Self { program: Ok(program), ..Self::ptx(entry, text) })
    }

    fn prepare(&self, machine: &mut Machine) -> Result<Kernel, String> {
        let (code, program) =
            (self.code.as_ref().map_err(String::clone)?, self.program.as_ref().map_err(String::clone)?);
        let module = machine.load(code.variables()).map_err(|error| error.to_string())?;
        machine.prepare(module, program).map_err(|error| error.to_string())
    }
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

fn fma_loop(device: &'static Device, source: &Source) -> Result<f64, String> {
    const BLOCKS: u32 = 16;
    const THREADS: u32 = 256;
    const TURNS: u32 = 20_000;
    let mut machine = machine(device, 1);
    let kernel = source.prepare(&mut machine)?;
    let out = alloc(&mut machine, u64::from(BLOCKS * THREADS))?;
    let params = [&out.to_le_bytes()[..], &TURNS.to_le_bytes()].concat();
    let launch = Launch::new([BLOCKS, 1, 1], [THREADS, 1, 1], params);
    best(|| timed_launch(&mut machine, &kernel, &launch))
}

/// `threads` are those of the cycle model.
fn matmul(device: &'static Device, source: &Source, mode: Mode, threads: usize) -> Result<f64, String> {
    const TILE: u32 = 16;
    let mut machine = machine(device, threads);
    let kernel = source.prepare(&mut machine)?;
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

/// A machine whose cycle model takes so many threads, so that computers with few and many cores compare.
fn machine(device: &Device, threads: usize) -> Machine {
    let mut machine = Machine::new(device);
    machine.system_mut().set_threads(threads);
    machine
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
