//! The branch of `branch_paths` in SASS: two arms between BSSY and BSYNC, behind a guard.

use warpwise_kernels::divergence::branch_paths;
use warpwise_nvtools::nvdisasm::{Function, Instruction, ListingOptions};

use super::{ARCH, SECTION};
use crate::claim::{Claim, at_least, equal, holds};
use crate::lab::{LabContext, LabError, Table};
use crate::labs::code::{sass, text};
use crate::labs::control_flow::{Diamond, branches, count, diamond, operands};

pub fn claims() -> Vec<Claim> {
    let here = |id, statement, relation| Claim::new(id, SECTION, statement, relation).recorded();
    let uniform = |id, statement| Claim::new(id, "ch1 §6", statement, at_least(1.0)).recorded();
    vec![
        here("guard", "a comparison sets a predicate, and @P EXIT lets the threads past n leave", holds("it does")),
        here("guards", "predicated EXITs", equal(1)),
        here("bssy", "BSSY notes where the paths meet, BSYNC waits there", holds("on one barrier register")),
        here("branch", "between them, threads with a predicate jump and the others fall through", holds("they do")),
        here("path_a", "path A multiplies and adds in one instruction: FFMAs", at_least(1.0)),
        here("path_a_only", "FMULs and FADDs in path A", equal(0)),
        here("path_b", "path B takes two: FMULs", at_least(1.0)),
        here("path_b_pairs", "each followed by an FADD of its result", holds("each FADD adds to an FMUL's result")),
        here("path_b_only", "FFMAs in path B", equal(0)),
        here("after", "FADDs, FMULs and FFMAs after the paths have met", at_least(1.0)),
        here("to_self", "branches to themselves, behind the end", equal(1)),
        uniform("uniform_registers", "UR registers, for values that are the same for the whole warp"),
        uniform("uniform_instructions", "U instructions, such as UISETP, that work on them"),
        uniform("uniform_branches", "BRA.U, which jumps with the whole warp"),
    ]
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let ids: Vec<String> = claims().into_iter().map(|claim| claim.id).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let Some(function) = sass(cx, branch_paths.name, ARCH, ListingOptions::default(), &ids)? else {
        return Ok(());
    };
    guard(cx, &function);
    uniform(cx, &function);
    match diamond(&function) {
        Some(diamond) => arms(cx, &diamond),
        None => cx.holds("branch", false, "no branch taken by lane between a BSSY and its BSYNC"),
    }
    Ok(())
}

fn guard(cx: &mut LabContext<'_>, function: &Function) {
    let branches = branches(function);
    cx.found("guards", branches.guards.len());
    cx.found("to_self", branches.to_self.len());
    let Some(exit) = branches.guards.first() else {
        cx.holds("guard", false, "no EXIT has a predicate");
        return;
    };
    let predicate = exit.predicate.as_deref().unwrap_or_default().trim_start_matches(['@', '!']);
    let before = function.instructions.iter().take_while(|instruction| instruction.address < exit.address);
    let setter = before.filter(|instruction| operands(instruction).first() == Some(&predicate)).last();
    let compares = setter.is_some_and(|instruction| instruction.base_opcode() == "ISETP");
    cx.holds("guard", compares, format!("{predicate} of {} is set by {:?}", text(exit), setter.map(text)));
}

fn uniform(cx: &mut LabContext<'_>, function: &Function) {
    let code = &function.instructions;
    let mut registers: Vec<&str> = code
        .iter()
        .flat_map(|instruction| instruction.operands.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|word| word.strip_prefix("UR").is_some_and(|number| number.parse::<u32>().is_ok()))
        .collect();
    registers.sort_unstable();
    registers.dedup();
    cx.found("uniform_registers", registers.len());
    cx.found("uniform_instructions", code.iter().filter(|instruction| instruction.opcode.starts_with('U')).count());
    cx.found("uniform_branches", code.iter().filter(|instruction| instruction.opcode == "BRA.U").count());
}

/// Which arm is path A shows in the code itself: the one that fuses.
fn arms(cx: &mut LabContext<'_>, diamond: &Diamond<'_>) {
    cx.holds("bssy", true, "");
    cx.holds("branch", true, "");
    let [fall_through, jumped] = [diamond.fall_through, diamond.jumped];
    let (a, b) = match count(fall_through, "FFMA") > count(jumped, "FFMA") {
        true => (fall_through, jumped),
        false => (jumped, fall_through),
    };
    cx.found("path_a", count(a, "FFMA"));
    cx.found("path_a_only", count(a, "FMUL") + count(a, "FADD"));
    cx.found("path_b", count(b, "FMUL"));
    cx.found("path_b_only", count(b, "FFMA"));
    let lonely = lonely_addition(b);
    let otherwise = lonely.map_or_else(|| "as many FMUL as FADD are not there".to_owned(), text);
    cx.holds("path_b_pairs", lonely.is_none() && count(b, "FMUL") == count(b, "FADD"), otherwise);
    cx.found("after", ["FADD", "FMUL", "FFMA"].map(|opcode| count(diamond.after, opcode)).iter().sum::<usize>());
    excerpt(cx, diamond, a, b);
}

/// The first FADD whose first summand is not what the FMUL before it wrote.
fn lonely_addition(arm: &[Instruction]) -> Option<&Instruction> {
    let mut product: Option<&str> = None;
    for instruction in arm {
        let operands = operands(instruction);
        match instruction.base_opcode() {
            "FMUL" => product = operands.first().copied(),
            "FADD" if product.is_none() || operands.get(1).copied() != product.take() => return Some(instruction),
            _ => {}
        }
    }
    None
}

/// The chapter's abridged listing, from this run's cubin.
fn excerpt(cx: &mut LabContext<'_>, diamond: &Diamond<'_>, a: &[Instruction], b: &[Instruction]) {
    let mut table = Table::new(format!("branch_paths on {ARCH}, abridged"), ["address", "instruction", "what it does"]);
    let first =
        |arm: &'_ [Instruction], opcode| arm.iter().find(|instruction| instruction.base_opcode() == opcode).cloned();
    let rows = [
        (Some(diamond.bssy.clone()), "notes where the paths meet"),
        (Some(diamond.branch.clone()), "threads with the predicate jump, the others fall through"),
        (first(a, "FFMA"), "path A: one instruction a step, one rounding"),
        (first(b, "FMUL"), "path B: a multiplication"),
        (first(b, "FADD"), "path B: and an addition, two roundings"),
        (Some(diamond.bsync.clone()), "waits until both paths have come"),
    ];
    for (instruction, meaning) in rows.into_iter().filter_map(|(instruction, meaning)| Some((instruction?, meaning))) {
        table.row([format!("{:#06x}", instruction.address).into(), text(&instruction).into(), meaning.into()]);
    }
    cx.table(table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labs::control_flow::tests::function;

    #[test]
    fn an_addition_must_add_to_the_product_before_it() {
        let pairs = function("FMUL R4, R4, 0.5\nUIADD3 UR4, UR4, -1\nFADD R5, R4, 1\nFMUL R4, R5, 0.5\nFADD R4, R4, 1");
        assert_eq!(lonely_addition(&pairs.instructions), None);
        for other in
            ["FMUL R4, R4, 0.5\nFADD R4, R5, 1", "FADD R4, R4, 1", "FMUL R4, R4, 2\nFADD R4, R4, 1\nFADD R4, R4, 1"]
        {
            assert!(lonely_addition(&function(other).instructions).is_some(), "{other}");
        }
    }
}
