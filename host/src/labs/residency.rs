//! `residency`: how many blocks live at once?

use warpwise_kernels::vecadd::vecadd;
use warpwise_kernels::whoami::Identity;
use warpwise_simt::device::{self, ComputeCapability, Device, limits_of};
use warpwise_simt::occupancy::{Limiter, Request, calculate};
use warpwise_simt::timing::Placement;

use super::census::Census;
use crate::backend::LaunchShape;
use crate::claim::{Claim, equal, holds};
use crate::lab::{Axis, Lab, LabContext, LabError, Mark, Plot, Table};

pub static LAB: Lab = Lab {
    id: "residency",
    chapter: 3,
    sections: "ch3 §1–3",
    question: "how many blocks live at once?",
    kernels: &["whoami", "vecadd"],
    text: include_str!("../../../docs/labs/residency.md"),
    claims,
    run,
};

const GRID: &str = "ch3 §1";
const WARPS: &str = "ch3 §2";
const REGISTERS: &str = "ch3 §3";

/// The chapter's launch.
const BLOCKS: u32 = 1_024;
const BLOCK: u32 = 256;
/// Its block that is no whole number of warps.
const ODD_BLOCK: u32 = 250;
/// Its kernel of many registers.
const MANY_REGISTERS: u32 = 96;
/// The compute capabilities that the claims on registers are of: all give out registers alike.
const CAPABILITIES: [ComputeCapability; 3] =
    [ComputeCapability::new(8, 0), ComputeCapability::new(9, 0), ComputeCapability::new(12, 0)];
/// Shared memory with which one block of that kernel keeps the second out where there are 100 KB (CC 12.0).
const MUCH_SHARED: i64 = 60_000;
/// Devices that the chapter's launch is put on, the smaller first.
const DEVICES: [&str; 4] = ["RTX 5070", "A100 80GB SXM", "H200", "RTX 5090"];

fn claims() -> Vec<Claim> {
    vec![
        Claim::new("threads", GRID, "1,024 blocks of 256 threads: threads that drew a ticket", equal(262_144)),
        Claim::new("one_sm", GRID, "all threads of a block name the same SM", holds("each block has one SM")),
        Claim::new("waves", GRID, "blocks of it that an RTX 5070 holds at once, with 40 registers a thread", equal(288)),
        Claim::new("larger", GRID, "a larger GPU holds more of them at once, as does one whose SMs hold more", holds("slots rise"))
            .note("RTX 5070 288, A100 648, H200 792, RTX 5090 1,020"),
        Claim::new("warps", WARPS, "warps of a block of 256 threads", equal(8)),
        Claim::new("odd_warps", WARPS, "warps of a block of 250 threads", equal(8)),
        Claim::new("odd_lanes", WARPS, "lanes of the last of them", equal(26)),
        Claim::new("rounded_up", WARPS, "a block of T threads has T/32 warps, rounded up, for T from 1 to 1,024", holds("all do")),
        Claim::new("linear", WARPS, "in a block of 32 × 8 the warps are its rows: x varies fastest", holds("they are")),
        Claim::new("block_registers", REGISTERS, "registers of a block of 256 threads with 96 each", equal(24_576)),
        Claim::new("blocks_96", REGISTERS, "such blocks that 65,536 registers allow", equal(2)),
        Claim::new("odd_registers", REGISTERS, "registers of a block of 250 threads with 96 each", equal(24_576))
            .note("registers are given out by the warp, so the six lanes that are not there have theirs; R × T would say 24,000"),
        Claim::new("blocks_shared", REGISTERS, "with 60,000 bytes of shared memory besides, on CC 12.0", equal(1))
            .note("registers alone would allow 2: actual residency can be lower"),
        Claim::new("limiter", REGISTERS, "what decides then", equal(Limiter::SharedMemory.name())),
        Claim::new("seen", REGISTERS, "most blocks at once on an SM of the machine, 96 registers a thread", equal(2)).on_machine(),
        Claim::new("moves_in", REGISTERS, "a further block starts only when one has ended", holds("each did")).on_machine(),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    census(cx)?;
    calculator(cx)?;
    devices(cx)?;
    resident(cx)
}

/// Threads, blocks and warps by the threads' own account.
fn census(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let launch = Census::take(&gpu, LaunchShape::new([BLOCKS, 1, 1], [BLOCK, 1, 1]))?;
    cx.found("threads", launch.tickets_drawn);
    let split = launch.blocks().position(|block| block.iter().any(|thread| thread.sm != block[0].sm));
    cx.holds("one_sm", split.is_none(), format!("block {} is on two SMs", split.unwrap_or_default()));
    cx.found("warps", launch.warps().count() / BLOCKS as usize);
    let odd = Census::take(&gpu, LaunchShape::new([1, 1, 1], [ODD_BLOCK, 1, 1]))?;
    cx.found("odd_warps", odd.warps().count());
    cx.found("odd_lanes", odd.warps().last().map_or(0, <[Identity]>::len));
    let rows = Census::take(&gpu, LaunchShape::new([1, 1, 1], [32, 8, 1]))?;
    let straight =
        rows.warps().enumerate().all(|(row, warp)| warp.iter().all(|thread| thread.thread_idx[1] as usize == row));
    cx.holds("linear", straight, "a warp has threads of two rows");
    Ok(())
}

/// What follows from the limits of a compute capability.
fn calculator(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let limits = |version| limits_of(version).map_err(|error| LabError::Other(error.to_string()));
    let request = |threads: u32| Request::new(threads.into(), MANY_REGISTERS.into());
    let mut table = Table::new(
        "96 registers a thread",
        ["compute capability", "threads a block", "registers a block", "blocks by registers", "blocks", "limiter"],
    );
    let mut same = Vec::new();
    for version in CAPABILITIES {
        for threads in [BLOCK, ODD_BLOCK] {
            let occupancy = calculate(limits(version)?, &request(threads))?;
            let by_registers = occupancy.limits.registers.unwrap_or(0);
            let limiters: Vec<&str> = occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
            same.push((threads, occupancy.allocated_registers_per_block, by_registers));
            table.row([
                version.to_string().into(),
                threads.into(),
                occupancy.allocated_registers_per_block.into(),
                by_registers.into(),
                occupancy.blocks_per_sm.into(),
                limiters.join(", ").into(),
            ]);
        }
    }
    cx.table(table);
    same.sort_unstable();
    same.dedup();
    // One answer for each block size, whatever the compute capability.
    let [(_, odd, _), (_, registers, blocks)] = same[..] else {
        return Err(LabError::Other(format!("compute capabilities give out registers differently: {same:?}")));
    };
    cx.found("block_registers", registers);
    cx.found("odd_registers", odd);
    cx.found("blocks_96", blocks);
    let newest = limits(CAPABILITIES[2])?;
    let shared = calculate(newest, &Request { dynamic_shared_bytes: MUCH_SHARED, ..request(BLOCK) })?;
    cx.found("blocks_shared", shared.blocks_per_sm);
    cx.found("limiter", shared.limiters.iter().map(|limiter| limiter.name()).collect::<Vec<_>>().join(", "));
    let mut wrong = None;
    for threads in 1..=1_024_i64 {
        let warps = calculate(newest, &Request::new(threads, 32))?.warps_per_block;
        if warps != (threads + 31) / 32 {
            wrong.get_or_insert(format!("{threads} threads have {warps} warps"));
        }
    }
    cx.holds("rounded_up", wrong.is_none(), wrong.unwrap_or_default());
    lanes_lost(cx);
    Ok(())
}

/// The share of a block's lanes that no thread has, by its size.
fn lanes_lost(cx: &mut LabContext<'_>) {
    let lost = |threads: u32| 100.0 * (1.0 - f64::from(threads) / f64::from(threads.next_multiple_of(32)));
    let points = (1..=BLOCK).map(|threads| (f64::from(threads), lost(threads)));
    let (x, y) = (Axis::linear("threads a block"), Axis::linear("lanes without a thread (%)"));
    cx.plot(Plot::new("What a block that is no whole number of warps wastes", x, y).series("lost", Mark::Line, points));
}

/// The same launch on GPUs of several sizes.
fn devices(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let mut table = Table::new(
        "1,024 blocks of 256 threads with 40 registers: residents and waves",
        ["device", "SMs", "blocks an SM", "blocks at once", "waves"],
    );
    let mut slots = Vec::new();
    for name in DEVICES {
        let device: &Device = device::find(name)?;
        let blocks = calculate(&device.limits, &Request::new(BLOCK.into(), 40))?.blocks_per_sm;
        let at_once = blocks * i64::from(device.sm_count);
        table.row([
            name.into(),
            device.sm_count.into(),
            blocks.into(),
            at_once.into(),
            (f64::from(BLOCKS) / at_once as f64).into(),
        ]);
        slots.push(at_once);
    }
    cx.table(table);
    cx.found("waves", slots[0]);
    cx.holds("larger", slots.is_sorted() && slots[0] < slots[1], format!("{slots:?}"));
    Ok(())
}

/// A launch of blocks that take 96 registers a thread, as the machine placed them.
fn resident(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.machine(cx.device(), cx.options())?;
    let blocks = 4 * gpu.device().sm_count;
    let n = blocks * BLOCK;
    let [a, b, c] = [gpu.zeros::<f32>(n as usize)?, gpu.zeros(n as usize)?, gpu.zeros(n as usize)?];
    let args = (a.ptr(), b.ptr(), c.ptr(), n);
    let report = gpu.profile(&vecadd, LaunchShape::linear(n, BLOCK), Some(MANY_REGISTERS), args)?;
    let placements = report.timing.map(|timing| timing.placements).unwrap_or_default();
    let most = (0..gpu.device().sm_count).map(|sm| at_once(&placements, sm)).max().unwrap_or(0);
    cx.found("seen", most);
    let early = (0..gpu.device().sm_count).find(|&sm| !in_turn(&placements, sm, most));
    cx.holds("moves_in", early.is_none(), format!("not on SM {}", early.unwrap_or_default()));
    Ok(())
}

/// Most blocks that were on an SM at a time.
fn at_once(placements: &[Placement], sm: u32) -> usize {
    let here: Vec<&Placement> = placements.iter().filter(|block| block.sm == sm).collect();
    let alive = |at: u64| here.iter().filter(|block| block.start_cycle <= at && at < block.end_cycle).count();
    here.iter().map(|block| alive(block.start_cycle)).max().unwrap_or(0)
}

/// Whether each block beyond the first `places` of an SM started when enough of those before it had ended.
fn in_turn(placements: &[Placement], sm: u32, places: usize) -> bool {
    let mut here: Vec<&Placement> = placements.iter().filter(|block| block.sm == sm).collect();
    here.sort_by_key(|block| block.start_cycle);
    let ended = |at: u64| here.iter().filter(|block| block.end_cycle <= at).count();
    here.iter().enumerate().skip(places).all(|(index, block)| ended(block.start_cycle) + places > index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(spans: &[(u64, u64)]) -> Vec<Placement> {
        let block = |(block, &(start_cycle, end_cycle)): (usize, &(u64, u64))| Placement {
            block: block as u64,
            sm: 0,
            start_cycle,
            end_cycle,
        };
        spans.iter().enumerate().map(block).collect()
    }

    #[test]
    fn a_block_that_starts_where_another_ends_is_not_there_at_the_same_time() {
        assert_eq!(at_once(&blocks(&[(0, 10), (10, 20), (0, 12)]), 0), 2);
        assert_eq!(at_once(&blocks(&[(0, 10)]), 1), 0);
    }

    #[test]
    fn a_third_block_before_one_of_two_has_ended_is_not_in_turn() {
        assert!(in_turn(&blocks(&[(0, 10), (0, 12), (10, 20), (12, 22)]), 0, 2));
        assert!(!in_turn(&blocks(&[(0, 10), (0, 12), (9, 20)]), 0, 2));
    }
}
