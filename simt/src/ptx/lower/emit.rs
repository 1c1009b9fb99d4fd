//! The finished [`Program`]: slots in place of registers, steps in place of labels.

use std::sync::Arc;

use super::Lowering;
use super::code::{Code, PredRead, Read, Step};
use crate::isa::{Instr, InstrInfo, Isa, Op, Pc, Pred, PredOperand, PredSrc, Program, Slot, Src};
use crate::ptx::Module;
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::flow::{Flow, analyse};

pub(super) fn program(module: &Module, entry: usize, lowering: Lowering<'_>) -> Outcome<Program> {
    let Lowering { mut code, shared, params, local_bases, barrier_count, .. } = lowering;
    let flow = analyse(&code).map_err(|problem| at_entry(module, entry, problem))?;
    let local_bytes = local_bases.iter().zip(&code.functions).map(|(base, part)| base + part.local_bytes).max();
    resolve(&mut code, &flow);
    let function = &module.listing.functions[entry];
    let bounds = function.bounds;
    let label = |label: &_| code.target(*label);
    Ok(Program {
        name: module.source.slice(function.name.span).to_owned(),
        isa: Isa::Ptx,
        info: code.steps.iter().map(|step| info(module, step)).collect(),
        control: Vec::new(),
        banks: Vec::new(),
        tables: code.tables.iter().map(|labels| labels.iter().map(label).collect()).collect(),
        code: code.steps.iter().map(|step| instruction(step, &flow)).collect(),
        params,
        constants: code.constants.words,
        slot_count: flow.slot_count,
        pred_count: flow.pred_count,
        shared_reserved_bytes: 0,
        shared_static_bytes: shared.static_bytes as u32,
        shared_dynamic_offset: shared.dynamic_offset as u32,
        local_bytes: local_bytes.unwrap_or(0) as u32,
        max_threads: bounds.max_threads,
        required_threads: bounds.required_threads,
        min_blocks_per_sm: bounds.min_blocks_per_sm,
        max_registers: bounds.max_registers,
        estimated_registers: flow.peak_registers,
        barrier_count,
        files: module.listing.file_names.clone(),
    })
}

/// A problem of the kernel as a whole is shown at its name.
fn at_entry(module: &Module, entry: usize, problem: Problem) -> Problem {
    Problem { span: module.listing.functions[entry].name.span, ..problem }
}

/// Fills in the targets of branches and calls.
fn resolve(code: &mut Code, flow: &Flow) {
    for at in 0..code.steps.len() {
        let Some(label) = code.steps[at].label else { continue };
        let to = code.target(label);
        if let Op::Branch { target, .. } = &mut code.steps[at].op {
            *target = to;
        }
    }
    for &(branch, meets) in &flow.reconverge {
        if let Op::Branch { reconverge, .. } | Op::BranchIndexed { reconverge, .. } =
            &mut code.steps[branch as usize].op
        {
            *reconverge = Some(meets);
        }
    }
    let starts: Vec<Pc> = code.functions.iter().map(|function| function.start).collect();
    let calls: Vec<_> = code.functions.iter().flat_map(|function| function.calls.clone()).collect();
    for (at, callee) in calls {
        if let Op::Call { target } = &mut code.steps[at as usize].op {
            *target = starts[callee as usize];
        }
    }
}

fn instruction(step: &Step, flow: &Flow) -> Instr {
    let source = |read: Read| match read {
        Read::None => Src::NONE,
        Read::Constant(index) => Src::constant(index),
        Read::Register { register, word } => Src::slot(Slot(flow.slots[register.0 as usize] + word)),
    };
    let predicate =
        |read: PredRead| PredSrc { pred: Pred(flow.predicates[read.predicate.0 as usize]), negate: read.negate };
    let mut op = step.op;
    if let Op::Alu(alu) = &mut op {
        alu.mods.pa = PredOperand(predicate(step.pa));
    }
    Instr {
        op,
        guard: predicate(step.guard),
        dst: step.dst.map(|write| write.map(|write| Slot(flow.slots[write.register.0 as usize] + write.word))),
        pdst: step.pdst.map(|written| written.map(|written| Pred(flow.predicates[written.0 as usize]))),
        src: step.src.map(source),
        psrc: predicate(step.psrc),
        addr: source(step.addr),
        offset: step.offset,
        index: Src::NONE,
    }
}

fn info(module: &Module, step: &Step) -> InstrInfo {
    let text = module.source.slice(step.span);
    let text: Arc<str> = match text.contains(['\n', '\t']) {
        true => text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
        false => text.into(),
    };
    InstrInfo { text, listing_line: module.source.line(step.span.start), source: step.place.clone() }
}
