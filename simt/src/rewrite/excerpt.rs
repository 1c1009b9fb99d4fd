//! One entry of a text alone, under other bounds: what a sweep has compiled many times.
//!
//! ptxas reads all of a text before it compiles one entry, and reading a hundred kernels takes longer than compiling one. An excerpt
//! leaves the other entries out, and can hold the one several times, under several names. Lines keep their numbers up to the
//! second copy, so that what ptxas says of a line is true of the whole text, too.

use super::RewriteError;
use super::bounds::{Header, headers};

/// Bounds of an entry's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.minnctapersm`, which ptxas heeds only beside `max_threads`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`; ptxas raises what is below its least and says so.
    pub max_registers: Option<u32>,
}

/// An entry, what comes before and after it, and its header in parts.
#[derive(Clone, Debug)]
pub struct Excerpt<'a> {
    /// Everything but other entries' bodies.
    before: String,
    /// From the line of `.entry` to the name.
    linkage: &'a str,
    /// From behind the name to the body, without bounds.
    signature: String,
    body: &'a str,
    after: String,
    /// The bounds that the entry came with.
    pub bounds: Bounds,
}

const BOUNDS: [&str; 3] = [".maxntid", ".minnctapersm", ".maxnreg"];

impl<'a> Excerpt<'a> {
    /// Takes the entry out of a text.
    ///
    /// # Errors
    /// There is no such entry, or a body has no end. A text with debug sections is kept whole: they name labels of all entries.
    pub fn of(ptx: &'a str, entry: &str) -> Result<Self, RewriteError> {
        let headers = headers(ptx)?;
        let Some(own) = headers.iter().find(|header| header.name == entry) else {
            let known: Vec<&str> = headers.iter().map(|header| header.name).collect();
            return Err(RewriteError::UnknownEntry { entry: entry.to_owned(), known: known.join(", ") });
        };
        let keeps_all = ptx.contains(".debug_info");
        let (mut before, mut after) = (String::new(), String::new());
        let mut done = 0;
        let mut own_end = 0;
        for header in &headers {
            let end = end_of(ptx, header)?;
            let out = if header.start <= own.start { &mut before } else { &mut after };
            out.push_str(&ptx[done..header.start]);
            match header.start == own.start {
                true => own_end = end,
                false if keeps_all => out.push_str(&ptx[header.start..end]),
                false => out.extend(ptx[header.start..end].matches('\n')),
            }
            done = end;
        }
        after.push_str(&ptx[done..]);
        let name_end = own.body - own.text.len() + own.name.len();
        let (bounds, signature) = parted(&own.text[own.name.len()..]);
        let linkage = &ptx[own.start..name_end - own.name.len()];
        Ok(Self { before, linkage, signature, body: &ptx[own.body..own_end], after, bounds })
    }

    /// Whether the entry's own code has a word, as `%nctaid`.
    pub fn mentions(&self, word: &str) -> bool {
        self.body.contains(word)
    }

    /// The text with the entry once for each name, under the bounds beside it.
    pub fn text(&self, copies: &[(&str, Bounds)]) -> String {
        let mut text = self.before.clone();
        for (index, (name, bounds)) in copies.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            text.push_str(self.linkage);
            text.push_str(name);
            text.push_str(&self.signature);
            let header = bounds.header(name);
            header.directives().for_each(|(directive, operand)| text.push_str(&format!("{directive} {operand} ")));
            text.push_str(self.body);
        }
        text.push_str(&self.after);
        text
    }
}

impl Bounds {
    pub(super) fn header<'n>(&self, entry: &'n str) -> super::HeaderBounds<'n> {
        let Self { max_threads, min_blocks_per_sm, max_registers } = *self;
        super::HeaderBounds { entry, max_threads, min_blocks_per_sm, max_registers }
    }
}

/// Where the body that a header's brace opens is closed.
pub(super) fn end_of(ptx: &str, header: &Header<'_>) -> Result<usize, RewriteError> {
    let unfinished = || RewriteError::UnfinishedEntry { entry: header.name.to_owned(), line: header.line };
    let bytes = ptx.as_bytes();
    let (mut at, mut depth) = (header.body, 0_usize);
    while let Some(byte) = bytes.get(at) {
        let rest = &ptx.as_bytes()[at..];
        match byte {
            b'/' if rest.starts_with(b"//") => at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                at += 1 + rest.windows(2).skip(2).position(|pair| pair == b"*/").ok_or_else(unfinished)? + 2;
            }
            b'"' => at += 1 + rest[1..].iter().position(|byte| *byte == b'"').ok_or_else(unfinished)?,
            b'{' => depth += 1,
            b'}' if depth == 1 => return Ok(at + 1),
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Err(unfinished())
}

/// The bounds of a header, and the header without them.
pub(super) fn parted(header: &str) -> (Bounds, String) {
    let mut bounds = Bounds::default();
    let mut rest = String::with_capacity(header.len());
    for line in header.split_inclusive('\n') {
        let (code, comment) = line.split_once("//").map_or((line, None), |(code, comment)| (code, Some(comment)));
        let mut code = code.to_owned();
        for directive in BOUNDS {
            while let Some(at) = code.find(directive) {
                let operand = &code[at + directive.len()..];
                let length = operand
                    .find(|c: char| !c.is_ascii_digit() && !c.is_whitespace() && c != ',')
                    .unwrap_or(operand.trim_end_matches('\n').len());
                let numbers = operand[..length].split(',').filter_map(|number| number.trim().parse().ok());
                bounds.set(directive, &numbers.collect::<Vec<u32>>());
                code.replace_range(at..at + directive.len() + length, "");
            }
        }
        rest.push_str(&code);
        if let Some(comment) = comment {
            rest.push_str("//");
            rest.push_str(comment);
        }
    }
    (bounds, rest)
}

impl Bounds {
    fn set(&mut self, directive: &str, numbers: &[u32]) {
        let Some(&first) = numbers.first() else { return };
        match directive {
            ".maxntid" => {
                let size = |index: usize| numbers.get(index).copied().unwrap_or(1);
                self.max_threads = Some([first, size(1), size(2)]);
            }
            ".minnctapersm" => self.min_blocks_per_sm = Some(first),
            _ => self.max_registers = Some(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const TEXT: &str = "\
.version 7.8
.visible .entry a(
\t.param .u32 a_0
)  // @a
.maxntid 256, 1, 1
.minnctapersm 2
{
\t{ // } in a comment
\tret;
\t}
}
.func f() { ret; }
.visible .entry b() .reqntid 32 .maxnreg 40 { ret; }
.visible .entry c() { /* } */ ret; }
.file 1 \"x.rs\"
";

    #[test]
    fn other_entries_go_and_lines_keep_their_numbers() {
        let excerpt = Excerpt::of(TEXT, "b").expect("an entry");
        assert_eq!(excerpt.bounds, Bounds { max_registers: Some(40), ..Bounds::default() });
        let text = excerpt.text(&[("b", excerpt.bounds)]);
        expect![[r#"
            .version 7.8










            .func f() { ret; }
            .visible .entry b() .reqntid 32 .maxnreg 40 { ret; }

            .file 1 "x.rs"
        "#]]
        .assert_eq(&text);
        let line = |text: &str| text.lines().position(|line| line.contains(".entry b"));
        assert_eq!(line(&text), line(TEXT));
        assert!(excerpt.mentions("ret") && !excerpt.mentions("//"));
    }

    #[test]
    fn copies_have_names_and_bounds_of_their_own_and_none_of_the_old() {
        let excerpt = Excerpt::of(TEXT, "a").expect("an entry");
        let old = Bounds { max_threads: Some([256, 1, 1]), min_blocks_per_sm: Some(2), max_registers: None };
        assert_eq!(excerpt.bounds, old);
        let capped = |registers| Bounds { max_registers: Some(registers), ..Bounds::default() };
        let text = excerpt.text(&[("a_24", capped(24)), ("a_32", capped(32))]);
        for (name, bound) in [("a_24", ".maxnreg 24"), ("a_32", ".maxnreg 32")] {
            let copy = Excerpt::of(&text, name).expect("a copy");
            assert!(text.contains(bound) && copy.bounds == capped(bound[9..].parse().unwrap()), "{text}");
        }
        assert!(!text.contains(".maxntid") && !text.contains(".minnctapersm"), "{text}");
    }

    #[test]
    fn unknown_entries_and_bodies_without_an_end_are_errors() {
        assert!(matches!(Excerpt::of(TEXT, "d"), Err(RewriteError::UnknownEntry { .. })));
        assert!(matches!(Excerpt::of(".entry a() { { }", "a"), Err(RewriteError::UnfinishedEntry { .. })));
    }

    #[test]
    fn a_text_with_debug_sections_is_kept_whole() {
        let text = format!("{TEXT}.section .debug_info {{ .b32 1 }}\n");
        let excerpt = Excerpt::of(&text, "b").expect("an entry").text(&[("b", Bounds::default())]);
        assert!(excerpt.contains(".entry a(") && excerpt.contains(".entry c("), "{excerpt}");
    }
}
