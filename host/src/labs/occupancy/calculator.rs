//! What follows from the limits of a compute capability alone: block sizes, registers, shared memory.
//!
//! The chapter's numbers are tables here; what is found comes from the calculator, for the compute capability that each
//! number is of, whatever device the run is on.

use std::ops::RangeInclusive;

use warpwise_simt::device::{ComputeCapability, Limits, limits_of};
use warpwise_simt::occupancy::{InvalidInput, Request, calculate, curve};

use crate::claim::{Claim, Value, equal};
use crate::lab::{Axis, LabContext, LabError, Mark, Plot, Table};
use crate::pressure::cliff::edges;

const CC_8_0: ComputeCapability = ComputeCapability::new(8, 0);
const CC_9_0: ComputeCapability = ComputeCapability::new(9, 0);
/// The chapter's own.
const CC_12_0: ComputeCapability = ComputeCapability::new(12, 0);

/// Registers a thread in the claims on block size: few enough to limit nothing.
const FEW_REGISTERS: i64 = 32;

/// Threads a block in the claims on registers and shared memory, where the chapter names no other.
const BLOCK: i64 = 256;

/// Compute capability, threads a block, percent of occupancy.
const BY_BLOCK: [(ComputeCapability, i64, i64); 13] = [
    (CC_12_0, 32, 50),
    (CC_12_0, 64, 100),
    (CC_12_0, 128, 100),
    (CC_12_0, 256, 100),
    (CC_12_0, 320, 83),
    (CC_12_0, 448, 88),
    (CC_12_0, 512, 100),
    (CC_12_0, 768, 100),
    (CC_12_0, 1024, 67),
    (CC_8_0, 768, 75),
    (CC_8_0, 1024, 100),
    (CC_9_0, 768, 75),
    (CC_9_0, 1024, 100),
];

/// Threads a block, first and last number of registers a thread, percent of occupancy at every number between.
const BY_REGISTERS: [(i64, i64, i64, i64); 8] = [
    (256, 1, 40, 100),
    (256, 41, 48, 83),
    (256, 49, 64, 67),
    (256, 65, 80, 50),
    (256, 81, 128, 33),
    (256, 129, 255, 17),
    (512, 41, 41, 67),
    (512, 80, 80, 33),
];

/// Registers a thread, and the share of the blocks that one more costs.
const ONE_MORE: [(i64, &str); 5] = [(40, "1/6"), (48, "1/5"), (64, "1/4"), (80, "1/3"), (128, "1/2")];

/// Shared bytes that a block asks for, blocks that fit.
const BY_SHARED: [(i64, i64); 5] = [(16_000, 6), (16_001, 5), (32_768, 3), (49_152, 2), (101_376, 1)];

pub fn claims() -> Vec<Claim> {
    let mut claims =
        vec![Claim::new("block_32_blocks", "ch1 §9", "CC 12.0: blocks of 32 threads that an SM holds", equal(24))];
    for (version, threads, percent) in BY_BLOCK {
        let statement = format!("CC {version}: percent of occupancy with blocks of {threads} threads");
        claims.push(Claim::new(block_id(version, threads), "ch1 §9", statement, equal(percent)));
    }
    for (threads, first, last, percent) in BY_REGISTERS {
        let range = if first == last { first.to_string() } else { format!("{first} to {last}") };
        let statement = format!("CC 12.0, {threads} threads a block: percent with {range} registers");
        claims.push(Claim::new(registers_id(threads, first), "ch1 §9", statement, equal(percent)));
    }
    claims.push(
        Claim::new("most_registers", "ch1 §9", "most registers a thread with which all 48 warps fit", equal(40))
            .note("65,536 / 1,536 is 42; registers are given out eight a thread"),
    );
    claims.push(
        Claim::new(
            "cliffs",
            "ch1 §9",
            "all counts at which one register more costs a block of 256",
            equal(cliffs_expected()),
        )
        .note("the chapter's cost of a sixth is that of the 41st register; the others cost more of what is left"),
    );
    for (registers, share) in ONE_MORE {
        let statement = format!("share of the warps that one register more than {registers} costs");
        claims.push(Claim::new(format!("one_more_{registers}"), "ch1 §9", statement, equal(share)));
    }
    claims.push(Claim::new(
        "reserved",
        "ch1 §3",
        "bytes that a block takes which asks for no shared memory",
        equal(1024),
    ));
    for (bytes, blocks) in BY_SHARED {
        let statement = format!("CC 12.0, 256 threads and {bytes} shared bytes a block: blocks that fit an SM");
        claims.push(Claim::new(format!("shared_{bytes}"), "ch1 §9", statement, equal(blocks)));
    }
    claims
}

fn block_id(version: ComputeCapability, threads: i64) -> String {
    format!("block_{threads}_{}", version.arch())
}

fn registers_id(threads: i64, first: i64) -> String {
    match threads {
        BLOCK => format!("registers_{first}"),
        _ => format!("registers_{first}_at_{threads}"),
    }
}

fn cliffs_expected() -> String {
    list(ONE_MORE.iter().map(|(registers, _)| *registers))
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let limits = limits(CC_12_0)?;
    let occupancy = calculate(limits, &Request::new(32, FEW_REGISTERS))?;
    cx.found("block_32_blocks", occupancy.blocks_per_sm);
    for (version, threads, _) in BY_BLOCK {
        let request = Request::new(threads, FEW_REGISTERS);
        cx.found(&block_id(version, threads), percent(self::limits(version)?, &request)?);
    }
    for (threads, first, last, _) in BY_REGISTERS {
        cx.found(&registers_id(threads, first), percent_of_all(limits, threads, first..=last)?);
    }
    registers_at_256(cx, limits)?;
    for (bytes, _) in BY_SHARED {
        let request = Request { dynamic_shared_bytes: bytes, ..Request::new(BLOCK, FEW_REGISTERS) };
        cx.found(&format!("shared_{bytes}"), calculate(limits, &request)?.blocks_per_sm);
    }
    let nothing = calculate(limits, &Request::new(BLOCK, FEW_REGISTERS))?;
    cx.found("reserved", nothing.allocated_shared_bytes_per_block);
    tables(cx, limits)?;
    plots(cx)
}

/// The claims that need every register count in turn.
fn registers_at_256(cx: &mut LabContext<'_>, limits: &Limits) -> Result<(), LabError> {
    let curve = curve::by_registers(limits, &Request::new(BLOCK, FEW_REGISTERS))?;
    let full = curve.iter().filter(|point| point.occupancy.theoretical() == 1.0).map(|point| point.x);
    cx.found("most_registers", full.max().unwrap_or(0));
    let steps: Vec<(i64, String)> = edges(limits, &Request::new(BLOCK, FEW_REGISTERS))?
        .into_iter()
        .map(|edge| (edge.registers, fraction(edge.blocks - edge.blocks_beyond, edge.blocks)))
        .collect();
    cx.found("cliffs", list(steps.iter().map(|(registers, _)| *registers)));
    for (registers, _) in ONE_MORE {
        let lost = steps.iter().find(|(at, _)| *at == registers).map_or("nothing", |(_, share)| share);
        cx.found(&format!("one_more_{registers}"), lost);
    }
    Ok(())
}

fn tables(cx: &mut LabContext<'_>, limits: &Limits) -> Result<(), LabError> {
    let mut table = Table::new(
        "what keeps further blocks out, CC 12.0",
        ["block", "registers", "shared bytes", "blocks", "warps", "occupancy", "limiter"],
    );
    let requests =
        [(32, 32, 0), (256, 40, 0), (256, 41, 0), (256, 80, 0), (1024, 32, 0), (256, 32, 16_000), (256, 32, 16_001)];
    for (threads, registers, dynamic_shared_bytes) in requests {
        let occupancy = calculate(limits, &Request { dynamic_shared_bytes, ..Request::new(threads, registers) })?;
        let limiters: Vec<&str> = occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
        table.row([
            threads.into(),
            registers.into(),
            dynamic_shared_bytes.into(),
            occupancy.blocks_per_sm.into(),
            occupancy.warps_per_sm().into(),
            crate::claim::format::percent(occupancy.theoretical()).into(),
            limiters.join(", ").into(),
        ]);
    }
    cx.table(table);
    Ok(())
}

fn plots(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let base = Request::new(BLOCK, FEW_REGISTERS);
    let y = || Axis::linear("occupancy (%)");
    let mut registers =
        Plot::new("Occupancy by registers, 256 threads a block", Axis::linear("registers a thread"), y());
    let mut blocks = Plot::new("Occupancy by block size, 32 registers", Axis::linear("threads a block"), y());
    for version in [CC_12_0, CC_9_0] {
        let limits = limits(version)?;
        let points = |curve: Vec<curve::Point>| {
            curve.into_iter().map(|point| (point.x as f64, 100.0 * point.occupancy.theoretical())).collect::<Vec<_>>()
        };
        let name = format!("CC {version}");
        registers = registers.series(&name, Mark::Steps, points(curve::by_registers(limits, &base)?));
        blocks = blocks.series(&name, Mark::Points, points(curve::by_block_threads(limits, &base)?));
    }
    cx.plot(registers);
    cx.plot(blocks);
    Ok(())
}

fn limits(version: ComputeCapability) -> Result<&'static Limits, LabError> {
    limits_of(version).map_err(|error| LabError::Other(error.to_string()))
}

/// Occupancy in whole percent, as the chapter writes it.
fn percent(limits: &Limits, request: &Request) -> Result<i64, InvalidInput> {
    Ok((100.0 * calculate(limits, request)?.theoretical()).round() as i64)
}

/// The percentage at all of these register counts; in words, if it is not the same at all.
fn percent_of_all(limits: &Limits, threads: i64, registers: RangeInclusive<i64>) -> Result<Value, InvalidInput> {
    let mut percents = Vec::new();
    for registers in registers {
        percents.push(percent(limits, &Request::new(threads, registers))?);
    }
    percents.dedup();
    Ok(match percents[..] {
        [all] => all.into(),
        _ => list(percents.into_iter()).into(),
    })
}

/// A fraction in its lowest terms: `1/6`.
fn fraction(numerator: i64, denominator: i64) -> String {
    let (mut a, mut b) = (numerator, denominator);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let divisor = a.max(1);
    format!("{}/{}", numerator / divisor, denominator / divisor)
}

fn list(numbers: impl Iterator<Item = i64>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!([fraction(1, 6), fraction(2, 4), fraction(3, 3), fraction(0, 5)], ["1/6", "1/2", "1/1", "0/1"]);
    }

    #[test]
    fn a_range_with_two_occupancies_is_found_in_words() {
        let limits = limits(CC_12_0).unwrap();
        assert_eq!(percent_of_all(limits, 256, 41..=48), Ok(83.into()));
        assert_eq!(percent_of_all(limits, 256, 40..=49), Ok("100, 83, 67".into()));
    }
}
