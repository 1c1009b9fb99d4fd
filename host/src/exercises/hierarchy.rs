//! `hierarchy`: what is fetched from L2 again and again stays in a register.

use crate::backend::LaunchShape;
use crate::claim::{Claim, at_most, holds, less_than};
use crate::exercises::{Attempt, Exercise};
use crate::lab::LabError;
use crate::labs::counters::{LOAD_SECTORS, counter, record, time_ratio};
use crate::random::{Random, generator};

pub static EXERCISE: Exercise = Exercise {
    lab: "hierarchy",
    title: "use a value while it is near",
    task: include_str!("hierarchy/task.md"),
    hint: include_str!("hierarchy/hint.md"),
    start: include_str!("hierarchy/start.rs"),
    solution: include_str!("hierarchy/solution.rs"),
    claims,
    check,
};

const SECTION: &str = "ch4 §2";
const KERNEL: &str = "mix_all";
/// Words, more than any L1 holds, and rounds over them.
const LEN: u32 = 100_003;
const ROUNDS: u32 = 12;
const BLOCKS: u32 = 8;
const THREADS: u32 = 256;

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("results", SECTION, "every thread's sum equals the CPU's", holds("none differs")),
        Claim::new("loaded", SECTION, "sectors loaded over those before", at_most(0.1)).on_machine(),
        Claim::new("time", SECTION, "time over that before", less_than(0.7)),
    ]
}

fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
    let gpu = attempt.gpu()?;
    let mut random = generator(3);
    let x: Vec<u32> = (0..LEN).map(|_| random.random()).collect();
    let (device_x, sums) = (gpu.upload(&x)?, gpu.zeros::<u32>((BLOCKS * THREADS) as usize)?);
    let args = (device_x.ptr(), sums.ptr(), LEN, ROUNDS);
    let shape = LaunchShape::new([BLOCKS, 1, 1], [THREADS, 1, 1]);
    let [before, yours] = attempt.run_both(&gpu, KERNEL, shape, args, args)?;
    let of_thread = |thread: u32| {
        let own = x.iter().skip((thread % THREADS) as usize).step_by(THREADS as usize);
        own.flat_map(|x| (0..ROUNDS).map(move |round| x ^ round)).fold(0_u32, u32::wrapping_add)
    };
    let found = sums.download()?;
    let wrong = (0..BLOCKS * THREADS).find(|&thread| found.get(thread as usize) != Some(&of_thread(thread)));
    attempt.holds(
        "results",
        wrong.is_none(),
        wrong.map_or_else(String::new, |thread| format!("that of thread {thread} does")),
    );
    let loaded = counter(&yours, LOAD_SECTORS).and_then(|yours| Ok(yours / counter(&before, LOAD_SECTORS)?));
    record(attempt, "loaded", loaded);
    record(attempt, "time", time_ratio(&yours, &before));
    Ok(())
}
