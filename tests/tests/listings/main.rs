//! What `ptx`, `sass` and `explain-sass` print, through the real program: for kernels of ours and for files of others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::sass;
use warpwise::listing::sass::listing;
use warpwise::sass_words;
use warpwise::toolbox::{Target, Toolbox};

const CPLUSPLUS: &str = include_str!("../cplusplus/kernels.ptx");
const TRITON: &str = include_str!("triton.ptx");

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

/// The program that `cargo xtask` builds and users start.
fn warpwise(words: &[&str]) -> Output {
    let program =
        std::env::var_os("WARPWISE_PROGRAM").map_or_else(|| root().join("target/release/warpwise"), PathBuf::from);
    let output = Command::new(&program).args(words).current_dir(root()).env_remove("RUST_BACKTRACE").output();
    output.unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask test` builds it", program.display()))
}

/// What the program printed for words that must work: plain text of at most 100 columns.
fn good(words: &[&str]) -> String {
    let output = warpwise(words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{words:?}\n{text}{errors}");
    assert!(!text.contains('\x1b'), "{words:?}: colour goes to a pipe\n{text}");
    let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
    assert!(widest.chars().count() <= 100, "{words:?}: {} columns\n{widest}", widest.chars().count());
    text
}

fn refused(words: &[&str]) -> String {
    let output = warpwise(words);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}\n{message}");
    message
}

/// A folder of this test's own, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpwise-listings-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary folder can be written");
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("the folder can be written");
        path.to_str().expect("the temporary folder has a name in UTF-8").to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tools() -> Toolbox {
    Toolbox::open(Some(&root().join("target")), &|line| eprintln!("{line}"))
}

fn cubin(ptx: &str, arch: &str) -> Vec<u8> {
    let compiled = tools().compile(ptx, &Target::arch(arch));
    compiled.unwrap_or_else(|error| panic!("{arch}: {error}")).cubin.clone()
}

#[test]
fn sass_shows_live_registers_at_each_instruction_and_explains_the_peak() {
    let text = good(&["sass", "vecadd", "--live", "--arch", "sm_120"]);
    assert!(text.starts_with("vecadd for sm_120: ") && text.contains("registers alive"), "{text}");
    let most: u32 =
        text.split("at most ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a number");
    let marked: Vec<&str> = text.lines().filter(|line| line.contains('▶')).collect();
    assert_eq!(marked.len(), 1, "{text}");
    assert_eq!(marked[0].split_whitespace().next(), Some(most.to_string().as_str()), "{text}");
    let (_, peak) = text.split_once("most are alive at ").expect("the peak is explained");
    let of_stack = peak.lines().find(|line| line.trim_start().starts_with("R1 "));
    assert!(of_stack.is_some_and(|line| line.contains("the stack's top")), "{peak}");
    assert!(peak.contains("LDC.64, vecadd.rs:") && peak.contains("IMAD.WIDE.U32, vecadd.rs:"), "{peak}");
}

#[test]
fn what_nvdisasm_forgets_is_said_behind_the_peak() {
    let text = good(&["sass", "ragged_split", "--live", "--arch", "sm_120"]);
    assert!(text.contains("instructions lanes whose guard is false keep more than nvdisasm counts"), "{text}");
}

#[test]
fn sass_shows_control_from_the_encoding_and_the_calls_that_were_inlined() {
    let text = good(&["sass", "heavy", "--control", "--chain", "--arch", "sm_120"]);
    assert!(text.contains("wait   :rd:wr:y:stl:reuse"), "{text}");
    let load = text.lines().find(|line| line.contains("LDG.E ")).expect("it loads");
    assert!(load.trim_start().starts_with('B') && load.contains(":W"), "{load}");
    let reused = text.lines().filter(|line| line.contains(".reuse")).collect::<Vec<_>>();
    assert!(!reused.is_empty());
    for line in reused {
        let slots = line.split_whitespace().next().and_then(|control| control.rsplit(':').next());
        assert!(slots.is_some_and(|slots| slots != "----"), "{line}");
    }
    assert!(text.contains("called from occupancy.rs:"), "{text}");
}

#[test]
fn several_architectures_stand_one_after_the_other_or_folded_side_by_side() {
    let text = good(&["sass", "heavy", "--arch", "sm_80,sm_120"]);
    assert!(text.contains("heavy for sm_80: ") && text.contains("\nheavy for sm_120: "), "{text}");
    let folded = good(&["sass", "heavy", "--arch", "sm_80,sm_120", "--fold", "--live"]);
    let heading = folded.lines().find(|line| line.starts_with("line")).expect("a heading");
    let words: Vec<&str> = heading.split_whitespace().collect();
    assert_eq!(words, ["line", "sm_80", "alive", "sm_120", "alive", "source"]);
    assert_eq!(folded.matches('▶').count(), 2, "{folded}");
    let instructions = |column: usize| {
        let rows = folded.lines().skip_while(|line| !line.starts_with("line")).skip(1);
        rows.filter_map(|line| line.get(24..)?.split_whitespace().nth(column)?.parse::<u32>().ok()).sum::<u32>()
    };
    for (column, arch) in [(0, "sm_80"), (2, "sm_120")] {
        let title = folded.lines().find(|line| line.starts_with(&format!("heavy for {arch}"))).expect("a title");
        assert!(title.contains(&format!(" {} instructions", instructions(column))), "{title}\n{folded}");
    }
}

#[test]
fn lines_choose_what_comes_from_them_or_is_called_from_there() {
    let whole = good(&["sass", "heavy", "--arch", "sm_120"]);
    let count = |text: &str| text.lines().filter(|line| line.starts_with(" 0")).count();
    let source = include_str!("../../../kernels-gpu/src/occupancy.rs");
    let line_of = |text: &str| 1 + source.lines().position(|line| line.contains(text)).expect("a line of the kernel");
    let (load, store) = (line_of("let load = "), line_of("*y.add(i as usize) = sum"));
    let part = good(&["sass", "heavy", "--arch", "sm_120", "--lines", &format!("{load}..{}", load + 1)]);
    assert!(count(&part) > 3 && count(&part) < count(&whole), "{part}");
    let has = |text: &str, line: usize| text.contains(&format!("occupancy.rs:{line} "));
    assert!(has(&whole, load) && has(&whole, store) && has(&part, load) && !has(&part, store), "{part}");
    assert!(refused(&["sass", "heavy", "--lines", "9..3"]).contains("9..3 is empty"));
}

#[test]
fn ptx_shows_live_virtual_registers_and_what_the_library_adds() {
    let text = good(&["ptx", "vecadd", "--live", "--chain"]);
    assert!(text.contains("virtual registers alive") && text.contains("through cuda_std::thread::index_1d"), "{text}");
    assert_eq!(text.matches('▶').count(), 1, "{text}");
    assert!(text.contains("the least that a compiler must keep"), "{text}");
}

#[test]
fn a_cubin_from_cplusplus_goes_through_sass() {
    let scratch = Scratch::new("cubin");
    let file = scratch.file("kernels.cubin", &cubin(CPLUSPLUS, "sm_90"));
    let text = good(&["sass", &file, "--entry", "argmax", "--live", "--control"]);
    assert!(text.starts_with("argmax for sm_90: ") && text.contains("it has no source lines"), "{text}");
    assert!(text.contains("EXIT") && text.contains("most are alive: "), "{text}");
    let message = refused(&["sass", &file]);
    assert!(message.contains("13 kernels") && message.contains("--entry"), "{message}");
    assert!(refused(&["sass", &file, "--entry", "argmin"]).contains("did you mean `argmax`"));
    assert!(refused(&["sass", &file, "--entry", "argmax", "--arch", "sm_80"]).contains("has code for sm_90"));
    assert!(refused(&["ptx", &file, "--entry", "argmax"]).contains("no PTX"));
}

#[test]
fn a_fatbin_shows_each_architecture_in_it() {
    let scratch = Scratch::new("fatbin");
    let tools = tools();
    let ptxas = tools.tools().unwrap_or_else(|error| panic!("{error}")).ptxas().path.clone();
    let mut command = Command::new(ptxas.with_file_name("fatbinary"));
    command.args(["--64", "--create=both.fatbin"]).current_dir(&scratch.0);
    for arch in ["80", "120"] {
        let name = format!("{arch}.cubin");
        scratch.file(&name, &cubin(CPLUSPLUS, &format!("sm_{arch}")));
        command.arg(format!("--image3=kind=elf,sm={arch},file={name}"));
    }
    let made = command.status().unwrap_or_else(|error| panic!("fatbinary beside ptxas: {error}"));
    assert!(made.success());
    let file = scratch.0.join("both.fatbin");
    let file = file.to_str().expect("the temporary folder has a name in UTF-8");
    let text = good(&["sass", file, "--entry", "tiles"]);
    assert!(text.contains("tiles for sm_80: ") && text.contains("\ntiles for sm_120: "), "{text}");
    let one = good(&["sass", file, "--entry", "tiles", "--arch", "sm_120"]);
    assert!(one.starts_with("tiles for sm_120: "), "{one}");
}

#[test]
fn ptx_in_tritons_manner_goes_through_ptx_and_sass() {
    let scratch = Scratch::new("triton");
    let file = scratch.file("add.ptx", TRITON.as_bytes());
    scratch.file("add.py", "import triton\n".repeat(30).as_bytes());
    for arch in ["sm_80", "sm_90", "sm_120"] {
        let text = good(&["sass", &file, "--entry", "add_kernel", "--live", "--arch", arch]);
        assert!(text.starts_with(&format!("add_kernel for {arch}: ")) && text.contains("add.py:10"), "{text}");
        assert!(text.contains("LDG.E.128") && text.contains("most are alive at add.py:"), "{text}");
    }
    let ptx = good(&["ptx", &file, "--entry", "add_kernel", "--live"]);
    assert!(ptx.contains("add.py:12") && ptx.contains("ld.global.v4.b32"), "{ptx}");
    // What the machine does not execute is shown all the same.
    let dot = good(&["sass", &file, "--entry", "dot_kernel", "--live", "--arch", "sm_80"]);
    assert!(dot.contains("HMMA.16816.F32") && dot.contains("LDSM"), "{dot}");
    assert!(good(&["ptx", &file, "--entry", "dot_kernel", "--live"]).contains("mma.sync.aligned"));
    let regs = good(&["regs", &file, "--arch", "sm_80,sm_120"]);
    assert!(regs.matches("add_kernel ").count() == 2 && regs.matches("dot_kernel ").count() == 2, "{regs}");
}

#[test]
fn a_file_that_is_no_code_is_refused_with_its_name() {
    let scratch = Scratch::new("none");
    let file = scratch.file("empty.ptx", b"// nothing\n");
    assert!(refused(&["ptx", &file]).contains("has no kernels"));
    let file = scratch.file("broken.cubin", b"\x7fELF and no more");
    assert!(refused(&["sass", &file]).contains("broken.cubin"));
    assert!(refused(&["sass", "no-such.cubin"]).contains("cannot read `no-such.cubin`"));
}

#[test]
fn explain_sass_has_words_for_opcodes_and_says_what_is_near_to_unknown_ones() {
    let text = good(&["explain-sass", "ldg.e.128"]);
    assert!(text.contains("LDG") && text.contains("16 bytes a") && text.contains(".E"), "{text}");
    assert!(good(&["explain-sass"]).lines().count() > 100);
    let message = refused(&["explain-sass", "FFMB"]);
    assert!(message.contains("no SASS opcode `FFMB`") && message.contains("FFMA"), "{message}");
}

/// Memory accesses and arithmetic; not the moves, jumps and special registers that come with any code.
const GROUPS: [&str; 10] =
    ["atomic", "convert", "double", "float", "half", "integer", "logic", "memory", "tensor", "uniform"];

#[test]
fn most_memory_and_arithmetic_instructions_carry_a_line_of_ours() {
    for arch in ["sm_80", "sm_90", "sm_120"] {
        let sass = sass(arch);
        let (mut with, mut made, mut of_library) = (0, 0, 0);
        for name in sass.names() {
            let function = sass.function(name).expect("it is in the listing");
            let lines = listing(&sass, name, false).expect("it is in the listing").lines;
            let instructions = lines.iter().filter(|line| line.is_instruction).zip(&function.instructions);
            for (line, instruction) in instructions {
                let explained = sass_words::explain(instruction.base_opcode()).expect("every opcode has words");
                if !GROUPS.contains(&explained.opcode.group.as_str()) {
                    continue;
                }
                match &line.source {
                    Some(place) if place.is_own() && is_ours(&place.file) => with += 1,
                    Some(_) => of_library += 1,
                    None => made += 1,
                }
            }
        }
        let all = with + made + of_library;
        let share = 100.0 * f64::from(with) / f64::from(all);
        println!(
            "{arch}: {with} of {all} carry a line of ours ({share:.2}%), {made} are the compiler's, {of_library} the library's"
        );
        assert!(all > 5000 && share >= 95.0, "{arch}: {share:.2}% of {all}");
    }
}

/// Whether the file is there, among our kernels.
fn is_ours(file: &str) -> bool {
    file.contains("kernels-gpu/src") && Path::new(&root()).join(file).is_file()
}
