//! Text to tokens.
//!
//! A word that begins with a dot is one token, with its `::` parts: a directive (`.reg`), a modifier of an opcode (`.f32`,
//! `.shared::cta`) or a component (`.x`); the parser knows which. Comments and preprocessor lines are skipped.

use logos::{FilterResult, Logos};

use super::error::{Outcome, Problem};
use super::source::{Source, Span};

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\v\x00]+")]
#[logos(skip r"//[^\n]*")]
#[logos(skip r"#[^\n]*")]
pub(super) enum Token {
    /// A name: `vecadd`, `%r1`, `$L__BB0_2`, `_x`.
    #[regex(r"[a-zA-Z][a-zA-Z0-9_$]*")]
    #[regex(r"[_$%][a-zA-Z0-9_$]+")]
    Name,
    /// `_` alone: a result that is not wanted.
    #[token("_")]
    Sink,
    #[regex(r"\.[a-zA-Z0-9_]+(::[a-zA-Z0-9_]+)*")]
    Dotted,
    #[regex(r"[0-9]+U?")]
    Integer,
    #[regex(r"0[xX][0-9a-fA-F]+U?")]
    Hexadecimal,
    #[regex(r"0[bB][01]+U?")]
    Binary,
    /// Bits of a 32-bit float: `0f3F800000`.
    #[regex(r"0[fF][0-9a-fA-F]{8}", priority = 20)]
    Single,
    /// Bits of a 64-bit float: `0d3FF0000000000000`.
    #[regex(r"0[dD][0-9a-fA-F]{16}", priority = 20)]
    Double,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
    Decimal,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("@")]
    At,
    #[token("!")]
    Not,
    #[token("~")]
    Tilde,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    And,
    #[token("&&")]
    AndAnd,
    #[token("|")]
    Or,
    #[token("||")]
    OrOr,
    #[token("^")]
    Caret,
    #[token("?")]
    Question,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token("<<")]
    ShiftLeft,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token(">>")]
    ShiftRight,
    #[token("==")]
    EqualEqual,
    #[token("!=")]
    NotEqual,
    /// Never made: a comment is skipped, or an error if it does not end.
    #[token("/*", comment)]
    Comment,
    /// After the last token; the lexer itself never makes it.
    End,
}

fn comment(lexer: &mut logos::Lexer<'_, Token>) -> FilterResult<(), ()> {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            FilterResult::Skip
        }
        None => FilterResult::Error(()),
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme {
    pub token: Token,
    pub span: Span,
}

/// All tokens of a text; the last is [`Token::End`].
pub(super) fn lex(source: &Source) -> Outcome<Vec<Lexeme>> {
    let text = source.text.as_str();
    if text.len() > Source::BYTES_MAX {
        let message = format!("the text has {} bytes; at most {} are accepted", text.len(), Source::BYTES_MAX);
        return Err(Problem::new(Span::default(), message));
    }
    let mut lexemes = Vec::with_capacity(text.len() / 4 + 1);
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span { start: range.start as u32, end: range.end as u32 };
        let token = token.map_err(|()| unknown(source, span))?;
        lexemes.push(Lexeme { token, span });
    }
    let end = text.len() as u32;
    lexemes.push(Lexeme { token: Token::End, span: Span { start: end, end } });
    Ok(lexemes)
}

fn unknown(source: &Source, span: Span) -> Problem {
    let text: String = source.slice(span).chars().take(20).collect();
    match text.as_bytes() {
        [b'/', b'*', ..] => {
            Problem::new(span, "a comment that begins with `/*` does not end").help("close it with `*/`")
        }
        [b'"', ..] => Problem::new(span, "a string does not end on its line").help("close it with `\"`"),
        _ => Problem::new(span, format!("`{}` is not part of PTX", text.escape_debug())),
    }
}
