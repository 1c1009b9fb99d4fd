//! The relation that a found value must have to what a chapter says: as a check and as the text that reports show.

use std::fmt;

use super::format::real;
use super::value::Value;

/// What must hold of the value found. Displays as the `expected` column of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// Exactly this value.
    Equal(Value),
    /// No further from `of` than the share `relative` of it: `≈ 2 ± 10%`.
    Near {
        of: f64,
        relative: f64,
    },
    Less(f64),
    AtMost(f64),
    Greater(f64),
    AtLeast(f64),
    /// From the first to the second, both included.
    Between(f64, f64),
    OneOf(Vec<Value>),
    /// A statement that the lab checks itself; it finds [`TRUE`] or what it saw instead.
    Holds(String),
}

/// What a lab finds for a relation [`Relation::Holds`] that does hold.
pub const TRUE: &str = "yes";

pub fn equal(value: impl Into<Value>) -> Relation {
    Relation::Equal(value.into())
}

/// `of`, give or take the share `relative` (0.1 is 10%).
pub fn near(of: f64, relative: f64) -> Relation {
    Relation::Near { of, relative }
}

pub fn less_than(bound: f64) -> Relation {
    Relation::Less(bound)
}

pub fn at_most(bound: f64) -> Relation {
    Relation::AtMost(bound)
}

pub fn greater_than(bound: f64) -> Relation {
    Relation::Greater(bound)
}

pub fn at_least(bound: f64) -> Relation {
    Relation::AtLeast(bound)
}

pub fn between(low: f64, high: f64) -> Relation {
    Relation::Between(low, high)
}

pub fn one_of(values: impl IntoIterator<Item = impl Into<Value>>) -> Relation {
    Relation::OneOf(values.into_iter().map(Into::into).collect())
}

/// A statement in words, such as "the two results are equal"; the lab finds `true` or what it saw instead.
pub fn holds(statement: impl Into<String>) -> Relation {
    Relation::Holds(statement.into())
}

impl Relation {
    /// Whether `found` satisfies the relation. A NaN satisfies none; words satisfy no relation of numbers.
    pub fn accepts(&self, found: &Value) -> bool {
        let number = |check: &dyn Fn(f64) -> bool| found.number().is_some_and(check);
        match self {
            Relation::Equal(value) => same(value, found),
            Relation::Near { of, relative } => number(&|x| (x - of).abs() <= of.abs() * relative),
            Relation::Less(bound) => number(&|x| x < *bound),
            Relation::AtMost(bound) => number(&|x| x <= *bound),
            Relation::Greater(bound) => number(&|x| x > *bound),
            Relation::AtLeast(bound) => number(&|x| x >= *bound),
            Relation::Between(low, high) => number(&|x| *low <= x && x <= *high),
            Relation::OneOf(values) => values.iter().any(|value| same(value, found)),
            Relation::Holds(_) => matches!(found, Value::Text(text) if text == TRUE),
        }
    }
}

/// Equality in which 2 and 2.0 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        _ => matches!((a.number(), b.number()), (Some(a), Some(b)) if a == b),
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Relation::Equal(value) => write!(f, "= {value}"),
            Relation::Near { of, relative } => write!(f, "≈ {} ± {}%", real(*of), real(relative * 100.0)),
            Relation::Less(bound) => write!(f, "< {}", real(*bound)),
            Relation::AtMost(bound) => write!(f, "≤ {}", real(*bound)),
            Relation::Greater(bound) => write!(f, "> {}", real(*bound)),
            Relation::AtLeast(bound) => write!(f, "≥ {}", real(*bound)),
            Relation::Between(low, high) => write!(f, "{} … {}", real(*low), real(*high)),
            Relation::OneOf(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "one of {}", values.join(", "))
            }
            Relation::Holds(statement) => write!(f, "holds that {statement}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relation, its text, values it accepts, values it refuses.
    fn cases() -> Vec<(Relation, &'static str, Vec<Value>, Vec<Value>)> {
        let reals = |values: &[f64]| values.iter().map(|&v| Value::Real(v)).collect::<Vec<_>>();
        vec![
            (equal(3907), "= 3907", vec![3907.into(), 3907.0.into()], vec![3908.into(), "3907".into()]),
            (equal("warps"), "= warps", vec!["warps".into()], vec!["registers".into(), 1.into()]),
            (near(2.0, 0.1), "≈ 2 ± 10%", reals(&[1.81, 2.0, 2.19]), reals(&[1.79, 2.21, f64::NAN])),
            (near(-2.0, 0.1), "≈ -2 ± 10%", reals(&[-2.1]), reals(&[2.0])),
            (less_than(0.01), "< 0.01", reals(&[0.009_9, -1.0]), reals(&[0.01, f64::NAN])),
            (at_most(1.0), "≤ 1", reals(&[1.0]), reals(&[1.000_001, f64::INFINITY])),
            (greater_than(5.0), "> 5", reals(&[5.1, f64::INFINITY]), reals(&[5.0, f64::NAN])),
            (at_least(4.0), "≥ 4", vec![4.into(), 9.into()], vec![3.into(), "4".into()]),
            (between(0.9, 1.1), "0.9 … 1.1", reals(&[0.9, 1.1]), reals(&[0.89, 1.11, f64::NAN])),
            (one_of([5, 6]), "one of 5, 6", vec![5.into(), 6.into()], vec![7.into()]),
            (holds("both agree"), "holds that both agree", vec![TRUE.into()], vec!["no".into(), 1.into()]),
        ]
    }

    #[test]
    fn each_relation_accepts_what_satisfies_it_and_refuses_what_does_not() {
        for (relation, _, accepted, refused) in cases() {
            for value in accepted {
                assert!(relation.accepts(&value), "{relation} should accept {value}");
            }
            for value in refused {
                assert!(!relation.accepts(&value), "{relation} should refuse {value}");
            }
        }
    }

    #[test]
    fn each_relation_reads_as_the_expected_column_of_a_report() {
        for (relation, text, _, _) in cases() {
            assert_eq!(relation.to_string(), text);
        }
    }
}
