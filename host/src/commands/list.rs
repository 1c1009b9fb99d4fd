//! `list`: the labs, and the kernels they use.

use super::Outcome;
use crate::error::CommandError;
use crate::labs::LABS;
use crate::report::terminal;

/// List labs and kernels
#[derive(clap::Args, Debug)]
pub struct Options {}

pub fn run(_: Options) -> Result<Outcome, CommandError> {
    let mut terminal = terminal::stdout();
    let labs = LABS
        .iter()
        .map(|lab| vec![lab.id.to_owned(), lab.sections.to_owned(), lab.question.to_owned(), lab.kernels.join(" ")]);
    terminal.rows(&["lab", "from", "question", "kernels"].map(str::to_owned), labs)?;
    Ok(Outcome::Good)
}
