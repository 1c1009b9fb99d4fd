//! `cargo xtask CMD …`: builds what is stale, then starts `warpwise CMD …` with the same words.
//!
//! This program finds (or installs) a compiler that can make PTX, builds the kernels and the program, side by side, and
//! hands over. It knows nothing of laboratories, and depends on no other crate: it is compiled before anything else,
//! and must be able to build the rest while the rest is broken.
//!
//! One file a step (`compiler`, `provision`, `device_build` or `nvvm`, `program`, `finish`), one file a command (`commands`).

mod browser;
mod commands;
mod compiler;
mod cuda;
mod device_build;
mod error;
mod facts;
mod finish;
mod kernel_crate;
mod lock;
mod nvvm;
mod nvvm_head;
mod nvvm_needs;
mod prepare;
mod process;
mod program;
mod progress;
mod provision;
mod rustc_line;
mod stamp;
mod system;
mod words;
mod workspace;

use std::process::ExitCode;

/// Bad usage or bad input, or a machine that lacks something: what the message says can be mended.
const EXIT_BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let ended = match std::env::var_os(rustc_line::RECORD) {
        Some(record) => rustc_line::stand_between(record.as_ref(), &std::env::args().skip(1).collect::<Vec<_>>()),
        None if std::env::var_os(device_build::AS_LINKER).is_some() => return ExitCode::SUCCESS,
        None => commands::run(std::env::args().skip(1)),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(EXIT_BAD_INPUT)
        }
    }
}
