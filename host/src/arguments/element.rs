//! Element types by name, and their values as text, bytes and JSON.

use serde_json::Value;

use crate::random::{Generator, Random};
use crate::schema::{Integer, Real};

/// The type of a scalar or of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// Names as they are typed: Rust's first, then PTX's.
const NAMES: [(&str, Element); 18] = [
    ("u8", Element::U8),
    ("u16", Element::U16),
    ("u32", Element::U32),
    ("u64", Element::U64),
    ("i8", Element::I8),
    ("i16", Element::I16),
    ("i32", Element::I32),
    ("i64", Element::I64),
    ("f32", Element::F32),
    ("f64", Element::F64),
    ("s8", Element::I8),
    ("s16", Element::I16),
    ("s32", Element::I32),
    ("s64", Element::I64),
    ("b8", Element::U8),
    ("b16", Element::U16),
    ("b32", Element::U32),
    ("b64", Element::U64),
];

/// Applies a macro to the Rust type of an element type.
macro_rules! with_type {
    ($element:expr, $action:ident) => {
        match $element {
            Element::U8 => $action!(u8),
            Element::U16 => $action!(u16),
            Element::U32 => $action!(u32),
            Element::U64 => $action!(u64),
            Element::I8 => $action!(i8),
            Element::I16 => $action!(i16),
            Element::I32 => $action!(i32),
            Element::I64 => $action!(i64),
            Element::F32 => $action!(f32),
            Element::F64 => $action!(f64),
        }
    };
}

impl Element {
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, element)| *element)
    }

    /// The names that are accepted, for messages.
    pub fn names() -> String {
        NAMES.map(|(name, _)| name).join(" ")
    }

    /// Rust's name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, element)| *element == self).map_or("", |(name, _)| name)
    }

    pub fn bytes(self) -> usize {
        macro_rules! size {
            ($ty:ty) => {
                size_of::<$ty>()
            };
        }
        with_type!(self, size)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// The value written in decimal, or an integer in hexadecimal after `0x`; `None` if it is no value of the type.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        if let Some(digits) = text.strip_prefix("0x").filter(|_| !self.is_float()) {
            let bits = u64::from_str_radix(digits, 16).ok()?;
            let bytes = bits.to_le_bytes();
            return bytes[self.bytes()..].iter().all(|&byte| byte == 0).then(|| bytes[..self.bytes()].to_vec());
        }
        macro_rules! parse {
            ($ty:ty) => {
                text.parse::<$ty>().ok()?.to_le_bytes().to_vec()
            };
        }
        Some(with_type!(self, parse))
    }

    /// The element with this index of a ramp: 0, 1, 2 …, wrapping where the type ends.
    pub fn ramp(self, index: u64) -> Vec<u8> {
        macro_rules! convert {
            ($ty:ty) => {
                (index as $ty).to_le_bytes().to_vec()
            };
        }
        with_type!(self, convert)
    }

    /// A random value: a float in 0 to 1 (1 excluded), or an integer of all values alike.
    pub fn random(self, random: &mut Generator) -> Vec<u8> {
        match self {
            Element::F32 => random.random::<f32>().to_le_bytes().to_vec(),
            Element::F64 => random.random::<f64>().to_le_bytes().to_vec(),
            integer => random.random::<u64>().to_le_bytes()[..integer.bytes()].to_vec(),
        }
    }

    /// The values of a buffer as JSON; trailing bytes that are no whole element are left out.
    pub fn json(self, bytes: &[u8]) -> Vec<Value> {
        macro_rules! decode {
            ($ty:ty) => {
                bytes
                    .chunks_exact(size_of::<$ty>())
                    .map(|chunk| {
                        let mut raw = [0; size_of::<$ty>()];
                        raw.copy_from_slice(chunk);
                        <$ty>::from_le_bytes(raw).to_json()
                    })
                    .collect()
            };
        }
        with_type!(self, decode)
    }
}

/// A number under the schemas' rules.
trait ToJson {
    fn to_json(self) -> Value;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl ToJson for $ty {
            fn to_json(self) -> Value {
                serde_json::to_value(Integer(self.into())).unwrap_or(Value::Null)
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 i8 i16 i32 i64);

/// Through its shortest decimal form, so that 0.1 stays 0.1 and does not become 0.10000000149.
impl ToJson for f32 {
    fn to_json(self) -> Value {
        self.to_string().parse::<f64>().map_or(Value::Null, ToJson::to_json)
    }
}

impl ToJson for f64 {
    fn to_json(self) -> Value {
        serde_json::to_value(Real(self)).unwrap_or(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_decimal_and_hexadecimal_within_the_range_of_their_type() {
        assert_eq!(Element::U8.encode("255"), Some(vec![255]));
        assert_eq!(Element::U16.encode("0xff00"), Some(vec![0, 255]));
        assert_eq!(Element::I32.encode("-1"), Some(vec![255; 4]));
        assert_eq!(Element::F32.encode("0.5"), Some(0.5_f32.to_le_bytes().to_vec()));
        assert_eq!(Element::F64.encode("-inf"), Some(f64::NEG_INFINITY.to_le_bytes().to_vec()));
        for (element, text) in [
            (Element::U8, "256"),
            (Element::U8, "0x100"),
            (Element::U32, "-1"),
            (Element::I8, "1.5"),
            (Element::F32, "0x1"),
            (Element::F32, "one"),
            (Element::U32, ""),
        ] {
            assert_eq!(element.encode(text), None, "{text} as {}", element.name());
        }
    }

    #[test]
    fn a_ramp_wraps_where_its_type_ends() {
        assert_eq!(Element::U8.ramp(257), [1]);
        assert_eq!(Element::F32.ramp(3), 3.0_f32.to_le_bytes());
    }

    #[test]
    fn buffers_become_json_under_the_rules_for_nan_and_large_integers() {
        let text = |element: Element, bytes: &[u8]| serde_json::to_string(&element.json(bytes)).unwrap_or_default();
        let floats: Vec<u8> = [0.1_f32, f32::NAN, f32::INFINITY].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(text(Element::F32, &floats), r#"[0.1,"NaN","inf"]"#);
        assert_eq!(text(Element::U64, &u64::MAX.to_le_bytes()), r#"["18446744073709551615"]"#);
        assert_eq!(text(Element::I8, &[255, 1]), "[-1,1]");
        assert_eq!(text(Element::U32, &[1, 0, 0, 0, 9]), "[1]");
    }
}
