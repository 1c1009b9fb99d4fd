//! The control information that ptxas puts into each 128-bit instruction (Volta and later).
//!
//! Bits as found by decoding listings of known kernels for sm_80, sm_90 and sm_120; Huerta et al., "Analyzing Modern
//! NVIDIA GPU cores" (MICRO 2025, arXiv 2503.20481) say what the hardware does with them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How an instruction waits for others and makes others wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Cycles before the same warp may issue its next instruction, 0 to 15.
    pub stall_cycles: u8,
    /// Bit 109 as it is; 0 hints that the scheduler should turn to another warp.
    pub yield_bit: bool,
    /// The dependence counter (0 to 5) that falls when the result is written.
    pub write_barrier: Option<u8>,
    /// The dependence counter (0 to 5) that falls when the sources have been read.
    pub read_barrier: Option<u8>,
    /// The dependence counters that must be zero before issue, one bit each.
    pub wait_mask: u8,
    /// Operand slots that are kept in the register file's reuse cache, one bit each.
    pub reuse_mask: u8,
}

/// What a barrier field holds where there is none.
const NO_BARRIER: u8 = 7;

impl Control {
    /// Reads the fields out of an instruction's 128 bits.
    pub fn of(encoding: u128) -> Self {
        let field = |low: u32, bits: u32| (encoding >> low) as u8 & ((1u16 << bits) - 1) as u8;
        let barrier = |low| Some(field(low, 3)).filter(|&counter| counter != NO_BARRIER);
        Self {
            stall_cycles: field(105, 4),
            yield_bit: field(109, 1) == 1,
            write_barrier: barrier(110),
            read_barrier: barrier(113),
            wait_mask: field(116, 6),
            reuse_mask: field(122, 4),
        }
    }
}

impl fmt::Display for Control {
    /// As assemblers for SASS write it: `B01----:R-:W2:Y:S04` waits for counters 0 and 1, lets counter 2 fall at the
    /// write, yields, and stalls for 4 cycles.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("B")?;
        for counter in 0..6 {
            match self.wait_mask >> counter & 1 {
                1 => write!(out, "{counter}")?,
                _ => out.write_str("-")?,
            }
        }
        let counter = |barrier: Option<u8>| barrier.map_or("-".to_owned(), |counter| counter.to_string());
        let (read, write) = (counter(self.read_barrier), counter(self.write_barrier));
        let hint = if self.yield_bit { '-' } else { 'Y' };
        write!(out, ":R{read}:W{write}:{hint}:S{:02}", self.stall_cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_sm_120_name_their_counters() {
        // LDC.64 R6, c[0x0][0x380] of `vecadd`.
        let control = Control::of(0x000e_b000_0000_0a00_0000_e000_ff06_7b82);
        assert_eq!(control.to_string(), "B------:R-:W2:-:S08");
        // LDG.E R10, desc[UR4][R2.64] of `calls`: waits for counter 0, and lets it fall again once its address is read.
        let control = Control::of(0x0011_6200_0c1e_1900_0000_0004_020a_7981);
        assert_eq!(control.to_string(), "B0-----:R0:W5:-:S01");
    }

    #[test]
    fn every_field_is_read_from_its_own_bits() {
        let all = Control::of(u128::MAX);
        let none = Control { write_barrier: None, read_barrier: None, ..all };
        assert_eq!(all, none);
        assert_eq!((all.stall_cycles, all.yield_bit, all.wait_mask, all.reuse_mask), (15, true, 63, 15));
        let zero = Control::of(0);
        assert_eq!((zero.write_barrier, zero.read_barrier, zero.yield_bit), (Some(0), Some(0), false));
        assert_eq!(Control::of(5 << 105).stall_cycles, 5);
        assert_eq!(Control::of(3 << 110).write_barrier, Some(3));
        assert_eq!(Control::of(4 << 113).read_barrier, Some(4));
        assert_eq!(Control::of(0b10_0001 << 116).wait_mask, 0b10_0001);
        assert_eq!(Control::of(0b1010 << 122).reuse_mask, 0b1010);
        assert_eq!(Control::of((1 << 105) - 1), Control::of(0));
    }
}
