//! What SASS says about its own timing: stall counts, dependence counters, and what the opcode table adds.
//!
//! SASS has no interlock: ptxas counts out fixed latencies as stalls, and guards the others by six dependence counters a warp,
//! which instructions raise at issue and lower at write-back or when their sources have been read.

use super::code::{Kind, TimedInstr, kind_of};
use super::config::{Config, interval_of};
use super::ports::{OperandCache, PortReads};
use super::stall::Stall;
use crate::device::{Device, Pipe, opcode};
use crate::isa::{Control, DEPENDENCE_COUNTERS, Instr, Op, Space};

/// No counter.
pub(crate) const NO_COUNTER: u8 = u8::MAX;

/// The dependence counters of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Counters that must be zero before issue, one bit each.
    pub wait_mask: u8,
    /// The counter that falls at write-back, or [`NO_COUNTER`].
    pub write: u8,
    /// The counter that falls when sources were read, or [`NO_COUNTER`].
    pub read: u8,
    /// From issue, or from its turn where it had to queue, until its sources were read.
    pub read_cycles: u8,
    /// `DEPBAR.LE`: a counter and the most it may stand at.
    pub at_most: Option<(u8, u8)>,
}

impl Counters {
    pub const NONE: Self = Self { wait_mask: 0, write: NO_COUNTER, read: NO_COUNTER, read_cycles: 0, at_most: None };
}

/// One instruction of SASS.
pub(super) fn timed(
    instr: &Instr,
    control: &Control,
    text: &str,
    device: &Device,
    config: &Config,
    cache: &mut OperandCache,
) -> TimedInstr {
    let cost = device.opcodes.of(text);
    let kind = match kind_of(&instr.op, cost.pipe) {
        Kind::Free => Kind::Fixed,
        kind => kind,
    };
    let pipe = if is_memory(kind) && !is_constant(&instr.op) { Pipe::Lsu } else { cost.pipe };
    let lanes_interval = cost.lanes.map(|lanes| interval_of(device.limits.schedulers, lanes));
    let (at_most, more) = depbar(text);
    let counter = |counter: Option<u8>| counter.filter(|counter| usize::from(*counter) < DEPENDENCE_COUNTERS);
    let words = u32::from(words(instr));
    // Where the latency is fixed, sources are read at fixed cycles. The others read theirs from a queue.
    let ports = match (kind, pipe) {
        (Kind::Fixed, Pipe::Fma | Pipe::Imad | Pipe::Alu | Pipe::Half | Pipe::Fp64) => cache.next(text),
        (Kind::Fixed | Kind::Mio | Kind::Load | Kind::Store | Kind::Atomic, _) => PortReads::default(),
        _ => {
            cache.clear();
            PortReads::default()
        }
    };
    TimedInstr {
        kind,
        pipe,
        issue_cycles: stall_cycles(control),
        pipe_cycles: lanes_interval.unwrap_or(config.pipe_interval[pipe as usize]),
        latency_cycles: u64::from(cost.latency_cycles.max(1)),
        result_stall: result_stall(kind, &instr.op),
        guard: 0,
        reads: (0, 0),
        writes: (0, 0),
        counters: Counters {
            wait_mask: (control.wait_mask | more) & ALL,
            write: counter(control.write_barrier).unwrap_or(NO_COUNTER),
            read: counter(control.read_barrier).unwrap_or(NO_COUNTER),
            read_cycles: (cost.read_cycles + cost.read_cycles_per_word * words).clamp(1, 255) as u8,
            at_most,
        },
        ports,
    }
}

/// Every counter's bit.
const ALL: u8 = (1 << DEPENDENCE_COUNTERS) - 1;

/// Whether the code has a `DEPBAR` that waits for less than all.
pub(super) fn waits_in_part(instrs: &[TimedInstr]) -> bool {
    instrs.iter().any(|instr| instr.counters.at_most.is_some())
}

/// Cycles until the warp can issue again. One that is told to yield leaves the next cycle to others.
fn stall_cycles(control: &Control) -> u64 {
    u64::from(control.stall_cycles).max(1 + u64::from(control.yields))
}

fn is_memory(kind: Kind) -> bool {
    matches!(kind, Kind::Load | Kind::Store | Kind::Atomic)
}

fn is_constant(op: &Op) -> bool {
    matches!(op, Op::Load(access) if matches!(access.space, Space::Const | Space::Param))
}

/// What a warp is said to do that waits for the counter: whatever comes from L1's side is long, all else short.
fn result_stall(kind: Kind, op: &Op) -> Stall {
    match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access)
            if is_memory(kind) && !matches!(access.space, Space::Shared | Space::Const | Space::Param) =>
        {
            Stall::LongScoreboard
        }
        _ => Stall::ShortScoreboard,
    }
}

/// 32-bit words that an access moves.
fn words(instr: &Instr) -> u16 {
    match &instr.op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => access.bytes().div_ceil(4) as u16,
        _ => 0,
    }
}

/// The operands of `DEPBAR.LE SB0, 0x1, {4,3}`: SB0 may stand at 1, and SB4 and SB3 must be zero. A limit of zero is a wait as
/// in any instruction's mask, and is given as such.
fn depbar(text: &str) -> (Option<(u8, u8)>, u8) {
    if !opcode(text).starts_with("DEPBAR") {
        return (None, 0);
    }
    let (plain, listed) = text.split_once('{').unwrap_or((text, ""));
    let number =
        |word: &str| word.trim().parse::<u8>().ok().filter(|number| usize::from(*number) < DEPENDENCE_COUNTERS);
    let mut mask = listed.split(['}', ',']).filter_map(number).fold(0, |mask, counter| mask | 1 << counter);
    let Some((_, after)) = plain.split_once("SB") else { return (None, mask) };
    let mut operands = after.split(',');
    let Some(counter) = operands.next().and_then(number) else { return (None, mask) };
    let limit = operands.next().map_or(0, |word| limit(word.trim().trim_end_matches(';').trim()));
    if limit == 0 {
        mask |= 1 << counter;
        return (None, mask);
    }
    (Some((counter, limit)), mask)
}

/// A number as SASS writes it; one that is none asks for nothing to be out.
fn limit(word: &str) -> u8 {
    match word.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).unwrap_or(0),
        None => word.parse().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depbar_names_a_counter_what_it_may_stand_at_and_others_that_must_be_zero() {
        assert_eq!(depbar("DEPBAR.LE SB0, 0x1"), (Some((0, 1)), 0));
        assert_eq!(depbar("@P1 DEPBAR.LE SB3, 0xa, {5,1} ;"), (Some((3, 10)), 0b10_0010));
        assert_eq!(depbar("DEPBAR.LE SB2, 0x0"), (None, 0b100));
        assert_eq!(depbar("DEPBAR {4,0}"), (None, 0b1_0001));
        assert_eq!((depbar("DEPBAR.LE SB9, 0x1"), depbar("LDG.E R0, SB1")), ((None, 0), (None, 0)));
    }

    #[test]
    fn a_yield_leaves_at_least_one_cycle_to_others() {
        let cycles =
            |stall_cycles, yields| super::stall_cycles(&Control { stall_cycles, yields, ..Control::default() });
        assert_eq!([cycles(0, false), cycles(1, false), cycles(1, true), cycles(4, true)], [1, 1, 2, 4]);
    }
}
