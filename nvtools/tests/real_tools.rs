//! The real ptxas and nvdisasm on PTX of our own. These tests need the tools: without them they fail, not pass.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{KERNELS, SPILLS, folder, real_tools};
use warpwise_nvtools::nvdisasm::{self, ListingOptions, RegisterFile};
use warpwise_nvtools::ptxas::{CompileRequest, Compiled, Compiler, PtxasError};

fn compile(request: &CompileRequest) -> Compiled {
    Compiler::new(real_tools().ptxas(), None).compile(request).unwrap_or_else(|error| panic!("{request:?}: {error}"))
}

#[test]
fn all_three_tools_are_of_one_version() {
    let tools = real_tools();
    let version = &tools.ptxas().version;
    assert_eq!(version, &tools.nvdisasm().expect("there is one").version);
    assert_eq!(version, &tools.cuobjdump().expect("there is one").version);
    assert!(version.split('.').count() == 3 && version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version}");
}

#[test]
fn vecadd_takes_twelve_registers_on_three_architectures() {
    // Another ptxas may allocate otherwise; but 4 values of 64 bits and 2 of 32 need 10, and 24 is all it may waste.
    let exact = real_tools().is_pinned_version();
    let registers = if exact { 12..=12 } else { 10..=24 };
    for arch in ["sm_80", "sm_90", "sm_120"] {
        let compiled = compile(&CompileRequest::new(KERNELS, arch));
        let resources = compiled.resources("vecadd").expect("it is in the PTX");
        assert!(registers.contains(&resources.registers), "{arch}: {resources:?}");
        assert_eq!((resources.spill_store_bytes, resources.shared_bytes), (0, 0), "{arch}");
        assert_eq!(compiled.report.entries.len(), 3);
        assert_eq!(compiled.resources("calls").map(|resources| resources.barriers), Some(1));
        assert!(compiled.resources("vecad").is_none());
    }
}

#[test]
fn source_lines_and_chains_change_no_register() {
    let bare: String = KERNELS.lines().filter(|line| !line.contains(".loc")).map(|line| format!("{line}\n")).collect();
    for arch in ["sm_80", "sm_90", "sm_120"] {
        let with = compile(&CompileRequest::new(KERNELS, arch));
        let without = compile(&CompileRequest { line_info: false, ..CompileRequest::new(&bare, arch) });
        assert_eq!(with.report.entries, without.report.entries);
    }
}

#[test]
fn a_cap_spills_and_the_listing_shows_local_loads_and_stores() {
    let compiled = compile(&CompileRequest::new(SPILLS, "sm_120"));
    let resources = compiled.resources("spills").expect("it is in the PTX");
    assert_eq!((resources.registers, resources.shared_bytes), (24, 4224));
    assert!(resources.spill_store_bytes > 0 && resources.stack_bytes >= resources.spill_store_bytes);
    let tools = real_tools();
    let listing =
        nvdisasm::listing(tools.nvdisasm().expect("there is one"), &compiled.cubin, ListingOptions::default());
    let listing = listing.expect("it can be listed");
    let code = &listing.function("spills").expect("it is there").instructions;
    for opcode in ["STL", "LDL", "LDS", "STS", "BAR"] {
        assert!(code.iter().any(|instruction| instruction.base_opcode() == opcode), "{opcode}");
    }
}

#[test]
fn every_instruction_of_vecadd_has_a_line_and_live_registers_within_its_count() {
    let compiled = compile(&CompileRequest { entry: Some("vecadd"), ..CompileRequest::new(KERNELS, "sm_120") });
    let tools = real_tools();
    let options = ListingOptions { live: true };
    let listing = nvdisasm::listing(tools.nvdisasm().expect("there is one"), &compiled.cubin, options).expect("listed");
    assert_eq!(listing.functions.len(), 1);
    let code = &listing.function("vecadd").expect("it is there").instructions;
    assert!(code.iter().all(|instruction| !instruction.source.is_empty()));
    assert!(code.iter().all(|instruction| instruction.source.iter().all(|line| line.file.contains("recorded/"))));
    let live: Vec<usize> = code.iter().filter_map(|i| Some(i.live.as_ref()?.count(RegisterFile::General))).collect();
    let most = live.iter().copied().max().unwrap_or_default();
    let registers = compiled.resources("vecadd").expect("it is there").registers as usize;
    assert!(live.len() >= 15 && most > 4 && most <= registers, "{live:?} of {registers}");
    let sum = code.iter().find(|instruction| instruction.opcode == "FADD").expect("it adds");
    assert_eq!(sum.source.iter().map(|line| line.line).collect::<Vec<_>>(), [20]);
    assert!(sum.control().wait_mask != 0 && sum.control().stall_cycles > 0);
}

#[test]
fn an_unknown_architecture_names_the_known_ones_and_an_unknown_entry_itself() {
    let tools = real_tools();
    let compiler = Compiler::new(tools.ptxas(), None);
    for arch in ["sm_13", "compute_80", "", "RTX 5070"] {
        match compiler.compile(&CompileRequest::new(KERNELS, arch)) {
            Err(PtxasError::UnknownArchitecture { known, .. }) => {
                assert!(known.contains(&"sm_80".to_owned()) && known.contains(&"sm_120".to_owned()), "{known:?}");
            }
            other => panic!("`{arch}`: {other:?}"),
        }
    }
    let request = CompileRequest { entry: Some("vecad"), ..CompileRequest::new(KERNELS, "sm_80") };
    let error = compiler.compile(&request).expect_err("there is none");
    assert_eq!(error.to_string(), "the PTX has no entry `vecad`");
}

#[test]
fn broken_ptx_is_refused_with_its_line() {
    let broken = KERNELS.replacen("add.rn.f32", "foo.rn.f32", 1);
    let line = 1 + KERNELS.lines().position(|line| line.contains("add.rn.f32")).expect("it adds");
    let tools = real_tools();
    let error = Compiler::new(tools.ptxas(), None).compile(&CompileRequest::new(&broken, "sm_80"));
    let text = error.expect_err("foo is no instruction").to_string();
    assert!(text.starts_with(&format!("ptxas refuses the PTX for sm_80: PTX line {line}: ")), "{text}");
    let error = Compiler::new(tools.ptxas(), None).compile(&CompileRequest::new("", "sm_80"));
    assert!(matches!(error, Err(PtxasError::Refused { .. })), "{error:?}");
}

#[test]
fn a_cap_below_the_minimum_comes_with_a_warning() {
    let compiled = compile(&CompileRequest { max_registers: Some(16), ..CompileRequest::new(KERNELS, "sm_120") });
    assert_eq!(compiled.report.warnings.len(), 1);
    assert!(compiled.report.warnings[0].text.contains("of 16 to lower bound of 24"), "{:?}", compiled.report.warnings);
}

#[test]
fn many_at_once_come_back_in_order_and_from_the_cache_the_second_time() {
    let cache = folder("real-cache");
    let tools = real_tools();
    let compiler = Compiler::new(tools.ptxas(), Some(&cache));
    let mut requests = Vec::new();
    for arch in ["sm_80", "sm_120", "sm_13"] {
        for entry in ["vecadd", "norms", "calls"] {
            requests.push(CompileRequest { entry: Some(entry), ..CompileRequest::new(KERNELS, arch) });
        }
    }
    let done = AtomicUsize::new(0);
    let count = |_| {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let first = compiler.compile_all(&requests, &count);
    assert_eq!(done.load(Ordering::Relaxed), 9);
    for (request, result) in requests.iter().zip(&first) {
        match result {
            Ok(compiled) => {
                let entry = &compiled.report.entries[0];
                assert_eq!((Some(entry.entry.as_str()), entry.arch.as_str()), (request.entry, request.arch));
            }
            Err(error) => assert!(matches!(error, PtxasError::UnknownArchitecture { .. }) && request.arch == "sm_13"),
        }
    }
    assert_eq!(first.iter().filter(|result| result.is_ok()).count(), 6);
    let second = compiler.compile_all(&requests[..6], &|_| {});
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.as_ref().ok(), second.as_ref().ok());
    }
    assert!(compiler.compile_all(&[], &|_| {}).is_empty());
}

#[test]
fn bytes_that_are_no_cubin_are_refused() {
    let tools = real_tools();
    let nvdisasm = tools.nvdisasm().expect("there is one");
    for bytes in [&b""[..], b"no ELF", b"\x7fELF"] {
        assert!(nvdisasm::listing(nvdisasm, bytes, ListingOptions::default()).is_err());
    }
}

#[test]
fn ptx_newer_than_ptxas_is_compiled_as_the_newest_that_it_knows_with_a_warning() {
    let newer = KERNELS.replacen(".version 7.8", ".version 99.9", 1);
    assert_ne!(newer, KERNELS);
    let compiled = compile(&CompileRequest::new(&newer, "sm_90"));
    assert_eq!(compiled.report.entries, compile(&CompileRequest::new(KERNELS, "sm_90")).report.entries);
    let text = &compiled.report.warnings[0].text;
    assert!(text.starts_with("PTX 99.9 is newer than this ptxas: compiled as "), "{text}");
    // What came with the newer version is still refused, at its line.
    let broken = newer.replacen("add.rn.f32", "foo.rn.f32", 1);
    let error = Compiler::new(real_tools().ptxas(), None).compile(&CompileRequest::new(&broken, "sm_90"));
    assert!(error.is_err_and(|error| error.to_string().contains("foo") || error.to_string().contains("Parsing")));
}

#[test]
fn ptx_for_one_chip_alone_is_compiled_for_it_and_for_no_other() {
    let of_hopper = KERNELS.replacen(".version 7.8", ".version 8.0", 1).replacen(".target sm_80", ".target sm_90a", 1);
    let compiled = compile(&CompileRequest::new(&of_hopper, "sm_90"));
    assert_eq!(compiled.report.entries.len(), 3);
    let error = Compiler::new(real_tools().ptxas(), None).compile(&CompileRequest::new(&of_hopper, "sm_120"));
    assert!(error.is_err_and(|error| error.to_string().contains("'sm_90a' cannot be compiled")));
}
