//! `--arg`, `--grid` and `--block` as words.

use std::path::PathBuf;
use std::str::FromStr;

use super::Element;
use super::init::{EXPECTED, Init};

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Bytes of the value, as wide as its type.
    Scalar {
        name: String,
        element: Element,
        value: Vec<u8>,
    },
    Buffer {
        name: String,
        direction: Direction,
        element: Element,
        len: usize,
        init: Init,
    },
}

/// Which way a buffer's values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    #[error("--arg `{given}` is not NAME=scalar:TYPE:VALUE or NAME=in|out|inout:TYPE:LEN[:INIT]")]
    Form { given: String },
    #[error("--arg {name}: `{given}` is no type; expected one of {names}", names = Element::names())]
    Type { name: String, given: String },
    #[error("--arg {name}: `{given}` is no value of type {element}")]
    Value { name: String, given: String, element: &'static str },
    #[error("--arg {name}: `{given}` is no length; expected the number of elements")]
    Len { name: String, given: String },
    #[error("--arg {name}: `{given}` is no initial value; expected {EXPECTED}")]
    Init { name: String, given: String },
    #[error("--arg {name}: {given} values were given, the buffer has {expected}; give as many values as elements")]
    Length { name: String, given: usize, expected: usize },
    #[error("--arg {name}: `{path}`: {reason}")]
    File { name: String, path: PathBuf, reason: String },
}

impl Argument {
    pub fn name(&self) -> &str {
        match self {
            Self::Scalar { name, .. } | Self::Buffer { name, .. } => name,
        }
    }

    /// Bytes in the parameter buffer: a buffer's is its address.
    pub fn param_bytes(&self) -> usize {
        match self {
            Self::Scalar { element, .. } => element.bytes(),
            Self::Buffer { .. } => size_of::<u64>(),
        }
    }
}

impl FromStr for Argument {
    type Err = ArgumentError;

    fn from_str(text: &str) -> Result<Self, ArgumentError> {
        let form = || ArgumentError::Form { given: text.to_owned() };
        let (name, rest) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(form)?;
        let mut words = rest.splitn(3, ':');
        let (Some(kind), Some(type_name), Some(rest)) = (words.next(), words.next(), words.next()) else {
            return Err(form());
        };
        let direction = match kind {
            "scalar" => None,
            "in" => Some(Direction::In),
            "out" => Some(Direction::Out),
            "inout" => Some(Direction::InOut),
            _ => return Err(form()),
        };
        let name = name.to_owned();
        let Some(element) = Element::named(type_name) else {
            return Err(ArgumentError::Type { name, given: type_name.to_owned() });
        };
        match direction {
            None => match element.encode(rest) {
                Some(value) => Ok(Self::Scalar { name, element, value }),
                None => Err(ArgumentError::Value { name, given: rest.to_owned(), element: element.name() }),
            },
            Some(direction) => buffer(name, direction, element, rest),
        }
    }
}

/// `LEN` or `LEN:INIT`.
fn buffer(name: String, direction: Direction, element: Element, text: &str) -> Result<Argument, ArgumentError> {
    let (len, init) = match text.split_once(':') {
        Some((len, init)) => (len, Some(init)),
        None => (text, None),
    };
    // The greatest buffer is bounded, so that the bytes of a length never overflow.
    let Some(len) = len.parse().ok().filter(|&len: &usize| len <= usize::MAX / 16) else {
        return Err(ArgumentError::Len { name, given: len.to_owned() });
    };
    let init = match init {
        None => Init::Zeros,
        Some(text) => match Init::parse(text) {
            Some(init) => init,
            None => return Err(ArgumentError::Init { name, given: text.to_owned() }),
        },
    };
    Ok(Argument::Buffer { name, direction, element, len, init })
}

/// Sizes as `X`, `X,Y` or `X,Y,Z`; those not given are 1. For clap's `value_parser`.
pub fn parse_dim3(text: &str) -> Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    if words.len() > sizes.len() {
        return Err(format!("{} sizes; expected X, X,Y or X,Y,Z", words.len()));
    }
    for (size, word) in sizes.iter_mut().zip(words) {
        *size = word.parse().map_err(|_| format!("`{word}` is no size; expected X, X,Y or X,Y,Z"))?;
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_and_buffers_are_read() {
        assert_eq!(
            "n=scalar:u32:1003".parse(),
            Ok(Argument::Scalar { name: "n".into(), element: Element::U32, value: 1003_u32.to_le_bytes().to_vec() })
        );
        let buffer =
            |direction, init| Argument::Buffer { name: "a".into(), direction, element: Element::F32, len: 4, init };
        assert_eq!("a=in:f32:4:ramp".parse(), Ok(buffer(Direction::In, Init::Ramp)));
        assert_eq!("a=out:f32:4".parse(), Ok(buffer(Direction::Out, Init::Zeros)));
        assert_eq!("a=inout:f32:4:rand:3".parse(), Ok(buffer(Direction::InOut, Init::Random(3))));
    }

    /// What is given, and the message.
    const WRONG: [(&str, &str); 8] = [
        ("n", "--arg `n` is not NAME=scalar:TYPE:VALUE or NAME=in|out|inout:TYPE:LEN[:INIT]"),
        ("=in:f32:4", "--arg `=in:f32:4` is not NAME=scalar:TYPE:VALUE or NAME=in|out|inout:TYPE:LEN[:INIT]"),
        ("n=scalar:u32", "--arg `n=scalar:u32` is not NAME=scalar:TYPE:VALUE or NAME=in|out|inout:TYPE:LEN[:INIT]"),
        ("n=by:u32:1", "--arg `n=by:u32:1` is not NAME=scalar:TYPE:VALUE or NAME=in|out|inout:TYPE:LEN[:INIT]"),
        (
            "n=scalar:float:1",
            "--arg n: `float` is no type; expected one of u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 s8 s16 s32 s64 b8 b16 b32 b64",
        ),
        ("n=scalar:u8:256", "--arg n: `256` is no value of type u8"),
        ("a=in:f32:-1", "--arg a: `-1` is no length; expected the number of elements"),
        (
            "a=in:f32:4:zeros",
            "--arg a: `zeros` is no initial value; expected ramp, const:V, list:V,V, rand:SEED or file:PATH",
        ),
    ];

    #[test]
    fn what_is_wrong_is_named_with_what_was_expected() {
        for (text, message) in WRONG {
            assert_eq!(text.parse::<Argument>().map_err(|error| error.to_string()), Err(message.to_owned()));
        }
        let huge = format!("a=in:f64:{}", usize::MAX);
        assert!(matches!(huge.parse::<Argument>(), Err(ArgumentError::Len { .. })));
    }

    #[test]
    fn sizes_that_are_not_given_are_1() {
        assert_eq!(parse_dim3("4"), Ok([4, 1, 1]));
        assert_eq!(parse_dim3("32, 8"), Ok([32, 8, 1]));
        for wrong in ["", "4,x", "1,2,3,4", "-1", "4294967296"] {
            assert!(parse_dim3(wrong).is_err(), "{wrong}");
        }
    }
}
