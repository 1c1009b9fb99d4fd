//! `stencil`: why the barrier? What a tile with a halo is, what is wrong without barrier and bounds, and how fast it gets.

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::maths::{self, STENCIL_RADIUS};
use warpwise_kernels::stencil::{
    BLOCK_THREADS, STENCIL4_CELLS, stencil_1d, stencil_as_printed, stencil_halo_off, stencil_no_barrier, stencil4,
};
use warpwise_simt::checks::Checks;
use warpwise_simt::fault::FaultKind;

use super::counters::{LOAD_REQUESTS, LOAD_SECTORS, counter, record};
use super::input::{Differences, differences, noise};
use crate::backend::{BackendKind, Gpu, GpuError, IsaChoice, KernelFault, LaunchReport, LaunchShape, MachineOptions};
use crate::claim::{Claim, at_least, at_most, equal, holds, near};
use crate::lab::{Case, Lab, LabContext, LabError};

pub static LAB: Lab = Lab {
    id: "stencil",
    chapter: 2,
    sections: "ch2",
    question: "why the barrier?",
    kernels: &["stencil_1d", "stencil_no_barrier", "stencil_halo_off", "stencil_as_printed", "stencil4"],
    text: include_str!("../../../docs/labs/stencil.md"),
    claims,
    run,
};

/// Sizes at which both forms are put against the CPU: around a thread's cells, a warp, a block and its halo.
const SIZES: [u32; 12] = [1, 2, 3, 4, 5, 31, 129, 253, 256, 257, 1_003, 10_007];
const LARGE_GPU: u32 = 1 << 28;
const LARGE_MACHINE: u32 = 1 << 18;
/// A cell is read and written.
const BYTES_PER_CELL: u64 = 8;
const SHARED_LOADS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";

fn claims() -> Vec<Claim> {
    let machine = |id, statement, relation| Claim::new(id, "ch2", statement, relation).on_machine();
    vec![
        Claim::new("results", "ch2", "stencil_1d equals the CPU at 12 sizes, bit for bit", holds("no cell differs")),
        Claim::new("results4", "ch2", "so does stencil4, four cells a thread", holds("no cell differs")),
        machine(
            "no_barrier",
            "without the barrier the race check names two lines of the kernel, two threads and the cell",
            holds("it names them"),
        ),
        machine(
            "halo_off",
            "read one cell too far: the cell that nobody wrote is found",
            equal(FaultKind::Uninitialised.name()),
        ),
        machine("printed", "as printed, the first block reads before the array", equal(FaultKind::OutOfBounds.name())),
        machine("printed_place", "where", holds("before the start of the array")),
        machine("silent", "all checks are silent on stencil_1d and stencil4", holds("nothing is found")),
        machine("reuse", "global reads a cell: bytes of sectors over bytes of cells", near(1.0, 0.1))
            .note("six cells of halo for 256, rounded up to sectors"),
        machine("shared_reads", "passes of shared memory that read, for each warp of 32 cells", equal(7)),
        machine("wide_requests", "stencil4: loads of a warp, those of its outer lanes apart", at_most(3.0)),
        Claim::new("wide_of_copy", "ch2", "stencil4 at 2²⁸: share of the fastest copy's bandwidth", at_least(0.9))
            .on_gpu(),
        Claim::new("scalar_of_copy", "ch2", "stencil_1d at 2²⁸: share of the fastest copy's bandwidth", at_least(0.4))
            .note("a tile, a barrier and four bytes in flight a thread")
            .on_gpu(),
        Claim::new("faster", "ch2", "time of stencil_1d over that of stencil4", at_least(1.0)),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    for (claim, form) in [("results", &TILED), ("results4", &WIDE)] {
        let wrong = wrong(&gpu, form)?;
        cx.holds(claim, wrong.is_none(), wrong.map_or_else(String::new, |(n, found)| format!("n = {n}: {found}")));
    }
    if gpu.kind() == BackendKind::Sim {
        planted(cx)?;
    }
    times(cx, &gpu)
}

type StencilKernel = Kernel<(DevicePtr<f32>, DevicePtr<f32>, u32)>;

/// A form of the stencil, and how many cells a thread of it has.
struct Form {
    kernel: &'static StencilKernel,
    cells: u32,
}

static TILED: Form = Form { kernel: &stencil_1d, cells: 1 };
static WIDE: Form = Form { kernel: &stencil4, cells: STENCIL4_CELLS };

impl Form {
    fn shape(&self, n: u32) -> LaunchShape {
        LaunchShape::linear(n.div_ceil(self.cells), BLOCK_THREADS)
    }

    fn results(&self, gpu: &Gpu, x: &[f32]) -> Result<Vec<f32>, GpuError> {
        let n = x.len() as u32;
        let (input, output) = (gpu.upload(x)?, gpu.upload(&vec![f32::NAN; x.len()])?);
        gpu.launch_shaped(self.kernel, self.shape(n), (input.ptr(), output.ptr(), n))?;
        output.download()
    }
}

/// The same on the CPU.
fn reference(x: &[f32]) -> impl Iterator<Item = f32> {
    let radius = STENCIL_RADIUS as usize;
    (0..x.len()).map(move |own| {
        maths::stencil(|at| {
            (own + at as usize).checked_sub(radius).and_then(|cell| x.get(cell)).copied().unwrap_or(0.0)
        })
    })
}

/// The first size at which a form is not right.
fn wrong(gpu: &Gpu, form: &Form) -> Result<Option<(u32, Differences)>, LabError> {
    for n in SIZES {
        let x = noise(n, u64::from(n));
        let found = differences(&form.results(gpu, &x)?, reference(&x));
        if !found.none() {
            return Ok(Some((n, found)));
        }
    }
    Ok(None)
}

/// The mistakes, each on a machine that looks for it.
fn planted(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let x = noise(1_024, 5);
    let checked = |cx: &LabContext<'_>| {
        let options = MachineOptions { checks: Checks::ALL, isa: IsaChoice::Ptx, ..cx.options() };
        cx.machine(cx.device(), options)
    };
    let fault_of = |gpu: &Gpu, kernel| fault(Form { kernel, cells: 1 }.results(gpu, &x));
    let race = fault_of(&checked(cx)?, &stencil_no_barrier)?;
    let named = race.as_ref().is_some_and(|race| {
        let other = race.other.as_ref();
        let lines = other.and_then(|other| other.line).zip(race.line);
        let threads = other.is_some_and(|other| Some(other.thread) != race.thread);
        race.kind == FaultKind::Race.name()
            && lines.is_some_and(|(one, two)| one != two)
            && threads
            && race.address.is_some()
    });
    if let Some(race) = &race {
        cx.note(format!("without the barrier: {race}"));
    }
    cx.holds("no_barrier", named, race.map_or_else(|| "nothing was found".to_owned(), |race| race.to_string()));
    let off = fault_of(&checked(cx)?, &stencil_halo_off)?;
    cx.found("halo_off", off.map_or_else(|| "nothing".to_owned(), |fault| fault.kind));

    let gpu = cx.gpu()?;
    let (input, output) = (gpu.upload(&x)?, gpu.zeros::<f32>(x.len())?);
    let shape = LaunchShape::linear(x.len() as u32, BLOCK_THREADS);
    gpu.launch_shaped(&stencil_as_printed, shape, (input.ptr(), output.ptr()))?;
    match fault(output.download())? {
        Some(fault) => {
            let place = fault.allocation.clone().unwrap_or_default();
            cx.holds("printed_place", place.contains("before the start"), place);
            cx.found("printed", fault.kind);
        }
        None => cx.found("printed", "nothing"),
    }

    let gpu = checked(cx)?;
    let silent = [&TILED, &WIDE].into_iter().find_map(|form| wrong(&gpu, form).err());
    cx.holds("silent", silent.is_none(), silent.map_or_else(String::new, |error| error.to_string()));
    Ok(())
}

/// The fault that an attempt met, if any.
fn fault<T>(result: Result<T, GpuError>) -> Result<Option<KernelFault>, LabError> {
    match result {
        Ok(_) => Ok(None),
        Err(GpuError::Fault(fault)) => Ok(Some(KernelFault::clone(&fault))),
        Err(error) => Err(error.into()),
    }
}

fn times(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let n = if gpu.measures() { LARGE_GPU } else { LARGE_MACHINE };
    let (input, output) = (gpu.upload(&noise(n, 9))?, gpu.zeros::<f32>(n as usize)?);
    let case = |form: &Form| {
        Case::new(form.kernel, "", form.shape(n), (input.ptr(), output.ptr(), n)).moving(BYTES_PER_CELL * u64::from(n))
    };
    let reports = cx.measure_in_turn(gpu, vec![case(&TILED), case(&WIDE)])?;
    let [tiled, wide] = &reports[..] else { return Ok(()) };
    let warps = f64::from(n) / 32.0;
    record(cx, "reuse", counter(tiled, LOAD_SECTORS).map(|sectors| sectors * 32.0 / (4.0 * f64::from(n))));
    record(cx, "shared_reads", counter(tiled, SHARED_LOADS).map(|passes| passes / warps));
    record(cx, "wide_requests", counter(wide, LOAD_REQUESTS).map(|loads| loads / (warps / f64::from(STENCIL4_CELLS))));
    let us = |report: &LaunchReport| report.time().map(crate::numbers::Time::us);
    let faster = us(tiled).zip(us(wide)).map(|(tiled, wide)| tiled / wide);
    record(cx, "faster", faster.ok_or_else(|| "there is no time".to_owned()));
    if gpu.measures() {
        let ceilings = cx.ceilings()?;
        let bytes = (BYTES_PER_CELL * u64::from(n)) as f64;
        for (claim, report) in [("wide_of_copy", wide), ("scalar_of_copy", tiled)] {
            if let Some(time) = report.time() {
                cx.found(claim, ceilings.share_of_copy(bytes, time));
            }
        }
    }
    Ok(())
}
