//! Which line an instruction of the finished module carries.

use super::*;

/// The `.loc` lines that stand directly before the first line with `instruction`, after the entry's header.
fn locs<'a>(ptx: &'a str, entry: &str, instruction: &str) -> Vec<&'a str> {
    let mut locs = Vec::new();
    let body = ptx.split_once(&format!("entry {entry}(")).expect("the entry is there").1;
    for line in body.lines().map(str::trim) {
        if line.contains(instruction) {
            return locs;
        }
        if let Some(rest) = line.strip_prefix(".loc\t") {
            locs.push(rest);
        } else if !line.is_empty() {
            locs.clear();
        }
    }
    panic!("no `{instruction}` in {entry}");
}

/// What is left of PTX without comments, `.loc`, debug sections and what belongs to them.
fn instructions(ptx: &str) -> Vec<&str> {
    let code = ptx.split("\t.section").next().unwrap_or_default();
    let code = code.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    code.filter(|line| !line.is_empty() && !line.starts_with(".loc") && !line.starts_with(".target")).collect()
}

#[test]
fn the_recorded_module_comes_out_as_recorded() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rewrite/tests/recorded/finished.ptx");
    let found = finished(RAW);
    if std::env::var_os("WARPWISE_BLESS").is_some() {
        std::fs::write(path, &found).expect("the recorded file can be written");
    }
    let recorded = std::fs::read_to_string(path).expect("the recorded file can be read");
    assert!(found == recorded, "finished.ptx differs; look at `git diff` after WARPWISE_BLESS=1");
}

#[test]
fn no_instruction_changes() {
    let out = finished(RAW);
    assert_eq!(instructions(RAW), instructions(&out));
    assert!(instructions(&out).len() > 150);
}

#[test]
fn a_load_written_as_read_carries_the_line_of_the_kernel_not_of_core() {
    let out = finished(RAW);
    let loads = [("ld.global.b32 \t%r6", 18, 30), ("ld.global.b32 \t%r7", 19, 30)];
    for (load, line, column) in loads {
        let locs = locs(&out, "vecadd", load);
        let [loc] = locs[..] else { panic!("{locs:?}") };
        assert!(loc.starts_with(&format!("1 {line} {column}\t// by core::ptr::const_ptr::")), "{loc}");
        assert!(loc.ends_with("read (const_ptr.rs:1171), core::ptr::read (mod.rs:1721)"), "{loc}");
    }
}

#[test]
fn a_function_of_ours_keeps_its_own_line_and_says_who_called_it() {
    let out = finished(RAW);
    let locs = locs(&out, "vecadd", "mad.lo.s32");
    assert_eq!(locs[0], "1 14 13");
    assert_eq!(locs[1], "2 5 14, function_name $L__info_string2, inlined_at 1 14 13");
    assert_eq!(locs.len(), 2);
    let name = line_of(&out, "$L__info_string2:");
    assert!(out.lines().nth(name - 1).is_some_and(|line| line.ends_with("// recorded::helper::index")));
}

#[test]
fn three_levels_come_outermost_first() {
    let out = finished(RAW);
    let locs = locs(&out, "norms", "mul.rn.f32 \t%r8");
    let positions: Vec<&str> = locs.iter().map(|loc| loc.split(", function").next().unwrap_or_default()).collect();
    assert_eq!(positions, ["1 31 14", "2 15 14", "2 10 5"]);
    assert!(locs[1].ends_with("inlined_at 1 31 14") && locs[2].ends_with("inlined_at 2 15 14"), "{locs:?}");
}

/// The loop is unrolled four times, so the stretches of both calls of `square` overlap from the second copy on.
#[test]
fn unrolled_calls_of_one_function_are_told_apart_by_the_compilers_comment() {
    let out = finished(RAW);
    for (product, call) in [("%r8,", 15), ("%r9,", 16), ("%r13,", 15), ("%r14,", 16), ("%r18,", 15), ("%r19,", 16)] {
        let locs = locs(&out, "norms", &format!("mul.rn.f32 \t{product}"));
        let innermost = locs.last().expect("there is a .loc");
        assert!(innermost.ends_with(&format!("inlined_at 2 {call} 14")), "{product}: {innermost}");
    }
}

#[test]
fn without_the_comment_lines_are_right_and_so_are_chains_that_do_not_overlap() {
    let bare: String = RAW.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect();
    let out = finished(&bare);
    assert!(locs(&out, "vecadd", "ld.global.b32 \t%r7")[0].starts_with("1 19 30\t"));
    assert_eq!(locs(&out, "norms", "mul.rn.f32 \t%r8"), locs(&finished(RAW), "norms", "mul.rn.f32 \t%r8"));
    for store in ["[%rd14+-8]", "[%rd14+-4]", "[%rd14+4]"] {
        assert_eq!(locs(&out, "norms", &format!("st.global.b32 \t{store}")), ["1 31 9"]);
    }
    for product in ["%r13,", "%r14,", "%r19,"] {
        let locs = locs(&out, "norms", &format!("mul.rn.f32 \t{product}"));
        assert!(locs.last().is_some_and(|loc| loc.starts_with("2 10 5, ")), "{locs:?}");
    }
}

#[test]
fn where_no_file_is_ours_the_innermost_line_stays_and_the_chain_follows() {
    let out = finish(RAW, &FinishOptions { bounds: &[], ours: &|_| false }).expect("finishes");
    let locs = locs(&out, "vecadd", "ld.global.b32 \t%r6");
    let positions: Vec<&str> = locs.iter().map(|loc| loc.split(", function").next().unwrap_or_default()).collect();
    assert_eq!(positions, ["1 18 30", "6 1171 18", "5 1721 9"]);
    assert!(!out.contains("// by "));
}

#[test]
fn a_line_of_zero_stays_unknown() {
    assert_eq!(locs(&finished(RAW), "vecadd", "mul.wide.u32"), ["1 0 8"]);
}

#[test]
fn an_inlined_line_of_zero_gives_way_to_the_call() {
    let out = finished(&RAW.replace(".loc\t2 5 14", ".loc\t2 0 14"));
    assert_eq!(locs(&out, "vecadd", "mad.lo.s32"), ["1 14 13\t// by recorded::helper::index (helper.rs:0)"]);
}

#[test]
fn debug_sections_go_but_for_the_function_names() {
    let out = finished(RAW);
    assert_eq!(out.matches(".section").count(), 1);
    assert!(out.contains(".section\t.debug_str\n") && out.contains(".target sm_80\n"));
    assert!(!out.contains("$L__sec_end") && !out.contains("DW_TAG"));
    assert!(RAW.contains("$L__sec_end0:") && RAW.contains(".target sm_80, debug"));
}

#[test]
fn before_isa_7_2_there_are_lines_but_no_chains() {
    let out = finished(&RAW.replace(".version 7.8", ".version 7.1"));
    assert!(!out.contains("inlined_at") && !out.contains(".section"));
    assert_eq!(locs(&out, "vecadd", "mad.lo.s32"), ["2 5 14"]);
}

#[test]
fn ptx_without_debug_information_passes_unharmed() {
    let nvcc = ".version 9.2\r\n.target sm_80\r\n.entry k()\r\n{\r\n\t.loc\t1 2 3, function_name $L__a, inlined_at 1 9 9\r\n\
        \tret;\r\n}\r\n\t.file\t1 \"k.cu\"\r\n\t.section\t.debug_str\r\n\t{\r\n$L__a:\r\n.b8 97,0\r\n\r\n\t}";
    assert_eq!(finished(nvcc), nvcc);
    assert_eq!(finished(""), "");
}

#[test]
fn finished_ptx_passes_through_a_second_time() {
    let out = finished(RAW);
    assert_eq!(finished(&out), out);
}
