//! `explain-sass OPCODE`: what an opcode of a listing and its modifiers mean.

use super::Outcome;
use crate::error::CommandError;
use crate::report::terminal;
use crate::sass_words::{self, Explained};

/// Say what a SASS opcode means, such as LDG.E.128
#[derive(clap::Args, Debug)]
pub struct Options {
    /// An opcode with or without modifiers, as listings have it; without one, all opcodes
    opcode: Option<String>,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let mut terminal = terminal::stdout();
    let columns = |first: &str| [first, "what it means"].map(str::to_owned);
    let Some(given) = options.opcode else {
        let rows = sass_words::opcodes().iter().map(|opcode| vec![opcode.name.clone(), opcode.text()]);
        terminal.rows(&columns("opcode"), rows)?;
        return Ok(Outcome::Good);
    };
    let Explained { opcode, modifiers } = sass_words::explain(&given)?;
    let mut rows = vec![vec![opcode.name.clone(), opcode.text()]];
    if modifiers.is_empty() {
        let listed = sass_words::modifiers_of(opcode);
        rows.extend(listed.map(|entry| vec![format!(".{}", entry.names.join(", .")), entry.text.clone()]));
    }
    let unknown = "nothing is known of it here; NVIDIA documents no modifiers of SASS";
    rows.extend(modifiers.into_iter().map(|(name, text)| vec![format!(".{name}"), text.unwrap_or(unknown).to_owned()]));
    terminal.rows(&columns("part"), rows)?;
    Ok(Outcome::Good)
}
