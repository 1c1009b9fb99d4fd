//! What PTX operations cost, by class of operation, as `devices.toml` gives it for one device.

use serde::Deserialize;

use super::{ComputeCapability, How, parameters::applies};

/// A class of operations that cost the same. `devices.toml` says what each takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Free,
    Fp32,
    Integer,
    Select,
    IntegerMultiply,
    IntegerMultiplyWide,
    Integer64,
    Integer64Multiply,
    IntegerMulti,
    IntegerDivide,
    Integer64Divide,
    Bits,
    Convert,
    Half,
    SpecialFunction,
    SpecialSequence,
    Fp32Divide,
    Fp64,
    Fp64Sequence,
    Shuffle,
    Vote,
    Match,
    Reduce,
    SpecialRegister,
    Predicate,
    Control,
    Memory,
}

impl Class {
    pub const ALL: [Self; 27] = [
        Self::Free,
        Self::Fp32,
        Self::Integer,
        Self::Select,
        Self::IntegerMultiply,
        Self::IntegerMultiplyWide,
        Self::Integer64,
        Self::Integer64Multiply,
        Self::IntegerMulti,
        Self::IntegerDivide,
        Self::Integer64Divide,
        Self::Bits,
        Self::Convert,
        Self::Half,
        Self::SpecialFunction,
        Self::SpecialSequence,
        Self::Fp32Divide,
        Self::Fp64,
        Self::Fp64Sequence,
        Self::Shuffle,
        Self::Vote,
        Self::Match,
        Self::Reduce,
        Self::SpecialRegister,
        Self::Predicate,
        Self::Control,
        Self::Memory,
    ];
}

/// An execution pipe of a scheduler, or the path that the SM's schedulers share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipe {
    /// Takes no issue.
    #[default]
    None,
    Fma,
    Alu,
    /// Integer multiplication, on part of the `Fma` lanes.
    Imad,
    Fp64,
    /// Special functions and conversions.
    Xu,
    /// Loads, stores, shuffles, special registers.
    Lsu,
    Vote,
    Control,
    /// Pairs of 16-bit floats, where they have a pipe of their own.
    Half,
    /// What is the same for a whole warp.
    Uniform,
    /// Constants at an address, block barriers (Nsight Compute's `adu`).
    Adu,
}

impl Pipe {
    pub const COUNT: usize = 12;
}

/// What an operation costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub pipe: Pipe,
    /// Machine instructions that it stands for, all on that pipe.
    pub instructions: u32,
    /// From its issue to the issue of a user.
    pub latency_cycles: u32,
}

/// The cost of every class on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    by_class: [Cost; Class::ALL.len()],
}

impl Costs {
    pub const fn of(&self, class: Class) -> Cost {
        self.by_class[class as usize]
    }
}

/// A class in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    class: Class,
    #[expect(dead_code, reason = "for who reads the file; parsed so that no entry lacks it")]
    about: String,
    values: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    on: Vec<String>,
    pipe: Pipe,
    instructions: u32,
    latency_cycles: u32,
    #[expect(dead_code, reason = "as `about`")]
    how: How,
    #[expect(dead_code, reason = "as `about`")]
    from: String,
}

/// The costs on one device, or the class that has none.
pub(super) fn resolve(entries: &[Entry], device: &str, version: ComputeCapability) -> Result<Costs, Class> {
    let mut costs = Costs::default();
    for class in Class::ALL {
        let mut values = entries.iter().filter(|entry| entry.class == class).flat_map(|entry| &entry.values);
        let value = values.rfind(|value| applies(&value.on, device, version)).ok_or(class)?;
        let Value { pipe, instructions, latency_cycles, .. } = *value;
        costs.by_class[class as usize] = Cost { pipe, instructions, latency_cycles };
    }
    Ok(costs)
}
