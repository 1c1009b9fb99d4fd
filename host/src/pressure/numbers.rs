//! Lists of numbers as words of the command line: `32,40,64`, `16..=128`, or both.

/// Numbers in ascending order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

/// The greatest number that can be meant: more threads than this no block has, and no more registers a thread.
const GREATEST: u32 = 1024;

/// Reads a list. Ranges are written as in Rust: `16..=128` with the last number, `16..128` without.
///
/// # Errors
/// What was given, and what was expected.
pub fn parse_numbers(text: &str) -> Result<Numbers, String> {
    let expected = || {
        format!("expected numbers from 1 to {GREATEST} with commas, a range such as 16..=128, or both, not `{text}`")
    };
    let number = |word: &str| {
        let number = word.trim().parse::<u32>().ok().filter(|number| (1..=GREATEST).contains(number));
        number.ok_or_else(expected)
    };
    let mut numbers = Vec::new();
    for part in text.split(',') {
        match (part.split_once("..="), part.split_once("..")) {
            (Some((first, last)), _) => numbers.extend(number(first)?..=number(last)?),
            (None, Some((first, end))) => numbers.extend(number(first)?..number(end)?),
            (None, None) => numbers.push(number(part)?),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() { Err(expected()) } else { Ok(Numbers(numbers)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read_in_order_and_once() {
        let numbers = |text: &str| parse_numbers(text).unwrap().0;
        assert_eq!(numbers("64,32,40,32"), [32, 40, 64]);
        assert_eq!(numbers("126..=128"), [126, 127, 128]);
        assert_eq!(numbers("126..128, 16"), [16, 126, 127]);
    }

    #[test]
    fn what_is_no_list_says_what_one_is() {
        for text in ["", "x", "0", "1025", "40..=32", "3..3", "1,,2", "-4"] {
            let error = parse_numbers(text).expect_err(text);
            assert!(error.contains("16..=128") && error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
