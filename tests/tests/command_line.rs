//! The command line through the real program: what it prints, what it writes, how it ends.

use std::fs;
use std::path::PathBuf;

use tests::program::{Scratch, good, refused, root, warpwise};

#[test]
fn run_executes_the_code_that_was_asked_for_and_says_which() {
    let ptx = Scratch::new("add-one-isa.ptx", ADD_ONE);
    let json = Scratch::new("add-one-isa.json", "");
    let run = |isa: &str| {
        let shape = ["run", ptx.path(), "--grid", "1", "--block", "32", "--isa", isa, "--json", json.path()];
        let printed = good(&[&shape[..], &["--arg", "p=inout:u32:5:ramp", "--arg", "n=scalar:u32:5"]].concat());
        (printed, json.json())
    };
    for (asked, executed) in [("ptx", "ptx"), ("sass", "sass"), ("auto", "sass")] {
        let (printed, report) = run(asked);
        assert!(printed.contains(&format!("cycles of {}", executed.to_uppercase())), "{printed}");
        assert_eq!(
            (report["isa"].as_str(), &report["outputs"]["p"]),
            (Some(executed), &serde_json::json!([1, 2, 3, 4, 5]))
        );
    }
    let checked = ["run", ptx.path(), "--grid", "1", "--block", "32", "--isa", "sass", "--check", "race"];
    let message = refused(&[&checked[..], &["--arg", "p=inout:u32:5:ramp", "--arg", "n=scalar:u32:5"]].concat());
    assert!(message.contains("--check watches PTX") && message.contains("leave one"), "{message}");
}

#[test]
fn names_that_do_not_exist_are_answered_with_those_that_do() {
    for (words, given, known) in [
        (&["labs", "luanch"][..], "luanch", "launch"),
        (&["explain", "occupncy"], "occupncy", "occupancy"),
        (&["ptx", "vecad"], "vecad", "vecadd"),
        (&["sass", "vecadd", "--arch", "sm_121a7"], "sm_121a7", "sm_"),
        (&["regs", "heavyy"], "heavyy", "heavy"),
        (&["labs", "--device", "RTX 6070"], "RTX 6070", "RTX 5070"),
        (&["labs", "--backend", "vulkan"], "vulkan", "cuda"),
    ] {
        let message = refused(words);
        assert!(message.contains(given) && message.contains(known), "{words:?} was answered with:\n{message}");
    }
}

#[test]
fn a_block_no_device_can_hold_is_refused_with_its_limit() {
    let ptx = root().join("target/warpwise/kernels/kernels.ptx");
    let ptx = std::env::var("WARPWISE_KERNELS").map_or(ptx, |folder| PathBuf::from(folder).join("kernels.ptx"));
    let ptx = ptx.to_str().expect("the path is UTF-8");
    let args =
        ["--arg", "a=in:f32:8:ramp", "--arg", "b=in:f32:8:ramp", "--arg", "c=out:f32:8", "--arg", "n=scalar:u32:8"];
    for (block, limit) in [("0", "at least 1"), ("1025", "1,024"), ("1,1,65", "64"), ("32,32,2", "1,024")] {
        let words = [&["run", ptx, "--entry", "vecadd", "--grid", "1", "--block", block][..], &args].concat();
        let message = refused(&words);
        assert!(message.contains(limit), "a block of {block} was answered with:\n{message}");
    }
    let too_few =
        refused(&["run", ptx, "--entry", "vecadd", "--grid", "1", "--block", "32", "--arg", "n=scalar:u32:8"]);
    assert!(too_few.contains("4") || too_few.contains("param"), "{too_few}");
}

const ADD_ONE: &str = "
.version 7.8
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u32 n)
{
    .reg .pred %p1;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r4, %r3, 1;
    st.global.u32 [%rd3], %r4;
DONE:
    ret;
}
";

#[test]
fn any_ptx_file_runs_and_its_outputs_are_in_the_json() {
    let ptx = Scratch::new("add-one.ptx", ADD_ONE);
    let json = Scratch::new("add-one.json", "");
    let mut words = vec!["run", ptx.path(), "--entry", "add_one", "--grid", "1", "--block", "32"];
    words.extend([
        "--arg",
        "p=inout:u32:5:list:10,20,30,40,4294967295",
        "--arg",
        "n=scalar:u32:5",
        "--json",
        json.path(),
    ]);
    good(&words);
    let report = json.json();
    assert_eq!(report["schema"], "warpwise.run/1");
    assert_eq!(report["outputs"]["p"], serde_json::json!([11, 21, 31, 41, 0]));
    assert_eq!(report["faults"], serde_json::json!([]));
}

#[test]
fn a_kernel_that_faults_ends_with_1_and_the_fault_is_in_the_json() {
    let ptx = Scratch::new("far.ptx", ADD_ONE);
    let json = Scratch::new("far.json", "");
    let mut words = vec!["run", ptx.path(), "--entry", "add_one", "--grid", "1", "--block", "32"];
    words.extend(["--arg", "p=inout:u32:5:ramp", "--arg", "n=scalar:u32:32", "--json", json.path()]);
    let output = warpwise(&words);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let fault = &json.json()["faults"][0];
    assert_eq!(fault["kernel"], "add_one");
    assert_eq!(fault["thread"], serde_json::json!([5, 0, 0]), "{fault}");
    assert!(fault["message"].as_str().is_some_and(|message| message.contains("20-byte")), "{fault}");
}

#[test]
fn ptx_that_is_not_ptx_is_shown_at_its_line() {
    let ptx = Scratch::new("broken.ptx", &ADD_ONE.replace("mul.wide.u32 %rd2, %r2, 4", "mul.wide.u33 %rd2, %r2, 4"));
    let words = ["run", ptx.path(), "--entry", "add_one", "--grid", "1", "--block", "1"];
    let message = refused(&words);
    assert!(message.contains("mul.wide.u33") && message.contains("16"), "{message}");
}

#[test]
fn the_golden_occupancy_table_comes_back_as_it_is() {
    let golden = root().join("simt/tests/data/occupancy_golden.tsv");
    let printed = good(&["occupancy", "--batch", golden.to_str().expect("the path is UTF-8")]);
    let golden = fs::read_to_string(golden).expect("the table is there");
    let differs = golden.lines().zip(printed.lines()).position(|(golden, printed)| golden != printed);
    assert_eq!(differs, None, "line {differs:?} differs");
    assert_eq!(printed.lines().count(), golden.lines().count());
}

#[test]
fn the_sass_of_branch_paths_shows_what_the_chapter_shows() {
    let sass = good(&["sass", "branch_paths", "--arch", "sm_120"]);
    for sign in ["FFMA", "FMUL", "FADD", "BSSY", "BSYNC", "EXIT", "@P0"] {
        assert!(sass.contains(sign), "{sign} is missing:\n{sass}");
    }
}

#[test]
fn register_counts_reach_the_json() {
    let json = Scratch::new("regs.json", "");
    good(&["regs", "vecadd", "heavy", "--arch", "sm_80,sm_120", "--json", json.path()]);
    let report = json.json();
    assert_eq!(report["schema"], "warpwise.regs/1");
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "two kernels on two architectures");
    for row in rows {
        let registers = row["registers"].as_u64().or_else(|| row["registers"]["value"].as_u64());
        assert!(registers.is_some_and(|registers| (4..=255).contains(&registers)), "{row}");
    }
}

#[test]
fn a_lab_report_counts_its_verdicts_and_names_how_each_number_was_got() {
    let (json, html) = (Scratch::new("labs.json", ""), Scratch::new("labs.html", ""));
    let printed = good(&["labs", "guard", "--json", json.path(), "--html", html.path()]);
    assert!(printed.contains("claims hold"), "{printed}");
    let report = json.json();
    assert_eq!(report["schema"], "warpwise.labs/1");
    let claims = report["labs"][0]["claims"].as_array().expect("claims");
    let count = |verdict: &str| claims.iter().filter(|claim| claim["verdict"] == verdict).count();
    assert_eq!(report["summary"]["holds"], count("holds"));
    assert_eq!(report["summary"]["fails"], 0);
    assert_eq!(report["summary"]["not_run"], count("not-run"));
    for kernel in report["labs"][0]["kernels"].as_array().expect("kernels") {
        for time in kernel["times"].as_array().expect("times") {
            assert_eq!(time["source"], "modelled", "there is no GPU in this run: {time}");
        }
    }
    let page = fs::read_to_string(&html.0).expect("the page was written");
    assert!(page.contains("<svg") || page.contains("<table"), "the page shows something");
    assert!(!page.contains("http://") || page.contains("www.w3.org"), "the page is self-contained");
}

#[test]
fn every_lab_and_kernel_that_list_shows_can_be_explained_or_read() {
    let listed = good(&["list"]);
    for lab in ["launch", "ids", "blocks2d", "sass", "divergence", "guard", "predication", "its", "occupancy", "life"] {
        assert!(listed.contains(lab), "{lab} is not listed:\n{listed}");
        assert!(good(&["explain", lab]).lines().count() > 10, "{lab} has hardly a text");
    }
    assert!(good(&["ptx", "vecadd"]).contains("add.rn.f32") || good(&["ptx", "vecadd"]).contains("add.f32"));
}
