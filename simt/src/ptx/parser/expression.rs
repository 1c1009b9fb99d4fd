//! Literals and constant expressions.
//!
//! PTX computes integers in 64 bits, signed unless an operand is unsigned (`U`, or a literal above 2⁶³), and floats in 64 bits.

use super::Parser;
use crate::ptx::ast::Number;
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lexer::Token;
use crate::ptx::source::Span;

impl Parser<'_> {
    /// Does an expression begin here?
    pub(super) fn at_expression(&self) -> bool {
        use Token::{Binary, Decimal, Double, Hexadecimal, Integer, Minus, Not, OpenParen, Plus, Single, Tilde};
        match self.peek() {
            Integer | Hexadecimal | Binary | Single | Double | Decimal | Minus | Plus | Tilde | OpenParen => true,
            Not => self.peek_at(1) != Token::Name,
            Token::Name => self.text() == "WARP_SZ",
            _ => false,
        }
    }

    pub(super) fn expression(&mut self) -> Outcome<Number> {
        self.ternary(0)
    }

    /// An integer expression as 64 bits.
    pub(super) fn integer(&mut self, expected: &str) -> Outcome<i64> {
        let span = self.span();
        match self.expression()? {
            Number::Signed(value) => Ok(value),
            Number::Unsigned(value) => Ok(value as i64),
            _ => Err(Problem::new(span, format!("a float where {expected} belongs"))),
        }
    }

    fn ternary(&mut self, depth: u32) -> Outcome<Number> {
        self.check_depth(depth)?;
        let condition = self.binary(0, depth)?;
        if !self.eat(Token::Question) {
            return Ok(condition);
        }
        let yes = self.ternary(depth + 1)?;
        self.expect(Token::Colon, "`:` of `a ? b : c`")?;
        let no = self.ternary(depth + 1)?;
        Ok(if is_true(condition) { yes } else { no })
    }

    fn binary(&mut self, least: u8, depth: u32) -> Outcome<Number> {
        self.check_depth(depth)?;
        let mut left = self.unary(depth)?;
        loop {
            let operator = self.peek();
            let Some(strength) = strength(operator).filter(|&strength| strength >= least) else { return Ok(left) };
            let span = self.bump();
            let right = self.binary(strength + 1, depth + 1)?;
            left = apply(operator, left, right, span)?;
        }
    }

    fn unary(&mut self, depth: u32) -> Outcome<Number> {
        self.check_depth(depth)?;
        match self.peek() {
            Token::Minus => {
                self.bump();
                Ok(match self.unary(depth + 1)? {
                    Number::Signed(value) => Number::Signed(value.wrapping_neg()),
                    Number::Unsigned(value) => Number::Unsigned(value.wrapping_neg()),
                    Number::Single(bits) => Number::Single(bits ^ 1 << 31),
                    Number::Double(value) => Number::Double(-value),
                })
            }
            Token::Plus => {
                self.bump();
                self.unary(depth + 1)
            }
            Token::Not => {
                self.bump();
                Ok(Number::Signed(!is_true(self.unary(depth + 1)?) as i64))
            }
            Token::Tilde => {
                let span = self.bump();
                match self.unary(depth + 1)? {
                    Number::Signed(value) => Ok(Number::Signed(!value)),
                    Number::Unsigned(value) => Ok(Number::Unsigned(!value)),
                    _ => Err(Problem::new(span, "`~` needs an integer")),
                }
            }
            Token::OpenParen => self.parenthesised(depth),
            _ => self.literal(),
        }
    }

    /// `(expression)`, or a cast `(.s64) value`.
    fn parenthesised(&mut self, depth: u32) -> Outcome<Number> {
        self.bump();
        if self.peek() == Token::Dotted {
            let ty = self.text();
            let span = self.bump();
            self.expect(Token::CloseParen, "`)`")?;
            let value = self.unary(depth + 1)?;
            return cast(ty, value).ok_or_else(|| {
                Problem::new(span, format!("a cast to `{ty}`")).help("constants are cast to .s64, .u64 or .f64")
            });
        }
        let value = self.ternary(depth + 1)?;
        self.expect(Token::CloseParen, "`)`")?;
        Ok(value)
    }

    pub(super) fn literal(&mut self) -> Outcome<Number> {
        let (token, text, span) = (self.peek(), self.text(), self.span());
        let digits = text.trim_end_matches('U');
        let unsigned = digits.len() < text.len();
        let value = match token {
            Token::Integer if digits.len() > 1 && digits.starts_with('0') => whole(digits, 8, unsigned),
            Token::Integer => whole(digits, 10, unsigned),
            Token::Hexadecimal => whole(&digits[2..], 16, unsigned),
            Token::Binary => whole(&digits[2..], 2, unsigned),
            Token::Single => u32::from_str_radix(&text[2..], 16).ok().map(Number::Single),
            Token::Double => u64::from_str_radix(&text[2..], 16).ok().map(|bits| Number::Double(f64::from_bits(bits))),
            Token::Decimal => text.parse().ok().map(Number::Double),
            Token::Name if text == "WARP_SZ" => Some(Number::Signed(32)),
            _ => return Err(self.unexpected("a number")),
        };
        self.bump();
        value.ok_or_else(|| Problem::new(span, format!("`{text}` does not fit in 64 bits or has a digit too many")))
    }
}

fn whole(digits: &str, radix: u32, unsigned: bool) -> Option<Number> {
    let value = u64::from_str_radix(digits, radix).ok()?;
    Some(match i64::try_from(value) {
        Ok(signed) if !unsigned => Number::Signed(signed),
        _ => Number::Unsigned(value),
    })
}

fn is_true(value: Number) -> bool {
    match value {
        Number::Signed(value) => value != 0,
        Number::Unsigned(value) => value != 0,
        Number::Single(bits) => f32::from_bits(bits) != 0.0,
        Number::Double(value) => value != 0.0,
    }
}

fn cast(ty: &str, value: Number) -> Option<Number> {
    let as_f64 = match value {
        Number::Signed(value) => value as f64,
        Number::Unsigned(value) => value as f64,
        Number::Single(bits) => f32::from_bits(bits) as f64,
        Number::Double(value) => value,
    };
    match (ty, value) {
        (".s64", Number::Unsigned(value)) => Some(Number::Signed(value as i64)),
        (".u64", Number::Signed(value)) => Some(Number::Unsigned(value as u64)),
        (".s64", Number::Signed(_)) | (".u64", Number::Unsigned(_)) => Some(value),
        (".s64", _) => Some(Number::Signed(as_f64 as i64)),
        (".u64", _) => Some(Number::Unsigned(as_f64 as u64)),
        (".f64", _) => Some(Number::Double(as_f64)),
        _ => None,
    }
}

/// Binding strength of a binary operator, as in C.
fn strength(operator: Token) -> Option<u8> {
    use Token::*;
    Some(match operator {
        OrOr => 0,
        AndAnd => 1,
        Or => 2,
        Caret => 3,
        And => 4,
        EqualEqual | NotEqual => 5,
        Less | LessEqual | Greater | GreaterEqual => 6,
        ShiftLeft | ShiftRight => 7,
        Plus | Minus => 8,
        Star | Slash | Percent => 9,
        _ => return None,
    })
}

fn apply(operator: Token, left: Number, right: Number, span: Span) -> Outcome<Number> {
    let value = match (left, right) {
        (Number::Signed(a), Number::Signed(b)) => signed(operator, a, b),
        (Number::Signed(a), Number::Unsigned(b)) => unsigned(operator, a as u64, b),
        (Number::Unsigned(a), Number::Signed(b)) => unsigned(operator, a, b as u64),
        (Number::Unsigned(a), Number::Unsigned(b)) => unsigned(operator, a, b),
        _ => match (cast(".f64", left), cast(".f64", right)) {
            (Some(Number::Double(a)), Some(Number::Double(b))) => float(operator, a, b),
            _ => None,
        },
    };
    value.ok_or_else(|| {
        Problem::new(span, "this constant expression has no value (division by zero, or not for floats)")
    })
}

fn signed(operator: Token, a: i64, b: i64) -> Option<Number> {
    use Token::*;
    Some(Number::Signed(match operator {
        Plus => a.wrapping_add(b),
        Minus => a.wrapping_sub(b),
        Star => a.wrapping_mul(b),
        Slash if b != 0 => a.wrapping_div(b),
        Percent if b != 0 => a.wrapping_rem(b),
        ShiftLeft => a.checked_shl(b.clamp(0, 64) as u32).unwrap_or(0),
        ShiftRight => a >> b.clamp(0, 63),
        And => a & b,
        Or => a | b,
        Caret => a ^ b,
        _ => return compare(operator, a, b).or_else(|| logic(operator, a != 0, b != 0)),
    }))
}

fn unsigned(operator: Token, a: u64, b: u64) -> Option<Number> {
    use Token::*;
    Some(Number::Unsigned(match operator {
        Plus => a.wrapping_add(b),
        Minus => a.wrapping_sub(b),
        Star => a.wrapping_mul(b),
        Slash => a.checked_div(b)?,
        Percent => a.checked_rem(b)?,
        ShiftLeft => a.checked_shl(b.min(64) as u32).unwrap_or(0),
        ShiftRight => a.checked_shr(b.min(64) as u32).unwrap_or(0),
        And => a & b,
        Or => a | b,
        Caret => a ^ b,
        _ => return compare(operator, a, b).or_else(|| logic(operator, a != 0, b != 0)),
    }))
}

fn float(operator: Token, a: f64, b: f64) -> Option<Number> {
    use Token::*;
    Some(Number::Double(match operator {
        Plus => a + b,
        Minus => a - b,
        Star => a * b,
        Slash => a / b,
        _ => return compare(operator, a, b),
    }))
}

fn compare<T: PartialOrd>(operator: Token, a: T, b: T) -> Option<Number> {
    use Token::*;
    Some(Number::Signed(match operator {
        EqualEqual => a == b,
        NotEqual => a != b,
        Less => a < b,
        LessEqual => a <= b,
        Greater => a > b,
        GreaterEqual => a >= b,
        _ => return None,
    } as i64))
}

fn logic(operator: Token, a: bool, b: bool) -> Option<Number> {
    match operator {
        Token::AndAnd => Some(Number::Signed((a && b) as i64)),
        Token::OrOr => Some(Number::Signed((a || b) as i64)),
        _ => None,
    }
}
