//! The top level of a module.

use super::Parser;
use crate::isa::Space;
use crate::ptx::ast::Linkage;
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lexer::Token;

const TOP_LEVEL: &str = ".version, .target, .address_size, .entry, .func, .global, .const, .shared, .file or .section";

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Outcome<()> {
        self.listing.address_bits = 32;
        while self.peek() != Token::End {
            self.top_level()?;
        }
        if self.listing.version == (0, 0) {
            let message = "the module has no `.version` directive";
            return Err(Problem::new(self.span(), message).help("a PTX text begins with `.version 7.8` or the like"));
        }
        Ok(())
    }

    fn top_level(&mut self) -> Outcome<()> {
        match self.peek() {
            Token::Semicolon => _ = self.bump(),
            // Labels around debug sections: `$L__sec_end0:`.
            Token::Name if self.peek_at(1) == Token::Colon => self.at += 2,
            Token::Dotted => return self.directive(),
            _ => return Err(self.unexpected(TOP_LEVEL)),
        }
        Ok(())
    }

    fn directive(&mut self) -> Outcome<()> {
        match self.text() {
            ".version" => self.version(),
            ".target" => self.target(),
            ".address_size" => self.address_size(),
            ".file" => self.file(),
            ".loc" => self.loc().map(drop),
            ".section" => self.skip_section(),
            ".pragma" => self.skip_statement(),
            ".alias" => self.alias(),
            _ => self.linked(),
        }
    }

    /// A function or variable with its linkage before it.
    fn linked(&mut self) -> Outcome<()> {
        let linkage = self.linkage();
        match self.text() {
            ".entry" => self.function(true),
            ".func" => self.function(false),
            ".tex" => self.declare(linkage, Space::Global),
            ".reg" => {
                self.bump();
                let mut registers = Vec::new();
                self.registers(&mut registers)?;
                self.listing.registers.append(&mut registers);
                Ok(())
            }
            _ if self.space().is_some() => {
                let space = self.space().unwrap_or_default();
                self.declare(linkage, space)
            }
            _ => Err(self.unexpected(TOP_LEVEL)),
        }
    }

    fn declare(&mut self, linkage: Linkage, space: Space) -> Outcome<()> {
        self.bump();
        let mut declarations = Vec::new();
        self.variables(linkage, space, &mut declarations)?;
        self.listing.declarations.append(&mut declarations);
        Ok(())
    }

    fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::Local;
        loop {
            linkage = match self.text() {
                ".visible" => Linkage::Visible,
                ".extern" => Linkage::Extern,
                ".weak" => Linkage::Weak,
                ".common" => Linkage::Common,
                ".hidden" => linkage,
                _ => return linkage,
            };
            self.bump();
        }
    }

    fn version(&mut self) -> Outcome<()> {
        self.bump();
        let expected = "a version such as 7.8";
        let text = self.text();
        let span = self.expect(Token::Decimal, expected)?;
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let version = parts.ok_or_else(|| Problem::new(span, format!("`{text}` is not {expected}")))?;
        if !(1..=99).contains(&version.0) {
            return Err(Problem::new(span, format!("PTX ISA {text} does not exist")).help("versions are 1.0 to 9.x"));
        }
        self.listing.version = version;
        Ok(())
    }

    /// `.target sm_80, debug`: the first word names the architecture.
    fn target(&mut self) -> Outcome<()> {
        self.bump();
        let expected = "a target such as sm_80";
        self.listing.target = self.text().to_owned();
        self.name(expected)?;
        while self.eat(Token::Comma) {
            self.name(expected)?;
        }
        Ok(())
    }

    fn address_size(&mut self) -> Outcome<()> {
        self.bump();
        let text = self.text();
        let span = self.expect(Token::Integer, "32 or 64")?;
        self.listing.address_bits = match text {
            "32" => 32,
            "64" => 64,
            _ => return Err(Problem::new(span, format!("an address of {text} bits")).help("expected 32 or 64")),
        };
        Ok(())
    }

    fn alias(&mut self) -> Outcome<()> {
        self.bump();
        let alias = self.name("the alias's name")?;
        self.expect(Token::Comma, "`,`")?;
        let function = self.name("a function's name")?;
        self.expect(Token::Semicolon, "`;`")?;
        self.listing.aliases.push((alias, function));
        Ok(())
    }

    /// Skips to the next semicolon.
    pub(super) fn skip_statement(&mut self) -> Outcome<()> {
        while !self.eat(Token::Semicolon) {
            if self.peek() == Token::End {
                return Err(self.unexpected("`;`"));
            }
            self.bump();
        }
        Ok(())
    }

    /// The state space that this word names, if it names one.
    pub(super) fn space(&self) -> Option<Space> {
        if self.peek() != Token::Dotted {
            return None;
        }
        match self.text() {
            ".global" => Some(Space::Global),
            ".const" => Some(Space::Const),
            ".shared" | ".shared::cta" => Some(Space::Shared),
            ".local" => Some(Space::Local),
            ".param" => Some(Space::Param),
            // `.const[3]` numbered banks (PTX 1.x) come as `.const`.
            _ => None,
        }
    }
}
