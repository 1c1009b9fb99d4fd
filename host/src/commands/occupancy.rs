//! `occupancy`: the calculator, with every limit and the reason; or a table through it.

use std::io::Write;
use std::path::PathBuf;

use warpwise_simt::device::{Device, Limits};
use warpwise_simt::occupancy::{InvalidInput, Limiter, Occupancy, Request, batch, calculate, curve};

use super::{Outcome, read_text, write_text};
use crate::claim::format::{integer, percent};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::report::terminal;
use crate::schema;
use crate::workbench::device;

/// How many blocks fit an SM, and what keeps the number down
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Threads a block
    #[arg(long, value_name = "N", required_unless_present = "batch")]
    block: Option<i64>,
    /// Registers a thread
    #[arg(long, value_name = "N", required_unless_present = "batch")]
    regs: Option<i64>,
    /// Bytes of shared memory declared in the kernel
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    smem: i64,
    /// Bytes of shared memory asked for at the launch
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    dynamic: i64,
    /// Share of the SM's memory asked for as shared memory, percent; -1 leaves it to the system
    #[arg(long, value_name = "PERCENT", default_value_t = -1, allow_negative_numbers = true)]
    carveout: i32,
    /// Barriers the kernel uses
    #[arg(long, value_name = "N", default_value_t = 1)]
    barriers: i64,
    /// Answer a table of requests on standard output, tab-separated; its first columns are cc, block, regs, static_smem,
    /// dyn_smem, carveout, numbarriers
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["block", "regs", "json"])]
    batch: Option<PathBuf>,
    /// Write the answer as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    if let Some(path) = &options.batch {
        let table = read_text(path)?;
        let answer =
            batch::run(&table).map_err(|source| CommandError::Batch { path: path.display().to_string(), source })?;
        std::io::stdout().lock().write_all(answer.as_bytes())?;
        return Ok(Outcome::Good);
    }
    let device = device(global)?;
    let request = Request {
        static_shared_bytes: options.smem,
        dynamic_shared_bytes: options.dynamic,
        carveout_percent: options.carveout,
        barriers: options.barriers,
        ..Request::new(options.block.unwrap_or_default(), options.regs.unwrap_or_default())
    };
    let occupancy = calculate(&device.limits, &request)?;
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::occupancy(device, &request, &occupancy)))?;
    }
    print(device, &request, &occupancy)?;
    Ok(Outcome::Good)
}

fn print(device: &Device, request: &Request, occupancy: &Occupancy) -> Result<(), CommandError> {
    let Request { block_threads, registers, static_shared_bytes, dynamic_shared_bytes, .. } = request;
    let shared_bytes = static_shared_bytes + dynamic_shared_bytes;
    let mut terminal = terminal::stdout();
    terminal.line(&format!(
        "{} (compute capability {}): {} threads a block, {} registers a thread, {} bytes of shared memory a block\n",
        device.name,
        device.compute_capability,
        integer((*block_threads).into()),
        registers,
        integer(shared_bytes.into())
    ))?;
    let rows = Limiter::ALL.into_iter().filter_map(|limiter| {
        let blocks = occupancy.limits.get(limiter)?;
        let decides = if occupancy.decided_by(limiter) { "decides" } else { "" };
        let because = reason(limiter, &device.limits, request, occupancy);
        Some(vec![limiter.name().to_owned(), blocks.to_string(), decides.to_owned(), because])
    });
    terminal.rows(&["limit", "blocks", "", "because"].map(str::to_owned), rows)?;
    let warps = occupancy.warps_per_sm();
    let limiters: Vec<&str> = occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
    terminal.line(&format!(
        "\n{} blocks, {warps} of {} warps: {}, limited by {}",
        occupancy.blocks_per_sm,
        occupancy.max_warps_per_sm,
        percent(occupancy.theoretical()),
        limiters.join(" and ")
    ))?;
    for line in steps(&device.limits, request, occupancy)? {
        terminal.line(&line)?;
    }
    Ok(())
}

/// What the resource has and what a block takes of it.
pub(crate) fn reason(limiter: Limiter, limits: &Limits, request: &Request, occupancy: &Occupancy) -> String {
    let number = |value: i64| integer(value.into());
    let warps = number(occupancy.warps_per_block);
    match limiter {
        Limiter::Warps if request.block_threads > i64::from(limits.max_threads_per_block) => {
            format!("a block has {} threads at most", number(limits.max_threads_per_block.into()))
        }
        Limiter::Warps => format!("the SM holds {} warps, a block has {warps}", limits.max_warps_per_sm),
        Limiter::Registers => {
            let allocated = number(occupancy.allocated_registers_per_block);
            let file = number(limits.registers_per_sm.into());
            format!("the SM has {file}, a block takes {allocated} ({warps} warps)")
        }
        Limiter::SharedMemory => {
            let allocated = number(occupancy.allocated_shared_bytes_per_block);
            let carveout = number(occupancy.shared_carveout_bytes);
            let reserved = number(limits.shared_reserved_per_block_bytes.into());
            format!("the SM has {carveout} bytes, a block takes {allocated} ({reserved} of them the system's)")
        }
        Limiter::Blocks => format!("the SM holds {} blocks", limits.max_blocks_per_sm),
        Limiter::Barriers => {
            format!("the SM has {} barriers, a block takes {}", limits.barrier_slots, request.barriers)
        }
        Limiter::VirtualResources => "the SM's virtual resources".to_owned(),
    }
}

/// What the next register costs and the last one saves, where there is such a step.
pub(crate) fn steps(limits: &Limits, request: &Request, occupancy: &Occupancy) -> Result<Vec<String>, InvalidInput> {
    let share = |warps: i64| percent(warps as f64 / occupancy.max_warps_per_sm as f64);
    let mut lines = Vec::new();
    if let Some(cliff) = curve::next_cliff(limits, request)? {
        lines.push(format!("from {} registers on: {}", cliff.registers, share(cliff.warps_per_sm)));
    }
    if let Some(gain) = curve::next_gain(limits, request)? {
        lines.push(format!("with {} registers or fewer: {}", gain.registers, share(gain.warps_per_sm)));
    }
    Ok(lines)
}
