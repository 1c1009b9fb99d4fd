//! What variants were compiled to, as instructions: each code that is the same only once.
//!
//! nvdisasm takes half a second to start and next to nothing for a kernel, so the kernels of a sweep are disassembled together: one text
//! has the kernel once for each code, under names of its own. Bounds in the header have ptxas make the same code as for one kernel
//! alone, and that is looked at, byte by byte: where it differs, the kernel's own cubin is disassembled.

use std::collections::HashMap;
use std::sync::Arc;

use warpwise_nvtools::nvdisasm::{Function, Listing, ListingOptions};
use warpwise_nvtools::ptxas::CompileRequest;
use warpwise_simt::rewrite::Bounds;
use warpwise_simt::sass::cubin_code;

use super::{Made, Variant};
use crate::parallel::{cores, in_parallel};
use crate::toolbox::ToolError;
use crate::workbench::{Workbench, WorkbenchError};

/// Of each variant, the first that has the same code on the same architecture; itself where it is the first, or was not compiled.
pub fn first_with_the_same_code(variants: &[Variant], made: &[&Made]) -> Vec<usize> {
    let mut known: HashMap<(&str, Vec<u8>, u32), usize> = HashMap::new();
    let mut firsts = Vec::with_capacity(variants.len());
    for (index, (variant, made)) in variants.iter().zip(made).enumerate() {
        let code = made.compiled.as_ref().and_then(|compiled| cubin_code(&compiled.cubin, &variant.kernel));
        // Registers may differ where the code does not: a bound can ask for more than are used.
        let registers = made.resources.registers.value();
        firsts.push(code.map_or(index, |code| *known.entry((&variant.arch, code, registers)).or_insert(index)));
    }
    firsts
}

/// The code of each variant; nothing where it was not compiled. Variants are of any kernels and architectures.
///
/// # Errors
/// There is no nvdisasm, or it refuses a cubin.
pub fn listings(
    bench: &Workbench,
    variants: &[Variant],
    made: &[&Made],
) -> Result<Vec<Option<Arc<Listing>>>, WorkbenchError> {
    let firsts = first_with_the_same_code(variants, made);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in (0..variants.len()).filter(|&index| firsts[index] == index && made[index].compiled.is_some()) {
        let like = |group: &&mut Vec<usize>| {
            let first = &variants[group[0]];
            first.kernel == variants[index].kernel && first.arch == variants[index].arch
        };
        match groups.iter_mut().find(like) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let mut found: HashMap<usize, Arc<Listing>> = HashMap::new();
    for group in groups {
        found.extend(together(bench, variants, made, &group)?);
    }
    // What was not found together, each by itself, on all cores.
    let alone: Vec<usize> = (0..variants.len())
        .filter(|index| firsts[*index] == *index && made[*index].compiled.is_some() && !found.contains_key(index))
        .collect();
    let of = |index: &usize| {
        let compiled = made[*index].compiled.as_ref()?;
        Some(
            bench
                .tools
                .disassemble(&compiled.cubin, ListingOptions::default())
                .map(|listing| (*index, Arc::new(listing))),
        )
    };
    for listing in in_parallel(&alone, of) {
        found.extend(listing.transpose()?);
    }
    Ok(firsts.iter().map(|first| found.get(first).cloned()).collect())
}

/// The listings of variants of one kernel on one architecture, from as many texts as there are cores.
fn together(
    bench: &Workbench,
    variants: &[Variant],
    made: &[&Made],
    group: &[usize],
) -> Result<Vec<(usize, Arc<Listing>)>, WorkbenchError> {
    if group.len() == 1 {
        return Ok(Vec::new());
    }
    let Variant { kernel, arch, .. } = &variants[group[0]];
    let excerpt = bench.excerpt(kernel)?;
    let name = |index: usize| format!("{kernel}__{index}");
    let texts: Vec<(Vec<usize>, String)> = group
        .chunks(group.len().div_ceil(cores()))
        .map(|part| {
            let names: Vec<(String, Bounds)> = part.iter().map(|&at| (name(at), variants[at].bounds)).collect();
            let copies: Vec<(&str, Bounds)> = names.iter().map(|(name, bounds)| (name.as_str(), *bounds)).collect();
            (part.to_vec(), excerpt.text(&copies))
        })
        .collect();
    let requests: Vec<CompileRequest<'_>> = texts.iter().map(|(_, text)| CompileRequest::new(text, arch)).collect();
    let compiled = bench.tools.compile_texts(&requests, &|_| ())?;
    let parts: Vec<(&[usize], Vec<u8>)> = texts
        .iter()
        .zip(compiled)
        .filter_map(|((part, _), compiled)| Some((part.as_slice(), compiled.ok()?.cubin)))
        .collect();
    let mut found = Vec::new();
    let listed = in_parallel(&parts, |(_, cubin)| bench.tools.disassemble(cubin, ListingOptions::default()));
    for ((part, cubin), listing) in parts.iter().zip(listed) {
        let listing = listing?;
        for &index in *part {
            let name = name(index);
            let same = made[index].compiled.as_ref().is_some_and(|compiled| {
                let own = cubin_code(&compiled.cubin, kernel);
                own.is_some() && own == cubin_code(cubin, &name)
            });
            if let Some(function) = listing.function(&name).filter(|_| same) {
                let functions = vec![renamed(function, &name, kernel)];
                found.push((index, Arc::new(Listing { arch: listing.arch.clone(), functions })));
            }
        }
    }
    Ok(found)
}

/// The code under the kernel's own name, in operands too.
fn renamed(function: &Function, from: &str, to: &str) -> Function {
    let mut function = function.clone();
    function.name = to.to_owned();
    for instruction in function.instructions.iter_mut().filter(|instruction| instruction.operands.contains(from)) {
        instruction.operands = instruction.operands.replace(from, to);
    }
    function
}

/// Whether there is nothing to disassemble with, so that there is no code to show or to run.
pub fn is_missing(error: &WorkbenchError) -> bool {
    matches!(error, WorkbenchError::Tool(ToolError::Missing(_) | ToolError::MissingBeside(_)))
}
