//! What the hardware has an instruction for, and what ptxas makes of the rest.

use warpwise_kernels::atomics::{atomic_add, count_one};
use warpwise_kernels::calibration::count;
use warpwise_kernels::halves::{add_f16, add_f16x2, add_f64};
use warpwise_nvtools::nvdisasm::{Disassembler, Function, ListingOptions};
use warpwise_nvtools::ptxas::{CompileRequest, Compiler};

use super::SECTION;
use crate::claim::{Claim, at_least, equal, holds};
use crate::lab::{LabContext, LabError, Table};
use crate::labs::code::{NO_TOOLS, sass, text};

/// Additions that need compute capability 9.0 and so are not among the kernels; one entry a type, named for it.
const NATIVE: &str = include_str!("native.ptx");
const TYPES: [&str; 6] = ["f32", "f64", "f16x2", "bf16x2", "f16", "bf16"];

/// Where the kernels are read.
const ARCHS: [&str; 3] = ["sm_80", "sm_90", "sm_120"];
const ARCH: &str = "sm_120";

pub fn claims() -> Vec<Claim> {
    let recorded = |id, statement, relation| Claim::new(id, SECTION, statement, relation).recorded();
    vec![
        recorded(
            "native",
            "f32, f64 and pairs of f16 have an instruction on sm_80, sm_90 and sm_120",
            holds("they have"),
        ),
        recorded("f16_loop", "a single f16 is compared and swapped in a loop on all three", holds("it is")),
        recorded("bf16x2_native", "pairs of bfloat16 have an instruction on sm_90 and sm_120", holds("they have")),
        recorded("bf16_loop", "a single bfloat16 is compared and swapped there", holds("it is")),
        recorded("votes", "count_one on sm_120: votes, of which the lanes are counted", at_least(1.0)),
        recorded("population", "and counts of the lanes, POPC", at_least(1.0)),
        recorded("no_votes", "votes in count, whose lanes may have different counters", equal(0)),
    ]
}

const OF_KERNELS: [&str; 5] = ["native", "f16_loop", "votes", "population", "no_votes"];

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let mut table = Table::new("what an addition is in SASS", ["type", "architecture", "instruction"]);
    let mut wrong = [None, None];
    for arch in ARCHS {
        for (kernel, is_loop) in
            [(atomic_add.name, false), (add_f64.name, false), (add_f16x2.name, false), (add_f16.name, true)]
        {
            let Some(function) = sass(cx, kernel, arch, ListingOptions::default(), &OF_KERNELS)? else {
                for claim in ["bf16x2_native", "bf16_loop"] {
                    cx.not_run(claim, NO_TOOLS);
                }
                return Ok(());
            };
            if is_swapped(&function) != is_loop {
                wrong[usize::from(is_loop)].get_or_insert(format!("{kernel} on {arch} is not"));
            }
            if arch == "sm_80" {
                table.row([kernel.into(), arch.into(), addition(&function).into()]);
            }
        }
    }
    let [native, f16] = wrong;
    cx.holds("native", native.is_none(), native.unwrap_or_default());
    cx.holds("f16_loop", f16.is_none(), f16.unwrap_or_default());
    let mut counts = |claim: [&str; 2], kernel: &str| -> Result<(), LabError> {
        let Some(function) = sass(cx, kernel, ARCH, ListingOptions::default(), &OF_KERNELS)? else { return Ok(()) };
        for (claim, part) in claim.into_iter().zip(["VOTE", "POPC"]).filter(|(claim, _)| !claim.is_empty()) {
            let found = function.instructions.iter().filter(|instruction| instruction.opcode.contains(part)).count();
            cx.found(claim, found);
        }
        Ok(())
    };
    counts(["votes", "population"], count_one.name)?;
    counts(["no_votes", ""], count.name)?;
    by_hand(cx, &mut table)?;
    cx.table(table);
    Ok(())
}

/// Types that are not among the kernels.
fn by_hand(cx: &mut LabContext<'_>, table: &mut Table) -> Result<(), LabError> {
    let (mut pairs, mut single) = (None, None);
    for arch in ARCHS.into_iter().filter(|arch| *arch != "sm_80") {
        let functions = match native(cx, arch) {
            Ok(functions) => functions,
            Err(reason) => {
                for claim in ["bf16x2_native", "bf16_loop"] {
                    cx.not_run(claim, reason.clone());
                }
                return Ok(());
            }
        };
        for name in TYPES {
            let Some(function) = functions.iter().find(|function| function.name == name) else {
                return Err(LabError::Other(format!("the listing for {arch} has no {name}")));
            };
            match name {
                "bf16x2" if is_swapped(function) => pairs = Some(format!("not on {arch}")),
                "bf16" if !is_swapped(function) => single = Some(format!("not on {arch}")),
                _ => {}
            }
            table.row([name.into(), arch.into(), addition(function).into()]);
        }
    }
    cx.holds("bf16x2_native", pairs.is_none(), pairs.unwrap_or_default());
    cx.holds("bf16_loop", single.is_none(), single.unwrap_or_default());
    Ok(())
}

/// The SASS of [`NATIVE`], or why there is none.
fn native(cx: &LabContext<'_>, arch: &str) -> Result<Vec<Function>, String> {
    let tools = cx.bench().tools.tools().map_err(|_| NO_TOOLS.to_owned())?;
    let compiled = Compiler::new(tools.ptxas(), None).compile(&CompileRequest::new(NATIVE, arch));
    let cubin = compiled.map_err(|error| error.to_string())?.cubin;
    let nvdisasm = tools.nvdisasm().map_err(|_| NO_TOOLS.to_owned())?;
    let listing = Disassembler::new(nvdisasm, None).listing(&cubin, ListingOptions::default());
    Ok(listing.map_err(|error| error.to_string())?.functions)
}

fn is_swapped(function: &Function) -> bool {
    function.instructions.iter().any(|instruction| instruction.opcode.contains(".CAS"))
}

/// The instruction that adds, or swaps.
fn addition(function: &Function) -> String {
    let is_atomic = |opcode: &str| opcode.starts_with("RED") || opcode.starts_with("ATOM");
    let found = function.instructions.iter().find(|instruction| is_atomic(&instruction.opcode));
    let shown = found.map_or_else(String::new, text);
    if is_swapped(function) { format!("a loop with {shown}") } else { shown }
}
