//! Reads a kernel's tokens: attributes, `pub unsafe fn name(parameter: type, …) { body }`.
//!
//! Whatever else a function may have in Rust and a kernel may not is an error that points at the very token and says
//! what to write instead.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A kernel's tokens, apart.
pub struct Kernel {
    /// Attributes and doc comments before the function.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: TokenStream,
    pub name: Ident,
    pub parameters: Vec<Parameter>,
    pub body: Group,
}

/// One parameter: `name: type`, or `mut name: type`.
pub struct Parameter {
    pub mutable: Option<Ident>,
    pub name: Ident,
    pub of_type: TokenStream,
}

/// What is wrong, and where.
pub struct Error {
    at: Span,
    message: String,
}

impl Error {
    fn new(at: Span, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// `compile_error!("message")`, reported at the offending token.
    pub fn into_compile_error(self) -> TokenStream {
        let mut text = Literal::string(&self.message);
        text.set_span(self.at);
        let mut arguments = Group::new(Delimiter::Parenthesis, TokenTree::from(text).into());
        arguments.set_span(self.at);
        let mut bang = Punct::new('!', Spacing::Alone);
        bang.set_span(self.at);
        let mut semicolon = Punct::new(';', Spacing::Alone);
        semicolon.set_span(self.at);
        let name = Ident::new("compile_error", self.at);
        TokenStream::from_iter([TokenTree::from(name), bang.into(), arguments.into(), semicolon.into()])
    }
}

/// Reads the attribute's own arguments (there are none) and the function it stands on.
pub fn read(attribute: TokenStream, item: TokenStream) -> Result<Kernel, Error> {
    if let Some(token) = attribute.into_iter().next() {
        return Err(Error::new(token.span(), "#[kernel] takes no arguments; launch bounds are in the table of bounds"));
    }
    let mut tokens = Cursor::new(item);
    let attributes = tokens.attributes();
    let visibility = tokens.visibility();
    tokens.qualifiers()?;
    let name = tokens.name("the kernel's name")?;
    let parameters = tokens.parameters(&name)?;
    let body = tokens.body(&name)?;
    Ok(Kernel { attributes, visibility, name, parameters, body })
}

/// The tokens still to be read, with one in sight.
struct Cursor {
    tokens: std::iter::Peekable<proc_macro::token_stream::IntoIter>,
    last: Span,
}

impl Cursor {
    fn new(tokens: TokenStream) -> Self {
        Self { tokens: tokens.into_iter().peekable(), last: Span::call_site() }
    }

    fn next(&mut self) -> Option<TokenTree> {
        let token = self.tokens.next();
        if let Some(token) = &token {
            self.last = token.span();
        }
        token
    }

    /// Where the next token is, or the last one was.
    fn here(&mut self) -> Span {
        self.tokens.peek().map_or(self.last, TokenTree::span)
    }

    fn is_punct(&mut self, character: char) -> bool {
        matches!(self.tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == character)
    }

    fn is_ident(&mut self, word: &str) -> bool {
        matches!(self.tokens.peek(), Some(TokenTree::Ident(ident)) if ident.to_string() == word)
    }

    fn is_group(&mut self, delimiter: Delimiter) -> bool {
        matches!(self.tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
    }

    fn attributes(&mut self) -> TokenStream {
        let mut attributes = TokenStream::new();
        while self.is_punct('#') {
            attributes.extend(self.next());
            attributes.extend(self.next());
        }
        attributes
    }

    fn visibility(&mut self) -> TokenStream {
        let mut visibility = TokenStream::new();
        if self.is_ident("pub") {
            visibility.extend(self.next());
            if self.is_group(Delimiter::Parenthesis) {
                visibility.extend(self.next());
            }
        }
        visibility
    }

    /// `unsafe fn`, and nothing else before `fn`.
    fn qualifiers(&mut self) -> Result<(), Error> {
        let mut is_unsafe = false;
        loop {
            let at = self.here();
            match self.next() {
                Some(TokenTree::Ident(word)) => match word.to_string().as_str() {
                    "unsafe" => is_unsafe = true,
                    "fn" if is_unsafe => return Ok(()),
                    "fn" => {
                        let why =
                            "a kernel must be `unsafe fn`: nothing checks the pointers that a launch passes to it";
                        return Err(Error::new(at, why));
                    }
                    word @ ("const" | "async") => {
                        return Err(Error::new(at, format!("a kernel cannot be `{word}`: write `unsafe fn`")));
                    }
                    "extern" => {
                        return Err(Error::new(at, "#[kernel] chooses the ABI: write `unsafe fn` without `extern`"));
                    }
                    _ => return Err(Error::new(at, "#[kernel] stands on a function: `pub unsafe fn name(…) { … }`")),
                },
                _ => return Err(Error::new(at, "#[kernel] stands on a function: `pub unsafe fn name(…) { … }`")),
            }
        }
    }

    fn name(&mut self, what: &str) -> Result<Ident, Error> {
        let at = self.here();
        match self.next() {
            Some(TokenTree::Ident(name)) => Ok(name),
            _ => Err(Error::new(at, format!("expected {what}, a plain name"))),
        }
    }

    fn parameters(&mut self, kernel: &Ident) -> Result<Vec<Parameter>, Error> {
        let at = self.here();
        match self.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                parameters(Cursor::new(group.stream()))
            }
            Some(TokenTree::Punct(punct)) if punct.as_char() == '<' => Err(Error::new(
                at,
                format!(
                    "the kernel `{kernel}` has type parameters; an entry has one set of types: write a kernel for each"
                ),
            )),
            _ => Err(Error::new(at, format!("expected the parameters of the kernel `{kernel}`"))),
        }
    }

    fn body(&mut self, kernel: &Ident) -> Result<Group, Error> {
        let at = self.here();
        match self.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Ok(group),
            Some(TokenTree::Punct(punct)) if punct.as_char() == '-' => Err(Error::new(
                at,
                format!("the kernel `{kernel}` returns a value; a kernel writes its results to memory"),
            )),
            Some(TokenTree::Ident(word)) if word.to_string() == "where" => Err(Error::new(
                at,
                format!("the kernel `{kernel}` has a `where` clause; a kernel has no type parameters"),
            )),
            _ => Err(Error::new(at, format!("expected the body of the kernel `{kernel}`"))),
        }
    }

    /// A type: everything up to a comma that is not inside `<…>`.
    fn type_tokens(&mut self) -> TokenStream {
        let mut tokens = TokenStream::new();
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.peek() {
            if let TokenTree::Punct(punct) = token {
                match punct.as_char() {
                    ',' if depth == 0 => break,
                    '<' => depth += 1,
                    '>' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            tokens.extend(self.next());
        }
        tokens
    }
}

fn parameters(mut tokens: Cursor) -> Result<Vec<Parameter>, Error> {
    let mut parameters = Vec::new();
    while tokens.tokens.peek().is_some() {
        if tokens.is_punct('#') {
            return Err(Error::new(
                tokens.here(),
                "a kernel's parameter takes no attributes: describe it above the kernel",
            ));
        }
        if tokens.is_ident("self") || tokens.is_punct('&') {
            return Err(Error::new(tokens.here(), "a kernel is no method: it takes pointers and scalars, by name"));
        }
        let mut mutable = None;
        if tokens.is_ident("mut")
            && let Some(TokenTree::Ident(word)) = tokens.next()
        {
            mutable = Some(word);
        }
        let name = tokens.name("a parameter's name")?;
        if !tokens.is_punct(':') {
            return Err(Error::new(
                tokens.here(),
                format!("expected `{name}: type`; a kernel's parameter is a plain name"),
            ));
        }
        tokens.next();
        let at = tokens.here();
        if tokens.is_punct('&') {
            let why = "a kernel takes no reference: pass a pointer and a length, and make the slice inside the kernel";
            return Err(Error::new(at, why));
        }
        let of_type = tokens.type_tokens();
        if of_type.is_empty() {
            return Err(Error::new(at, format!("expected a type for `{name}`")));
        }
        parameters.push(Parameter { mutable, name, of_type });
        tokens.next();
    }
    Ok(parameters)
}
