//! What programs read: the JSON files, one module a schema.
//!
//! Names are stable: fields are added freely and never renamed. A NaN or an infinity is a string (`"NaN"`, `"inf"`, `"-inf"`),
//! and so is an integer beyond 2⁵³, which a reader with doubles would round.

mod accuracy;
mod bench;
mod counters;
mod csv;
mod diff;
mod labs;
mod occupancy;
mod regs;
mod run;
mod sweep;

pub use accuracy::accuracy;
pub use bench::bench;
pub use counters::counters;
pub use csv::csv;
pub use diff::diff;
pub use labs::labs;
pub use occupancy::occupancy;
pub use regs::regs;
pub use run::{RunRecord, run};
use serde::{Serialize, Serializer};
use serde_json::Value;
pub use sweep::sweep;

use crate::numbers::Sampled;

/// Integers up to here are exact in a double.
const EXACT_INTEGER_MAX: u64 = 1 << 53;

/// Of a time for which not all blocks were timed: how many were, and the error that this may make, as a share.
#[derive(Clone, Copy, Debug, Serialize)]
struct SampledJson {
    timed_blocks: Integer,
    blocks: Integer,
    waves: Integer,
    error: Real,
}

impl From<Sampled> for SampledJson {
    fn from(Sampled { timed_blocks, blocks, waves, error }: Sampled) -> Self {
        let [timed_blocks, blocks, waves] = [timed_blocks, blocks, waves].map(|count| Integer(count.into()));
        Self { timed_blocks, blocks, waves, error: Real(error) }
    }
}

/// A real number under the rule for NaN and infinities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(pub f64);

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.is_finite() => serializer.serialize_f64(value),
            value => serializer.collect_str(&value),
        }
    }
}

/// An integer under the rule for those beyond 2⁵³.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer(pub i128);

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(value) if value.unsigned_abs() <= EXACT_INTEGER_MAX => serializer.serialize_i64(value),
            _ => serializer.collect_str(&self.0),
        }
    }
}

/// A number that is an integer where it has no fraction, as counters are: `250002`, `31.97`.
pub fn number(value: f64) -> Value {
    let integral = value.fract() == 0.0 && value.abs() <= EXACT_INTEGER_MAX as f64;
    let json = if integral { serde_json::to_value(value as i64) } else { serde_json::to_value(Real(value)) };
    json.unwrap_or_else(|_| Value::String(value.to_string()))
}

/// A document as indented JSON with a newline at its end.
pub fn text(document: &impl Serialize) -> String {
    // The documents are structs of strings and numbers: there is nothing in them that cannot be written.
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).expect("numbers serialise")
    }

    #[test]
    fn nan_infinities_and_integers_beyond_2_to_the_53_are_strings() {
        assert_eq!(json(&Real(0.5)), "0.5");
        assert_eq!(json(&Real(f64::NAN)), "\"NaN\"");
        assert_eq!(json(&Real(f64::NEG_INFINITY)), "\"-inf\"");
        assert_eq!(json(&Integer(1 << 53)), "9007199254740992");
        assert_eq!(json(&Integer((1 << 53) + 1)), "\"9007199254740993\"");
        assert_eq!(json(&Integer(-(1 << 60))), "\"-1152921504606846976\"");
    }

    #[test]
    fn counters_without_a_fraction_are_integers() {
        assert_eq!(json(&number(250_002.0)), "250002");
        assert_eq!(json(&number(31.5)), "31.5");
        assert_eq!(json(&number(f64::INFINITY)), "\"inf\"");
    }
}
