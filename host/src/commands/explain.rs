//! `explain ID`: the page of a lab, and what it claims.

use std::io::Write;

use super::Outcome;
use crate::error::CommandError;
use crate::labs;

/// Show the text of a lab and its claims
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A lab, as `list` shows it
    id: String,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let lab = labs::find(&options.id)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", lab.text.trim_end())?;
    writeln!(out, "\n## Claims\n")?;
    for claim in (lab.claims)() {
        writeln!(out, "- {} ({}): {} [{}]", claim.id, claim.section, claim.statement, claim.relation)?;
        if let Some(note) = &claim.note {
            writeln!(out, "  {note}")?;
        }
    }
    Ok(Outcome::Good)
}
