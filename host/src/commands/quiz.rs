//! `quiz`: asks, and says what the machine found. Exit code 1 if an answer was wrong.

use std::io::BufRead;

use super::Outcome;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::labs::quiz::{Machine, QUESTIONS, Question};
use crate::report::terminal::{self, Stdout};
use crate::workbench::Workbench;

/// Check your understanding: questions that the machine answers
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Questions on this chapter only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=4))]
    chapter: Option<u8>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "sim")?;
    bench.kernels.require_ours("quiz")?;
    let machine = Machine::new(&bench).map_err(|error| CommandError::Usage(error.to_string()))?;
    let mut terminal = terminal::stdout();
    let mut answers = std::io::stdin().lock().lines();
    let (mut right, mut asked) = (0, 0);
    let chosen = QUESTIONS.iter().filter(|question| options.chapter.is_none_or(|chapter| chapter == question.chapter));
    for question in chosen {
        ask(&mut terminal, question)?;
        let Some(answer) = answers.next().transpose()? else { break };
        asked += 1;
        let found = question.answer(&machine).map_err(|error| CommandError::Usage(error.to_string()))?;
        let is_right = chosen_option(question, &answer).is_some_and(|option| option as f64 == found);
        right += u32::from(is_right);
        let verdict = if is_right { "right" } else { "no" };
        terminal.line(&format!("{verdict}: the machine finds {found}: {}\n", question.because))?;
    }
    terminal.line(&format!("{right} of {asked} right"))?;
    Ok(if right == asked { Outcome::Good } else { Outcome::Failed })
}

fn ask(terminal: &mut Stdout, question: &Question) -> Result<(), CommandError> {
    terminal.line(&format!("Chapter {}: {}", question.chapter, question.text))?;
    let options = question.options.iter().zip('a'..).map(|(option, letter)| format!("  {letter}) {option}"));
    terminal.line(&options.collect::<Vec<_>>().join("\n"))?;
    Ok(())
}

/// What a letter stands for, or the number itself.
fn chosen_option(question: &Question, answer: &str) -> Option<i64> {
    let answer = answer.trim();
    let by_letter =
        question.options.iter().zip('a'..).find(|(_, letter)| answer.eq_ignore_ascii_case(&letter.to_string()));
    by_letter.map(|(option, _)| *option).or_else(|| answer.replace(',', "").parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_letter_or_the_number() {
        let question = QUESTIONS.iter().find(|question| question.id == "blocks").expect("it is there");
        for (answer, option) in
            [("a", Some(3906)), (" B\n", Some(3907)), ("3,907", Some(3907)), ("z", None), ("", None)]
        {
            assert_eq!(chosen_option(question, answer), option, "{answer}");
        }
    }
}
