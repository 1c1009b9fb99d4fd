//! `step`, `trace`, `diagnose` and `--check` through the real program, over a kernel of ours and a file of PTX.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Exit code, standard output, standard error of the program that `cargo xtask` builds.
fn warpwise(words: &[&str]) -> (i32, String, String) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned();
    let program =
        std::env::var_os("WARPWISE_PROGRAM").map_or_else(|| root.join("target/release/warpwise"), PathBuf::from);
    let output = Command::new(&program).args(words).current_dir(root).env_remove("RUST_BACKTRACE").output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn good(words: &[&str]) -> String {
    let (code, out, err) = warpwise(words);
    assert_eq!(code, 0, "{words:?}\n{out}{err}");
    out
}

/// A file in the temporary folder, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpwise-walking-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("the temporary folder can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the temporary folder has a name in UTF-8")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Odd lanes double, even ones add; then a neighbour is read from shared memory with or without a barrier.
fn ptx(between: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b32 s[64];\n\
         .visible .entry k(.param .u64 out) {{\n.reg .pred %p1; .reg .b32 %r<9>; .reg .b64 %d<4>;\n\
         mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra ODD;\n\
         add.u32 %r3, %r1, 100;\nbra JOIN;\nODD:\nshl.b32 %r3, %r1, 1;\nJOIN:\n\
         shl.b32 %r4, %r1, 2;\nmov.u32 %r5, s;\nadd.u32 %r5, %r5, %r4;\nst.shared.u32 [%r5], %r3;\n{between}\n\
         xor.b32 %r6, %r4, 128;\nmov.u32 %r7, s;\nadd.u32 %r6, %r6, %r7;\nld.shared.u32 %r8, [%r6];\n\
         ld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r8;\nret;\n}}\n"
    )
}

const SHAPE: [&str; 6] = ["--grid", "1", "--block", "64", "--arg", "out=out:u32:64"];

#[test]
fn a_step_shows_source_instruction_lanes_registers_and_who_stands_elsewhere() {
    let file = Scratch::new("step.ptx", &ptx("bar.sync 0;"));
    let out = good(&[&["step", file.path()][..], &SHAPE].concat());
    assert!(
        out.contains("@%p1 bra ODD;") && out.contains("lanes ffffffff (32 active, guard true in aaaaaaaa: 16)"),
        "{out}"
    );
    assert!(out.contains("%r3 = 100, 102, 104, 106, 108 … 130"), "{out}");
    assert!(out.contains("| aaaaaaaa goes on at `shl.b32 %r3, %r1, 1;`"), "{out}");
    let few = good(&[&["step", file.path(), "--from", "1", "--steps", "2", "--warp", "1"][..], &SHAPE].concat());
    assert!(
        !few.contains("%tid.x") && few.contains("and.b32") && few.contains("setp") && !few.contains("bra ODD"),
        "{few}"
    );
    let ours = good(&["step", "vecadd", "--steps", "200"]);
    assert!(
        ours.contains("vecadd.rs:") && ours.contains("ld.global") && ours.contains(" = 0, 2, 4, 6, 8 … 62"),
        "{ours}"
    );
    let (code, _, err) = warpwise(&[&["step", file.path(), "--warp", "2"][..], &SHAPE].concat());
    assert!(code == 2 && err.contains("1 blocks of 2 warps"), "{err}");
}

#[test]
fn a_trace_has_cycles_and_waits_and_its_file_has_tracks_of_sms_blocks_and_warps() {
    let file = Scratch::new("trace.json", "");
    let out = good(&["trace", "vecadd", "--grid", "100", "--perfetto", file.path()]);
    assert!(out.contains("long_scoreboard") && out.contains("vecadd.rs:") && out.contains("modelled for"), "{out}");
    let text = fs::read_to_string(&file.0).expect("it was written");
    let trace: Value = serde_json::from_str(&text).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let with = |key: &str, value: &str| events.iter().filter(|event| event[key] == value).count();
    assert_eq!(with("cat", "block"), 100);
    assert_eq!(with("name", "process_name"), 48, "an SM of the RTX 5070 each");
    assert_eq!(with("name", "thread_name"), 800 + 100, "a track for each of 800 warps, and for each place of a block");
    assert!(with("cat", "stall") > 800 && with("cat", "instruction") > 8_000);
    for event in events.iter().filter(|event| event["ph"] == "X") {
        assert!(event["ts"].is_u64() && event["dur"].is_u64() && event["pid"].is_u64(), "{event}");
    }
}

#[test]
fn a_diagnosis_answers_nine_questions_and_names_one_thing_to_try() {
    let json = Scratch::new("diagnose.json", "");
    let out = good(&["diagnose", "vecadd", "--grid", "2", "--json", json.path()]);
    for part in ["1. how is work mapped to blocks?", "6. where is it under the roofline?", "how many bytes must move?"]
    {
        assert!(out.contains(part), "{part} is missing:\n{out}");
    }
    assert!(
        out.contains("what stands out: too few blocks (2 blocks for 48 SMs)") && out.contains("try next: "),
        "{out}"
    );
    let document: Value = serde_json::from_str(&fs::read_to_string(&json.0).expect("written")).expect("JSON");
    assert_eq!(document["schema"], "warpwise.diagnose/1");
    assert_eq!(
        (document["steps"].as_array().map(Vec::len), document["checklist"].as_array().map(Vec::len)),
        (Some(6), Some(3))
    );
    let file = Scratch::new("diagnose.ptx", &ptx("bar.sync 0;"));
    let any = good(&[&["diagnose", file.path()][..], &SHAPE].concat());
    assert!(any.contains("try next: "), "{any}");
}

#[test]
fn check_finds_the_missing_barrier_in_run_and_says_nothing_with_it() {
    let run = |text: &str, check: &str| {
        let file = Scratch::new("check.ptx", text);
        warpwise(&[&["run", file.path(), "--check", check][..], &SHAPE].concat())
    };
    let (code, out, err) = run(&ptx("bar.sync 0;"), "all");
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = run(&ptx(""), "race");
    assert!(code == 1 && out.contains("fault: kernel k: race: ") && out.contains("the other: "), "{out}{err}");
    let (code, ..) = run(&ptx(""), "mem");
    assert_eq!(code, 0, "the check was not asked for");
    let (code, _, err) = run(&ptx(""), "rcae");
    assert!(code == 2 && err.contains("there is mem, race, init, sync, all"), "{err}");
}
