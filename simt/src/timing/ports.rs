//! Which banks of the register file an instruction of SASS reads.
//!
//! A scheduler's registers lie in two banks, even and odd numbers, and each bank gives one register a cycle. What `.reuse` keeps in
//! the operand cache (an entry for each bank and operand slot) needs no read in the warp's next instruction.

use crate::device::opcode;

/// Reads of each bank, even and odd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortReads {
    /// When another warp came in between.
    pub cold: [u8; 2],
    /// When the warp's instruction before it was issued just before.
    pub warm: [u8; 2],
}

/// The operand cache, by bank and slot, as straight code leaves it.
#[derive(Debug, Default)]
pub(super) struct OperandCache {
    kept: [[Option<u16>; SLOTS]; 2],
}

const SLOTS: usize = 3;

impl OperandCache {
    /// Reads of the next instruction of straight code.
    pub fn next(&mut self, text: &str) -> PortReads {
        let mut reads = PortReads::default();
        let mut seen: Vec<u16> = Vec::new();
        for Source { slot, register, is_pair, reuse } in sources(text) {
            for number in register..=register + u16::from(is_pair) {
                let bank = usize::from(number % 2);
                let kept = &mut self.kept[bank][slot];
                let is_kept = *kept == Some(number);
                *kept = reuse.then_some(number);
                if !seen.contains(&number) {
                    seen.push(number);
                    reads.cold[bank] += 1;
                    reads.warm[bank] += u8::from(!is_kept);
                }
            }
        }
        reads
    }

    /// Control flow has come in between.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A register that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    slot: usize,
    register: u16,
    is_pair: bool,
    reuse: bool,
}

/// The general registers that a lane-wise instruction reads, up to three. The first register is its result, unless predicates are.
fn sources(text: &str) -> Vec<Source> {
    let name = opcode(text);
    let Some((_, operands)) = text.split_once(name) else { return Vec::new() };
    let mut operands = operands.split(',').map(str::trim).filter(|operand| !is_predicate(operand));
    if !writes_predicates(name) {
        operands.next();
    }
    let parsed = operands.take(SLOTS).enumerate().filter_map(|(slot, operand)| {
        let (register, reuse) = register(operand)?;
        Some(Source { slot, register, is_pair: is_pair(name, slot), reuse })
    });
    parsed.collect()
}

fn is_predicate(operand: &str) -> bool {
    let operand = operand.trim_start_matches('!');
    let number = operand.strip_prefix("UP").or(operand.strip_prefix('P'));
    number.is_some_and(|rest| rest.starts_with('T') || rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Comparisons, which have no register for a result.
fn writes_predicates(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default();
    matches!(base, "ISETP" | "FSETP" | "DSETP" | "HSETP2" | "PLOP3" | "PSETP" | "R2P" | "FCHK")
}

/// Whether an operand is a pair of registers.
fn is_pair(name: &str, slot: usize) -> bool {
    let base = name.split('.').next().unwrap_or_default();
    let has = |modifier: &str| name.split('.').any(|part| part == modifier);
    matches!(base, "DADD" | "DMUL" | "DFMA" | "DSETP")
        || (base == "IADD" && has("64"))
        || (base == "IMAD" && has("WIDE") && slot == 2)
}

/// The number of a general register, and whether it is to be kept: `-R4.reuse`, `|R7|`, `R2.H0_H0`. `RZ` is none.
fn register(operand: &str) -> Option<(u16, bool)> {
    let digits = operand.trim_start_matches(['-', '~', '|', '!']).strip_prefix('R')?;
    let length = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
    Some((digits[..length].parse().ok()?, digits.contains(".reuse")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of the last of several instructions, warm.
    fn warm(texts: &[&str]) -> [u8; 2] {
        let mut cache = OperandCache::default();
        texts.iter().map(|text| cache.next(text)).last().unwrap().warm
    }

    #[test]
    fn sources_are_read_and_results_are_not() {
        assert_eq!(warm(&["FFMA R0, R2, R4, R6"]), [3, 0]);
        assert_eq!(warm(&["@!P0 FFMA.FTZ R0, R1, -R3, |R6|"]), [1, 2]);
        assert_eq!(warm(&["FFMA R0, R2, 0.5, c[0x0][0x160]"]), [1, 0]);
        assert_eq!(warm(&["ISETP.GE.U32.AND P0, PT, R3, R5, PT"]), [0, 2]);
        assert_eq!(warm(&["IADD3 R0, P1, R2, R3, RZ"]), [1, 1]);
        assert_eq!(warm(&["IADD3 R0, R2, UR4, RZ"]), [1, 0]);
        assert_eq!((warm(&["MOV R1, 0x1"]), warm(&["NOP"]), warm(&["FADD R0, R2, R2"])), ([0, 0], [0, 0], [1, 0]));
    }

    #[test]
    fn pairs_are_read_from_both_banks() {
        assert_eq!(warm(&["DFMA R0, R2, R4, R6"]), [3, 3]);
        assert_eq!(warm(&["IMAD.WIDE.U32 R2, R0, R5, R6"]), [2, 2]);
    }

    #[test]
    fn what_is_kept_is_not_read_again_in_the_same_slot() {
        assert_eq!(warm(&["FFMA R0, R2.reuse, R4, R6", "FFMA R8, R2, R4, R10"]), [2, 0]);
        assert_eq!(warm(&["FFMA R0, R2.reuse, R4, R6", "FFMA R8, R4, R2, R10"]), [3, 0], "another slot");
        assert_eq!(
            warm(&["FFMA R0, R2.reuse, R4, R6", "FADD R1, R6, R6", "FFMA R8, R2, R4, R10"]),
            [3, 0],
            "driven out"
        );
        assert_eq!(
            warm(&["FFMA R0, R2.reuse, R4, R6", "FADD R1, R7, R7", "FFMA R8, R2, R4, R10"]),
            [2, 0],
            "the other bank"
        );
    }
}
