//! Instructions that an H200 executed of kernels whose warps diverge, against the same SASS on the machine.
//!
//! `shapes.cu` has the kernels and `shapes.ptx` what nvcc 13.2 makes of it; `h200.tsv` what Nsight Compute 2025.3 counted on
//! 2026-11-30 (driver 580.159.04, cubin by ptxas 13.2.78): kernel, threads of the one block, [`trip`]'s pattern,
//! `smsp__inst_executed.sum`, `smsp__thread_inst_executed.sum`.

use std::collections::BTreeMap;

use warpwise::kernels::Sass;
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::device;
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Launch, Machine};

const PTX: &str = include_str!("shapes.ptx");
const COUNTED: &str = include_str!("h200.tsv");
/// Kernels whose counts are not yet the hardware's, and why.
const GAPS: [(&str, &str); 2] = [
    ("m_syncs", "the two arms run the section behind a WARPSYNC.COLLECTIVE one by one, the hardware together"),
    ("o_barriers", "the same, and a BAR.SYNC there"),
];
const INPUT_BYTES: u64 = 1024;
const OUTPUT_BYTES: u64 = 8192;

/// How often a thread goes round.
fn trip(pattern: i64, thread: i64) -> i32 {
    let lane = thread & 31;
    let either = |condition: bool, yes: i64, no: i64| if condition { yes } else { no };
    let trips = match pattern {
        0 => 3,
        1 => either(lane == 0, 0, 3),
        2 => either(lane == 31, 0, 3),
        3 => lane,
        4 => 31 - lane,
        5 => either(lane < 16, 2, 5),
        6 => either(lane < 16, 5, 2),
        7 => lane & 1,
        8 => [(5, 1), (9, 2), (20, 4)].into_iter().find(|(at, _)| *at == lane).map_or(6, |(_, trips)| trips),
        9 => [(20, 1), (9, 2), (5, 4)].into_iter().find(|(at, _)| *at == lane).map_or(6, |(_, trips)| trips),
        10 => lane & 7,
        11 => either(lane == 0, 9, 2),
        12 => either(lane == 31, 9, 2),
        13 => either(lane < 2, lane * 3, 6),
        14..20 => random(pattern, thread, 8),
        20..26 => random(pattern, thread, 32),
        _ => random(pattern, thread, 1000),
    };
    trips as i32
}

fn random(pattern: i64, thread: i64, limit: i64) -> i64 {
    let seed = (pattern * 7919 + thread * 104_729) as u32;
    let step = |seed: u32, _| seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    i64::from((0..3).fold(seed, step) >> 8) % limit
}

fn sass() -> Sass {
    let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
    let compiled = tools.compile(PTX, &Target::arch("sm_90")).unwrap_or_else(|error| panic!("{error}"));
    let listing = tools.sass(PTX, "sm_90", ListingOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    Sass::new(&compiled.cubin, listing).unwrap_or_else(|error| panic!("{error}"))
}

/// Instructions and thread instructions of one launch, or the fault.
fn counted(program: &Program, threads: u32, pattern: i64) -> Result<[u64; 2], String> {
    let mut machine = Machine::new(device::find("H200").map_err(|error| error.to_string())?);
    let input = machine.alloc(INPUT_BYTES).map_err(|error| error.to_string())?;
    let output = machine.alloc(OUTPUT_BYTES).map_err(|error| error.to_string())?;
    let trips: Vec<u8> = (0..256).flat_map(|thread| trip(pattern, thread).to_le_bytes()).collect();
    machine.write(input, &trips).map_err(|error| error.to_string())?;
    machine.fill(output, OUTPUT_BYTES, 0).map_err(|error| error.to_string())?;
    let module = machine.load(&[]).map_err(|error| error.to_string())?;
    let kernel = machine.prepare(module, program).map_err(|error| error.to_string())?;
    let params = [input.to_le_bytes(), output.to_le_bytes()].concat();
    let launch = Launch::new([1; 3], [threads, 1, 1], params);
    let report = machine.launch(&kernel, &launch).map_err(|error| error.to_string())?;
    if let Some(fault) = report.fault {
        return Err(fault.to_string());
    }
    let counter = |name: &str| report.counters.get(name).map_or(0, |value| value.as_f64() as u64);
    Ok([counter("smsp__inst_executed.sum"), counter("smsp__thread_inst_executed.sum")])
}

#[test]
fn instructions_of_divergent_warps_are_those_that_an_h200_executes() {
    let sass = sass();
    let (mut launches, mut differing) = (0, BTreeMap::<&str, Vec<String>>::new());
    for line in COUNTED.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kernel, numbers @ ..] = &fields[..] else { panic!("`{line}` is no line of the table") };
        let numbers: Vec<i64> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
        let [threads, pattern, expected @ ..] = &numbers[..] else { panic!("`{line}` is no line of the table") };
        let program = sass.program(kernel).map_err(|error| error.to_string());
        let found = program.and_then(|program| counted(&program, *threads as u32, *pattern));
        if found != Ok([expected[0] as u64, expected[1] as u64]) {
            let text = format!("{threads} threads, pattern {pattern}: {found:?}, the H200 executed {expected:?}");
            differing.entry(kernel).or_default().push(text);
        }
        launches += 1;
    }
    println!("{launches} launches; known gaps: {GAPS:?}");
    for (kernel, reason) in GAPS {
        assert!(differing.remove(kernel).is_some(), "{kernel} is as on hardware now: no gap any more ({reason})");
    }
    assert_eq!(launches, 450);
    assert!(differing.is_empty(), "{differing:#?}");
}
