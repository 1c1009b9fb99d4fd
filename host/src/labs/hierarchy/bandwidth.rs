//! How much each level gives: to one SM, and to all of them.
//!
//! Each rate is the slope between two launches that differ in what they read alone, so that what a launch costs, and the first touch of
//! what is read again, cancel.

use warpwise_kernels::calibration::{read_global, read_shared};

use super::SECTION;
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::format::real;
use crate::claim::{Claim, between, holds};
use crate::lab::{Case, LabContext, LabError, Table};
use crate::numbers::Time;

pub fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "rates",
            SECTION,
            "each level gives less than the one before: shared memory and L1, L2, memory",
            holds("it does"),
        ),
        Claim::new("shared_rate", SECTION, "bytes that shared memory gives an SM in a cycle", between(110.0, 140.0)),
        Claim::new("l1_rate", SECTION, "bytes that L1 gives an SM in a cycle", between(60.0, 140.0)),
        Claim::new("dram_share", SECTION, "memory, read alone: share of the fastest copy's rate", between(0.5, 1.25))
            .note(
                "at the machine's size beginning and end of a launch weigh; on an H200 it is a little more than a copy",
            ),
    ]
}

/// 16 bytes.
const FOUR_BYTES: u32 = 16;
const THREADS: u32 = 512;
const BLOCKS_PER_SM: u32 = 2;

/// What each block of a launch of `read_global` reads: so many KiB in each of so many passes, of so many parts.
#[derive(Clone, Copy)]
struct Part {
    kib: u32,
    parts: u32,
    turn: u32,
    passes: u32,
}

/// One level's two launches.
struct Level {
    name: &'static str,
    blocks: u32,
    less: Part,
    more: Part,
}

/// Bytes a microsecond, and the clock that ran.
struct Rate {
    bytes_per_us: f64,
    mhz: f64,
}

pub fn run(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let sms = gpu.device().sm_count;
    let all = BLOCKS_PER_SM * sms;
    let part = |kib, parts, turn, passes| Part { kib, parts, turn, passes };
    // What an L2 holds is read by turns, a part no block has read before: what an SM reads again would come from its L1. What comes from
    // memory is read by one block, once.
    let (more_l2, parts, kib) = if gpu.measures() { (48, 256, [256, 1024]) } else { (12, 64, [32, 96]) };
    let every = all.next_power_of_two();
    let levels = [
        Level { name: "L1", blocks: 1, less: part(32, 1, 0, 64), more: part(32, 1, 0, 192) },
        Level { name: "L2", blocks: all, less: part(32, parts, 1, more_l2 / 3), more: part(32, parts, 1, more_l2) },
        Level { name: "memory", blocks: all, less: part(kib[0], every, 0, 1), more: part(kib[1], every, 0, 1) },
    ];
    let shared = from_shared(cx, gpu)?;
    let mut rates = Vec::new();
    for level in &levels {
        rates.push(from_global(cx, gpu, level)?);
    }
    let title = format!("what each level gives, {}", gpu.time_source());
    let mut table = Table::new(title, ["level", "asked by", "bytes a cycle and SM", "GB/s, all SMs"]);
    let sms = f64::from(sms);
    let per_sm = |rate: &Rate, sms: f64| rate.bytes_per_us / rate.mhz / sms;
    let [l1, l2, memory] = &rates[..] else {
        return Err(LabError::Other(format!("{} levels were read, not 3", rates.len())));
    };
    let found = [per_sm(&shared, 1.0), per_sm(l1, 1.0), per_sm(l2, sms), per_sm(memory, sms)];
    let totals = [sms * shared.bytes_per_us, sms * l1.bytes_per_us, l2.bytes_per_us, memory.bytes_per_us];
    for (k, name) in ["shared memory", "L1", "L2", "memory"].into_iter().enumerate() {
        let asked = if k < 2 { "one SM" } else { "all" };
        table.row([name.into(), asked.into(), real(found[k]).into(), real(totals[k] / 1e3).into()]);
    }
    cx.table(table);
    cx.note("What one SM gets of shared memory and L1 each SM gets: they are its own. L2 and memory are shared.");
    let [of_shared, of_l1, of_l2, of_memory] = found;
    let is_falling = of_l2 < of_shared.min(of_l1) && of_memory < of_l2;
    cx.holds("rates", is_falling, found.map(real).join(", "));
    cx.found("shared_rate", of_shared);
    cx.found("l1_rate", of_l1);
    cx.found("dram_share", memory.bytes_per_us / 1e3 / cx.ceilings()?.copy.giga_per_second());
    Ok(())
}

fn from_shared(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Rate, LabError> {
    const SHARED_THREADS: u32 = 1024;
    const PASSES: u32 = 128;
    let out = gpu.zeros::<f32>(SHARED_THREADS as usize)?;
    let shape = LaunchShape::linear(SHARED_THREADS, SHARED_THREADS);
    let case = |passes| Case::new(&read_shared, format!("{passes} passes"), shape, (out.ptr(), passes));
    let bytes = f64::from(SHARED_THREADS * 4 * FOUR_BYTES * PASSES);
    rate(cx, gpu, vec![case(PASSES), case(2 * PASSES)], bytes)
}

fn from_global(cx: &mut LabContext<'_>, gpu: &Gpu, level: &Level) -> Result<Rate, LabError> {
    let shape = LaunchShape::new([level.blocks, 1, 1], [THREADS, 1, 1]);
    let mut arrays = Vec::new();
    let mut cases = Vec::new();
    // Each launch has memory of its own: what the other left in L2 is of no use to it. On the machine nobody has written it, since that
    // would leave it in L2 too; on a GPU L2 is overwritten before each sample.
    for Part { kib, parts, turn, passes } in [level.less, level.more] {
        let fours = kib * 1024 / FOUR_BYTES;
        let len = (4 * fours * parts) as usize;
        let x = if gpu.measures() { gpu.zeros::<u32>(len)? } else { gpu.uninitialised(len)? };
        let out = gpu.zeros::<u32>((level.blocks * THREADS) as usize)?;
        let args = (x.ptr(), out.ptr(), fours, parts, turn, passes);
        let variant = format!("{}, {kib} KiB x {passes}", level.name);
        cases.push(Case::new(&read_global, variant, shape, args));
        arrays.push((x, out));
    }
    let bytes = |part: Part| f64::from(level.blocks) * f64::from(part.kib) * 1024.0 * f64::from(part.passes);
    let slope = bytes(level.more) - bytes(level.less);
    rate(cx, gpu, cases, slope)
}

/// The bytes that the second of two launches reads more, over the time that it takes more.
fn rate(cx: &mut LabContext<'_>, gpu: &Gpu, cases: Vec<Case>, bytes: f64) -> Result<Rate, LabError> {
    let reports = cx.measure_in_turn(gpu, cases)?;
    let times: Vec<&Time> = reports.iter().filter_map(LaunchReport::time).collect();
    let [less, more] = times[..] else {
        return Err(LabError::Other("a launch has no time".to_owned()));
    };
    let mhz = f64::from(more.sm_mhz().unwrap_or(cx.device().boost_clock_mhz));
    Ok(Rate { bytes_per_us: bytes / (more.us() - less.us()), mhz })
}
