//! The words of the command line: one variant a command, and the options that all commands share.
//!
//! What a command does is in its file under [`crate::commands`]; its own options are declared there too.

use clap::{Args, Parser, Subcommand};

use crate::commands::{explain, finish_kernels, labs, list, occupancy, ptx};

/// Laboratories on how a GPU runs code.
#[derive(Debug, Parser)]
#[command(name = "warpwise", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: GlobalOptions,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Labs(labs::Options),
    List(list::Options),
    Explain(explain::Options),
    Ptx(ptx::Options),
    Occupancy(occupancy::Options),
    #[command(hide = true)]
    FinishKernels(finish_kernels::Options),
}

/// Options of every command that runs the machine or speaks of a device.
#[derive(Args, Clone, Debug)]
pub struct GlobalOptions {
    /// The modelled GPU, such as "RTX 5070", H200 or A100
    #[arg(long, global = true, value_name = "NAME")]
    pub device: Option<String>,
    /// How a warp whose lanes disagree goes on
    #[arg(long, global = true, value_name = "converge|lockstep", default_value = "converge")]
    pub divergence: String,
    /// The order in which blocks start
    #[arg(long, global = true, value_name = "forward|reverse|random[:SEED]", default_value = "forward")]
    pub block_order: String,
    /// The code that the machine runs
    #[arg(long, global = true, value_name = "auto|ptx", default_value = "auto")]
    pub isa: String,
}
