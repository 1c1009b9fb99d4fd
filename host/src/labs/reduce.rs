//! `reduce`: how does a block add up?

use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::total::{BLOCK_THREADS, reduce_atomic, reduce_shared, reduce_shuffle};
use warpwise_simt::isa::{Op, Program};
use warpwise_simt::timing::{Completed, Issued, Observer, Placement};

use super::counters::{BLOCKS, SHARED_ACCESSES, ratio, record, time_ratio, us};
use crate::backend::{BackendKind, DeviceBuffer, Gpu, LaunchReport, LaunchShape};
use crate::claim::{Claim, at_least, equal, holds, less_than, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};
use crate::random::{Random, generator};

pub static LAB: Lab = Lab {
    id: "reduce",
    chapter: 2,
    sections: "ch2 §3",
    question: "how does a block add up?",
    kernels: &["reduce_shared", "reduce_shuffle", "reduce_atomic"],
    text: include_str!("../../../docs/labs/reduce.md"),
    claims,
    run,
};

const LARGE_GPU: usize = 1 << 28;
const LARGE_MACHINE: usize = 1 << 21;
/// Blocks for each SM: as many as fit, each with several steps to do.
const BLOCKS_PER_SM: u32 = 8;

type Args = (DevicePtr<f32>, DevicePtr<f32>, u32);

/// A kernel, its name in claims, barriers a warp meets, passes through shared memory a block makes, and shuffles a warp does.
struct Form {
    kernel: &'static Kernel<Args>,
    word: &'static str,
    barriers: u32,
    shared: u32,
    shuffles: u32,
}

/// Of `reduce_shared`: 8 warps write, then 4, 2, 1, 1, 1, 1, 1 and 1 of them read and write. Of `reduce_shuffle`: 8 warps write a value
/// each, one reads them.
const FORMS: [Form; 3] = [
    Form { kernel: &reduce_shared, word: "shared", barriers: 8, shared: 32, shuffles: 0 },
    Form { kernel: &reduce_shuffle, word: "shuffle", barriers: 1, shared: 9, shuffles: 10 },
    Form { kernel: &reduce_atomic, word: "atomic", barriers: 0, shared: 0, shuffles: 5 },
];

fn claims() -> Vec<Claim> {
    let section = "ch2 §3";
    let mut claims = vec![Claim::new(
        "results",
        section,
        "each of the three finds the exact sum of whole numbers",
        holds("they are equal"),
    )];
    for form in &FORMS {
        let name = form.kernel.name;
        let id = |what: &str| format!("{what}_{}", form.word);
        let barriers = format!("{name}: barriers that a block's first warp meets");
        claims.push(Claim::new(id("barriers"), section, barriers, equal(form.barriers)).on_machine());
        let shuffles = format!("{name}: shuffles of that warp");
        claims.push(Claim::new(id("shuffles"), section, shuffles, equal(form.shuffles)).on_machine());
        let shared = format!("{name}: passes through shared memory, a block");
        claims.push(Claim::new(id("shared"), section, shared, equal(form.shared)).on_machine());
        let bandwidth = format!("{name} at 2²⁸: share of the fastest copy's bandwidth");
        claims.push(Claim::new(id("bandwidth"), section, bandwidth, at_least(0.9)).on_gpu());
    }
    claims.extend([
        Claim::new("pace", section, "time of reduce_shuffle over reduce_shared", near(1.0, 0.1))
            .note("reading the array takes longer than adding up within blocks, however that is done"),
        Claim::new("atomic_pace", section, "at 2²⁸: time of reduce_atomic over reduce_shuffle", less_than(1.1))
            .note("its warps come to the one address while others still read; a small array has no time to hide that")
            .on_gpu(),
    ]);
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let n = if gpu.measures() { LARGE_GPU } else { LARGE_MACHINE };
    // Some elements more than whole steps, so that the rest is not forgotten.
    let x = whole_numbers(n + 1_003);
    let expected: f64 = x.iter().map(|&x| f64::from(x)).sum();
    let input = gpu.upload(&x)?;
    let run = Runs { gpu: &gpu, input, shape: shape(&gpu), expected };
    let (first, wrong) = run.all(cx, x.len() as u32)?;
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    let mut table = Table::new(
        format!("adding up 2^{} elements", n.ilog2()),
        [
            "kernel",
            "barriers, a warp",
            "shuffles, a warp",
            "shared passes, a block",
            &format!("µs, {}", gpu.time_source()),
            "GB/s",
        ],
    );
    for (form, report) in FORMS.iter().zip(&first) {
        let id = |what: &str| format!("{what}_{}", form.word);
        let shared = ratio(report, SHARED_ACCESSES, BLOCKS);
        record(cx, &id("shared"), shared.clone());
        let [barriers, shuffles] = run.counted(cx, form, x.len() as u32)?;
        record(cx, &id("barriers"), barriers.clone());
        record(cx, &id("shuffles"), shuffles.clone());
        bandwidth(cx, &id("bandwidth"), report, x.len())?;
        let cell = |value: Result<f64, String>| value.map_or_else(|_| "–".into(), Into::into);
        let rate = us(report).map(|us| (4 * x.len()) as f64 / us / 1e3);
        let row = [barriers.map(f64::from), shuffles.map(f64::from), shared, us(report), rate];
        table.row([form.kernel.name.into()].into_iter().chain(row.map(cell)));
    }
    record(cx, "pace", time_ratio(&first[1], &first[0]));
    record(cx, "atomic_pace", time_ratio(&first[2], &first[1]));
    cx.table(table);
    cx.note(
        "The inputs are -1, 0 and 1, so that every order of additions gives the same sum. Other floats round differently in every \
         order, and reduce_atomic has another order in every run.",
    );
    Ok(())
}

/// A million numbers of chance over and over: their sums stay small, and exact.
fn whole_numbers(n: usize) -> Vec<f32> {
    let mut random = generator(11);
    let some: Vec<f32> = (0..1 << 20).map(|_| random.random_range(-1_i32..=1) as f32).collect();
    some.iter().copied().cycle().take(n).collect()
}

fn shape(gpu: &Gpu) -> LaunchShape {
    let blocks = BLOCKS_PER_SM * gpu.device().sm_count;
    LaunchShape::new([blocks, 1, 1], [BLOCK_THREADS, 1, 1])
}

/// Launches over one array.
struct Runs<'a> {
    gpu: &'a Gpu,
    input: DeviceBuffer<f32>,
    shape: LaunchShape,
    expected: f64,
}

impl Runs<'_> {
    /// The three kernels, timed in turn, and the first that found another sum. A second launch of the same kernel adds up what the blocks
    /// of the first left; the atomic one needs none.
    fn all(&self, cx: &mut LabContext<'_>, n: u32) -> Result<(Vec<LaunchReport>, Option<String>), LabError> {
        let blocks = self.shape.grid[0];
        let sums: Vec<DeviceBuffer<f32>> =
            FORMS.iter().map(|_| self.gpu.zeros(blocks as usize)).collect::<Result<_, _>>()?;
        let case = |(form, sums): (&Form, &DeviceBuffer<f32>)| {
            Case::new(form.kernel, "", self.shape, (self.input.ptr(), sums.ptr(), n)).moving(4 * u64::from(n))
        };
        let reports = cx.measure_in_turn(self.gpu, FORMS.iter().zip(&sums).map(case).collect())?;
        let mut wrong = None;
        for (form, sums) in FORMS.iter().zip(&sums) {
            let total = self.gpu.zeros::<f32>(1)?;
            let one = LaunchShape::new([1, 1, 1], [BLOCK_THREADS, 1, 1]);
            self.gpu.launch_shaped(form.kernel, one, (sums.ptr(), total.ptr(), blocks))?;
            let found = total.download()?[0];
            if f64::from(found) != self.expected {
                let name = form.kernel.name;
                wrong.get_or_insert(format!("{name} finds {found}, the exact sum is {}", self.expected));
            }
        }
        Ok((reports, wrong))
    }

    /// Barriers and shuffles that the first warp of the first block issued.
    fn counted(&self, cx: &LabContext<'_>, form: &Form, n: u32) -> Result<[Result<u32, String>; 2], LabError> {
        if cx.backend() != BackendKind::Sim {
            let reason = || Err("cannot be seen on hardware".to_owned());
            return Ok([reason(), reason()]);
        }
        let program = cx.bench().executed(form.kernel.name)?;
        let count = Arc::new(Mutex::new(Count { program, barriers: 0, shuffles: 0 }));
        let sums = self.gpu.zeros::<f32>(1)?;
        let one = LaunchShape::new([1, 1, 1], [BLOCK_THREADS, 1, 1]);
        let args = (self.input.ptr(), sums.ptr(), n.min(1 << 14));
        self.gpu.watch(form.kernel, one, None, args, Box::new(Shared(Arc::clone(&count))))?;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        Ok([Ok(count.barriers), Ok(count.shuffles)])
    }
}

/// Counts as it watches.
struct Count {
    program: Arc<Program>,
    barriers: u32,
    shuffles: u32,
}

struct Shared(Arc<Mutex<Count>>);

impl Observer for Shared {
    fn issued(&mut self, event: &Issued) {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if event.warp_in_block == 0 {
            match count.program.code.get(event.pc as usize).map(|instruction| &instruction.op) {
                Some(Op::Barrier(_)) => count.barriers += 1,
                Some(Op::Shuffle(_)) => count.shuffles += 1,
                _ => {}
            }
        }
    }

    fn completed(&mut self, _: &Completed) {}

    fn ended(&mut self, _: &Placement) {}
}

/// The share of the copy's bandwidth, where both are measured.
fn bandwidth(cx: &mut LabContext<'_>, claim: &str, report: &LaunchReport, n: usize) -> Result<(), LabError> {
    let ceilings = cx.ceilings()?;
    match report.time().filter(|time| time.is_measured() && ceilings.are_of(time)) {
        Some(time) => cx.found(claim, ceilings.share_of_copy((4 * n) as f64, time)),
        None => cx.not_run(claim, "needs a GPU: at the machine's size the array is in L2"),
    }
    Ok(())
}
