//! `.file`, `.loc` and `.section`: where instructions come from.

use super::Parser;
use crate::ptx::ast::{Loc, Number, Place};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lexer::Token;

impl Parser<'_> {
    /// `.file 1 "src/lib.rs"`, with an optional time stamp and size.
    pub(super) fn file(&mut self) -> Outcome<()> {
        self.bump();
        let number = self.unsigned("the file's number")?;
        let text = self.text();
        self.expect(Token::Text, "the file's name in double quotes")?;
        let name = text.trim_matches('"').replace("\\\\", "\\");
        self.listing.files.insert(number, self.listing.file_names.len() as u32);
        self.listing.file_names.push(name.into());
        while self.eat(Token::Comma) {
            self.expression()?;
        }
        Ok(())
    }

    pub(super) fn loc(&mut self) -> Outcome<Loc> {
        self.bump();
        let at = self.place()?;
        let mut inlined_at = None;
        while self.eat(Token::Comma) {
            let word = self.text();
            self.expect(Token::Name, "`function_name` or `inlined_at`")?;
            match word {
                "function_name" => self.function_name()?,
                "inlined_at" => inlined_at = Some(self.place()?),
                _ => {
                    let message = format!("`{word}` is not part of `.loc`");
                    return Err(
                        Problem::new(self.last_span(), message).help("expected `function_name` or `inlined_at`")
                    );
                }
            }
        }
        Ok(Loc { at, inlined_at })
    }

    /// A label of the string section, plus an offset; nobody asks for it.
    fn function_name(&mut self) -> Outcome<()> {
        if self.peek() == Token::Dotted {
            self.bump();
        } else {
            self.name("a label of the string section")?;
        }
        if self.eat(Token::Plus) {
            self.unsigned("an offset")?;
        }
        Ok(())
    }

    fn place(&mut self) -> Outcome<Place> {
        let file = self.unsigned("a file's number")?;
        let line = self.unsigned("a line")?;
        let column = if matches!(self.peek(), Token::Integer) { self.unsigned("a column")? } else { 0 };
        Ok(Place { file, line, column })
    }

    /// A section holds the compiler's debug data; what is needed of it comes as `.loc`.
    pub(super) fn skip_section(&mut self) -> Outcome<()> {
        let start = self.bump();
        while self.peek() != Token::OpenBrace {
            if self.peek() == Token::End {
                return Err(self.unexpected("`{` of the section"));
            }
            self.bump();
        }
        let mut depth = 0u32;
        loop {
            match self.peek() {
                Token::OpenBrace => depth += 1,
                Token::CloseBrace => depth -= 1,
                Token::End => return Err(Problem::new(start, "this section does not end").help("close it with `}`")),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A plain integer below 2³².
    pub(super) fn unsigned(&mut self, expected: &str) -> Outcome<u32> {
        let span = self.span();
        if !matches!(self.peek(), Token::Integer | Token::Hexadecimal | Token::Binary) {
            return Err(self.unexpected(expected));
        }
        match self.literal()? {
            Number::Signed(value) if u32::try_from(value).is_ok() => Ok(value as u32),
            Number::Unsigned(value) if u32::try_from(value).is_ok() => Ok(value as u32),
            _ => Err(Problem::new(span, format!("`{}` is too large for {expected}", self.source.slice(span)))),
        }
    }
}
