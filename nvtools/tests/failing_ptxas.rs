//! ptxas that hangs, fails or prints garbage, and a cache that is damaged.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{fake_tool, folder};
use warpwise_nvtools::locate::Tool;
use warpwise_nvtools::nvdisasm::{self, ListingOptions, NvdisasmError};
use warpwise_nvtools::process::ProcessError;
use warpwise_nvtools::ptxas::{CompileRequest, Compiler, PtxasError};

/// A ptxas that logs each run beside itself, prints a report on `k` and writes a cubin.
fn good(folder: &Path) -> Tool {
    let log = folder.join("runs");
    fake_tool(
        folder.join("ptxas"),
        &format!("echo run >> '{}'\nprintf '\\177ELF and so on' > kernels.cubin\n{REPORT}", log.display()),
    )
}

const REPORT: &str = "echo \"ptxas info    : Compiling entry function 'k' for 'sm_80'\" >&2\n\
    echo 'ptxas info    : Function properties for k' >&2\n\
    echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' >&2\n\
    echo 'ptxas info    : Used 8 registers, used 0 barriers' >&2";

fn runs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("runs")).map_or(0, |text| text.lines().count())
}

fn request() -> CompileRequest<'static> {
    CompileRequest::new(".entry k() { ret; }", "sm_80")
}

fn error_of(test: &str, body: &str) -> PtxasError {
    let tool = fake_tool(folder(test).join("ptxas"), body);
    Compiler::new(&tool, None).compile(&request()).expect_err("this ptxas does not work")
}

fn cached(cache: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(cache).expect("it is there").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn a_ptxas_that_hangs_is_ended() {
    let tool = fake_tool(folder("hangs").join("ptxas"), "exec /bin/sleep 120");
    let compiler = Compiler::new(&tool, None).with_limit(Duration::from_millis(200));
    let error = compiler.compile(&request()).expect_err("it hangs");
    assert!(matches!(error, PtxasError::Process(ProcessError::TimedOut { .. })), "{error}");
}

#[test]
fn garbage_no_cubin_and_a_cubin_that_is_none_are_told_apart() {
    let garbage = format!("{REPORT}\necho 'ptxas info    : Used many registers' >&2; echo > kernels.cubin");
    let text = error_of("garbage", &garbage).to_string();
    assert!(text.ends_with("cannot read: `ptxas info    : Used many registers` where a number was expected"), "{text}");
    assert!(error_of("no-cubin", REPORT).to_string().ends_with("it wrote no cubin"));
    let text = error_of("no-elf", &format!("{REPORT}\necho text > kernels.cubin")).to_string();
    assert!(text.ends_with("its cubin is no ELF file"), "{text}");
}

#[test]
fn a_report_without_the_entry_asked_for_is_refused() {
    let folder = folder("silent");
    let tool = good(&folder);
    let request = CompileRequest { entry: Some("other"), ..request() };
    let text = Compiler::new(&tool, None).compile(&request).expect_err("it compiles `k`").to_string();
    assert!(text.ends_with("it says nothing of the entry `other`"), "{text}");
}

#[test]
fn a_crash_shows_status_and_last_line_and_a_refusal_the_diagnostics() {
    let crash = error_of("crash", "echo Segmentation >&2; kill -11 $$");
    assert!(matches!(crash, PtxasError::Crashed { .. }), "{crash}");
    assert!(crash.to_string().contains("signal: 11") && crash.to_string().ends_with("Segmentation"), "{crash}");
    let refusal = error_of("refusal", "echo 'ptxas kernels.ptx, line 3; error   : Unknown symbol x' >&2; exit 255");
    assert_eq!(refusal.to_string(), "ptxas refuses the PTX for sm_80: PTX line 3: Unknown symbol x");
}

#[test]
fn what_is_cached_is_not_compiled_again_and_anything_different_is() {
    let folder = folder("cache");
    let (tool, cache) = (good(&folder), folder.join("kept"));
    let compiler = Compiler::new(&tool, Some(&cache));
    let first = compiler.compile(&request()).expect("it compiles");
    assert_eq!(compiler.compile(&request()).expect("it is cached"), first);
    assert_eq!(Compiler::new(&tool, Some(&cache)).compile(&request()).expect("it is cached"), first);
    assert_eq!(runs(&folder), 1);
    let different = [
        CompileRequest { ptx: ".entry k() { ret ; }", ..request() },
        CompileRequest { arch: "sm_90", ..request() },
        CompileRequest { entry: Some("k"), ..request() },
        CompileRequest { max_registers: Some(32), ..request() },
        CompileRequest { line_info: false, ..request() },
    ];
    for (index, request) in different.iter().enumerate() {
        compiler.compile(request).expect("it compiles");
        assert_eq!(runs(&folder), index + 2, "{request:?}");
    }
    let newer = Tool { banner: "another build".to_owned(), ..tool.clone() };
    Compiler::new(&newer, Some(&cache)).compile(&request()).expect("it compiles");
    assert_eq!((runs(&folder), cached(&cache).len()), (7, 7));
}

#[test]
fn a_damaged_cache_file_counts_as_absent_and_is_written_anew() {
    let folder = folder("damage");
    let (tool, cache) = (good(&folder), folder.join("kept"));
    let compiler = Compiler::new(&tool, Some(&cache));
    let whole = compiler.compile(&request()).expect("it compiles");
    let file = cached(&cache).remove(0);
    let bytes = fs::read(&file).expect("it is there");
    let mut damages: Vec<Vec<u8>> = vec![vec![], bytes[..7].to_vec(), bytes[..bytes.len() - 1].to_vec()];
    for at in [0, 7, 8, 20, 24, 40, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x80;
        damages.push(damaged);
    }
    for (index, damaged) in damages.iter().enumerate() {
        fs::write(&file, damaged).expect("it can be written");
        assert_eq!(compiler.compile(&request()).expect("it compiles again"), whole);
        assert_eq!(runs(&folder), index + 2, "damage {index} was noticed");
        assert_eq!(fs::read(&file).expect("it is there"), bytes);
    }
}

#[test]
fn failures_are_not_cached() {
    let folder = folder("failures");
    let cache = folder.join("kept");
    let tool = fake_tool(folder.join("ptxas"), "exit 255");
    assert!(Compiler::new(&tool, Some(&cache)).compile(&request()).is_err());
    let mended = Tool { banner: tool.banner.clone(), ..good(&folder) };
    assert!(Compiler::new(&mended, Some(&cache)).compile(&request()).is_ok());
}

#[test]
fn a_cache_folder_that_cannot_be_written_to_changes_nothing() {
    let folder = folder("readonly");
    fs::write(folder.join("file"), "").expect("it can be written");
    let tool = good(&folder);
    let compiler = Compiler::new(&tool, Some(&folder.join("file/cache")));
    assert!(compiler.compile(&request()).is_ok() && compiler.compile(&request()).is_ok());
    assert_eq!(runs(&folder), 2);
}

#[test]
fn many_threads_that_compile_the_same_at_once_all_get_it() {
    let folder = folder("crowd");
    let (tool, cache) = (good(&folder), folder.join("kept"));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let compiler = Compiler::new(&tool, Some(&cache));
                assert_eq!(compiler.compile(&request()).expect("it compiles").cubin, b"\x7fELF and so on");
            });
        }
    });
    assert_eq!(cached(&cache).len(), 1, "no unfinished file is left");
}

#[test]
fn an_nvdisasm_that_fails_hangs_or_prints_garbage_is_an_error_value() {
    let folder = folder("nvdisasm");
    let fails = fake_tool(folder.join("fails"), "echo 'nvdisasm fatal   : no ELF' >&2; exit 255");
    let error = nvdisasm::listing(&fails, b"cubin", ListingOptions::default()).expect_err("it fails");
    assert_eq!(error.to_string(), "nvdisasm refuses the cubin: nvdisasm fatal   : no ELF");
    let garbage = fake_tool(folder.join("garbage"), "echo what");
    let error = nvdisasm::listing(&garbage, b"cubin", ListingOptions::default()).expect_err("it prints garbage");
    assert!(matches!(error, NvdisasmError::Unreadable { .. }) && error.to_string().ends_with("it has no instructions"));
}
