//! Registers, variables, parameters and their initialisers.

use super::Parser;
use crate::isa::{Space, Ty};
use crate::ptx::ast::{Declaration, Home, Init, Linkage, Name};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lexer::Token;

/// Most dimensions of an array.
const DIMENSIONS_MAX: usize = 16;

/// What the words between the space and the name say.
struct Shape {
    align: Option<u32>,
    lanes: u8,
    ty: Ty,
}

impl Parser<'_> {
    /// `.reg .b32 %r<10>, %x;` after `.reg`.
    pub(super) fn registers(&mut self, into: &mut Vec<Declaration>) -> Outcome<()> {
        let shape = self.shape()?;
        self.names(Linkage::Local, Home::Register, &shape, into)
    }

    /// `.align 16 .b8 tile[1056];` after the space.
    pub(super) fn variables(&mut self, linkage: Linkage, space: Space, into: &mut Vec<Declaration>) -> Outcome<()> {
        let shape = self.shape()?;
        self.names(linkage, Home::Memory(space), &shape, into)
    }

    /// One parameter of a function: `.param .u64 .ptr .global .align 4 a` or `.reg .f32 %x`.
    pub(super) fn parameter(&mut self) -> Outcome<Declaration> {
        let home = match self.text() {
            ".param" => Home::Memory(Space::Param),
            ".reg" => Home::Register,
            _ => return Err(self.unexpected("`.param` or `.reg`")),
        };
        self.bump();
        let shape = self.shape()?;
        self.declarator(Linkage::Local, home, &shape)
    }

    fn names(&mut self, linkage: Linkage, home: Home, shape: &Shape, into: &mut Vec<Declaration>) -> Outcome<()> {
        loop {
            let declaration = self.declarator(linkage, home, shape)?;
            into.push(declaration);
            if !self.eat(Token::Comma) {
                return self.expect(Token::Semicolon, "`,` or `;` after a declared name").map(drop);
            }
        }
    }

    fn shape(&mut self) -> Outcome<Shape> {
        let mut shape = Shape { align: None, lanes: 1, ty: Ty::B8 };
        let (mut typed, mut pointer) = (false, false);
        while self.peek() == Token::Dotted {
            let word = self.text();
            match word {
                ".align" => {
                    self.bump();
                    let align = self.alignment()?;
                    // Behind `.ptr`, it is that of what the parameter points to.
                    shape.align = if pointer { shape.align } else { Some(align) };
                    continue;
                }
                ".attribute" => {
                    self.bump();
                    self.skip_parenthesised()?;
                    continue;
                }
                ".v2" => shape.lanes = 2,
                ".v4" => shape.lanes = 4,
                ".ptr" if typed => pointer = true,
                ".global" | ".const" | ".shared" | ".local" | ".param" if pointer => {}
                // Handles of textures, samplers and surfaces: 64 bits that no executed instruction reads.
                ".texref" | ".samplerref" | ".surfref" => (shape.ty, typed) = (Ty::B64, true),
                _ => match Ty::named(&word[1..]) {
                    Some(ty) => (shape.ty, typed) = (ty, true),
                    None => return Err(self.unexpected("a type such as .b32, `.align`, `.v2` or `.v4`")),
                },
            }
            self.bump();
        }
        if typed { Ok(shape) } else { Err(self.unexpected("a type such as .b32")) }
    }

    fn alignment(&mut self) -> Outcome<u32> {
        let span = self.span();
        let align = self.unsigned("an alignment in bytes")?;
        if align.is_power_of_two() && align <= 1 << 20 {
            return Ok(align);
        }
        Err(Problem::new(span, format!("an alignment of {align} bytes"))
            .help("expected a power of two up to 1,048,576"))
    }

    pub(super) fn skip_parenthesised(&mut self) -> Outcome<()> {
        self.expect(Token::OpenParen, "`(`")?;
        while !self.eat(Token::CloseParen) {
            if self.peek() == Token::End {
                return Err(self.unexpected("`)`"));
            }
            self.bump();
        }
        Ok(())
    }

    fn declarator(&mut self, linkage: Linkage, home: Home, shape: &Shape) -> Outcome<Declaration> {
        // A parameter or result may be `_`, which nothing can name.
        let name = match self.peek() {
            Token::Sink => {
                let span = self.bump();
                Name { symbol: self.intern(span), span }
            }
            _ => self.name("a name to declare")?,
        };
        let mut range = None;
        if home == Home::Register && self.eat(Token::Less) {
            range = Some(self.unsigned("a number of registers")?);
            self.expect(Token::Greater, "`>`")?;
        }
        let dims = self.dimensions()?;
        let init = if self.eat(Token::Equals) { Some(self.init(0)?) } else { None };
        let &Shape { align, lanes, ty } = shape;
        Ok(Declaration { linkage, home, align, ty, lanes, name, range, dims, init })
    }

    fn dimensions(&mut self) -> Outcome<Vec<Option<u64>>> {
        let mut dims = Vec::new();
        while self.eat(Token::OpenBracket) {
            if dims.len() == DIMENSIONS_MAX {
                return Err(Problem::new(
                    self.last_span(),
                    format!("an array of more than {DIMENSIONS_MAX} dimensions"),
                ));
            }
            if self.eat(Token::CloseBracket) {
                dims.push(None);
                continue;
            }
            let span = self.span();
            let size = self.integer("an array size")?;
            let size = u64::try_from(size).map_err(|_| Problem::new(span, format!("an array of {size} elements")))?;
            dims.push(Some(size));
            self.expect(Token::CloseBracket, "`]`")?;
        }
        Ok(dims)
    }

    fn init(&mut self, depth: u32) -> Outcome<Init> {
        self.check_depth(depth)?;
        if !self.eat(Token::OpenBrace) {
            return self.init_value();
        }
        let mut items = Vec::new();
        while !self.eat(Token::CloseBrace) {
            items.push(self.init(depth + 1)?);
            if !self.eat(Token::Comma) {
                self.expect(Token::CloseBrace, "`,` or `}`")?;
                break;
            }
        }
        Ok(Init::List(items))
    }

    fn init_value(&mut self) -> Outcome<Init> {
        let start = self.span();
        if self.at_expression() {
            let number = self.expression()?;
            // `0xFF(x)`: one byte of an address.
            if self.peek() == Token::OpenParen {
                let message = "one byte of an address as an initial value";
                return Err(Problem::new(start, message).help("only whole addresses are supported: `.u64 p = x`"));
            }
            return Ok(Init::Number(number, start.to(self.last_span())));
        }
        let mut name = self.name("a number, an address or `{`")?;
        let generic = self.source.slice(name.span) == "generic" && self.eat(Token::OpenParen);
        if generic {
            name = self.name("a variable's name")?;
            self.expect(Token::CloseParen, "`)`")?;
        }
        Ok(Init::Address { name, addend: self.addend()?, generic })
    }

    /// `+ 8`, `- 8` or nothing.
    pub(super) fn addend(&mut self) -> Outcome<i64> {
        match self.peek() {
            Token::Plus | Token::Minus => self.integer("an offset in bytes"),
            _ => Ok(0),
        }
    }
}
