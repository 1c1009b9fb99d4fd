//! One entry of a PTX text as lines with their sources.

use super::{Line, Listing, SourcePlace, ptx_life};

/// An entry's lines, with what is alive at each if that is asked for; `None` if the text has no such entry.
pub fn listing(text: &str, name: &str, with_life: bool) -> Option<Listing> {
    let lines = entry(text, name)?;
    let life = with_life.then(|| ptx_life::life(&lines));
    Some(Listing { lines, life })
}

/// The lines of an entry, from its header to its closing brace, without `.loc`, its labels and empty lines; `None` if the text has no
/// such entry.
fn entry(text: &str, name: &str) -> Option<Vec<Line>> {
    let files = files(text);
    let mut lines = text.lines().skip_while(|line| entry_name(line) != Some(name)).peekable();
    lines.peek()?;
    let mut at = Line::default();
    let mut listing = Vec::new();
    let mut is_body = false;
    for line in lines {
        match line.trim() {
            directive if directive.starts_with(".loc") => at = place(directive, &files).unwrap_or(at),
            "" => {}
            label if label.starts_with("$L__tmp") || label.starts_with("$L__func") => {}
            comment if comment.starts_with("//") => {}
            instruction => {
                is_body |= instruction.starts_with('{');
                let is_instruction = is_body && is_instruction(instruction);
                listing.push(Line { text: indented(instruction), is_instruction, ..at.clone() });
            }
        }
        if line.starts_with('}') {
            break;
        }
    }
    Some(listing)
}

/// Not a label, brace or directive.
fn is_instruction(text: &str) -> bool {
    let text = text.trim_start_matches(['{', ' ', '\t']);
    !text.is_empty() && !text.starts_with(['.', '}', ')']) && !text.ends_with(':') && text.contains(';')
}

/// Names of the entries, in the text's order.
pub fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(entry_name)
}

/// `NAME` of `.visible .entry NAME(`.
fn entry_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once(".entry")?;
    let directives = before.split_whitespace().all(|word| word.starts_with('.'));
    let name = rest.trim_start().split(['(', ' ', '\t', '{']).next()?;
    (directives && !name.is_empty()).then_some(name)
}

/// Paths of `.file NUMBER "PATH"`, by number.
fn files(text: &str) -> Vec<(u32, &str)> {
    text.lines().filter_map(file).collect()
}

fn file(line: &str) -> Option<(u32, &str)> {
    let (number, path) = line.trim_start().strip_prefix(".file")?.trim_start().split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, path.trim().strip_prefix('"')?.split('"').next()?))
}

/// The place that `.loc FILE LINE COLUMN` names, the call that it was inlined at, and what a comment says of the library; `None`
/// for line 0, which means "no line".
fn place(directive: &str, files: &[(u32, &str)]) -> Option<Line> {
    let (directive, comment) = directive.split_once("//").unwrap_or((directive, ""));
    let mut chain = vec![position(directive.strip_prefix(".loc")?, files)?];
    chain.extend(directive.split_once("inlined_at").and_then(|(_, at)| position(at, files)));
    let library = comment.trim().strip_prefix("by ").unwrap_or_default().to_owned();
    Some(Line { source: Line::own(&chain), chain, library, ..Line::default() })
}

/// `1 14 8`: file, line and column.
fn position(text: &str, files: &[(u32, &str)]) -> Option<SourcePlace> {
    let mut words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let number: u32 = words.next()?.parse().ok()?;
    let line: u32 = words.next()?.parse().ok().filter(|&line| line > 0)?;
    let file = files.iter().find(|(known, _)| *known == number)?.1;
    Some(SourcePlace { file: file.to_owned(), line })
}

/// Labels, braces and headers at the margin, the rest two columns in; one space between opcode and operands.
fn indented(instruction: &str) -> String {
    // rustc repeats an entry's name behind its parameters.
    let instruction = instruction.split("// @").next().unwrap_or(instruction);
    let words = instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    let at_margin = words.ends_with(':') || words.contains(".entry") || matches!(words.as_str(), "{" | "}" | ")");
    if at_margin { words } else { format!("  {words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.visible .entry other(\n)\n{\n\tret;\n}\n\
.visible .entry vecadd(\n\t.param .u64 vecadd_param_0\n)\n{\n\t.loc\t1 11 0\n$L__func_begin0:\n\tmov.u32 \t%r1, %tid.x;\n\
$L__tmp1:\n\t.loc\t1 0 8\n\tadd.s32 \t%r2, %r1, 1;\n\t.loc\t1 14 8\t// by core\n$L__BB0_1:\n\n\tret;\n}\n\
\t.file\t1 \"src/vecadd.rs\"\n";

    #[test]
    fn an_entry_is_shown_with_the_line_of_each_instruction() {
        let listing = entry(TEXT, "vecadd").expect("the entry is there");
        let shown: Vec<(Option<u32>, &str)> =
            listing.iter().map(|line| (line.source.as_ref().map(|s| s.line), line.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                (None, ".visible .entry vecadd("),
                (None, "  .param .u64 vecadd_param_0"),
                (None, ")"),
                (None, "{"),
                (Some(11), "  mov.u32 %r1, %tid.x;"),
                (Some(11), "  add.s32 %r2, %r1, 1;"),
                (Some(14), "$L__BB0_1:"),
                (Some(14), "  ret;"),
                (Some(14), "}"),
            ]
        );
        let instructions = listing.iter().filter(|line| line.is_instruction).count();
        assert_eq!((instructions, listing[7].library.as_str()), (3, "core"));
        assert_eq!(listing[4].source.as_ref().map(|s| s.file.as_str()), Some("src/vecadd.rs"));
    }

    #[test]
    fn a_call_that_was_inlined_leads_to_its_caller() {
        let files = [(1, "src/a.rs"), (2, "src/b.rs")];
        let line =
            place(".loc\t1 25 13, function_name $L__info_string0, inlined_at 2 79 14\t// by core::x (y.rs:1)", &files);
        let line = line.expect("a place");
        let chain: Vec<String> = line.chain.iter().map(SourcePlace::short).collect();
        assert_eq!(
            (chain, line.library.as_str()),
            (vec!["a.rs:25".to_owned(), "b.rs:79".to_owned()], "core::x (y.rs:1)")
        );
    }

    #[test]
    fn registers_are_alive_from_write_to_read_and_wide_ones_count_twice() {
        let text = ".visible .entry k(\n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n\
            ld.param.b64 %rd1, [k_param_0];\nmov.b32 %r1, 0;\n$L1:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n\
            @%p1 bra $L1;\nst.b32 [%rd1], %r1;\nret;\n}\n";
        let listing = listing(text, "k", true).expect("the entry is there");
        let life = listing.life.expect("it was asked for");
        let counted: Vec<(u32, u32)> = listing
            .lines
            .iter()
            .zip(&life.counts)
            .filter(|(line, _)| line.is_instruction)
            .map(|(_, counts)| (counts.general, counts.predicates))
            .collect();
        assert_eq!(counted, [(2, 0), (3, 0), (3, 0), (3, 1), (3, 1), (3, 0), (0, 0)]);
        let peak = life.peak().expect("some are alive");
        assert_eq!(listing.lines[peak].text, "  mov.b32 %r1, 0;");
    }

    #[test]
    fn entries_are_listed_and_an_unknown_one_is_none() {
        assert_eq!(entries(TEXT).collect::<Vec<_>>(), ["other", "vecadd"]);
        assert_eq!(entry(TEXT, "vec"), None);
    }
}
