//! The unit's functions against an H200, by checksums of its outputs.

use super::*;

const H200: &str = include_str!("../../../../tests/data/h200_mufu.tsv");

/// Fractions of a sample: a prime step, so that every segment and every low bit is met.
const SAMPLE_STEP: usize = 1021;

type Function = fn(u32) -> u32;

const FUNCTIONS: [(&str, Function); 10] = [
    ("RCP", rcp),
    ("RSQ", rsq),
    ("SQRT", sqrt),
    ("LG2", lg2),
    ("EX2", ex2),
    ("SIN", sin),
    ("COS", cos),
    ("TANH", tanh),
    ("RCP64H", rcp64h),
    ("RSQ64H", rsq64h),
];

/// The checksums of a row of the table.
fn recorded(function: &str, operands: &str) -> Vec<u32> {
    let row = H200.lines().find_map(|line| line.strip_prefix(&format!("{function}\t{operands}\t")));
    let hex = row.unwrap_or_else(|| panic!("no row for {operands} of {function}"));
    (0..hex.len() / 8).map(|index| u32::from_str_radix(&hex[index * 8..][..8], 16).unwrap()).collect()
}

/// splitmix64's finaliser over operand and result.
fn mixed(operand: u32, result: u32) -> u64 {
    let z = u64::from(operand) << 32 | u64::from(result);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Operands that share their upper 9 bits, every `step`th from the first.
fn checksum(function: Function, upper: u32, step: usize) -> u32 {
    let operands = (0..1u32 << FRACTION_BITS).step_by(step).map(|fraction| upper << FRACTION_BITS | fraction);
    operands.map(|operand| mixed(operand, function(operand))).fold(0, u64::wrapping_add) as u32
}

/// The upper 9 bits at which a function's checksum is not the H200's, one thread of `threads` looking at its share.
fn differences(name: &str, function: Function, operands: &str, step: usize) -> Vec<u32> {
    let expected = recorded(name, operands);
    assert_eq!(expected.len(), 512, "{name}");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |first: usize| {
        let expected = &expected;
        move || -> Vec<u32> {
            let uppers = (first as u32..512).step_by(threads);
            uppers.filter(|&upper| checksum(function, upper, step) != expected[upper as usize]).collect()
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(share(first))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn check(operands: &str, step: usize) {
    let wrong: Vec<String> = FUNCTIONS
        .iter()
        .map(|&(name, function)| (name, differences(name, function, operands, step)))
        .filter(|(_, uppers)| !uppers.is_empty())
        .map(|(name, uppers)| format!("{name}: {} of 512, at {:x?}", uppers.len(), &uppers[..uppers.len().min(8)]))
        .collect();
    assert!(wrong.is_empty(), "upper 9 bits at which the results are not an H200's:\n{}", wrong.join("\n"));
}

/// Set to look at all 2^32 operands of the ten functions, which takes minutes.
const EXHAUSTIVE: &str = "WARPWISE_EXHAUSTIVE";

#[test]
fn every_1021st_fraction_of_every_exponent_or_all_that_there_are_gives_what_an_h200_gives() {
    check("sample", SAMPLE_STEP);
    if std::env::var_os(EXHAUSTIVE).is_some() {
        check("all", 1);
    }
}

#[test]
fn every_operand_of_the_half_formats_gives_what_an_h200_gives() {
    let functions: [(&str, Function); 4] =
        [("EX2.F16", ex2_f16), ("TANH.F16", tanh_f16), ("EX2.BF16", ex2_bf16), ("TANH.BF16", tanh_bf16)];
    for (name, function) in functions {
        let sum = (0..1 << 16).map(|operand| mixed(operand, function(operand))).fold(0, u64::wrapping_add) as u32;
        assert_eq!(recorded(name, "all"), [sum], "{name}");
    }
}

#[test]
fn the_square_leaves_out_the_partial_products_below_its_point() {
    for low in (0..1 << LOW_BITS).step_by(7) {
        let products = (0..LOW_BITS).filter(|bit| low >> bit & 1 == 1).map(|bit| low >> (18 - bit));
        assert_eq!(square(low), products.sum::<u32>() >> 1, "{low:#x}");
    }
}

#[test]
fn division_needs_care_for_the_pairs_of_exponents_for_which_an_h200_says_so() {
    let value = |exponent: u32| f32::from_bits(exponent << FRACTION_BITS);
    let pairs = (0..1 << 16).filter(|pair| division_needs_care(value(pair >> 8), value(pair & 0xff)));
    let sum = pairs.map(|pair| mixed(pair, 1)).fold(0, u64::wrapping_add) as u32;
    assert_eq!(recorded("FCHK", "all"), [sum]);
}
