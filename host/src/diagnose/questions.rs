//! The questions, each with the numbers that answer it.

use warpwise_simt::timing::Stall;

use super::finding::share_of_copy;
use super::{Answer, Facts};
use crate::claim::format::{integer, percent};

fn whole(value: f64) -> String {
    integer(value.round() as i128)
}

fn over(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

/// The six steps of chapter 3.
pub(super) fn steps(facts: &Facts) -> Vec<Answer> {
    vec![blocks(facts), warps(facts), homes(facts), pressure(facts), traffic(facts), roofline(facts)]
}

fn blocks(facts: &Facts) -> Answer {
    let blocks = facts.shape.blocks();
    let slots = u64::from(facts.device.sm_count) * facts.occupancy.blocks_per_sm.max(1) as u64;
    let waves = blocks as f64 / slots as f64;
    let shared = match (&facts.blocks_race, facts.races) {
        (Some(race), _) => format!("blocks touch the same bytes without an order: {race}"),
        (None, 0) => "no two blocks touch the same bytes without an order: they are independent".to_owned(),
        (None, races) => format!("blocks are independent; {races} races within blocks"),
    };
    Answer {
        question: "how is work mapped to blocks?",
        lines: vec![
            format!(
                "{} blocks of {} threads on {} SMs, {} at once: {waves:.2} waves",
                integer(blocks.into()),
                facts.shape.block_threads(),
                facts.device.sm_count,
                integer(slots.into())
            ),
            shared,
        ],
    }
}

fn warps(facts: &Facts) -> Answer {
    let threads = facts.shape.block_threads();
    let idle = threads.div_ceil(32) * 32 - threads;
    let lanes = facts.count("smsp__average_thread_inst_executed_per_inst_executed.ratio");
    let (branches, divergent) = (
        facts.count("smsp__sass_inst_executed_op_branch.sum"),
        facts.count("smsp__sass_branch_targets_threads_divergent.sum"),
    );
    Answer {
        question: "how are a block's threads mapped to warps?",
        lines: vec![
            match idle {
                0 => format!("{} full warps a block", threads / 32),
                idle => format!("{} warps a block, {idle} lanes of the last one idle", threads.div_ceil(32)),
            },
            format!(
                "{lanes:.1} of 32 lanes active on average; {} of {} branches divided a warp",
                whole(divergent),
                whole(branches)
            ),
        ],
    }
}

fn homes(facts: &Facts) -> Answer {
    let (hit, miss) = (facts.timing.traffic.l1_hit_sectors as f64, facts.timing.traffic.l1_miss_sectors as f64);
    let l2 = &facts.timing.traffic.l2;
    let shared = facts.count("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    let local = facts.count("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum")
        + facts.count("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum");
    let conflicts = facts.count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
    let registers = facts.resources.registers;
    Answer {
        question: "where do values live?",
        lines: vec![
            format!("registers: {} a thread ({})", registers.value(), registers.source()),
            format!("shared memory: {} passes, {} of them bank conflicts", whole(shared), whole(conflicts)),
            format!(
                "caches: L1 has {} of the sectors that loads want, L2 {} of the rest",
                percent(over(hit, hit + miss)),
                percent(over(l2.hit_sectors as f64, (l2.hit_sectors + l2.miss_sectors) as f64))
            ),
            format!("local memory: {} sectors", whole(local)),
        ],
    }
}

fn pressure(facts: &Facts) -> Answer {
    let (resources, occupancy) = (&facts.resources, &facts.occupancy);
    let limiters: Vec<&str> = occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
    let threads = facts.shape.block_threads();
    let spills = resources.spill_store_bytes + resources.spill_load_bytes;
    Answer {
        question: "what does a block take of its SM?",
        lines: vec![
            format!(
                "{} registers × {threads} threads, allocated as {}; {} bytes of shared memory",
                resources.registers.value(),
                integer(occupancy.allocated_registers_per_block.into()),
                integer((resources.static_shared_bytes + facts.shape.dynamic_shared_bytes).into())
            ),
            format!(
                "{} blocks an SM, {} of its warps, limited by {}; {} reached",
                occupancy.blocks_per_sm,
                percent(occupancy.theoretical()),
                limiters.join(" and "),
                percent(facts.timing.achieved_occupancy)
            ),
            format!("spills: {spills} bytes a thread"),
        ],
    }
}

fn traffic(facts: &Facts) -> Answer {
    let per = |op: &str| {
        let of = |what: &str| facts.count(&format!("l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"));
        (of("requests"), over(of("sectors"), of("requests")))
    };
    let ((loads, of_load), (stores, of_store)) = (per("ld"), per("st"));
    let (touched, ideal) = (
        facts.count("memory_l2_theoretical_sectors_global"),
        facts.count("memory_l2_theoretical_sectors_global_ideal"),
    );
    let again = over(facts.referenced_bytes as f64, facts.least_bytes() as f64);
    Answer {
        question: "what do loads and stores of global memory look like?",
        lines: vec![
            format!(
                "{} loads of {of_load:.1} sectors, {} stores of {of_store:.1}; {:.2} times the fewest for as many bytes",
                whole(loads),
                whole(stores),
                over(touched, ideal)
            ),
            format!("each byte is asked for {again:.1} times"),
        ],
    }
}

fn roofline(facts: &Facts) -> Answer {
    let (flops, bytes) = (facts.flops(), facts.dram_bytes().max(1.0));
    let ceilings = &facts.ceilings;
    let ridge = ceilings.fma.giga_per_second() / ceilings.copy.giga_per_second();
    let intensity = flops / bytes;
    let side = if intensity < ridge { "left of it: memory is the roof" } else { "right of it: arithmetic is the roof" };
    let us = facts.execution_us().max(f64::MIN_POSITIVE);
    Answer {
        question: "where is it under the roofline?",
        lines: vec![
            format!("{intensity:.2} operations a byte of DRAM; the ridge is at {ridge:.1}; {side}"),
            format!(
                "{} of the multiply-add rate, {} of the copy's bandwidth",
                percent(flops / us / 1e3 / ceilings.fma.giga_per_second()),
                percent(share_of_copy(facts))
            ),
        ],
    }
}

/// The three questions of chapter 4.
pub(super) fn checklist(facts: &Facts) -> Vec<Answer> {
    vec![least(facts), moved(facts), busy(facts)]
}

fn least(facts: &Facts) -> Answer {
    Answer {
        question: "how many bytes must move?",
        lines: vec![format!(
            "{} at least: {} read, {} written, each once",
            integer(facts.least_bytes().into()),
            integer(facts.least_read_bytes.into()),
            integer(facts.least_written_bytes.into())
        )],
    }
}

fn moved(facts: &Facts) -> Answer {
    let least = facts.least_bytes() as f64;
    let (l2, dram) = (facts.l2_bytes(), facts.dram_bytes());
    Answer {
        question: "how many bytes do move?",
        lines: vec![
            format!("{} between SMs and L2: {:.2} times the least", whole(l2), over(l2, least)),
            format!("{} between L2 and DRAM: {:.2} times the least", whole(dram), over(dram, least)),
        ],
    }
}

fn busy(facts: &Facts) -> Answer {
    let us = facts.execution_us().max(f64::MIN_POSITIVE);
    let stalls = &facts.timing.stalls;
    let all = stalls.total().max(1) as f64;
    let mut reasons: Vec<(Stall, u64)> = Stall::ALL.into_iter().map(|stall| (stall, stalls.get(stall))).collect();
    reasons.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let reasons: Vec<String> = reasons
        .iter()
        .take(4)
        .filter(|(_, cycles)| *cycles > 0)
        .map(|(stall, cycles)| format!("{} {}", stall.name(), percent(*cycles as f64 / all)))
        .collect();
    Answer {
        question: "is the memory kept busy?",
        lines: vec![
            format!(
                "{:.0} GB/s of DRAM, {} of what a copy reaches; blocks ran for {us:.1} µs by the model ({})",
                facts.dram_bytes() / us / 1e3,
                percent(share_of_copy(facts)),
                facts.isa_word()
            ),
            format!(
                "{} of the issue slots used; warps are: {}",
                percent(facts.timing.issue_utilisation()),
                reasons.join(", ")
            ),
        ],
    }
}
