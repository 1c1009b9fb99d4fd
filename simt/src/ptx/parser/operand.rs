//! Operands, by their shape alone.

use super::Parser;
use crate::ptx::ast::{Base, Component, Operand, OperandKind};
use crate::ptx::error::Outcome;
use crate::ptx::lexer::Token;

const OPERAND: &str = "an operand (register, number, `[address]` or `{vector}`)";

impl Parser<'_> {
    pub(super) fn operand(&mut self, depth: u32) -> Outcome<Operand> {
        self.check_depth(depth)?;
        let start = self.span();
        let kind = match self.peek() {
            Token::OpenBrace => {
                self.bump();
                OperandKind::Vector(self.operands_until(Token::CloseBrace, "`,` or `}`", depth)?)
            }
            Token::OpenBracket => self.address(depth)?,
            Token::Not if self.peek_at(1) == Token::Name => {
                self.bump();
                OperandKind::Not(self.name("a predicate")?)
            }
            Token::Sink => {
                self.bump();
                OperandKind::Sink
            }
            _ if self.at_expression() => OperandKind::Number(self.expression()?),
            _ => self.named()?,
        };
        let first = Operand { kind, span: start.to(self.last_span()) };
        if !self.eat(Token::Or) {
            return Ok(first);
        }
        let second = self.operand(depth + 1)?;
        let span = start.to(self.last_span());
        Ok(Operand { kind: OperandKind::Pair(Box::new([first, second])), span })
    }

    /// `(a, b)`: arguments or results of a call, where a parenthesis opens no constant expression.
    pub(super) fn list(&mut self) -> Outcome<Operand> {
        let start = self.expect(Token::OpenParen, "`(`")?;
        let kind = OperandKind::List(self.operands_until(Token::CloseParen, "`,` or `)`", 0)?);
        Ok(Operand { kind, span: start.to(self.last_span()) })
    }

    fn named(&mut self) -> Outcome<OperandKind> {
        let name = self.name(OPERAND)?;
        let component = self.component();
        let addend = self.addend()?;
        Ok(OperandKind::Name { name, component, addend })
    }

    fn component(&mut self) -> Option<Component> {
        if self.peek() != Token::Dotted {
            return None;
        }
        let component = match self.text() {
            ".x" | ".r" => Component::Lane(0),
            ".y" | ".g" => Component::Lane(1),
            ".z" | ".b" => Component::Lane(2),
            ".w" | ".a" => Component::Lane(3),
            _ => Component::Other,
        };
        self.bump();
        Some(component)
    }

    fn operands_until(&mut self, close: Token, expected: &str, depth: u32) -> Outcome<Vec<Operand>> {
        let mut operands = Vec::new();
        while !self.eat(close) {
            operands.push(self.operand(depth + 1)?);
            if !self.eat(Token::Comma) {
                self.expect(close, expected)?;
                break;
            }
        }
        Ok(operands)
    }

    /// `[base + offset]`, `[number]`, and with coordinates `[base, {x, y}]`.
    fn address(&mut self, depth: u32) -> Outcome<OperandKind> {
        self.bump();
        let (base, addend) = if self.at_expression() {
            (Base::None, self.integer("an address")?)
        } else {
            let name = self.name("a register, a variable or a number")?;
            (Base::Name(name), self.addend()?)
        };
        let more = if self.eat(Token::Comma) {
            self.operands_until(Token::CloseBracket, "`,` or `]`", depth)?
        } else {
            self.expect(Token::CloseBracket, "`]` after an address")?;
            Vec::new()
        };
        Ok(OperandKind::Address { base, addend, more })
    }
}
