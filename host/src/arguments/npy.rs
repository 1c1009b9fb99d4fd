//! Values from files: NumPy's `.npy` (format versions 1 to 3), anything else as raw little-endian bytes.
//!
//! Of the header only what decides the bytes is looked at: type, order in memory, and the number of elements by the file's
//! length. The shape is the caller's business: a buffer is one-dimensional.

use std::path::Path;

use super::Element;
use super::parse::ArgumentError;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads the values of an argument called `name`.
pub fn read(name: &str, path: &Path, element: Element) -> Result<Vec<u8>, ArgumentError> {
    let wrong = |reason: String| ArgumentError::File { name: name.to_owned(), path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    if !bytes.starts_with(MAGIC) {
        return Ok(bytes);
    }
    values(&bytes, element).map_err(wrong)
}

/// The values behind the header, if they are of the type asked for.
fn values(bytes: &[u8], element: Element) -> Result<Vec<u8>, String> {
    let (header, data) = split(bytes).ok_or("it ends within its .npy header")?;
    let descr = entry(header, "descr").ok_or("its .npy header has no 'descr'")?;
    let descr = descr.trim_matches(['\'', '"']);
    if !accepts(descr, element) {
        return Err(format!("it holds values of type '{descr}', not {}", element.name()));
    }
    match entry(header, "fortran_order") {
        Some("False") => Ok(data.to_vec()),
        _ => Err("it is in Fortran order; save it with numpy.ascontiguousarray".to_owned()),
    }
}

/// Header text and data. Version 1 has a 16-bit header length, later ones 32-bit.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let major = *bytes.get(MAGIC.len())?;
    let length_at = MAGIC.len() + 2;
    let (length, header_at) = match major {
        1 => (usize::from(u16::from_le_bytes(*bytes.get(length_at..)?.first_chunk()?)), length_at + 2),
        _ => (u32::from_le_bytes(*bytes.get(length_at..)?.first_chunk()?) as usize, length_at + 4),
    };
    let header = bytes.get(header_at..header_at.checked_add(length)?)?;
    Some((std::str::from_utf8(header).ok()?, &bytes[header_at + length..]))
}

/// The value of a key in the header's Python dictionary, up to the comma.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{key}':"))?;
    Some(rest.split([',', '}']).next()?.trim())
}

/// Whether NumPy's type string, such as `<f4`, is the element type in little-endian order; unsigned stands in for signed.
fn accepts(descr: &str, element: Element) -> bool {
    let mut chars = descr.chars();
    let (order, kind, size) = (chars.next(), chars.next(), chars.as_str());
    let kinds = if element.is_float() { "f" } else { "iub" };
    let little = matches!(order, Some('<' | '|')) || (order == Some('=') && cfg!(target_endian = "little"));
    little && kind.is_some_and(|kind| kinds.contains(kind)) && size.parse() == Ok(element.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(major: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([major, 0]);
        match major {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn values_of_the_right_type_are_read_in_each_format_version() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
        for major in 1..=3 {
            assert_eq!(values(&file(major, header, &[1, 2, 3, 4, 5, 6, 7, 8]), Element::F32), Ok((1..=8).collect()));
        }
        let bytes = "{'descr': '|u1', 'fortran_order': False, 'shape': (), }";
        assert_eq!(values(&file(1, bytes, &[7]), Element::I8), Ok(vec![7]));
    }

    #[test]
    fn other_types_orders_and_truncated_files_are_refused_with_the_reason() {
        let big = "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }";
        assert_eq!(
            values(&file(1, big, &[0; 4]), Element::F32),
            Err("it holds values of type '>f4', not f32".to_owned())
        );
        let fortran = "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1), }";
        assert!(values(&file(1, fortran, &[0; 8]), Element::F64).is_err_and(|reason| reason.contains("Fortran")));
        for end in 0..16 {
            let whole = file(2, "{'descr': '<f4'}", &[]);
            assert!(values(&whole[..MAGIC.len() + end], Element::F32).is_err(), "cut after {end}");
        }
    }
}
