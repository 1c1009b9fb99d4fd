//! CUDA's contract, kept by every backend: one suite, run on the machine and on the path of a real GPU.
//!
//! A case is a function of a [`World`]; the tables `CASES` of the areas list them, and each runs once by the machine (`sim::…`) and once by
//! the CUDA driver (`cuda::…`): Warpwise's own, which `cargo xtask test` builds, or the computer's with `WARPWISE_DRIVER=system`. Since
//! NVIDIA's driver refuses all work of a process in which a kernel has faulted, each case of `cuda` has a process of its own.
//! What only the machine promises is in [`sim_alone`].

mod faults;
mod kernels;
mod launches;
mod memory;
mod process;
mod sim_alone;
mod streams;
mod time;
mod world;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Arguments, Failed, Trial};
use world::World;

/// A sentence, as its function's name says it, and what checks it.
type Case = (&'static str, fn(World) -> Outcome);
type Outcome = Result<(), warpwise::backend::GpuError>;

/// A table of cases, by the names of their functions.
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        pub const CASES: &[$crate::Case] = &[$((stringify!($name), $name)),+];
    };
}
use cases;

const EVERY_BACKENDS: [&[Case]; 6] =
    [memory::CASES, launches::CASES, streams::CASES, time::CASES, faults::CASES, kernels::CASES];

/// Cases that were kept, by who kept them.
#[derive(Default)]
struct Kept {
    sim: AtomicUsize,
    cuda: AtomicUsize,
    sim_alone: AtomicUsize,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let kept = Arc::new(Kept::default());
    let trials = trials(&kept);
    if process::is_child() {
        return libtest_mimic::run(&arguments, trials).exit_code();
    }
    let is_whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    let [sim, cuda, sim_alone] = [&kept.sim, &kept.cuda, &kept.sim_alone].map(|count| count.load(Ordering::Relaxed));
    println!(
        "contract: {sim} cases kept by sim, {cuda} by cuda ({}), {sim_alone} more by sim alone\n",
        world::driver()
    );
    if is_whole && !conclusion.has_failed() && cfg!(target_os = "linux") && sim != cuda {
        eprintln!("both backends are to keep the same cases");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

fn trials(kept: &Arc<Kept>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(name, check) in EVERY_BACKENDS.into_iter().flatten() {
        trials.push(trial(format!("sim::{name}"), kept, |kept| &kept.sim, move || in_words(check(World::Sim))));
        #[cfg(target_os = "linux")]
        {
            let whole_name = format!("cuda::{name}");
            let run = {
                let name = whole_name.clone();
                move || if process::is_child() { in_words(check(World::Cuda)) } else { process::run(&name) }
            };
            trials.push(trial(whole_name, kept, |kept| &kept.cuda, run));
        }
    }
    for &(name, check) in sim_alone::CASES {
        let run = move || in_words(check(World::Sim));
        trials.push(trial(format!("sim_alone::{name}"), kept, |kept| &kept.sim_alone, run));
    }
    trials
}

/// A case that is counted when it is kept.
fn trial(
    name: String,
    kept: &Arc<Kept>,
    count: fn(&Kept) -> &AtomicUsize,
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let kept = Arc::clone(kept);
    Trial::test(name, move || {
        run()?;
        count(&kept).fetch_add(1, Ordering::Relaxed);
        Ok(())
    })
}

fn in_words(outcome: Outcome) -> Result<(), Failed> {
    outcome.map_err(|error| Failed::from(format!("an error that was not expected: {error}")))
}
