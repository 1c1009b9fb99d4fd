//! Debug text that is cut, changed or nonsense gives an error value and never a panic.

use super::*;

fn error(raw: &str) -> RewriteError {
    finish(raw, &FinishOptions { bounds: &[], ours: &ours }).expect_err("this text is malformed")
}

#[test]
fn a_section_without_end_names_where_it_began() {
    let cut = RAW.split_once("DW_TAG_subprogram").expect("the DWARF has functions").0;
    let line = line_of(RAW, ".section\t.debug_abbrev");
    assert_eq!(error(cut), RewriteError::UnclosedSection { section: ".debug_abbrev".to_owned(), line });
}

#[test]
fn data_that_is_none_is_shown() {
    let bad = RAW.replacen(".b32 .debug_abbrev", ".b24 .debug_abbrev", 1);
    let text = error(&bad).to_string();
    let line = line_of(&bad, ".b24");
    assert_eq!(
        text,
        format!(
            "PTX line {line}: `.b24 .debug_abbrev` in section .debug_info, where .b8, .b16, .b32 or .b64 was expected"
        )
    );
    for value in ["", "+", "-", "1+", "99999999999999999999", "0xg", ".debug", "1 2"] {
        let bad = RAW.replacen(".b32 .debug_abbrev", &format!(".b32 {value}"), 1);
        let error = error(&bad);
        assert!(
            matches!(error, RewriteError::BadData { .. } | RewriteError::UnknownLabel { .. }),
            "`{value}` gave {error}"
        );
    }
}

#[test]
fn a_label_that_is_not_there_is_named() {
    let bad = RAW.replace("$L__tmp2:", "");
    let text = error(&bad).to_string();
    assert!(text.ends_with("section .debug_info names the label `$L__tmp2`, which the text does not have"), "{text}");
}

#[test]
fn a_source_file_that_is_not_declared_is_named() {
    let bad = RAW.replace("\t.file\t2", "\t// .file\t2");
    assert_eq!(error(&bad), RewriteError::UnknownFile { number: 2 });
}

#[test]
fn locs_and_files_that_cannot_be_read_are_shown() {
    let bad = RAW.replacen("\t.loc\t1 15 8", "\t.loc\t1 fifteen 8", 1);
    assert!(matches!(error(&bad), RewriteError::BadLoc { text, .. } if text.starts_with(".loc\t1 fifteen 8")));
    let bad = RAW.replacen("\t.file\t1 \"", "\t.file\tone \"", 1);
    assert!(matches!(error(&bad), RewriteError::BadFile { .. }));
}

#[test]
fn an_abbreviation_that_is_not_there_is_a_dwarf_error() {
    let bad = RAW.replacen(".b8 1  ", ".b8 101", 1);
    let text = error(&bad).to_string();
    assert!(text.starts_with("the DWARF in the PTX cannot be read: "), "{text}");
}

#[test]
fn an_entry_without_a_body_is_refused_where_bounds_are_given() {
    let bounds = [HeaderBounds { entry: "k", ..HeaderBounds::default() }];
    let cut = finish(".entry k(.param .u32 n", &FinishOptions { bounds: &bounds, ours: &ours });
    assert_eq!(cut, Err(RewriteError::UnfinishedEntry { entry: "k".to_owned(), line: 1 }));
}

/// The text with comments gone: shorter, and nothing but what is read is then cut and changed.
fn bare() -> String {
    RAW.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end().to_owned() + "\n").collect()
}

#[test]
fn text_cut_at_any_line_gives_a_value() {
    let bare = bare();
    let mut errors = 0;
    for (end, _) in bare.match_indices('\n') {
        let cut = finish(&bare[..end], &FinishOptions { bounds: &[], ours: &ours });
        errors += usize::from(cut.is_err());
    }
    assert!(errors > 500, "{errors} errors");
}

/// A multiplicative generator (Park and Miller): random enough here, and the same from run to run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        self.0 as usize % bound
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

#[test]
fn text_with_changed_numbers_gives_a_value() {
    let bare = bare();
    let lines: Vec<&str> = bare.lines().collect();
    let data: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].starts_with(".b")).collect();
    let values = [".b8 0", ".b8 255", ".b8 1", ".b32 4294967295", ".b64 18446744073709551615", ".b8 29", ""];
    let mut random = Random(1);
    let mut errors = 0;
    for _ in 0..2_000 {
        let mut changed = lines.clone();
        for _ in 0..=random.below(3) {
            changed[random.one_of(&data)] = random.one_of(&values);
        }
        let result = finish(&changed.join("\n"), &FinishOptions { bounds: &[], ours: &ours });
        errors += usize::from(result.is_err());
    }
    assert!(errors > 100, "{errors} errors");
}

#[test]
fn text_with_changed_characters_and_a_lost_beginning_gives_a_value() {
    let whole: Vec<char> = bare().chars().collect();
    let bounds = [HeaderBounds { entry: "vecadd", max_registers: Some(32), ..HeaderBounds::default() }];
    let characters = ['é', '{', '}', ':', ';', '"', ',', '-', '9', '(', '\n', '\0', '.', '/', ' '];
    let mut random = Random(2);
    let mut errors = 0;
    for _ in 0..1_000 {
        let mut changed = whole[random.below(whole.len())..].to_vec();
        for _ in 0..random.below(40) {
            let at = random.below(changed.len());
            changed[at] = random.one_of(&characters);
        }
        let text: String = changed.into_iter().collect();
        errors += usize::from(finish(&text, &FinishOptions { bounds: &bounds, ours: &ours }).is_err());
    }
    assert!(errors > 500, "{errors} errors");
}
