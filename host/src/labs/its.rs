//! `its`: what did Volta change? A thread has a program counter of its own: lanes that wait for each other get on, and lanes that
//! trust each other to keep step do not.
//!
//! The machine runs the same PTX under each rule of scheduling. On a GPU only the corrected forms run: what the others do there
//! nobody promises.

use cuda_std::host::{DevicePtr, Kernel};
use warpwise_kernels::its::{
    spin_lock_by_turns, spin_lock_in_warp, summand_of, warp_sum_sync, warp_sum_synced, warp_sum_volatile,
};
use warpwise_simt::checks::Checks;
use warpwise_simt::exec::Divergence;
use warpwise_simt::fault::FaultKind;

use crate::backend::{BackendKind, Gpu, GpuError, IsaChoice, LaunchShape, MachineOptions};
use crate::claim::{Claim, at_least, equal, holds};
use crate::lab::{Lab, LabContext, LabError, Table};
use crate::random::{Random, generator};

pub static LAB: Lab = Lab {
    id: "its",
    chapter: 1,
    sections: "ch1 §7, ch2",
    question: "what did Volta change?",
    kernels: &["spin_lock_in_warp", "spin_lock_by_turns", "warp_sum_volatile", "warp_sum_synced", "warp_sum_sync"],
    text: include_str!("../../../docs/labs/its.md"),
    claims,
    run,
};

/// Seeds that an adversarial order is drawn from.
const SEEDS: u64 = 16;
/// Blocks of a launch, a warp each.
const BLOCKS: u32 = 4;
const THREADS: u32 = 32 * BLOCKS;

fn claims() -> Vec<Claim> {
    let machine = |id, section, statement, relation| Claim::new(id, section, statement, relation).on_machine();
    vec![
        machine(
            "lock_lockstep",
            "ch1 §7",
            "before Volta, a lane that waits for another of its warp: what ends the launch",
            equal(FaultKind::NoProgress.name()),
        ),
        machine("lock_converge", "ch1 §7", "since Volta: threads that had the lock, of 128", equal(THREADS)),
        machine("lock_adversarial", "ch1 §7", "and in any order: fewest of 16 seeds", equal(THREADS)),
        Claim::new("lock_by_turns", "ch1 §7", "one lane at the lock at a time: threads of 128", equal(THREADS)),
        machine("turns_everywhere", "ch1 §7", "the same under lockstep and 16 seeds: fewest", equal(THREADS)),
        machine("volatile_lockstep", "ch2", "sum through volatile memory, in lockstep: wrong sums", equal(0)),
        machine("volatile_adversarial", "ch2", "in any order since Volta: seeds of 16 with a wrong sum", at_least(1.0)),
        machine(
            "volatile_race",
            "ch2",
            "the race check names two lines of warp_sum_volatile and two lanes of one warp",
            holds("it names both"),
        ),
        machine("synced_adversarial", "ch2", "with __syncwarp: seeds of 16 with a wrong sum", equal(0)),
        machine("shuffled_adversarial", "ch2", "by shuffles: seeds of 16 with a wrong sum", equal(0)),
        machine("silent", "ch2", "the checks are silent on the corrected forms", holds("nothing is found")),
        Claim::new("synced", "ch2", "with __syncwarp: wrong sums", equal(0)),
        Claim::new("shuffled", "ch2", "by shuffles: wrong sums", equal(0)),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let x = summands();
    let gpu = cx.gpu()?;
    cx.found("lock_by_turns", threads_counted(&gpu, &spin_lock_by_turns)?);
    cx.found("synced", wrong_sums(&gpu, &warp_sum_synced, &x)?);
    cx.found("shuffled", wrong_sums(&gpu, &warp_sum_sync, &x)?);
    if gpu.kind() == BackendKind::Sim {
        rules(cx, &x)?;
        checked(cx, &x)?;
    }
    Ok(())
}

/// A way to schedule the lanes of a warp.
fn machine(cx: &LabContext<'_>, divergence: Divergence, checks: Checks) -> Result<Gpu, LabError> {
    cx.machine(cx.device(), MachineOptions { divergence, checks, isa: IsaChoice::Ptx, ..cx.options() })
}

fn adversarial(cx: &LabContext<'_>) -> Result<Vec<Gpu>, LabError> {
    (0..SEEDS).map(|seed| machine(cx, Divergence::Adversarial(seed), Checks::default())).collect()
}

/// Each kernel under each rule.
fn rules(cx: &mut LabContext<'_>, x: &[u32]) -> Result<(), LabError> {
    let lockstep = || machine(cx, Divergence::Lockstep, Checks::default());
    let converge = machine(cx, Divergence::Converge, Checks::default())?;
    let any_order = adversarial(cx)?;
    let fewest = |kernel: &'static Lock| -> Result<u32, LabError> {
        any_order.iter().try_fold(THREADS, |fewest, gpu| Ok(fewest.min(threads_counted(gpu, kernel)?)))
    };
    let wrong_seeds = |kernel: &'static Sum| -> Result<usize, LabError> {
        any_order.iter().try_fold(0, |wrong, gpu| Ok(wrong + usize::from(wrong_sums(gpu, kernel, x)? > 0)))
    };
    let in_lockstep = match threads_counted(&lockstep()?, &spin_lock_in_warp) {
        Ok(counted) => format!("nothing: {counted} threads had the lock"),
        Err(LabError::Gpu(GpuError::Fault(fault))) => fault.kind.clone(),
        Err(error) => return Err(error),
    };
    let turns = fewest(&spin_lock_by_turns)?.min(threads_counted(&lockstep()?, &spin_lock_by_turns)?);
    let counted = (threads_counted(&converge, &spin_lock_in_warp)?, fewest(&spin_lock_in_warp)?);
    let mut table =
        Table::new("under each rule of scheduling", ["kernel", "lockstep", "converge", "adversarial, of 16 seeds"]);
    let every = |counted: u32| format!("{counted} of {THREADS} threads");
    table.row([
        spin_lock_in_warp.name.into(),
        in_lockstep.clone().into(),
        every(counted.0).into(),
        every(counted.1).into(),
    ]);
    let mut sums = Vec::new();
    for kernel in [&warp_sum_volatile, &warp_sum_synced, &warp_sum_sync] {
        let [lock, meet] = [wrong_sums(&lockstep()?, kernel, x)?, wrong_sums(&converge, kernel, x)?];
        let seeds = wrong_seeds(kernel)?;
        let wrong = |sums: usize| format!("{sums} of {BLOCKS} sums wrong");
        table.row([
            kernel.name.into(),
            wrong(lock).into(),
            wrong(meet).into(),
            format!("wrong with {seeds} seeds").into(),
        ]);
        sums.push((lock, seeds));
    }
    cx.table(table);
    cx.found("lock_lockstep", in_lockstep);
    cx.found("lock_converge", counted.0);
    cx.found("lock_adversarial", counted.1);
    cx.found("turns_everywhere", turns);
    cx.found("volatile_lockstep", sums[0].0);
    cx.found("volatile_adversarial", sums[0].1);
    cx.found("synced_adversarial", sums[1].1);
    cx.found("shuffled_adversarial", sums[2].1);
    Ok(())
}

/// What the checks say of the sums and of the locks.
fn checked(cx: &mut LabContext<'_>, x: &[u32]) -> Result<(), LabError> {
    let all = |cx: &LabContext<'_>| machine(cx, Divergence::Converge, Checks::ALL);
    let found = wrong_sums(&all(cx)?, &warp_sum_volatile, x);
    match found {
        Err(LabError::Gpu(GpuError::Fault(fault))) => {
            let other = fault.other.as_ref();
            let both_lines = other.is_some_and(|other| other.line.is_some() && fault.line.is_some());
            let one_warp =
                other.is_some_and(|other| Some(other.block) == fault.block && Some(other.thread) != fault.thread);
            cx.note(format!("the race check: {fault}"));
            cx.holds(
                "volatile_race",
                both_lines && one_warp && fault.kind == FaultKind::Race.name(),
                fault.to_string(),
            );
        }
        Err(error) => return Err(error),
        Ok(_) => cx.holds("volatile_race", false, "nothing was found"),
    }
    let gpu = all(cx)?;
    let silent = [
        wrong_sums(&gpu, &warp_sum_synced, x).map(drop),
        wrong_sums(&gpu, &warp_sum_sync, x).map(drop),
        threads_counted(&gpu, &spin_lock_in_warp).map(drop),
        threads_counted(&gpu, &spin_lock_by_turns).map(drop),
    ];
    let found = silent.into_iter().find_map(Result::err);
    cx.holds("silent", found.is_none(), found.map_or_else(String::new, |error| error.to_string()));
    Ok(())
}

type Lock = Kernel<(DevicePtr<u32>,)>;
type Sum = Kernel<(DevicePtr<u32>, DevicePtr<u32>)>;

/// Threads that a lock's kernel has counted.
fn threads_counted(gpu: &Gpu, kernel: &Lock) -> Result<u32, LabError> {
    let counter = gpu.zeros::<u32>(2)?;
    gpu.launch_shaped(kernel, LaunchShape::linear(THREADS, 32), (counter.ptr(),))?;
    let found = counter.download()?;
    found.get(1).copied().ok_or_else(|| LabError::Other("the counter is gone".to_owned()))
}

fn summands() -> Vec<u32> {
    let mut random = generator(12);
    (0..THREADS).map(|_| random.random()).collect()
}

/// How many blocks have a sum that is not the CPU's.
fn wrong_sums(gpu: &Gpu, kernel: &Sum, x: &[u32]) -> Result<usize, LabError> {
    let (input, sums) = (gpu.upload(x)?, gpu.zeros::<u32>(BLOCKS as usize)?);
    gpu.launch_shaped(kernel, LaunchShape::linear(THREADS, 32), (input.ptr(), sums.ptr()))?;
    let expected =
        x.chunks(32).map(|warp| (0..).zip(warp).fold(0_u32, |sum, (lane, x)| sum.wrapping_add(summand_of(lane, *x))));
    Ok(sums.download()?.into_iter().zip(expected).filter(|(found, expected)| found != expected).count())
}
