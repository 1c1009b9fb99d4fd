//! `trace`: what does warp 0 do, step by step? A launch of `vecadd` is watched in the cycle model, and the steps of the chapter are found
//! among what the warp issued.

use warpwise_kernels::vecadd::vecadd;
use warpwise_simt::isa::{AluKind, Op, Program, Space};
use warpwise_simt::timing::Issued;

use super::counters::{LOAD_REQUESTS, LOAD_SECTORS, STORE_REQUESTS, STORE_SECTORS, ratio, record};
use super::life::recording::{Recording, Shared};
use crate::backend::{BackendKind, LaunchShape};
use crate::claim::format::integer;
use crate::claim::{Claim, at_least, equal, holds, less_than};
use crate::lab::{Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "trace",
    chapter: 3,
    sections: "ch3",
    question: "what does warp 0 do, step by step?",
    kernels: &["vecadd"],
    text: include_str!("../../../docs/labs/trace.md"),
    claims,
    run,
};

const BLOCK: u32 = 256;
const N: u32 = 1 << 17;

fn claims() -> Vec<Claim> {
    let machine = |id, statement, relation| Claim::new(id, "ch3", statement, relation).on_machine();
    vec![
        machine(
            "order",
            "identity, addresses, loads, addition, store: in this order",
            holds("each step follows the one before"),
        ),
        machine("loads", "loads that warp 0 issues", equal(2)),
        machine("sectors", "sectors of each: neighbours ask for neighbours", equal(4)),
        machine("store_sectors", "and of the store", equal(4)),
        machine("between", "cycles between the two loads: the first does not stall the warp", less_than(32.0)),
        machine("arrival", "cycles until the later of the two is there", at_least(100.0)),
        machine("waits", "the addition issues when both are there, and not before", holds("after the later one")),
        machine("others", "instructions that its scheduler issues for other warps meanwhile", at_least(1.0)),
        machine("resident", "warps resident on an SM, of whose registers none moved", at_least(2.0)),
        machine(
            "store",
            "cycles between the store and the next instruction: the store does not stall the warp",
            less_than(32.0),
        ),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    if gpu.kind() != BackendKind::Sim {
        return Ok(());
    }
    let shape = LaunchShape::linear(N, BLOCK);
    let [a, b, c] = [(); 3].map(|()| gpu.zeros::<f32>(N as usize));
    let (a, b, c) = (a?, b?, c?);
    let registers = cx.resources(vecadd.name, &gpu.device().arch)?.registers.value();
    let shared = Shared::new(Recording::of(0, 0));
    let args = (a.ptr(), b.ptr(), c.ptr(), N);
    let report = gpu.watch(&vecadd, shape, Some(registers), args, Box::new(shared.clone()))?;
    let recording = shared.take();
    let program = cx.bench().executed(vecadd.name)?;
    record(cx, "sectors", ratio(&report, LOAD_SECTORS, LOAD_REQUESTS));
    record(cx, "store_sectors", ratio(&report, STORE_SECTORS, STORE_REQUESTS));
    if let Some(timing) = &report.timing {
        let warps = timing.achieved_occupancy * f64::from(gpu.device().limits.max_warps_per_sm);
        cx.found("resident", warps);
    }
    steps(cx, &program, &recording);
    Ok(())
}

/// The steps that a chapter tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Identity,
    Address,
    Load,
    Add,
    Store,
    Other,
}

impl Step {
    fn of(program: &Program, issued: &Issued) -> Self {
        match program.code.get(issued.pc as usize).map(|instr| instr.op) {
            Some(Op::Special(_)) => Self::Identity,
            Some(Op::Load(access)) if matches!(access.space, Space::Global | Space::Generic) => Self::Load,
            Some(Op::Store(_)) => Self::Store,
            Some(Op::Alu(alu)) if alu.kind == AluKind::Add && alu.ty == warpwise_simt::isa::Ty::F32 => Self::Add,
            Some(Op::Alu(_)) => Self::Address,
            _ => Self::Other,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Address => "index and addresses",
            Self::Load => "load",
            Self::Add => "addition",
            Self::Store => "store",
            Self::Other => "",
        }
    }
}

fn steps(cx: &mut LabContext<'_>, program: &Program, recording: &Recording) {
    let steps: Vec<(Step, &Issued)> =
        recording.issued.iter().map(|issued| (Step::of(program, issued), issued)).collect();
    let all =
        |step| steps.iter().filter(move |(of, _)| *of == step).map(|(_, issued)| **issued).collect::<Vec<Issued>>();
    let (identity, loads, adds, stores) = (all(Step::Identity), all(Step::Load), all(Step::Add), all(Step::Store));
    cx.found("loads", loads.len());
    show(cx, program, recording, &steps);
    let ([first, .., second], Some(add), Some(store)) = (&loads[..], adds.last(), stores.last()) else {
        let found = format!("{} loads, {} additions, {} stores", loads.len(), adds.len(), stores.len());
        return cx.holds("order", false, found);
    };
    let mut before = all(Step::Address).into_iter().filter(|issued| issued.cycle < first.cycle);
    let addressed = before.next_back().map_or(0, |issued| issued.cycle);
    let named = identity.first().map_or(0, |issued| issued.cycle);
    let order = [named, addressed, first.cycle, second.cycle, add.cycle, store.cycle];
    cx.holds("order", order.is_sorted() && !identity.is_empty(), format!("cycles {order:?}"));
    cx.found("between", (second.cycle - first.cycle) as f64);
    let arrived = recording.arrived.iter().map(|arrived| arrived.ready_cycle).max().unwrap_or(second.cycle);
    cx.found("arrival", arrived.saturating_sub(first.cycle) as f64);
    cx.holds("waits", add.cycle >= arrived, format!("data at {arrived}, the addition at {}", add.cycle));
    let meanwhile = |cycle: &&u64| (second.cycle..add.cycle).contains(*cycle);
    cx.found("others", recording.others.iter().filter(meanwhile).count());
    let next = recording.issued.iter().map(|issued| issued.cycle).find(|cycle| *cycle > store.cycle);
    match next {
        Some(next) => cx.found("store", (next - store.cycle) as f64),
        None => cx.not_run("store", "the store is the warp's last instruction"),
    }
}

fn show(cx: &mut LabContext<'_>, program: &Program, recording: &Recording, steps: &[(Step, &Issued)]) {
    let mut table =
        Table::new("warp 0 of block 0", ["cycle", "step", "instruction", "data at", "issued for others since"]);
    let mut last = 0;
    for (step, issued) in steps {
        let arrives =
            recording.arrived.iter().find(|arrived| (arrived.pc, arrived.issue_cycle) == (issued.pc, issued.cycle));
        let others = recording.others.iter().filter(|cycle| (last..issued.cycle).contains(*cycle)).count();
        last = issued.cycle;
        table.row([
            integer(issued.cycle.into()).into(),
            step.words().into(),
            program.info.get(issued.pc as usize).map_or_else(String::new, |info| info.text.to_string()).into(),
            arrives.map_or_else(String::new, |arrived| integer(arrived.ready_cycle.into())).into(),
            others.to_string().into(),
        ]);
    }
    cx.table(table);
}
