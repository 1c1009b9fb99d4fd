//! Which values the 12 registers of `vecadd` hold, and when.
//!
//! A register holds one value after another. What each is can be read off the code: a load from the constant bank is a
//! parameter, a multiply-add of it and the index an address, a load from there an element.

use std::collections::{BTreeMap, BTreeSet};

use warpwise_kernels::vecadd::vecadd;
use warpwise_nvtools::nvdisasm::{Function, Instruction, ListingOptions, RegisterFile, Use};

use super::{ARCH, SECTION};
use crate::claim::{Claim, equal, holds};
use crate::lab::{LabContext, LabError, Table};
use crate::labs::code::{sass, text};
use crate::labs::control_flow::operands;

pub fn claims() -> Vec<Claim> {
    let claims = [
        Claim::new("registers", SECTION, "registers that ptxas gives vecadd", equal(12)),
        Claim::new("registers_named", SECTION, "registers named in the code: R0 to R7 and R9", equal(9)),
        Claim::new(
            "registers_above",
            SECTION,
            "registers that ptxas counts beyond the highest that is named",
            equal(2),
        )
        .note("as it does in every kernel since Volta; no instruction names them"),
        Claim::new("registers_alive", SECTION, "most registers that hold a value at once", equal(8))
            .note("a register is free again after the last instruction that reads it"),
        Claim::new("pointers", SECTION, "registers that the three pointers take, two each", equal(6)),
        Claim::new("reuse", SECTION, "an element takes the place of the address it was loaded from", holds("both do")),
        Claim::new("n_uniform", SECTION, "n is in none of them", holds("it is in a uniform register"))
            .note("the chapter counts it among the twelve; it is the same for all threads, and kept once a warp"),
    ];
    claims.into_iter().map(Claim::recorded).collect()
}

/// Where sm_120 keeps kernel parameters and launch facts in constant bank 0, as its listings show.
const PARAMETERS: u32 = 0x380;
const LAUNCH_FACTS: [(u32, &str); 3] = [(0x358, "memory descriptor"), (0x360, "blockDim.x"), (0x37c, "stack pointer")];

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let ids: Vec<String> = claims().into_iter().map(|claim| claim.id).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let Some(function) = sass(cx, vecadd.name, ARCH, ListingOptions { live: true }, &ids)? else {
        return Ok(());
    };
    let values = Values::of(&function);
    alive(cx, &function, &values)?;
    let pointers: BTreeSet<u16> = values
        .held
        .iter()
        .filter(|value| matches!(value.name.as_str(), "a" | "b" | "c") && !value.uniform)
        .map(|value| value.register)
        .collect();
    cx.found("pointers", pointers.len());
    let n: Vec<&Value> = values.held.iter().filter(|value| value.name == "n").collect();
    let uniform = !n.is_empty() && n.iter().all(|value| value.uniform);
    cx.holds("n_uniform", uniform, format!("n is in {:?}", n.iter().map(|value| value.register).collect::<Vec<_>>()));
    let replaced = |element: &str| values.replaces(element, &format!("&{element}"));
    cx.holds("reuse", replaced("a[i]") && replaced("b[i]"), "an element has a register of its own");
    Ok(())
}

fn alive(cx: &mut LabContext<'_>, function: &Function, values: &Values) -> Result<(), LabError> {
    let title = format!("vecadd on {ARCH}: what its registers hold after each instruction");
    let mut table = Table::new(title, ["address", "instruction", "alive", "registers and their values"]);
    let general = |instruction: &Instruction| -> Vec<(u16, Use)> {
        let registers = instruction.live.iter().flat_map(|live| &live.registers);
        let general = registers.filter(|(register, _)| register.file == RegisterFile::General);
        general.map(|(register, usage)| (register.index, *usage)).collect()
    };
    let mut named = BTreeSet::new();
    let mut most = 0;
    let end = function.instructions.iter().position(|i| i.opcode == "EXIT" && i.predicate.is_none());
    let code = &function.instructions[..end.map_or(function.instructions.len(), |end| end + 1)];
    for (index, instruction) in code.iter().enumerate() {
        let here = general(instruction);
        named.extend(here.iter().map(|(register, _)| *register));
        most = most.max(here.len());
        // What the next instruction finds: all that is alive there, but for what it writes without reading it.
        let found = code.get(index + 1).map_or_else(Vec::new, general);
        let held = found.into_iter().filter(|(_, usage)| *usage != Use::Written).map(|(register, _)| register);
        let held: Vec<(u16, &str)> = held.map(|register| (register, values.after(index, register))).collect();
        table.row([
            format!("{:#06x}", instruction.address).into(),
            text(instruction).into(),
            here.len().into(),
            in_words(&held).into(),
        ]);
    }
    cx.found("registers_named", named.len());
    let highest = named.last().map_or(0, |register| u32::from(*register) + 1);
    let registers = cx.resources(vecadd.name, ARCH)?.registers.value();
    cx.found("registers", registers);
    cx.found("registers_above", registers.saturating_sub(highest));
    cx.found("registers_alive", most);
    cx.table(table);
    Ok(())
}

/// `R1 stack pointer, R4:R5 b`: registers side by side that hold the same value are one entry.
fn in_words(held: &[(u16, &str)]) -> String {
    let entries = held.chunk_by(|(register, value), (next, next_value)| register + 1 == *next && value == next_value);
    let words = entries.map(|entry| {
        let names: Vec<String> = entry.iter().map(|(register, _)| format!("R{register}")).collect();
        format!("{} {}", names.join(":"), entry[0].1)
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A value and the register that holds it, from one instruction on.
struct Value {
    name: String,
    register: u16,
    uniform: bool,
    since: usize,
}

/// All values of a straight piece of code.
struct Values {
    held: Vec<Value>,
}

impl Values {
    fn of(function: &Function) -> Self {
        let mut held: Vec<Value> = Vec::new();
        let mut names: BTreeMap<(bool, u16), String> = BTreeMap::new();
        for (since, instruction) in function.instructions.iter().enumerate() {
            let operands = operands(instruction);
            let Some(((uniform, first), name)) =
                operands.first().and_then(|operand| register(operand)).zip(name(instruction, &operands, &names))
            else {
                continue;
            };
            for register in first..first + width(instruction) {
                names.insert((uniform, register), name.clone());
                held.push(Value { name: name.clone(), register, uniform, since });
            }
        }
        Self { held }
    }

    /// What a general register holds after the instruction of this index.
    fn after(&self, index: usize, register: u16) -> &str {
        let mut held = self.held.iter().rev();
        let value = held.find(|value| !value.uniform && value.register == register && value.since <= index);
        value.map_or("?", |value| &value.name)
    }

    /// Whether a value took a register in which another was before it.
    fn replaces(&self, name: &str, other: &str) -> bool {
        let is_after = |value: &Value| {
            self.held.iter().any(|old| old.name == other && old.register == value.register && old.since < value.since)
        };
        self.held.iter().any(|value| value.name == name && is_after(value))
    }
}

/// `R4`, `UR5`, `R4.64`, `desc[UR4][R4.64]`'s last: number, and whether it is uniform.
fn register(operand: &str) -> Option<(bool, u16)> {
    let operand = operand.rsplit('[').next()?.trim_end_matches(']');
    let operand = operand.split('.').next()?;
    let (uniform, number) = match operand.strip_prefix('U') {
        Some(rest) => (true, rest.strip_prefix('R')?),
        None => (false, operand.strip_prefix('R')?),
    };
    Some((uniform, number.parse().ok()?))
}

/// Registers of the result.
fn width(instruction: &Instruction) -> u16 {
    let wide = instruction.opcode.contains(".WIDE") || instruction.opcode.contains(".64");
    if wide { 2 } else { 1 }
}

/// What the result is, as a reader of the source would call it. `None`: no register, or nothing with a name.
fn name(instruction: &Instruction, operands: &[&str], names: &BTreeMap<(bool, u16), String>) -> Option<String> {
    let of = |index: usize| {
        operands.get(index).and_then(|operand| register(operand)).and_then(|register| names.get(&register)).cloned()
    };
    match instruction.base_opcode() {
        "S2R" | "S2UR" => Some(special(operands.get(1)?)),
        "LDC" | "LDCU" => constant(operands.get(1)?),
        "IMAD" if instruction.opcode.contains(".WIDE") => Some(format!("&{}[{}]", of(3)?, of(1)?)),
        "IMAD" => Some("i".to_owned()),
        "LDG" => of(1).map(|address| address.trim_start_matches('&').to_owned()),
        "FADD" => Some(format!("{} + {}", of(1)?, of(2)?)),
        _ => None,
    }
}

/// `SR_TID.X` is threadIdx.x.
fn special(name: &str) -> String {
    let name = name.trim_start_matches("SR_");
    let axis = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    match name.split('.').next() {
        Some("TID") => format!("threadIdx.{axis}"),
        Some("CTAID") => format!("blockIdx.{axis}"),
        _ => name.to_owned(),
    }
}

/// `c[0x0][0x388]` is the second pointer.
fn constant(operand: &str) -> Option<String> {
    let offset = operand.rsplit('[').next()?.trim_end_matches(']');
    let offset = u32::from_str_radix(offset.trim_start_matches("0x"), 16).ok()?;
    if let Some((_, name)) = LAUNCH_FACTS.iter().find(|(at, _)| *at == offset) {
        return Some((*name).to_owned());
    }
    // The parameters of vecadd: three pointers of 8 bytes, then n.
    let index = offset.checked_sub(PARAMETERS)? / 8;
    vecadd.params.get(index as usize).map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labs::control_flow::tests::function;

    #[test]
    fn registers_are_read_from_every_kind_of_operand() {
        let cases = [
            ("R4", Some((false, 4))),
            ("UR5", Some((true, 5))),
            ("desc[UR4][R6.64]", Some((false, 6))),
            ("RZ", None),
            ("0x4", None),
            ("P0", None),
        ];
        for (operand, expected) in cases {
            assert_eq!(register(operand), expected, "{operand}");
        }
    }

    #[test]
    fn pairs_of_registers_with_one_value_are_one_entry() {
        let held = [(1, "stack pointer"), (4, "b"), (5, "b"), (6, "a"), (9, "a")];
        assert_eq!(in_words(&held), "R1 stack pointer, R4:R5 b, R6 a, R9 a");
        assert_eq!(in_words(&[]), "");
    }

    #[test]
    fn values_are_named_through_addresses_and_loads() {
        let values = Values::of(&function(
            "S2R R0, SR_TID.X\nLDC R9, c[0x0][0x360]\nLDCU UR5, c[0x0][0x398]\nIMAD R9, R9, UR4, R0\nLDC.64 R4, c[0x0][0x388]\n\
             IMAD.WIDE.U32 R4, R9, 0x4, R4\nLDG.E R5, desc[UR4][R4.64]",
        ));
        let at = |index, register| values.after(index, register);
        assert_eq!((at(0, 0), at(1, 9), at(3, 9), at(4, 5)), ("threadIdx.x", "blockDim.x", "i", "b"));
        assert_eq!((at(5, 4), at(5, 5), at(6, 4), at(6, 5)), ("&b[i]", "&b[i]", "&b[i]", "b[i]"));
        assert!(values.replaces("b[i]", "&b[i]") && !values.replaces("b[i]", "&a[i]"));
        assert!(values.held.iter().any(|value| value.name == "n" && value.uniform));
    }
}
