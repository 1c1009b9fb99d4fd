//! A condition's text as a [`Term`]: by precedence, as in C++; where Rust would read it otherwise, it asks for parentheses.

use super::{Binary, LETTERS_MAX, Name, Term, Unary};

/// Parts within parts.
const DEPTH_MAX: usize = 40;

/// Why a text is no condition, and before which letter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at letter {}: {text}", .at + 1)]
pub struct Wrong {
    pub at: usize,
    pub text: String,
}

/// Longer signs first, so that none is taken for its beginning; each with how tightly it binds.
const SIGNS: [(&str, Binary, u8); 18] = [
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("==", Binary::Equal, 6),
    ("!=", Binary::NotEqual, 6),
    ("<<", Binary::ShiftLeft, 8),
    (">>", Binary::ShiftRight, 8),
    ("<=", Binary::LessOrEqual, 7),
    (">=", Binary::GreaterOrEqual, 7),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("+", Binary::Add, 9),
    ("-", Binary::Subtract, 9),
    ("*", Binary::Multiply, 10),
    ("/", Binary::Divide, 10),
    ("%", Binary::Remainder, 10),
];

const KNOWN: &str =
    "threadIdx, blockIdx, blockDim and gridDim with .x, .y or .z; tid, lane, warp, i, n, warpSize, a[…]";

/// Reads a condition.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(text: &str) -> Result<Term, Wrong> {
    if text.chars().count() > LETTERS_MAX {
        return Err(Wrong { at: LETTERS_MAX, text: format!("a condition has at most {LETTERS_MAX} letters") });
    }
    let mut reader = Reader { text, at: 0, depth: 0 };
    let Part { term, .. } = reader.binary(0)?;
    reader.space();
    match reader.rest().chars().next() {
        None => Ok(term),
        Some(')') => Err(reader.wrong("this `)` closes nothing")),
        Some('=') => Err(reader.wrong("`=` assigns; `==` compares")),
        Some('?') => Err(reader.wrong("`?` is not known here: give the condition before it alone")),
        Some(letter) => Err(reader.wrong(format!("an operator was expected, not `{letter}`"))),
    }
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
    depth: usize,
}

/// A term, and the operator at its top if no parentheses stand around it.
struct Part {
    term: Term,
    bare: Option<Binary>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn wrong(&self, text: impl Into<String>) -> Wrong {
        Wrong { at: self.text[..self.at].chars().count(), text: text.into() }
    }

    fn take(&mut self, sign: &str) -> bool {
        self.space();
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len() } else { 0 };
        is_there
    }

    /// Operators that bind tighter than `least`, from the left.
    fn binary(&mut self, least: u8) -> Result<Part, Wrong> {
        let mut left = self.unary()?;
        loop {
            self.space();
            let found = SIGNS.iter().find(|(sign, ..)| self.rest().starts_with(sign));
            let Some((sign, binary, binds)) = found.filter(|(.., binds)| *binds > least) else { return Ok(left) };
            let place = self.at;
            self.at += sign.len();
            let right = self.binary(*binds)?;
            let compares = |part: &Part| part.bare.is_some_and(Binary::is_comparison);
            if compares(&left) || compares(&right) {
                let wrong = |text: String| Err(Wrong { at: self.text[..place].chars().count(), text });
                if binary.is_bitwise() {
                    return wrong(format!("C++ compares before `{sign}`, Rust after it: put parentheses"));
                }
                if binary.is_comparison() {
                    return wrong(format!(
                        "before `{sign}` stands a comparison: put parentheses, or join two with `&&`"
                    ));
                }
            }
            let term = Term::Binary(*binary, Box::new(left.term), Box::new(right.term));
            left = Part { term, bare: Some(*binary) };
        }
    }

    fn unary(&mut self) -> Result<Part, Wrong> {
        self.space();
        if self.depth == DEPTH_MAX {
            return Err(self.wrong(format!("parts lie in parts at most {DEPTH_MAX} deep")));
        }
        self.depth += 1;
        let part = self.deeper();
        self.depth -= 1;
        part
    }

    fn deeper(&mut self) -> Result<Part, Wrong> {
        for (sign, unary) in [("-", Unary::Minus), ("!", Unary::Not), ("~", Unary::Complement)] {
            if self.take(sign) {
                return Ok(Part { term: Term::Unary(unary, Box::new(self.unary()?.term)), bare: None });
            }
        }
        if self.take("(") {
            let inner = self.binary(0)?.term;
            self.closed(")")?;
            return Ok(Part { term: inner, bare: None });
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        let word = self.rest();
        let word = &word[..word.find(|letter| !is_word(letter)).unwrap_or(word.len())];
        let term = match word.chars().next() {
            None => return Err(self.wrong("a number, a name or `(` was expected")),
            Some(digit) if digit.is_ascii_digit() => self.number(word)?,
            Some(_) if word == "a" => {
                self.at += 1;
                if !self.take("[") {
                    return Err(self.wrong("a is an array: `a[i]` is an element of it"));
                }
                let inner = self.binary(0)?.term;
                self.closed("]")?;
                return Ok(Part { term: Term::Element(Box::new(inner)), bare: None });
            }
            Some(_) => Term::Name(name(word).ok_or_else(|| self.wrong(unknown(word)))?),
        };
        self.at += word.len();
        Ok(Part { term, bare: None })
    }

    fn closed(&mut self, sign: &str) -> Result<(), Wrong> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.wrong(format!("`{sign}` was expected"))),
        }
    }

    /// `16`, `0xff`, `16u`.
    fn number(&self, word: &str) -> Result<Term, Wrong> {
        if word.contains('.') {
            return Err(self.wrong("numbers are whole here"));
        }
        let digits = word.strip_suffix("u32").or(word.strip_suffix(['u', 'U'])).unwrap_or(word);
        let parsed = match digits.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => digits.replace('_', "").parse(),
        };
        let value = parsed.map_err(|_| self.wrong(format!("`{word}` is no number below 2^32")))?;
        Ok(Term::Number { value, is_signed: digits == word && i32::try_from(value).is_ok() })
    }
}

fn name(word: &str) -> Option<Name> {
    let (stem, axis) = match word.split_once('.') {
        Some((stem, axis)) => (stem, ["x", "y", "z"].iter().position(|known| *known == axis)?),
        None => {
            return Some(match word {
                "tid" => Name::Tid,
                "lane" => Name::Lane,
                "warp" => Name::Warp,
                "i" => Name::Index,
                "n" => Name::N,
                "warpSize" => Name::WarpSize,
                _ => return None,
            });
        }
    };
    Some(match stem {
        "threadIdx" => Name::ThreadIdx(axis),
        "blockIdx" => Name::BlockIdx(axis),
        "blockDim" => Name::BlockDim(axis),
        "gridDim" => Name::GridDim(axis),
        _ => return None,
    })
}

fn unknown(word: &str) -> String {
    let stem = word.split('.').next().unwrap_or_default();
    match ["threadIdx", "blockIdx", "blockDim", "gridDim"].contains(&stem) {
        true => format!("`{word}` needs an axis: {stem}.x, {stem}.y or {stem}.z"),
        false => format!("`{word}` is not known; there are {KNOWN}"),
    }
}
