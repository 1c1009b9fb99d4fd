//! What a buffer holds before the launch.

use std::path::PathBuf;

use super::Element;
use super::npy;
use super::parse::ArgumentError;
use crate::random::generator;

/// Initial contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Init {
    Zeros,
    /// 0, 1, 2 …
    Ramp,
    /// One value everywhere, as text.
    Const(String),
    /// One value an element, as text.
    List(Vec<String>),
    /// From a seed: the same seed gives the same values, on every machine and in every version.
    Random(u64),
    /// `.npy`, or raw little-endian values.
    File(PathBuf),
}

/// What is accepted, for messages.
pub const EXPECTED: &str = "ramp, const:V, list:V,V, rand:SEED or file:PATH";

impl Init {
    /// Reads `ramp`, `const:V` and so on; `None` if it is none of them.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match word {
            "ramp" if rest.is_empty() => Some(Self::Ramp),
            "const" if !rest.is_empty() => Some(Self::Const(rest.to_owned())),
            "list" if !rest.is_empty() => Some(Self::List(rest.split(',').map(|v| v.trim().to_owned()).collect())),
            "rand" => rest.parse().ok().map(Self::Random),
            "file" if !rest.is_empty() => Some(Self::File(rest.into())),
            _ => None,
        }
    }

    /// The bytes of `len` elements of an argument called `name`.
    pub fn bytes(&self, name: &str, element: Element, len: usize) -> Result<Vec<u8>, ArgumentError> {
        let encode = |text: &String| {
            element.encode(text).ok_or_else(|| ArgumentError::Value {
                name: name.to_owned(),
                given: text.clone(),
                element: element.name(),
            })
        };
        let wrong_length = |given| ArgumentError::Length { name: name.to_owned(), given, expected: len };
        match self {
            Self::Zeros => Ok(vec![0; len * element.bytes()]),
            Self::Ramp => Ok((0..len as u64).flat_map(|index| element.ramp(index)).collect()),
            Self::Const(text) => Ok(encode(text)?.repeat(len)),
            Self::List(values) if values.len() != len => Err(wrong_length(values.len())),
            Self::List(values) => Ok(values.iter().map(encode).collect::<Result<Vec<_>, _>>()?.concat()),
            Self::Random(seed) => {
                let mut random = generator(*seed);
                Ok((0..len).flat_map(|_| element.random(&mut random)).collect())
            }
            Self::File(path) => {
                let bytes = npy::read(name, path, element)?;
                match bytes.len() == len * element.bytes() {
                    true => Ok(bytes),
                    false => Err(wrong_length(bytes.len() / element.bytes())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_everything_else_refused() {
        assert_eq!(Init::parse("ramp"), Some(Init::Ramp));
        assert_eq!(Init::parse("const:1.5"), Some(Init::Const("1.5".into())));
        assert_eq!(Init::parse("list:1, 2"), Some(Init::List(vec!["1".into(), "2".into()])));
        assert_eq!(Init::parse("rand:7"), Some(Init::Random(7)));
        assert_eq!(Init::parse("file:a:b.npy"), Some(Init::File("a:b.npy".into())));
        for text in ["", "ramps", "ramp:1", "const", "const:", "list:", "rand:", "rand:x", "file:"] {
            assert_eq!(Init::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_must_have_as_many_values_as_the_buffer() {
        let list = Init::parse("list:1,2,3").expect("a list");
        assert_eq!(list.bytes("a", Element::U8, 3), Ok(vec![1, 2, 3]));
        let error = list.bytes("a", Element::U8, 4).expect_err("one is missing").to_string();
        assert_eq!(error, "--arg a: 3 values were given, the buffer has 4; give as many values as elements");
        let error = Init::Const("300".into()).bytes("a", Element::U8, 1).expect_err("no u8").to_string();
        assert_eq!(error, "--arg a: `300` is no value of type u8");
    }
}
