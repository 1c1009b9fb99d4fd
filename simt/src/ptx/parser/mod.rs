//! Tokens to [`Listing`].
//!
//! A recursive-descent parser whose recursion is bounded by [`DEPTH_MAX`]. It knows the structure of a module and the shape of
//! operands, and no instruction: those are checked against their table when an entry is lowered.

mod body;
mod debug;
mod declaration;
mod expression;
mod function;
mod module;
mod operand;

use std::collections::HashMap;

use super::ast::{Listing, Name, Symbol};
use super::error::{Outcome, Problem};
use super::lexer::{Lexeme, Token, lex};
use super::source::{Source, Span};

/// Deepest nesting of braces in operands and initialisers, and of parentheses in expressions.
const DEPTH_MAX: u32 = 64;

pub(super) fn parse(source: &Source) -> Outcome<Listing> {
    let lexemes = lex(source)?;
    let mut parser = Parser { source, lexemes, at: 0, symbols: HashMap::new(), listing: Listing::default() };
    parser.module()?;
    Ok(parser.listing)
}

struct Parser<'a> {
    source: &'a Source,
    lexemes: Vec<Lexeme>,
    at: usize,
    symbols: HashMap<&'a str, Symbol>,
    listing: Listing,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// The token `ahead` places on; [`Token::End`] past the end.
    fn peek_at(&self, ahead: usize) -> Token {
        self.lexemes.get(self.at + ahead).map_or(Token::End, |lexeme| lexeme.token)
    }

    fn span(&self) -> Span {
        let last = self.lexemes.len().saturating_sub(1);
        self.lexemes.get(self.at.min(last)).map_or(Span::default(), |lexeme| lexeme.span)
    }

    /// Span of the token before this one.
    fn last_span(&self) -> Span {
        self.lexemes.get(self.at.saturating_sub(1)).map_or(Span::default(), |lexeme| lexeme.span)
    }

    fn text(&self) -> &'a str {
        self.source.slice(self.span())
    }

    /// Takes the token; stays on [`Token::End`].
    fn bump(&mut self) -> Span {
        let span = self.span();
        if self.peek() != Token::End {
            self.at += 1;
        }
        span
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.bump();
        }
        found
    }

    /// Takes `token`, or says what `expected` is in words.
    fn expect(&mut self, token: Token, expected: &str) -> Outcome<Span> {
        if self.peek() == token { Ok(self.bump()) } else { Err(self.unexpected(expected)) }
    }

    /// Is this the dotted word `word` (`.reg`)?
    fn at_dotted(&self, word: &str) -> bool {
        self.peek() == Token::Dotted && self.text() == word
    }

    fn eat_dotted(&mut self, word: &str) -> bool {
        let found = self.at_dotted(word);
        if found {
            self.bump();
        }
        found
    }

    fn name(&mut self, expected: &str) -> Outcome<Name> {
        let span = self.expect(Token::Name, expected)?;
        Ok(Name { symbol: self.intern(span), span })
    }

    fn intern(&mut self, span: Span) -> Symbol {
        let symbols = &mut self.listing.symbols;
        *self.symbols.entry(self.source.slice(span)).or_insert_with(|| {
            symbols.push(span);
            Symbol(symbols.len() as u32 - 1)
        })
    }

    fn unexpected(&self, expected: &str) -> Problem {
        let found = match self.peek() {
            Token::End => "the end of the text".to_owned(),
            _ => format!("`{}`", self.text().chars().take(40).collect::<String>()),
        };
        Problem::new(self.span(), format!("found {found}, expected {expected}"))
    }

    fn check_depth(&self, depth: u32) -> Outcome<()> {
        if depth < DEPTH_MAX {
            return Ok(());
        }
        Err(Problem::new(self.span(), format!("nested deeper than {DEPTH_MAX} levels")))
    }
}
