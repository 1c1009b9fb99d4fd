//! Which operands an opcode writes, and how many registers each of its operands has.
//!
//! An opcode that is not here writes its first operand, with the predicates around it, and has operands of 32 bits, of 64 with
//! `.64`. That holds for most; so a new opcode needs a row only where it is otherwise. Sources: the listings of all kernels and
//! what nvdisasm says is alive in them; the fragments of matrix operations are the PTX ISA's ("Matrix Fragments for mma").

/// Which operands are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    /// So many from the first on.
    First(usize),
    /// A predicate if there is one, a register, and at most so many predicates behind it.
    Leading(usize),
}

/// Registers of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One, or two with `.64`.
    Plain,
    /// By the size among the modifiers: what memory is moved in, or what is compared.
    Sized,
    /// Two each.
    Pairs,
    /// The product of 32 bits by 32 has two with `.WIDE`, and so has the addend with `.WIDE` or `.HI`.
    Product,
    /// Two unless `.32`.
    Clock,
    /// By the type of the result, then that of the source.
    Convert,
    /// As many as matrices are loaded.
    Matrices,
    /// The fragments of a matrix operation.
    Fragments,
}

pub(super) struct Row {
    pub opcodes: &'static [&'static str],
    pub writes: Writes,
    pub width: Width,
}

const fn row(opcodes: &'static [&'static str], writes: Writes, width: Width) -> Row {
    Row { opcodes, writes, width }
}

const OTHERS: Row = row(&[], Writes::Leading(2), Width::Plain);

const TABLE: &[Row] = &[
    row(&["ST", "STG", "STS", "STL", "RED", "REDG", "REDS", "REDAS"], Writes::Nothing, Width::Sized),
    row(
        &["LD", "LDG", "LDS", "LDL", "LDC", "LDCU", "ULDC", "ATOM", "ATOMG", "ATOMS", "SYNCS"],
        Writes::Leading(2),
        Width::Sized,
    ),
    row(&["LDSM", "LDTM"], Writes::First(1), Width::Matrices),
    row(&["STSM"], Writes::Nothing, Width::Matrices),
    row(&["HMMA", "IMMA", "DMMA", "QMMA", "BMMA"], Writes::First(1), Width::Fragments),
    row(&["ISETP", "UISETP"], Writes::First(2), Width::Sized),
    row(&["FSETP", "UFSETP", "HSETP2", "PLOP3", "UPLOP3"], Writes::First(2), Width::Plain),
    row(&["DSETP"], Writes::First(2), Width::Pairs),
    row(&["FCHK"], Writes::First(1), Width::Plain),
    row(&["VOTE", "VOTEU"], Writes::Leading(1), Width::Plain),
    row(&["DADD", "DMUL", "DFMA", "DMNMX"], Writes::First(1), Width::Pairs),
    row(&["FADD2", "FMUL2", "FFMA2"], Writes::First(1), Width::Pairs),
    row(&["IMAD", "UIMAD"], Writes::Leading(2), Width::Product),
    row(&["CS2R", "CS2UR"], Writes::First(1), Width::Clock),
    row(&["F2F", "F2I", "I2F", "FRND", "UF2F", "UF2I", "UI2F", "UFRND"], Writes::First(1), Width::Convert),
    row(&["RET", "BRX", "JMX"], Writes::Nothing, Width::Pairs),
    row(
        &[
            "ACQBULK",
            "BAR",
            "BPT",
            "BRA",
            "BREAK",
            "BSSY",
            "BSYNC",
            "CALL",
            "CCTL",
            "CGAERRBAR",
            "DEPBAR",
            "ENDCOLLECTIVE",
            "ERRBAR",
            "EXIT",
            "FENCE",
            "JMP",
            "KILL",
            "LDGDEPBAR",
            "LDGSTS",
            "MEMBAR",
            "NANOSLEEP",
            "NOP",
            "PMTRIG",
            "R2B",
            "UBLKCP",
            "USETMAXREG",
            "UTMALDG",
            "UTMASTG",
            "WARPSYNC",
            "YIELD",
        ],
        Writes::Nothing,
        Width::Plain,
    ),
];

/// The row of an opcode without its modifiers.
pub(super) fn row_of(base: &str) -> &'static Row {
    TABLE.iter().find(|row| row.opcodes.contains(&base)).unwrap_or(&OTHERS)
}

impl Width {
    /// Registers of the operand at `place`, of which the first `written` are results.
    pub fn of(self, base: &str, modifiers: &[&str], place: usize, written: usize) -> u16 {
        let has = |name: &str| modifiers.contains(&name);
        let pair_if = |pair: bool| if pair { 2 } else { 1 };
        match self {
            Self::Plain => pair_if(has("64")),
            Self::Sized => sized(modifiers),
            Self::Pairs => 2,
            Self::Product if place < written => pair_if(has("WIDE")),
            Self::Product => pair_if((has("WIDE") || has("HI")) && place == written + 2),
            Self::Clock => pair_if(!has("32")),
            Self::Convert => pair_if(converted(base, modifiers, place < written).ends_with("64")),
            Self::Matrices => match (has("4"), has("2")) {
                (true, _) => 4,
                (_, true) => 2,
                _ => 1,
            },
            Self::Fragments => fragment(modifiers, place),
        }
    }
}

fn sized(modifiers: &[&str]) -> u16 {
    let of_one = |modifier: &&str| match *modifier {
        "256" => Some(8),
        "128" => Some(4),
        "64" | "U64" | "S64" | "F64" => Some(2),
        _ => None,
    };
    modifiers.iter().find_map(of_one).unwrap_or(1)
}

/// The type of a conversion's result or source; empty where it is not named: 32 bits. Where one type stands alone, a float is
/// I2F's result or F2I's source, an integer the other of the two; FRND has both of that type.
fn converted<'m>(base: &str, modifiers: &[&'m str], result: bool) -> &'m str {
    let is_type = |text: &&&str| {
        let digits = text.trim_start_matches(['F', 'U', 'S']);
        digits.len() + 1 == text.len() && digits.parse::<u8>().is_ok()
    };
    let mut types = modifiers.iter().filter(is_type).copied();
    match (types.next(), types.next()) {
        (None, _) => "",
        (Some(first), Some(_)) if result => first,
        (_, Some(second)) => second,
        (Some(only), None) if base.ends_with("FRND") => only,
        (Some(only), None) => match only.starts_with('F') == (base.ends_with("2F") == result) {
            true => only,
            false => "",
        },
    }
}

/// Registers of a matrix operation's operands: result, left, right, addend.
fn fragment(modifiers: &[&str], place: usize) -> u16 {
    let shape = modifiers.first().copied().unwrap_or_default();
    let single = modifiers.contains(&"F32") || !modifiers.contains(&"F16");
    match (shape, place) {
        ("884" | "8816" | "8832", 1 | 2) => 1,
        ("884" | "8816" | "8832", _) => 2,
        ("1684", 1) => 2,
        ("1684" | "1688", 2) => 1,
        ("1688", 1) => 2,
        ("16816", 1) => 4,
        ("16816", 2) => 2,
        ("16832" | "16864" | "168128" | "168256", 1) => 4,
        ("16832" | "16864" | "168128" | "168256", 2) => 2,
        (_, 0 | 3) => {
            if single {
                4
            } else {
                2
            }
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(opcode: &str, expected: &[u16]) {
        let mut parts = opcode.split('.');
        let base = parts.next().unwrap_or_default();
        let modifiers: Vec<&str> = parts.collect();
        let width = row_of(base).width;
        let found: Vec<u16> = (0..expected.len()).map(|place| width.of(base, &modifiers, place, 1)).collect();
        assert_eq!(found, expected, "{opcode}");
    }

    #[test]
    fn operands_are_as_wide_as_the_opcode_says() {
        check("IADD3", &[1, 1, 1, 1]);
        check("IADD.64", &[2, 2, 2]);
        check("LDG.E.128.CONSTANT", &[4]);
        check("DFMA", &[2, 2, 2, 2]);
        check("IMAD.WIDE.U32", &[2, 1, 1, 2]);
        check("IMAD.HI.U32", &[1, 1, 1, 2]);
        check("IMAD.X", &[1, 1, 1, 1]);
        check("CS2R", &[2]);
        check("CS2R.32", &[1]);
        check("HMMA.16816.F32", &[4, 4, 2, 4]);
        check("HMMA.1688.F16", &[2, 2, 1, 2]);
        check("LDSM.16.M88.4", &[4]);
        check("LDSM.16.M88", &[1]);
    }

    #[test]
    fn a_conversion_has_the_type_of_each_side() {
        check("F2F.F32.F64", &[1, 2]);
        check("F2F.F64.F32", &[2, 1]);
        check("I2F.F64.U32", &[2, 1]);
        check("I2F.F64", &[2, 1]);
        check("I2F.U64", &[1, 2]);
        check("F2I.F64.TRUNC", &[1, 2]);
        check("F2I.S64.TRUNC", &[2, 1]);
        check("F2I.U64.F64.TRUNC", &[2, 2]);
        check("F2I.FLOOR.NTZ", &[1, 1]);
        check("FRND.F64.FLOOR", &[2, 2]);
    }
}
