//! Writes what becomes of a kernel: the entry for the GPU, the descriptor for the host.
//!
//! Fixed text is parsed from strings; what the author wrote keeps its spans, so that rustc's own errors (a type that no
//! kernel takes, a wrong body) point into the author's source.

use crate::signature::{Kernel, Parameter};
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

/// The entry, under `cfg(target_arch = "nvptx64")`, if it is wanted; the descriptor and a checked body, otherwise.
pub fn expand(kernel: &Kernel, is_wanted: bool) -> TokenStream {
    let mut output = if is_wanted { entry(kernel) } else { TokenStream::new() };
    output.extend(descriptor(kernel));
    output.extend(checks(kernel));
    output
}

/// `pub unsafe extern "ptx-kernel" fn name(…) { … }`, under its own name.
fn entry(kernel: &Kernel) -> TokenStream {
    let mut output = fixed("#[cfg(target_arch = \"nvptx64\")] #[unsafe(no_mangle)]");
    output.extend(kernel.attributes.clone());
    output.extend(kernel.visibility.clone());
    output.extend(fixed("unsafe extern \"ptx-kernel\" fn"));
    output.extend(function(kernel));
    output
}

/// `pub static name: Kernel<(types that the host passes,)> = Kernel::new(…);`
fn descriptor(kernel: &Kernel) -> TokenStream {
    let mut host_types = TokenStream::new();
    let mut names = TokenStream::new();
    let mut types = TokenStream::new();
    for parameter in &kernel.parameters {
        host_types.extend(host_type(&parameter.of_type));
        names.extend(text(&parameter.name.to_string()));
        names.extend(fixed(","));
        types.extend(text(&spelled(&parameter.of_type)));
        types.extend(fixed(","));
    }
    let mut arguments = text(&kernel.name.to_string());
    arguments.extend(fixed(", &"));
    arguments.extend(group(Delimiter::Bracket, names));
    arguments.extend(fixed(", &"));
    arguments.extend(group(Delimiter::Bracket, types));
    arguments.extend(fixed(","));
    arguments.extend(text(&documentation(&kernel.attributes)));
    arguments.extend(fixed(", ::core::file!(),"));
    arguments.extend(respanned(fixed("::core::line!()"), kernel.name.span()));

    let mut output = fixed("#[cfg(not(target_arch = \"nvptx64\"))] #[allow(non_upper_case_globals)]");
    output.extend(kernel.attributes.clone());
    output.extend(kernel.visibility.clone());
    output.extend(fixed("static"));
    output.extend([TokenTree::from(kernel.name.clone())]);
    output.extend(fixed(": ::cuda_std::host::Kernel<"));
    output.extend(group(Delimiter::Parenthesis, host_types));
    output.extend(fixed("> = ::cuda_std::host::Kernel::new"));
    output.extend(group(Delimiter::Parenthesis, arguments));
    output.extend(fixed(";"));
    output
}

/// `<type as Parameter>::Host,` with the type's own place, which is where rustc then reports a type that is none.
fn host_type(of_type: &TokenStream) -> TokenStream {
    let place = of_type.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let mut output = respanned(fixed("<"), place);
    output.extend(of_type.clone());
    output.extend(respanned(fixed("as ::cuda_std::Parameter>::Host,"), place));
    output
}

/// For the GPU: every parameter is one that a kernel may take, which for the host the descriptor's type sees to. For the
/// host: the body, type-checked and never called.
fn checks(kernel: &Kernel) -> TokenStream {
    let mut calls = fixed("const fn is_a_parameter<T: ::cuda_std::Parameter>() {}");
    for parameter in &kernel.parameters {
        calls.extend(fixed("is_a_parameter::<"));
        calls.extend(parameter.of_type.clone());
        calls.extend(fixed(">();"));
    }
    let mut body = kernel.attributes.clone();
    body.extend(fixed("unsafe fn"));
    body.extend(function(kernel));

    let mut output = fixed("#[cfg(target_arch = \"nvptx64\")] const _: () =");
    output.extend(group(Delimiter::Brace, calls));
    output.extend(fixed("; #[cfg(not(target_arch = \"nvptx64\"))] #[allow(dead_code)] const _: () ="));
    output.extend(group(Delimiter::Brace, body));
    output.extend(fixed(";"));
    output
}

/// `name(parameter: type, …) { body }`
fn function(kernel: &Kernel) -> TokenStream {
    let mut parameters = TokenStream::new();
    for Parameter { mutable, name, of_type } in &kernel.parameters {
        parameters.extend(mutable.clone().map(TokenTree::from));
        parameters.extend([TokenTree::from(name.clone())]);
        parameters.extend(fixed(":"));
        parameters.extend(of_type.clone());
        parameters.extend(fixed(","));
    }
    let mut output = TokenStream::from(TokenTree::from(kernel.name.clone()));
    output.extend(group(Delimiter::Parenthesis, parameters));
    output.extend([TokenTree::from(kernel.body.clone())]);
    output
}

/// The text of the doc comments among `attributes`, a line each.
fn documentation(attributes: &TokenStream) -> String {
    let mut lines = Vec::new();
    for token in attributes.clone() {
        let TokenTree::Group(attribute) = token else { continue };
        let parts: Vec<TokenTree> = attribute.stream().into_iter().collect();
        if let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(line)] = parts.as_slice()
            && name.to_string() == "doc"
        {
            lines.push(unquoted(&line.to_string()));
        }
    }
    lines.join("\n").trim().to_owned()
}

/// The content of a string literal as rustc spells doc comments: quoted and escaped, or raw.
fn unquoted(literal: &str) -> String {
    if let Some(raw) = literal.strip_prefix('r') {
        return raw.trim_matches('#').trim_matches('"').trim().to_owned();
    }
    let mut content = String::new();
    let mut characters = literal.trim_matches('"').chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => content.extend(characters.next().map(|escaped| if escaped == 'n' { '\n' } else { escaped })),
            _ => content.push(character),
        }
    }
    content.trim().to_owned()
}

/// A type as its author would write it: `*const f32`, not `* const f32`.
fn spelled(of_type: &TokenStream) -> String {
    of_type.to_string().replace("* const", "*const").replace("* mut", "*mut")
}

fn fixed(tokens: &str) -> TokenStream {
    tokens.parse().unwrap_or_else(|error| unreachable!("fixed text of the macro: {error}"))
}

fn text(content: &str) -> TokenStream {
    TokenTree::from(Literal::string(content)).into()
}

fn group(delimiter: Delimiter, stream: TokenStream) -> TokenStream {
    TokenTree::from(Group::new(delimiter, stream)).into()
}

fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}
