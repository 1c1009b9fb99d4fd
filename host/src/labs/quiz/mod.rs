//! `quiz`: check your understanding. Questions on each chapter, with the answer that a run of the machine gives.
//!
//! No answer is taken on trust: the option that counts as right is the one that the run finds. A question whose run found none
//! of its options, or another than the one that its author meant, is a claim that fails.

mod questions;

use warpwise_simt::device;

use crate::backend::Gpu;
use crate::claim::{Claim, equal};
use crate::lab::{Lab, LabContext, LabError, Table};
use crate::workbench::Workbench;

pub use questions::QUESTIONS;

pub static LAB: Lab = Lab {
    id: "quiz",
    chapter: 0,
    sections: "ch1–4",
    question: "check your understanding",
    kernels: &["vecadd", "whoami", "empty", "by_lane", "strided_copy", "shared_stride", "parity_warp", "relu"],
    text: include_str!("../../../../docs/labs/quiz.md"),
    claims,
    run,
};

/// A question with a number for an answer.
pub struct Question {
    pub id: &'static str,
    pub chapter: u8,
    /// Where the chapter treats it.
    pub section: &'static str,
    pub text: &'static str,
    /// What there is to choose from.
    pub options: &'static [i64],
    /// The option that the author means.
    pub right: i64,
    /// Why it is that one, in a sentence.
    pub because: &'static str,
    answer: fn(&Machine) -> Result<f64, LabError>,
}

/// The machine that answers: an RTX 5070, whatever the run is on.
pub struct Machine {
    gpu: Gpu,
}

impl Machine {
    pub fn new(bench: &Workbench) -> Result<Self, LabError> {
        Ok(Self { gpu: bench.machine(device::find("RTX 5070")?, bench.options)? })
    }
}

impl Question {
    /// What a run finds.
    pub fn answer(&self, machine: &Machine) -> Result<f64, LabError> {
        (self.answer)(machine)
    }
}

fn claims() -> Vec<Claim> {
    let claim = |question: &Question| {
        Claim::new(question.id, question.section, question.text, equal(question.right))
            .note(question.because)
            .on_machine()
    };
    QUESTIONS.iter().map(claim).collect()
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let machine = Machine::new(cx.bench())?;
    let mut table = Table::new("questions, and what the machine answers", ["chapter", "question", "options", "found"]);
    for question in QUESTIONS {
        let found = question.answer(&machine)?;
        let options: Vec<String> = question.options.iter().map(i64::to_string).collect();
        table.row([question.chapter.into(), question.text.into(), options.join(", ").into(), found.into()]);
        cx.found(question.id, found);
    }
    cx.table(table);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::QUESTIONS;

    #[test]
    fn each_chapter_has_five_questions_or_more_and_each_question_its_answer_among_the_options() {
        for chapter in 1..=4 {
            let count = QUESTIONS.iter().filter(|question| question.chapter == chapter).count();
            assert!(count >= 5, "chapter {chapter} has {count}");
        }
        for question in QUESTIONS {
            let id = question.id;
            assert_eq!(QUESTIONS.iter().filter(|other| other.id == id).count(), 1, "{id}");
            assert!(question.options.contains(&question.right) && question.options.len() >= 3, "{id}");
            assert!(question.options.is_sorted(), "{id}: the right one is not to be told by its place");
        }
    }
}
