//! How numbers are written for a reader.

/// For running text: digits in groups of three from five digits on: `3907`, `1,000,003`.
pub fn integer(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let sign = if value < 0 { "-" } else { "" };
    if digits.len() <= 4 {
        return format!("{sign}{digits}");
    }
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    sign.to_owned() + &grouped
}

/// Four significant digits, without trailing zeros; rounded to an integer, with all its digits, from 10,000 on.
pub fn real(value: f64) -> String {
    const SIGNIFICANT_DIGITS: i32 = 4;
    if !value.is_finite() {
        return value.to_string();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if magnitude >= SIGNIFICANT_DIGITS {
        return format!("{value:.0}");
    }
    if magnitude < -SIGNIFICANT_DIGITS {
        return format!("{value:.3e}");
    }
    let decimals = (SIGNIFICANT_DIGITS - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A share as a percentage without decimals, as the chapters write occupancies: 0.8333 is `83%`.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// A short time with its unit: `16.3 µs`, `2.41 ms`.
pub fn microseconds(us: f64) -> String {
    match us {
        us if us < 1_000.0 => format!("{} µs", real(us)),
        us if us < 1_000_000.0 => format!("{} ms", real(us / 1_000.0)),
        us => format!("{} s", real(us / 1_000_000.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_grouped_from_five_digits_on() {
        let cases = [(0, "0"), (3907, "3907"), (-12345, "-12,345"), (1_000_003, "1,000,003"), (65_536, "65,536")];
        for (value, text) in cases {
            assert_eq!(integer(value), text);
        }
    }

    #[test]
    fn reals_keep_four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (0.833_333, "0.8333"),
            (1.0, "1"),
            (16.349, "16.35"),
            (9_999.6, "10000"),
            (123_456.7, "123457"),
            (0.000_001_234, "1.234e-6"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(real(value), text);
        }
    }
}
