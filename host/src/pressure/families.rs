//! Kernels that differ by a constant: entries named `NAME_8` or `NAME8`, one for each value.
//!
//! A const generic has no place in a PTX module; an entry for each value of it has. The number at the end of the name is the value.

use crate::suggest::UnknownName;

/// The kernels that a word means, each with the value of its constant: one kernel, or all of a family in ascending order.
///
/// # Errors
/// There is neither a kernel nor a family of this name.
pub fn members<'e>(
    entries: impl Iterator<Item = &'e str>,
    word: &str,
) -> Result<Vec<(Option<u32>, String)>, UnknownName> {
    let entries: Vec<&str> = entries.collect();
    if entries.contains(&word) {
        return Ok(vec![(None, word.to_owned())]);
    }
    let value = |entry: &&str| {
        let rest = entry.strip_prefix(word)?;
        let digits = rest.strip_prefix('_').unwrap_or(rest);
        digits.chars().all(|character| character.is_ascii_digit()).then(|| digits.parse::<u32>().ok()).flatten()
    };
    let mut found: Vec<(Option<u32>, String)> =
        entries.iter().filter_map(|entry| Some((Some(value(entry)?), (*entry).to_owned()))).collect();
    found.sort_unstable();
    if found.is_empty() {
        return Err(UnknownName::new("kernel", word, entries));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: [&str; 6] = ["gemv", "gemm_16", "gemm_4", "chase8", "chase16", "gemm_x"];

    #[test]
    fn a_family_is_in_the_order_of_its_constant_and_a_kernel_is_itself() {
        let members = |word| members(ENTRIES.into_iter(), word).map(|found| format!("{found:?}")).unwrap_or_default();
        assert_eq!(members("gemm"), r#"[(Some(4), "gemm_4"), (Some(16), "gemm_16")]"#);
        assert_eq!(members("chase"), r#"[(Some(8), "chase8"), (Some(16), "chase16")]"#);
        assert_eq!(members("gemm_4"), r#"[(None, "gemm_4")]"#);
        assert_eq!(members("gem"), "");
    }
}
