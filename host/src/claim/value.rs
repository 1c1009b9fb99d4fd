//! What a lab finds: an integer, a real number, or words.

use std::fmt;

use super::format::real;

/// A value found, or one to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Integer(i128),
    Real(f64),
    Text(String),
}

impl Value {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            Value::Text(_) => None,
        }
    }
}

/// As reports show it, without grouping, so that programs can read it: `3907`, `0.8333`, `warps`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) => write!(f, "{value}"),
            Value::Real(value) => f.write_str(&real(*value)),
            Value::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! from_integers {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Value {
            fn from(value: $ty) -> Self {
                Value::Integer(value as i128)
            }
        }
    )*};
}

from_integers!(i32 u32 i64 u64 usize u8 u16);

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}

impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Value::Real(value.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}
