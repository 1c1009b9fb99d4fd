//! How one kernel row is put into words; the same in the terminal and in HTML.

use crate::ceilings::Ceilings;
use crate::claim::format::{integer, microseconds, percent, real};
use crate::claim::{Judged, Relation, Runs, TRUE, Value, Verdict};
use crate::lab::KernelRow;
use crate::numbers::{Sampled, Time, isa_name};

/// Columns of the table of kernels.
pub const KERNEL_COLUMNS: [&str; 6] = ["kernel", "registers", "spills", "occupancy", "limiter", "time"];

/// The cells of a row, as [`KERNEL_COLUMNS`] names them.
pub fn kernel_cells(row: &KernelRow, ceilings: &[Ceilings]) -> [String; 6] {
    let name = match row.variant.as_str() {
        "" => row.kernel.clone(),
        variant => format!("{}, {variant}", row.kernel),
    };
    let registers = match row.disagreement() {
        Some(disagreement) => disagreement,
        None => format!("{} ({})", row.registers.value(), row.registers.source()),
    };
    [name, registers, spills(row), occupancy(row), row.occupancy.limiters.join(", "), times(row, ceilings)]
}

fn spills(row: &KernelRow) -> String {
    match row.spill_store_bytes + row.spill_load_bytes {
        0 => "–".to_owned(),
        _ => format!("{} B out, {} B in", row.spill_store_bytes, row.spill_load_bytes),
    }
}

fn occupancy(row: &KernelRow) -> String {
    match row.occupancy.achieved {
        Some(achieved) => format!("{} ({} seen)", percent(row.occupancy.theoretical), percent(achieved)),
        None => percent(row.occupancy.theoretical),
    }
}

fn times(row: &KernelRow, ceilings: &[Ceilings]) -> String {
    if row.times.is_empty() {
        return row.no_time.clone().unwrap_or_else(|| "–".to_owned());
    }
    let with_share = |of: &Time| match share(row, of, ceilings) {
        Some(share) => format!("{}, {share}", time(of)),
        None => time(of),
    };
    row.times.iter().map(with_share).collect::<Vec<_>>().join("; ")
}

/// The ceiling that the kernel came nearer to: `82% of copy`.
fn share(row: &KernelRow, time: &Time, ceilings: &[Ceilings]) -> Option<String> {
    let ceilings = ceilings.iter().find(|ceilings| ceilings.are_of(time))?;
    let work = row.work();
    let copy = work.bytes.map(|bytes| ceilings.share_of_copy(bytes, time)).unwrap_or_default();
    let fma = work.flops.map(|flops| ceilings.share_of_fma(flops, time)).unwrap_or_default();
    match copy >= fma {
        true if work.bytes.is_some_and(|bytes| ceilings.is_beyond_memory(bytes, time)) => {
            Some("faster than memory: out of L2".to_owned())
        }
        true => (copy > 0.0).then(|| format!("{} of copy", percent(copy))),
        false => Some(format!("{} of FMA", percent(fma))),
    }
}

/// What stands above every kernel of a device: `the NVIDIA H200 at most, measured: a copy 4276 GB/s (by copy_stream), reading
/// alone 4690, writing alone 4690, FMA 61.2 TFLOP/s`.
pub fn ceilings_line(ceilings: &Ceilings) -> String {
    let Ceilings { copy, copy_by, beside, fma } = ceilings;
    let how = if copy.time.is_measured() { "measured" } else { "modelled" };
    let (copy_gbs, fma_tflops) = (real(copy.giga_per_second()), real(fma.giga_per_second() / 1e3));
    let with_doubts = |rate: String, time: &Time| match time.doubts().join("; ") {
        doubts if doubts.is_empty() => rate,
        doubts => format!("{rate} ({doubts})"),
    };
    let mut copy_rate = with_doubts(format!("a copy {copy_gbs} GB/s"), &copy.time);
    if let Some(beside) = beside {
        let [read, write] = [&beside.read, &beside.write].map(|rate| real(rate.giga_per_second()));
        copy_rate = format!("{copy_rate} (by {copy_by}), reading alone {read}, writing alone {write}");
    }
    let fma_rate = with_doubts(format!("FMA {fma_tflops} TFLOP/s"), &fma.time);
    format!("the {} at most, {how}: {copy_rate}, {fma_rate}", copy.time.device())
}

/// A time with how it was got: `16.3 µs modelled (41,000 cycles, ptx)`.
pub fn time(time: &Time) -> String {
    match time {
        Time::Modelled { cycles, us, isa, sampled, .. } => {
            let (us, cycles) = (microseconds(*us), integer((*cycles).into()));
            let note = sampled.as_ref().map(|sampled| format!("; {}", sampled_note(sampled)));
            format!("{us} modelled ({cycles} cycles, {}{})", isa_name(*isa), note.unwrap_or_default())
        }
        Time::Measured { us, us_min, us_max, samples, .. } => {
            let [us, min, max] = [us, us_min, us_max].map(|us| microseconds(*us));
            let doubts: String = time.doubts().iter().map(|doubt| format!("; {doubt}")).collect();
            format!("{us} measured ({min} to {max}, {samples} samples{doubts})")
        }
    }
}

/// What is to be known about a modelled time for which not all blocks were timed.
pub fn sampled_note(sampled: &Sampled) -> String {
    let [timed, all] = [sampled.timed_blocks, sampled.blocks].map(|blocks| integer(blocks.into()));
    format!("sampled: {timed} of {all} blocks timed, ±{:.1}%", 100.0 * sampled.error)
}

/// The numbers behind a verdict: `= 3907`, `found 5, expected < 3`, `found 5, expected < 3; held in 9 of 10 runs`. A claim in
/// words has something to say only where it is not so, or ran more than once.
pub fn claim_numbers(judged: &Judged) -> Option<String> {
    let Runs { held, of } = judged.runs;
    let runs = (of > 1).then(|| format!("held in {held} of {of} runs"));
    let numbers: Vec<String> = of_one_run(judged).into_iter().chain(runs).collect();
    (!numbers.is_empty()).then(|| numbers.join("; "))
}

fn of_one_run(judged: &Judged) -> Option<String> {
    let expected = &judged.claim.relation;
    match (expected, &judged.found) {
        (Relation::Holds(_), Some(Value::Text(text))) if text != TRUE => Some(format!("found: {text}")),
        (Relation::Holds(_), _) => None,
        (Relation::Equal(_), Some(_)) if judged.verdict == Verdict::Holds => Some(expected.to_string()),
        (_, Some(found)) => Some(format!("found {found}, expected {expected}")),
        (_, None) => Some(format!("expected {expected}")),
    }
}

/// Why a claim is not run, or what is to be known about one that fails.
pub fn claim_reason(judged: &Judged) -> Option<String> {
    match judged.verdict {
        Verdict::Holds => None,
        Verdict::Fails => judged.claim.note.as_ref().map(|note| format!("note: {note}")),
        Verdict::NotRun => judged.why.as_ref().map(|why| format!("not run: {why}")),
    }
}

/// What is to be said once about the devices whose times a report shows: those whose model was never held against hardware.
pub fn unvalidated_devices<'a>(rows: impl IntoIterator<Item = &'a KernelRow>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for time in rows.into_iter().flat_map(|row| &row.times) {
        if let Time::Modelled { device, validated: false, .. } = time
            && !names.contains(&device.as_str())
        {
            names.push(device.as_str());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwise_simt::isa::Isa;

    #[test]
    fn a_time_by_samples_says_so_and_how_far_it_may_be_off() {
        let modelled = |sampled| Time::Modelled {
            cycles: 41_000,
            us: 16.4,
            isa: Isa::Sass,
            device: "H200".to_owned(),
            validated: true,
            sampled,
        };
        let sampled = Sampled { timed_blocks: 12_672, blocks: 1_048_576, waves: 4, error: 0.0081 };
        let note = "; sampled: 12,672 of 1,048,576 blocks timed, ±0.8%";
        assert!(!time(&modelled(None)).contains("sampled"));
        assert!(time(&modelled(Some(sampled))).contains(note), "{}", time(&modelled(Some(sampled))));
    }
}
