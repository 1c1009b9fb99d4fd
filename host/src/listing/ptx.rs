//! One entry of a PTX text as lines with their sources.

use super::{Line, SourcePlace};

/// The lines of an entry, from its header to its closing brace, without `.loc`, its labels and empty lines; `None` if the text has no
/// such entry.
pub fn entry(text: &str, name: &str) -> Option<Vec<Line>> {
    let files = files(text);
    let mut lines = text.lines().skip_while(|line| entry_name(line) != Some(name)).peekable();
    lines.peek()?;
    let mut source = None;
    let mut listing = Vec::new();
    for line in lines {
        match line.trim() {
            directive if directive.starts_with(".loc") => source = place(directive, &files).or(source),
            "" => {}
            label if label.starts_with("$L__tmp") || label.starts_with("$L__func") => {}
            instruction => listing.push(Line { source: source.clone(), text: indented(instruction) }),
        }
        if line.starts_with('}') {
            break;
        }
    }
    Some(listing)
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

/// The place that `.loc FILE LINE COLUMN` names; `None` for line 0, which means "no line".
fn place(directive: &str, files: &[(u32, &str)]) -> Option<SourcePlace> {
    let mut words = directive.split_whitespace().skip(1);
    let number: u32 = words.next()?.parse().ok()?;
    let line: u32 = words.next()?.parse().ok().filter(|&line| line > 0)?;
    let file = files.iter().find(|(known, _)| *known == number)?.1;
    Some(SourcePlace { file: file.to_owned(), line })
}

/// Labels, braces and headers at the margin, the rest two columns in; one space between opcode and operands.
fn indented(instruction: &str) -> String {
    let words = instruction.split('\t').map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
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
        assert_eq!(listing[4].source.as_ref().map(|s| s.file.as_str()), Some("src/vecadd.rs"));
    }

    #[test]
    fn entries_are_listed_and_an_unknown_one_is_none() {
        assert_eq!(entries(TEXT).collect::<Vec<_>>(), ["other", "vecadd"]);
        assert_eq!(entry(TEXT, "vec"), None);
    }
}
