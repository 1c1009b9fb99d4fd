//! The program `warpwise`: reads the command line, runs the command, turns what came of it into an exit code.

use std::process::ExitCode;

use clap::Parser;
use warpwise::cli::Cli;
use warpwise::commands::{self, Outcome};

const EXIT_CLAIM_FAILED: u8 = 1;
const EXIT_BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("warpwise: a bug in warpwise itself: {panic}\nplease report it with the command that was given");
        std::process::exit(i32::from(EXIT_BAD_INPUT));
    }));
    match commands::run(Cli::parse()) {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(EXIT_CLAIM_FAILED),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("warpwise: {error}");
            ExitCode::from(EXIT_BAD_INPUT)
        }
    }
}
