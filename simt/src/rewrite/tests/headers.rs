//! Launch bounds in the headers of entries.

use super::*;

fn with_bounds(ptx: &str, bounds: &[HeaderBounds]) -> Result<String, RewriteError> {
    finish(ptx, &FinishOptions { bounds, ours: &ours })
}

#[test]
fn all_three_bounds_stand_between_parameters_and_body() {
    let bounds = HeaderBounds {
        entry: "vecadd",
        max_threads: Some([256, 1, 1]),
        min_blocks_per_sm: Some(4),
        max_registers: Some(40),
    };
    let out = with_bounds(RAW, &[bounds]).expect("finishes");
    assert!(out.contains("// @vecadd\n.maxntid 256, 1, 1\n.minnctapersm 4\n.maxnreg 40\n{"));
    let without: String = out.lines().filter(|line| !line.starts_with(".max") && !line.starts_with(".minn")).collect();
    assert_eq!(without, finished(RAW).lines().collect::<String>());
}

#[test]
fn an_entry_without_parameters_and_one_on_a_single_line_get_theirs() {
    let ptx = ".visible .entry a()\n{ ret; }\n.entry b(.param .u32 n) { ret; }\n";
    let cap = |entry| HeaderBounds { entry, max_registers: Some(32), ..HeaderBounds::default() };
    let out = with_bounds(ptx, &[cap("b"), cap("a")]).expect("finishes");
    let expected = ".visible .entry a()\n.maxnreg 32\n{ ret; }\n.entry b(.param .u32 n) .maxnreg 32\n{ ret; }\n";
    assert_eq!(out, expected);
}

#[test]
fn a_name_that_begins_like_another_is_not_taken_for_it() {
    let ptx = ".entry heavy_capped(.param .u64 heavy)\n{\n}\n.entry heavy(.param .u64 x)\n{\n}\n";
    let cap = HeaderBounds { entry: "heavy", max_registers: Some(80), ..HeaderBounds::default() };
    let out = with_bounds(ptx, &[cap]).expect("finishes");
    assert_eq!(out, ".entry heavy_capped(.param .u64 heavy)\n{\n}\n.entry heavy(.param .u64 x)\n.maxnreg 80\n{\n}\n");
}

#[test]
fn declarations_and_comments_are_no_entries() {
    let ptx = ".entry k();\n// .entry k( {\n.entry k()\n// a { in a comment\n{ ret; }\n";
    let cap = HeaderBounds { entry: "k", max_registers: Some(32), ..HeaderBounds::default() };
    let out = with_bounds(ptx, &[cap]).expect("finishes");
    assert_eq!(out, ".entry k();\n// .entry k( {\n.entry k()\n// a { in a comment\n.maxnreg 32\n{ ret; }\n");
}

#[test]
fn bounds_for_an_unknown_entry_are_refused_and_the_known_ones_named() {
    let error = with_bounds(RAW, &[HeaderBounds { entry: "vecad", ..HeaderBounds::default() }]);
    let known = "calls, norms, vecadd".to_owned();
    assert_eq!(error, Err(RewriteError::UnknownEntry { entry: "vecad".to_owned(), known }));
}

#[test]
fn a_bound_that_is_there_already_is_refused() {
    let ptx = ".entry k(.param .u32 n)\n.maxntid 128\n{ ret; }\n";
    let bounds = HeaderBounds { entry: "k", max_threads: Some([256, 1, 1]), ..HeaderBounds::default() };
    let error = RewriteError::BoundsExist { entry: "k".to_owned(), directive: ".maxntid", line: 1 };
    assert_eq!(with_bounds(ptx, &[bounds]), Err(error));
    let cap = HeaderBounds { entry: "k", max_registers: Some(32), ..HeaderBounds::default() };
    assert!(with_bounds(ptx, &[cap]).is_ok_and(|out| out.contains(".maxntid 128\n.maxnreg 32\n{")));
    assert!(matches!(with_bounds(ptx, &[cap, cap]), Err(RewriteError::BoundsExist { directive: ".maxnreg", .. })));
}

/// What LLVM prints of a variable with this text.
fn variable(text: &str) -> String {
    let numbers: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    let length = numbers.len();
    format!(".visible .global .align 1 .b8 WARPWISE_LAUNCH_BOUNDS[{length}] = {{{}}};\n", numbers.join(", "))
}

#[test]
fn a_table_in_the_text_goes_into_the_headers_of_its_entries_and_comes_before_any_other() {
    let ptx = |before: &str| format!("{before}.entry a()\n{{ ret; }}\n.entry b()\n{{ ret; }}\n");
    let table = variable("a .maxntid 32,2,1 .minnctapersm 3\ngone .maxnreg 24\nb .maxnreg 40\n");
    let of_the_program = HeaderBounds { entry: "b", max_registers: Some(64), ..HeaderBounds::default() };
    let out = with_bounds(&ptx(&table), &[of_the_program]).expect("finishes");
    let expected = "\n.entry a()\n.maxntid 32, 2, 1\n.minnctapersm 3\n{ ret; }\n.entry b()\n.maxnreg 40\n{ ret; }\n";
    assert_eq!(out, expected);
    let none = "// WARPWISE_LAUNCH_BOUNDS[1] = {1};\n";
    let out = with_bounds(&ptx(none), &[of_the_program]).expect("finishes");
    assert!(out.starts_with(none) && out.contains(".maxnreg 64"), "{out}");
}

#[test]
fn a_table_that_is_none_is_refused_with_its_line() {
    for text in [
        variable("a .maxnreg 40 and more\n"),
        variable("\u{7f}é").replace("195", "1950"),
        " .global .b8 WARPWISE_LAUNCH_BOUNDS[4];".to_owned(),
    ] {
        let ptx = format!(".version 7.8\n{text}\n.entry a()\n{{ ret; }}\n");
        assert_eq!(with_bounds(&ptx, &[]), Err(RewriteError::BadBounds { line: 2 }), "{text}");
    }
}
