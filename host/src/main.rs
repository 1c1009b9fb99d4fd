//! The program `warpwise`: reads the command line, runs the command, turns what came of it into an exit code.

use std::io::Write;
use std::process::ExitCode;

use warpwise::cli;
use warpwise::commands::{self, Outcome};

const EXIT_CLAIM_FAILED: u8 = 1;
const EXIT_BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("warpwise: a bug in warpwise itself: {panic}\nplease report it with the command that was given");
        std::process::exit(i32::from(EXIT_BAD_INPUT));
    }));
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(Ok(help)) => {
            // A reader that went away has read enough.
            let _ = std::io::stdout().write_all(help.as_bytes());
            return ExitCode::SUCCESS;
        }
        Err(Err(refusal)) => {
            eprintln!("warpwise: {refusal}");
            return ExitCode::from(EXIT_BAD_INPUT);
        }
    };
    match commands::dispatch(cli) {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(EXIT_CLAIM_FAILED),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("warpwise: {error}");
            ExitCode::from(EXIT_BAD_INPUT)
        }
    }
}
