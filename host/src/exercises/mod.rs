//! Exercises: a change to a kernel that the reader is asked to make, and how it is seen that it was made well.
//!
//! `exercise ID` writes a [kernel crate](kernel_crate) for the reader: the kernel to change, and beside it the kernel as it
//! was. `exercise ID --check` has xtask build that crate and runs the exercise's check on it: an [`Attempt`] launches both
//! versions and finds a value for each claim, just as a lab does. A claim that holds is printed as right, one that does not as
//! not yet.
//!
//! # How to write one
//!
//! A file `exercises/ID.rs` with a `pub static EXERCISE: Exercise`, a folder `exercises/ID/` with four texts, a line in
//! [`EXERCISES`], and the lab's id out of the list of labs without an exercise (in the tests below). Nothing else: the command
//! line goes by the table, and a test (`tests/tests/exercises.rs`) builds every start and every solution in one crate and demands
//! that each claim is right of the solution, and that the start runs and is not yet right.
//!
//! ```text
//! exercises/
//!   guard.rs            the table's entry, its claims, its check
//!   guard/task.md       what is asked for, and what should happen to registers, counters and time
//!   guard/hint.md       a step towards it
//!   guard/start.rs      the kernel that the reader changes
//!   guard/solution.rs   the kernel as its author changed it
//! ```
//!
//! `start.rs` and `solution.rs` are modules of a kernel crate: `use cuda_std::prelude::*;`, kernels with `#[kernel]`, helpers. For
//! shared memory, `use crate::shared::shared_array;`. Entries keep their names and parameters. They begin with no `//!`: the crate's
//! own first lines come before them. A module may define several kernels, where only some are to be changed.
//!
//! ```text
//! pub static EXERCISE: Exercise = Exercise {
//!     lab: "guard",
//!     title: "take the guard out of the loop",
//!     task: include_str!("guard/task.md"),
//!     hint: include_str!("guard/hint.md"),
//!     start: include_str!("guard/start.rs"),
//!     solution: include_str!("guard/solution.rs"),
//!     claims,
//!     check,
//! };
//!
//! fn claims() -> Vec<Claim> {
//!     vec![
//!         Claim::new("results", SECTION, "the results are those of the CPU", holds("none differs")),
//!         Claim::new("fewer", SECTION, "instructions over those before", less_than(0.8)).on_machine(),
//!         Claim::new("registers", SECTION, "registers a thread on sm_120", at_most(16)).recorded(),
//!     ]
//! }
//!
//! fn check(attempt: &mut Attempt<'_>) -> Result<(), LabError> {
//!     let gpu = attempt.gpu()?;                                  // an Attempt is a LabContext, too
//!     let (x, y) = (gpu.upload(&noise(N, 1))?, gpu.zeros::<f32>(N as usize)?);
//!     let args = (x.ptr(), y.ptr(), N);                          // as the kernel has them; the compiler cannot check it here
//!     let shape = LaunchShape::linear(N, 256);
//!     let [before, yours] = attempt.run_both(&gpu, "guarded", shape, args, args)?;   // yours last, so y is the reader's
//!     record(attempt, "fewer", counter(&yours, INSTRUCTIONS).and_then(|i| Ok(i / counter(&before, INSTRUCTIONS)?)));
//!     let resources = attempt.resources(&attempt.yours("guarded"), "sm_120")?;
//!     attempt.found("registers", resources.registers.value());
//!     …
//! }
//! ```
//!
//! - The first claim is about results and is called `results`: nobody should be told that a kernel is fast before it is right.
//!   Unless the exercise is about results, it holds of the start as well. Inputs have a size that is no multiple of anything, where
//!   the kernel allows it.
//! - State numbers of compilers with `.recorded()`, relations to the kernel before without. Prefer relations.
//! - A check takes a second or two. Give launches whose times are compared enough work: a launch alone costs microseconds.

mod atomics;
mod attempt;
mod banks;
mod blocks2d;
mod bounds;
mod bytes;
mod coalescing;
mod codegen;
mod diagnose;
mod divergence;
mod guard;
mod hierarchy;
mod ids;
mod its;
pub mod kernel_crate;
mod latency;
mod launch;
mod life;
mod matmul;
mod msda;
mod occupancy;
mod parity;
mod predication;
mod quiz;
mod ragged;
mod reduce;
mod relu;
mod residency;
mod roofline;
mod sass;
mod spills;
mod stencil;
mod trace;
mod uniform;

pub use attempt::{Attempt, Checked};

use crate::claim::Claim;
use crate::lab::LabError;
use crate::suggest::UnknownName;

/// One exercise. All of it is data but `check`.
pub struct Exercise {
    /// Id of the lab that it belongs to, and its own.
    pub lab: &'static str,
    /// What is to be done, in one line: `swap the two loops`.
    pub title: &'static str,
    /// The task, Markdown.
    pub task: &'static str,
    /// A step towards the solution, Markdown.
    pub hint: &'static str,
    /// The module that the reader changes.
    pub start: &'static str,
    /// The module as the author changed it.
    pub solution: &'static str,
    pub claims: fn() -> Vec<Claim>,
    pub check: fn(&mut Attempt<'_>) -> Result<(), LabError>,
}

/// Every exercise, in the order of the labs.
pub static EXERCISES: &[&Exercise] = &[
    &launch::EXERCISE,
    &ids::EXERCISE,
    &blocks2d::EXERCISE,
    &sass::EXERCISE,
    &uniform::EXERCISE,
    &divergence::EXERCISE,
    &guard::EXERCISE,
    &ragged::EXERCISE,
    &predication::EXERCISE,
    &its::EXERCISE,
    &latency::EXERCISE,
    &occupancy::EXERCISE,
    &life::EXERCISE,
    &parity::EXERCISE,
    &stencil::EXERCISE,
    &reduce::EXERCISE,
    &residency::EXERCISE,
    &spills::EXERCISE,
    &banks::EXERCISE,
    &trace::EXERCISE,
    &relu::EXERCISE,
    &matmul::EXERCISE,
    &roofline::EXERCISE,
    &diagnose::EXERCISE,
    &hierarchy::EXERCISE,
    &coalescing::EXERCISE,
    &msda::EXERCISE,
    &atomics::EXERCISE,
    &bytes::EXERCISE,
    &bounds::EXERCISE,
    &codegen::EXERCISE,
    &quiz::EXERCISE,
];

/// The exercise of this lab.
pub fn find(id: &str) -> Result<&'static Exercise, UnknownName> {
    of_lab(id).ok_or_else(|| UnknownName::new("exercise", id, EXERCISES.iter().map(|exercise| exercise.lab)))
}

/// The exercise of a lab, if it has one.
pub fn of_lab(id: &str) -> Option<&'static Exercise> {
    EXERCISES.iter().copied().find(|exercise| exercise.lab == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labs::LABS;

    /// Labs that have no exercise. Whoever writes one takes its lab out.
    const WITHOUT: &[&str] = &[];

    #[test]
    fn every_lab_has_an_exercise_but_those_listed() {
        let without: Vec<&str> = LABS.iter().map(|lab| lab.id).filter(|id| of_lab(id).is_none()).collect();
        assert_eq!(without, WITHOUT);
    }

    #[test]
    fn every_exercise_belongs_to_a_lab_and_says_what_it_wants() {
        for exercise in EXERCISES {
            let Exercise { lab, title, task, hint, .. } = exercise;
            assert!(LABS.iter().any(|known| known.id == *lab), "{lab} is no lab");
            assert_eq!(EXERCISES.iter().filter(|other| other.lab == *lab).count(), 1, "{lab}");
            assert!(!title.ends_with('.') && !title.is_empty(), "{lab}: {title}");
            assert!(task.lines().count() >= 3 && hint.lines().count() >= 1, "{lab} says too little");
            let claims = (exercise.claims)();
            assert_eq!(claims.first().map(|claim| claim.id.as_str()), Some("results"), "{lab}");
            assert!(claims.len() >= 2, "{lab} asks for nothing but right results");
        }
    }
}
