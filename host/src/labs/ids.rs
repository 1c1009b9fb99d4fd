//! `ids`: who knows what?

use warpwise_kernels::whoami::{Identity, whoami};
use warpwise_simt::device;
use warpwise_simt::machine::BlockOrder;

use super::census::Census;
use crate::backend::{BackendKind, Gpu, LaunchShape, MachineOptions};
use crate::claim::{Claim, equal, holds};
use crate::lab::{Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "ids",
    chapter: 1,
    sections: "ch1 §3–4",
    question: "who knows what?",
    kernels: &["whoami"],
    text: include_str!("../../../docs/labs/ids.md"),
    claims,
    run,
};

/// Blocks whose size is no multiple of a warp's.
const ODD: (u32, u32) = (12, 250);

/// Blocks in two and three dimensions whose x size is no multiple of 32, and one whose is.
const SQUARE: [u32; 3] = [16, 16, 1];
const ODD_BOX: [u32; 3] = [5, 7, 3];
const WIDE: [u32; 3] = [32, 8, 1];

/// Blocks of 256 threads that are spread over all SMs.
const MANY: (u32, u32) = (1024, 256);

/// Blocks that are started in three orders.
const ORDERED: (u32, u32) = (128, 256);

fn claims() -> Vec<Claim> {
    let of = |section, id, statement, relation| Claim::new(id, section, statement, relation);
    let section = "ch1 §3";
    vec![
        of(section, "thread_5", "12 blocks: threads in which threadIdx.x = 5 is true", equal(12)),
        of(section, "thread_5_a_block", "they are one in each block", holds("each block has one")),
        of(
            section,
            "unique",
            "blockIdx.x · blockDim.x + threadIdx.x numbers 3,000 threads without gap or repetition",
            holds("it does"),
        ),
        of(section, "warps", "warps of 12 blocks of 250 threads, 8 a block", equal(96)),
        of(section, "last_warp", "lanes of the last warp of such a block", equal(26)),
        of(section, "lane_1d", "threads of them whose lane is not threadIdx.x % 32", equal(0))
            .note("the chapter asks for a multiple of 32, which a 1-D block does not need"),
        of("ch1 §4", "linear_2d", "blocks of 16×16: threads whose lane is not tid % 32 by the linear tid", equal(0)),
        of("ch1 §4", "linear_3d", "blocks of 5×7×3: threads whose lane is not tid % 32", equal(0)),
        of("ch1 §4", "trap_2d", "a block of 16×16: threads of 256 whose lane is not threadIdx.x % 32", equal(128)),
        of("ch1 §4", "trap_same", "threads of one warp there that have the same threadIdx.x % 32", equal(2)),
        of("ch1 §4", "trap_wide", "blocks of 32×8: threads whose lane is not threadIdx.x % 32", equal(0)),
        of(section, "tickets", "the tickets are a permutation of 0 … 262,143", holds("each is drawn once")),
        of(section, "tickets_drawn", "where the counter ends: the number of threads", equal(262_144)),
        of(
            section,
            "orders",
            "blocks started forward, in reverse and at random give the same results",
            holds("they do"),
        )
        .on_machine(),
        of(section, "orders_differ", "although another block drew the first ticket", holds("it did")).on_machine(),
        of(section, "one_block", "SMs of 48 that one block of 1,024 threads leaves idle", equal(47))
            .on_device("RTX 5070"),
        of(section, "all_sms", "SMs that 1,024 blocks of 256 use", equal(48)).on_device("RTX 5070"),
        of(section, "larger_sms", "SMs of an RTX 5090 that the same PTX uses", equal(170)).on_machine(),
        of(section, "larger_results", "with the same results", holds("they are the same")).on_machine(),
        of(section, "larger_slots", "slots for the 1,024 blocks there", equal(1020))
            .note("so four blocks wait for a second wave")
            .recorded(),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    one_dimension(cx, &gpu)?;
    more_dimensions(cx, &gpu)?;
    let many = many_blocks(cx, &gpu)?;
    if gpu.kind() == BackendKind::Sim {
        block_orders(cx)?;
        larger_device(cx, &many)?;
    }
    Ok(())
}

fn one_dimension(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let (blocks, threads) = ODD;
    let census = Census::take(gpu, LaunchShape::new([blocks, 1, 1], [threads, 1, 1]))?;
    let fives: Vec<usize> =
        census.blocks().map(|block| block.iter().filter(|thread| thread.thread_idx[0] == 5).count()).collect();
    cx.found("thread_5", fives.iter().sum::<usize>());
    cx.holds("thread_5_a_block", fives.iter().all(|&count| count == 1), format!("by block: {fives:?}"));
    let mut indices: Vec<u32> = census.identities.iter().map(|thread| thread.index_1d).collect();
    indices.sort_unstable();
    let gap = indices.iter().zip(0..).find(|(found, expected)| **found != *expected);
    cx.holds("unique", gap.is_none(), format!("{gap:?} are the first index and what it should be"));
    let last = census.blocks().next().and_then(|block| block.chunk_by(|_, next| next.lane != 0).last());
    cx.found("last_warp", last.map_or(0, <[Identity]>::len));
    cx.found("lane_1d", wrong(&census, |thread| thread.thread_idx[0] % 32));
    cx.found("warps", census.warps().count());
    who_shares_what(cx, &census);
    Ok(())
}

/// One thing that a thread knows of itself.
type Known = fn(&Identity) -> u32;

/// The chapter's table, from the run: in how many threads of the launch each value occurs.
fn who_shares_what(cx: &mut LabContext<'_>, census: &Census) {
    let mut table = Table::new(
        "12 blocks of 250 threads: how many threads have the value of thread 5 of block 1",
        ["value", "of that thread", "threads that have it"],
    );
    let Some(example) = census.blocks().nth(1).and_then(|block| block.get(5)) else {
        return;
    };
    let values: [(&str, Known); 5] = [
        ("threadIdx.x", |thread| thread.thread_idx[0]),
        ("blockIdx.x", |thread| thread.block_idx[0]),
        ("warp of its block", |thread| thread.warp),
        ("lane", |thread| thread.lane),
        ("blockIdx.x * blockDim.x + threadIdx.x", |thread| thread.index_1d),
    ];
    for (name, value) in values {
        let sharing = census.identities.iter().filter(|thread| value(thread) == value(example)).count();
        table.row([name.into(), value(example).into(), sharing.into()]);
    }
    cx.table(table);
}

fn more_dimensions(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let census = |block| Census::take(gpu, LaunchShape::new([3, 2, 1], block));
    let linear = |thread: &Identity| thread.linear_tid % 32;
    let shortcut = |thread: &Identity| thread.thread_idx[0] % 32;
    let square = census(SQUARE)?;
    cx.found("linear_2d", wrong(&square, linear));
    cx.found("linear_3d", wrong(&census(ODD_BOX)?, linear));
    let blocks = square.blocks().count();
    cx.found("trap_2d", wrong(&square, shortcut) / blocks);
    let believers =
        square.warps().map(|warp| warp.iter().filter(|thread| shortcut(thread) == shortcut(&warp[0])).count());
    cx.found("trap_same", believers.max().unwrap_or(0));
    cx.found("trap_wide", wrong(&census(WIDE)?, shortcut));
    Ok(())
}

/// Threads whose lane is not what `lane` says.
fn wrong(census: &Census, lane: impl Fn(&Identity) -> u32) -> usize {
    census.identities.iter().filter(|thread| thread.lane != lane(thread)).count()
}

fn many_blocks(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Census, LabError> {
    let (blocks, threads) = MANY;
    let shape = LaunchShape::new([blocks, 1, 1], [threads, 1, 1]);
    let census = Census::take(gpu, shape)?;
    let mut tickets: Vec<u32> = census.identities.iter().map(|thread| thread.ticket).collect();
    tickets.sort_unstable();
    let missing = tickets.iter().zip(0..).find(|(found, expected)| **found != *expected);
    cx.holds("tickets", missing.is_none(), format!("{missing:?} are the first ticket and what it should be"));
    cx.found("tickets_drawn", census.tickets_drawn);
    cx.found("all_sms", census.sms());
    let one = Census::take(gpu, LaunchShape::linear(1024, 1024))?;
    cx.found("one_block", gpu.device().sm_count as usize - one.sms());
    Ok(census)
}

fn block_orders(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let (blocks, threads) = ORDERED;
    let shape = LaunchShape::new([blocks, 1, 1], [threads, 1, 1]);
    let mut table = Table::new("who drew the first ticket", ["block order", "block", "thread"]);
    let mut results: Vec<Vec<Identity>> = Vec::new();
    let mut firsts = Vec::new();
    for (name, block_order) in
        [("forward", BlockOrder::Forward), ("reverse", BlockOrder::Reverse), ("random:1", BlockOrder::Random(1))]
    {
        let gpu = cx.machine(cx.device(), MachineOptions { block_order, ..cx.options() })?;
        let census = Census::take(&gpu, shape)?;
        let first = census.identities.iter().find(|thread| thread.ticket == 0).copied();
        let first = first.ok_or_else(|| LabError::Other("nobody drew ticket 0".to_owned()))?;
        table.row([name.into(), first.block_idx[0].into(), first.thread_idx[0].into()]);
        firsts.push(first.block_idx[0]);
        results.push(without_luck(&census));
    }
    cx.table(table);
    let same = results.windows(2).all(|pair| pair[0] == pair[1]);
    cx.holds("orders", same, "a thread knew something else of itself in another order");
    cx.holds("orders_differ", firsts[0] != firsts[1], format!("first tickets went to the blocks {firsts:?}"));
    Ok(())
}

/// What each thread knows that does not depend on where and when it ran.
fn without_luck(census: &Census) -> Vec<Identity> {
    census.identities.iter().map(|thread| Identity { sm: 0, ticket: 0, ..*thread }).collect()
}

fn larger_device(cx: &mut LabContext<'_>, on_this: &Census) -> Result<(), LabError> {
    let (blocks, threads) = MANY;
    let shape = LaunchShape::new([blocks, 1, 1], [threads, 1, 1]);
    let larger = device::find("RTX 5090")?;
    let census = Census::take(&cx.machine(larger, cx.options())?, shape)?;
    cx.found("larger_sms", census.sms());
    cx.holds(
        "larger_results",
        without_luck(&census) == without_luck(on_this),
        "a thread knew something else of itself there",
    );
    let occupancy = cx.resources(whoami.name, &larger.arch())?.occupancy(&larger.limits, shape)?;
    cx.found("larger_slots", occupancy.blocks_per_sm * i64::from(larger.sm_count));
    Ok(())
}
