//! Our liveness of SASS is nvdisasm's: every register of every file, what is done to it, at every address.

use tests::{listing_with, sass};
use warpwise::kernels::Sass;
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::{self, Listing, ListingOptions};
use warpwise_simt::sass::live::{File, Live, Register, Rule, Use};

/// The three that the machine is held to, and those between.
const ARCHITECTURES: [&str; 6] = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// The same as nvdisasm has it. Convergence barriers are no registers of a thread.
fn theirs(live: &nvdisasm::Live) -> Live {
    let file = |file| match file {
        nvdisasm::RegisterFile::General => Some(File::General),
        nvdisasm::RegisterFile::Uniform => Some(File::Uniform),
        nvdisasm::RegisterFile::Predicate => Some(File::Predicate),
        nvdisasm::RegisterFile::UniformPredicate => Some(File::UniformPredicate),
        nvdisasm::RegisterFile::Barrier => None,
    };
    let usage = |usage| match usage {
        nvdisasm::Use::Written => Use::Written,
        nvdisasm::Use::Read => Use::Read,
        nvdisasm::Use::ReadAndWritten => Use::ReadAndWritten,
        nvdisasm::Use::Held => Use::Held,
    };
    let one = |(register, used): &(nvdisasm::Register, nvdisasm::Use)| {
        Some((Register { file: file(register.file)?, index: register.index }, usage(*used)))
    };
    let mut registers: Vec<(Register, Use)> = live.registers.iter().filter_map(one).collect();
    registers.sort_unstable_by_key(|(register, _)| *register);
    Live { registers }
}

/// How many instructions agree, and the first few that do not, in words.
fn compare(listing: &Listing, sass: &Sass, rule: Rule) -> (usize, Vec<String>) {
    let (mut agree, mut differ) = (0, Vec::new());
    for function in &listing.functions {
        let ours = sass.live(&function.name, rule).expect("it is in the listing");
        for (instruction, ours) in function.instructions.iter().zip(ours) {
            let Some(live) = &instruction.live else { continue };
            let theirs = theirs(live);
            if theirs == ours {
                agree += 1;
                continue;
            }
            let only = |these: &Live, those: &Live| {
                let only = these.registers.iter().filter(|one| !those.registers.contains(one));
                only.map(|(register, usage)| format!("{register} {usage:?}")).collect::<Vec<_>>().join(", ")
            };
            differ.push(format!(
                "{} {:04x} {} {}: nvdisasm alone has {}; we alone {}",
                function.name,
                instruction.address,
                instruction.opcode,
                instruction.operands,
                only(&theirs, &ours),
                only(&ours, &theirs),
            ));
        }
    }
    (agree, differ)
}

fn check(arch: &str, listing: &Listing, sass: &Sass, at_least: usize) {
    let (agree, differ) = compare(listing, sass, Rule::Nvdisasm);
    println!("{arch}: at {agree} of {} instructions we agree with nvdisasm", agree + differ.len());
    assert!(differ.is_empty(), "{arch}: {} differ\n{}", differ.len(), differ[..differ.len().min(10)].join("\n"));
    assert!(agree >= at_least, "{arch}: only {agree} instructions were compared");
}

#[test]
fn live_registers_of_all_kernels_are_nvdisasms_at_every_address() {
    for arch in ARCHITECTURES {
        let listing = listing_with(arch, ListingOptions { live: true });
        check(arch, &listing, &sass(arch), 15_000);
    }
}

/// With calls, matrix operations and asynchronous copies, which no kernel of ours has.
const OTHERS: [(&str, &str, usize); 2] = [
    ("C++", include_str!("cplusplus/kernels.ptx"), 3000),
    ("Triton's manner", include_str!("listings/triton.ptx"), 40),
];

#[test]
fn live_registers_of_other_peoples_kernels_are_nvdisasms_too() {
    for (whose, ptx, at_least) in OTHERS {
        // A toolbox keeps what it made of one text.
        let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
        for arch in ARCHITECTURES {
            let compiled = tools.compile(ptx, &Target::arch(arch)).unwrap_or_else(|error| panic!("{arch}: {error}"));
            let listing = tools.disassemble(&compiled.cubin, ListingOptions { live: true });
            let listing = listing.unwrap_or_else(|error| panic!("{arch}: {error}"));
            let sass = Sass::new(&compiled.cubin, listing.clone()).unwrap_or_else(|error| panic!("{arch}: {error}"));
            check(&format!("{whose}, {arch}"), &listing, &sass, at_least);
        }
    }
}

#[test]
fn the_exact_rule_adds_what_nvdisasm_forgets_and_takes_nothing_away() {
    let listing = listing_with("sm_120", ListingOptions { live: true });
    let sass = sass("sm_120");
    // The same comparison, so it is seen to find differences.
    let (_, differ) = compare(&listing, &sass, Rule::Exact);
    println!("the exact rule has more at {} instructions", differ.len());
    assert!(!differ.is_empty(), "no guarded write keeps anything in any kernel");
    let mut names = Vec::new();
    for function in &listing.functions {
        let rules = [Rule::Nvdisasm, Rule::Exact].map(|rule| sass.live(&function.name, rule).expect("it is listed"));
        let [theirs, exact] = rules;
        for (theirs, exact) in theirs.iter().zip(&exact) {
            let has = |register: &Register| exact.registers.iter().any(|(other, _)| other == register);
            assert!(theirs.registers.iter().all(|(register, _)| has(register)), "{}", function.name);
        }
        if theirs != exact {
            names.push(function.name.as_str());
        }
    }
    println!("in {}", names.join(", "));
}
