//! `explain ID`: the page of a lab, and what it claims.

use super::Outcome;
use crate::error::CommandError;
use crate::exercises;
use crate::labs;
use crate::report::terminal;

/// Show the text of a lab and its claims
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A lab, as `list` shows it
    id: String,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let lab = labs::find(&options.id)?;
    let mut terminal = terminal::stdout();
    terminal.line(lab.text.trim_end())?;
    terminal.line("\n## Claims\n")?;
    for claim in (lab.claims)() {
        terminal.line(&format!("- {} ({}): {} [{}]", claim.id, claim.section, claim.statement, claim.relation))?;
        if let Some(note) = &claim.note {
            terminal.line(&format!("  {note}"))?;
        }
    }
    if let Some(exercise) = exercises::of_lab(lab.id) {
        terminal.line("\n## Exercise\n")?;
        terminal.line(&format!("{}: `cargo xtask exercise {}`", exercise.title, lab.id))?;
    }
    Ok(Outcome::Good)
}
