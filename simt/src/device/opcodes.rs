//! What SASS instructions cost, by opcode, as `devices.toml` gives it for one device.
//!
//! SASS carries the latencies of its fixed-latency instructions in its own stall counts, so the table has only what it cannot
//! carry: the pipe, how long that is busy, and, where a dependence counter tells the end, when it falls.

use std::collections::HashMap;

use serde::Deserialize;

use super::{ComputeCapability, How, Pipe, parameters::applies};

/// What one SASS instruction costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpcodeCost {
    pub pipe: Pipe,
    /// Thread instructions a cycle and SM, where they differ from the pipe's lanes.
    pub lanes: Option<u32>,
    /// From issue to the fall of the counter of its result. 0: the result comes at once, or is memory's to time.
    pub latency_cycles: u32,
    /// From issue to the fall of the counter of its sources.
    pub read_cycles: u32,
    /// What each 32-bit word of an access adds to that.
    pub read_cycles_per_word: u32,
}

/// The costs of all opcodes on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opcodes {
    /// By base opcode: the modifiers that an instruction must have, and its cost.
    by_base: HashMap<String, Vec<(Vec<String>, OpcodeCost)>>,
    other: OpcodeCost,
}

/// Stands in the table for every opcode that has no entry.
const OTHER: &str = "*";

impl Opcodes {
    /// The cost of an instruction as SASS writes it, with or without guard and operands. Of several entries that fit, the one
    /// with the most modifiers counts.
    pub fn of(&self, text: &str) -> OpcodeCost {
        let mut parts = opcode(text).split('.');
        let base = parts.next().unwrap_or_default();
        let modifiers: Vec<&str> = parts.collect();
        let fits = |wanted: &[String]| wanted.iter().all(|name| modifiers.contains(&name.as_str()));
        let entries = self.by_base.get(base).map_or(&[][..], Vec::as_slice);
        let fitting = entries.iter().filter(|(wanted, _)| fits(wanted));
        fitting.max_by_key(|(wanted, _)| wanted.len()).map_or(self.other, |(_, cost)| *cost)
    }

    /// Whether an entry names the opcode.
    pub fn knows(&self, text: &str) -> bool {
        self.by_base.contains_key(opcode(text).split('.').next().unwrap_or_default())
    }
}

/// The opcode with its modifiers: `@!P0 LDG.E.128 R4, …` is `LDG.E.128`.
pub fn opcode(text: &str) -> &str {
    let is_opcode = |word: &&str| !word.starts_with(['@', '{']);
    text.split_whitespace().find(is_opcode).unwrap_or_default().trim_end_matches([',', ';'])
}

/// Opcodes in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    names: Vec<String>,
    #[expect(dead_code, reason = "for who reads the file; parsed so that no entry lacks it")]
    about: String,
    values: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    on: Vec<String>,
    pipe: Pipe,
    lanes: Option<u32>,
    #[serde(default)]
    latency_cycles: u32,
    #[serde(default)]
    read_cycles: u32,
    #[serde(default)]
    read_cycles_per_word: u32,
    #[expect(dead_code, reason = "as `about`")]
    how: How,
    #[expect(dead_code, reason = "as `about`")]
    from: String,
}

/// The costs on one device, or the names of an entry that has none there.
pub(super) fn resolve(entries: &[Entry], device: &str, version: ComputeCapability) -> Result<Opcodes, String> {
    let mut opcodes = Opcodes::default();
    for entry in entries {
        let value = entry.values.iter().rfind(|value| applies(&value.on, device, version));
        let value = value.ok_or_else(|| entry.names.join(", "))?;
        let Value { pipe, lanes, latency_cycles, read_cycles, read_cycles_per_word, .. } = *value;
        let cost = OpcodeCost { pipe, lanes, latency_cycles, read_cycles, read_cycles_per_word };
        for name in &entry.names {
            if name == OTHER {
                opcodes.other = cost;
                continue;
            }
            let mut parts = name.split('.').map(str::to_owned);
            let base = parts.next().unwrap_or_default();
            opcodes.by_base.entry(base).or_default().push((parts.collect(), cost));
        }
    }
    Ok(opcodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{devices, find};

    fn of(device: &str, text: &str) -> OpcodeCost {
        find(device).unwrap().opcodes.of(text)
    }

    #[test]
    fn the_opcode_is_what_follows_the_guard() {
        assert_eq!(opcode("@!P0 LDG.E.128 R4, desc[UR4][R2.64]"), "LDG.E.128");
        assert_eq!((opcode("EXIT ;"), opcode("NOP"), opcode(" @UP1 UMOV UR4, 0x1")), ("EXIT", "NOP", "UMOV"));
        assert_eq!(opcode(""), "");
    }

    #[test]
    fn the_entry_with_the_most_modifiers_counts_wherever_they_stand() {
        assert_eq!(of("RTX 4090", "I2F.U32.RP R0, R4").lanes, None);
        assert_eq!(of("RTX 4090", "I2F.F64.U32 R2, R4").lanes, Some(2));
        assert_eq!(of("RTX 4090", "F2F.F32.F64 R2, R4").lanes, Some(2));
    }

    #[test]
    fn integer_multiplication_shares_the_pipe_of_floats_up_to_8_0() {
        let pipe = |device| of(device, "IMAD.WIDE.U32 R2, R0, 0x4, R2").pipe;
        assert_eq!([pipe("A100"), pipe("H200"), pipe("RTX 5070")], [Pipe::Fma, Pipe::Imad, Pipe::Imad]);
    }

    #[test]
    fn what_no_entry_names_has_a_cost_and_is_not_known() {
        let opcodes = &find("H200").unwrap().opcodes;
        assert!(opcodes.knows("@P0 FFMA R0, R1, R2, R3") && !opcodes.knows("FROBNICATE R0"));
        assert_eq!(opcodes.of("FROBNICATE R0").pipe, Pipe::Alu);
    }

    /// Opcodes that kernels of this repository compile to on sm_80, sm_90 and sm_120.
    const SEEN: &str = "FADD FFMA FMUL FSETP FSEL MUFU HFMA2 IADD IADD3 IMAD LEA LOP3 SHF ISETP PLOP3 SEL MOV VIADD PRMT I2F I2FP \
        F2I S2R S2UR CS2R LDC LDCU ULDC UMOV UIADD3 UISETP UPLOP3 ULOP3 ULEA USHF UIMAD USEL R2UR LDG STG LDS STS LD ST LDL STL \
        ATOM ATOMG ATOMS RED SHFL VOTE VOTEU MATCH REDUX BAR B2R BSSY BSYNC WARPSYNC NANOSLEEP MEMBAR BRA BRX CALL RET EXIT BPT \
        NOP ERRBAR CCTL DEPBAR ENDCOLLECTIVE DADD FLO POPC IMNMX VIMNMX";

    #[test]
    fn every_opcode_that_our_kernels_have_has_an_entry() {
        for device in devices() {
            for name in SEEN.split_whitespace() {
                assert!(device.opcodes.knows(name), "{name} on {}", device.name);
            }
        }
    }
}
