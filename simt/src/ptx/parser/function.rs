//! `.entry` and `.func`: name, parameters, performance directives.

use super::Parser;
use crate::ptx::ast::{Bounds, Declaration, Function};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lexer::Token;

impl Parser<'_> {
    pub(super) fn function(&mut self, is_entry: bool) -> Outcome<()> {
        self.bump();
        while self.peek() == Token::Dotted {
            self.attribute()?;
        }
        let returns = if self.peek() == Token::OpenParen { self.parameters()? } else { Vec::new() };
        let name = self.name(if is_entry { "the kernel's name" } else { "the function's name" })?;
        let params = if self.peek() == Token::OpenParen { self.parameters()? } else { Vec::new() };
        let mut bounds = Bounds::default();
        while self.peek() == Token::Dotted && !self.at_top_level() {
            self.performance_directive(&mut bounds)?;
        }
        let body = match self.peek() {
            // Older producers write no semicolon after a function that is only declared.
            _ if !is_entry && self.at_top_level() => None,
            Token::Semicolon => {
                self.bump();
                None
            }
            Token::OpenBrace => Some(self.body()?),
            _ => return Err(self.unexpected("`{` of the body or `;`")),
        };
        self.listing.functions.push(Function { is_entry, name, returns, params, bounds, body });
        Ok(())
    }

    /// Does another declaration begin here?
    fn at_top_level(&self) -> bool {
        matches!(self.text(), ".visible" | ".extern" | ".weak" | ".entry" | ".func" | ".file" | ".section" | ".common")
            || self.space().is_some()
    }

    fn parameters(&mut self) -> Outcome<Vec<Declaration>> {
        self.expect(Token::OpenParen, "`(`")?;
        let mut parameters = Vec::new();
        if self.eat(Token::CloseParen) {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if !self.eat(Token::Comma) {
                self.expect(Token::CloseParen, "`,` or `)` after a parameter")?;
                return Ok(parameters);
            }
        }
    }

    /// Directives between `.func` and the name.
    fn attribute(&mut self) -> Outcome<()> {
        match self.text() {
            ".attribute" => {
                self.bump();
                self.skip_parenthesised()
            }
            ".noreturn" | ".unified" => {
                self.bump();
                Ok(())
            }
            _ => Err(self.unexpected("a name or `.attribute`")),
        }
    }

    fn performance_directive(&mut self, bounds: &mut Bounds) -> Outcome<()> {
        let word = self.text();
        let span = self.bump();
        match word {
            ".maxntid" => bounds.max_threads = Some(self.three()?),
            ".reqntid" => bounds.required_threads = Some(self.three()?),
            ".minnctapersm" => bounds.min_blocks_per_sm = Some(self.unsigned("a number of blocks")?),
            ".maxnreg" => bounds.max_registers = Some(self.unsigned("a number of registers")?),
            ".maxnctapersm" | ".maxclusterrank" | ".abi_preserve" | ".abi_preserve_control" => {
                self.unsigned("a number")?;
            }
            ".reqnctapercluster" => {
                self.three()?;
            }
            ".pragma" => {
                self.expect(Token::Text, "a string")?;
                self.expect(Token::Semicolon, "`;`")?;
            }
            ".attribute" => self.skip_parenthesised()?,
            ".noreturn" | ".unified" | ".explicitcluster" | ".blocksareclusters" => {}
            _ => {
                return Err(Problem::new(span, format!("`{word}` is not a directive of a function's head"))
                    .help("expected .maxntid, .reqntid, .minnctapersm, .maxnreg, .pragma, .noreturn, `{` or `;`"));
            }
        }
        Ok(())
    }

    /// `x`, `x, y` or `x, y, z`; missing ones are 1.
    fn three(&mut self) -> Outcome<[u32; 3]> {
        let mut sizes = [1; 3];
        for (index, size) in sizes.iter_mut().enumerate() {
            if index > 0 && !self.eat(Token::Comma) {
                break;
            }
            *size = self.unsigned("a number of threads or blocks")?;
        }
        Ok(sizes)
    }
}
