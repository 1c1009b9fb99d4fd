//! Operands as nvdisasm prints them.

use std::borrow::Cow;

/// Which registers a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    General,
    Uniform,
}

/// A register; `number` is `None` for RZ and URZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register {
    pub file: File,
    pub number: Option<u16>,
}

/// What is done to a source before it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub negate: bool,
    pub absolute: bool,
    pub invert: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// With suffixes such as `H0_H0`; `reuse` is dropped.
    Register {
        register: Register,
        changes: Changes,
        suffix: String,
    },
    /// `number` is `None` for PT and UPT.
    Predicate {
        uniform: bool,
        number: Option<u16>,
        negate: bool,
    },
    Barrier(u16),
    /// A hexadecimal number, with its sign.
    Integer(i64),
    /// A decimal number, or INF or QNAN: its bits are in the encoding.
    Decimal(String),
    /// `c[bank][register + offset]`.
    Constant {
        bank: u32,
        register: Option<Register>,
        offset: i64,
        changes: Changes,
    },
    Address(Address),
    Label(String),
    /// `SR_TID.X`, `PR`, `SRZ`.
    Name(String),
}

/// `[R2.64+UR4+0x10]`, `[R0.X4+0x8]`; a descriptor before it is dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Address {
    pub base: Option<AddressRegister>,
    pub index: Option<AddressRegister>,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AddressRegister {
    pub register: Register,
    pub wide: bool,
    /// From `.X4` and its kind.
    pub shift: u8,
}

/// Reads each operand.
pub(super) fn parse_all(text: &str) -> Result<Vec<Operand>, String> {
    let read = |part: &str| parse(part).ok_or_else(|| format!("the operand `{part}` is not known"));
    split(text).into_iter().map(read).collect()
}

/// Splits at commas that stand in no brackets.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn parse(text: &str) -> Option<Operand> {
    if let Some(label) = text.strip_prefix("`(") {
        return Some(Operand::Label(label.strip_suffix(')')?.to_owned()));
    }
    if let Some(predicate) = predicate(text) {
        return Some(predicate);
    }
    if let Some(number) = integer(text) {
        return Some(Operand::Integer(number));
    }
    if let Some(rest) = text.strip_prefix("desc") {
        let (_, address) = rest.strip_prefix('[')?.split_once(']')?;
        return address_of(address).map(Operand::Address);
    }
    if text.starts_with('[') {
        return address_of(text).map(Operand::Address);
    }
    if let Some(number) = text.strip_prefix('B').and_then(|digits| digits.parse().ok()) {
        return Some(Operand::Barrier(number));
    }
    let (changes, inner) = changes(text);
    if let Some(rest) = inner.strip_prefix("c[") {
        return constant(rest, changes);
    }
    if let Some((register, suffix)) = register(&inner) {
        return Some(Operand::Register { register, changes, suffix });
    }
    if is_decimal(text) {
        return Some(Operand::Decimal(text.to_owned()));
    }
    let named = inner == text && inner.starts_with(|letter: char| letter.is_ascii_uppercase());
    named.then(|| Operand::Name(text.to_owned()))
}

fn is_decimal(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    matches!(digits, "INF" | "QNAN" | "SNAN") || digits.parse::<f64>().is_ok()
}

/// `P0`, `!UP3`, `PT`.
fn predicate(text: &str) -> Option<Operand> {
    let (negate, name) = text.strip_prefix('!').map_or((false, text), |name| (true, name));
    let (uniform, name) = name.strip_prefix('U').map_or((false, name), |name| (true, name));
    let number = match name.strip_prefix('P')? {
        "T" => None,
        digits => Some(digits.parse().ok()?),
    };
    Some(Operand::Predicate { uniform, number, negate })
}

/// `0x10`, `-0x8`, and all 64 bits of `0xfffffffffffffff8`.
pub(super) fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = u64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()? as i64;
    Some(if negative { value.wrapping_neg() } else { value })
}

/// Takes off `-`, `~` and bars.
fn changes(text: &str) -> (Changes, Cow<'_, str>) {
    let mut changes = Changes::default();
    let mut inner = text;
    if let Some(rest) = inner.strip_prefix('-') {
        (changes.negate, inner) = (true, rest);
    }
    if let Some(rest) = inner.strip_prefix('~') {
        (changes.invert, inner) = (true, rest);
    }
    if let Some((name, suffix)) = inner.strip_prefix('|').and_then(|rest| rest.split_once('|')) {
        changes.absolute = true;
        // The second bar may stand before suffixes: `|R3|.reuse`, `|R3|.H0_H0`.
        return (changes, if suffix.is_empty() { name.into() } else { format!("{name}{suffix}").into() });
    }
    (changes, inner.into())
}

/// `R12`, `UR4`, `RZ`, and what follows the first dot.
fn register(text: &str) -> Option<(Register, String)> {
    let (name, suffix) = text.split_once('.').unwrap_or((text, ""));
    let (file, digits) = match name.strip_prefix("UR") {
        Some(digits) => (File::Uniform, digits),
        None => (File::General, name.strip_prefix('R')?),
    };
    let number = if digits == "Z" { None } else { Some(digits.parse().ok()?) };
    let suffix = suffix.split('.').filter(|part| !matches!(*part, "reuse" | "64" | "")).collect::<Vec<_>>().join(".");
    Some((Register { file, number }, suffix))
}

/// What follows `c[`: `0x0][0x160]`, `0x3][R2+0x10]`.
fn constant(text: &str, changes: Changes) -> Option<Operand> {
    let (bank, rest) = text.split_once("][")?;
    let inner = rest.split_once(']')?.0;
    let bank = u32::try_from(integer(bank)?).ok()?;
    let (mut index, mut offset) = (None, 0);
    for part in inner.split('+') {
        match (integer(part), register(part)) {
            (Some(number), _) => offset = number.checked_add(offset)?,
            (_, Some((register, _))) if index.is_none() => index = Some(register),
            _ => return None,
        }
    }
    let index = index.filter(|register| register.number.is_some());
    Some(Operand::Constant { bank, register: index, offset, changes })
}

/// `[R2.64+UR4+-0x10]`.
fn address_of(text: &str) -> Option<Address> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut address = Address::default();
    for part in inner.split('+') {
        if let Some(number) = integer(part) {
            address.offset = number.checked_add(address.offset)?;
            continue;
        }
        let (register, _) = register(part)?;
        let suffixes: Vec<&str> = part.split('.').skip(1).collect();
        let scale = suffixes.iter().find_map(|suffix| suffix.strip_prefix('X')?.parse::<u32>().ok());
        let known = |suffix: &&str| matches!(*suffix, "64" | "U32" | "reuse") || suffix.starts_with('X');
        if !suffixes.iter().all(known) || scale.is_some_and(|scale| !scale.is_power_of_two()) {
            return None;
        }
        let shift = scale.map_or(0, u32::trailing_zeros) as u8;
        let part = AddressRegister { register, wide: suffixes.contains(&"64"), shift };
        match (&address.base, &address.index) {
            (None, _) => address.base = Some(part),
            (Some(_), None) => address.index = Some(part),
            _ => return None,
        }
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general(number: u16) -> Register {
        Register { file: File::General, number: Some(number) }
    }

    #[track_caller]
    fn one(text: &str) -> Operand {
        let operands = parse_all(text).expect("an operand");
        assert_eq!(operands.len(), 1, "{operands:?}");
        operands[0].clone()
    }

    #[test]
    fn registers_carry_their_changes_and_suffixes() {
        let plain = |changes| Operand::Register { register: general(5), changes, suffix: String::new() };
        assert_eq!(one("R5.reuse"), plain(Changes::default()));
        assert_eq!(one("-|R5|"), plain(Changes { negate: true, absolute: true, invert: false }));
        assert_eq!(one("|R5|.reuse"), plain(Changes { absolute: true, ..Changes::default() }));
        assert_eq!(one("~R5"), plain(Changes { invert: true, ..Changes::default() }));
        let Operand::Register { register, suffix, .. } = one("-RZ.H0_H0") else { panic!("a register") };
        assert_eq!((register.number, suffix.as_str()), (None, "H0_H0"));
        let Operand::Register { register, changes, suffix } = one("-|R5|.reuse.H1_H1") else { panic!("a register") };
        assert_eq!((register, suffix.as_str()), (general(5), "H1_H1"));
        assert_eq!(changes, Changes { negate: true, absolute: true, invert: false });
    }

    #[test]
    fn constants_and_addresses_have_registers_and_offsets() {
        let changes = Changes { negate: true, ..Changes::default() };
        assert_eq!(one("-c[0x0][0x218]"), Operand::Constant { bank: 0, register: None, offset: 0x218, changes });
        let Operand::Constant { bank: 3, register: Some(_), offset: 0x10, .. } = one("c[0x3][R2+0x10]") else {
            panic!("an indexed constant")
        };
        let Operand::Address(address) = one("desc[UR6][R2.64+UR4+-0x8]") else { panic!("an address") };
        let base = address.base.expect("a base");
        assert_eq!((base.register, base.wide, address.offset), (general(2), true, -8));
        assert_eq!(address.index.map(|index| index.register.file), Some(File::Uniform));
        let Operand::Address(scaled) = one("[R0.X16+0x20]") else { panic!("an address") };
        assert_eq!(scaled.base.map(|base| base.shift), Some(4));
    }

    #[test]
    fn numbers_predicates_labels_and_names_are_told_apart() {
        assert_eq!(one("-0x1f"), Operand::Integer(-31));
        assert_eq!(one("0xfff8000000000000"), Operand::Integer(0xfff8_0000_0000_0000_u64 as i64));
        assert_eq!(one("-1.875"), Operand::Decimal("-1.875".to_owned()));
        assert_eq!(one("+INF"), Operand::Decimal("+INF".to_owned()));
        assert_eq!(one("!UP3"), Operand::Predicate { uniform: true, number: Some(3), negate: true });
        assert_eq!(one("PT"), Operand::Predicate { uniform: false, number: None, negate: false });
        assert_eq!(one("`(.L_x_3)"), Operand::Label(".L_x_3".to_owned()));
        assert_eq!(one("B12"), Operand::Barrier(12));
        assert_eq!(one("SR_TID.X"), Operand::Name("SR_TID.X".to_owned()));
        assert_eq!(parse_all("R1, [R2], 0x3").map(|operands| operands.len()), Ok(3));
        assert!(parse_all("R1, %what").is_err() && parse_all("[R1.Q]").is_err());
    }
}
