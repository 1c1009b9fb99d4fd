//! The occupancy calculator against numbers computed with NVIDIA's own, and against the cases worth knowing by heart.

use warpwise_simt::device::{self, ComputeCapability, Limits};
use warpwise_simt::occupancy::{
    InvalidInput, Limiter, Request, available_dynamic_shared_bytes, batch, best_block, calculate, curve,
};

const GOLDEN: &str = include_str!("data/occupancy_golden.tsv");

fn limits(version: &str) -> &'static Limits {
    device::limits_of(version.parse::<ComputeCapability>().unwrap()).unwrap()
}

fn blocks(version: &str, request: Request) -> i64 {
    calculate(limits(version), &request).unwrap().blocks_per_sm
}

/// Occupancy in percent on CC `version`, rounded.
fn percent(version: &str, block_threads: i64, registers: i64) -> i64 {
    let occupancy = calculate(limits(version), &Request::new(block_threads, registers)).unwrap();
    (100.0 * occupancy.theoretical()).round() as i64
}

#[test]
fn the_batch_form_returns_all_1600_golden_rows() {
    assert_eq!(GOLDEN.lines().count(), 1601);
    let requests: String =
        GOLDEN.lines().map(|row| row.splitn(8, '\t').take(7).collect::<Vec<_>>().join("\t") + "\n").collect();
    let answers = batch::run(&requests).unwrap();
    for (line, (found, expected)) in answers.lines().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(found, expected, "line {}", line + 1);
    }
    assert_eq!(answers.lines().count(), GOLDEN.lines().count());
    assert_eq!(batch::run(GOLDEN).unwrap(), GOLDEN, "more columns than seven are read over");
}

#[test]
fn a_refused_request_is_a_row_with_err_1_and_zeros() {
    let header = batch::HEADER;
    let answer = batch::run(&format!("{header}\n8.0\t0\t32\t0\t0\t-1\t1\n\n8.0\t256\t-1\t0\t0\t101\t1\n")).unwrap();
    let rows: Vec<&str> = answer.lines().skip(1).collect();
    assert_eq!(rows[0], "8.0\t0\t32\t0\t0\t-1\t1\t1\t0\t0\t0\t0\t0\t0\t0x0\t0\t0");
    assert_eq!(rows[1], "8.0\t256\t-1\t0\t0\t101\t1\t1\t0\t0\t0\t0\t0\t0\t0x0\t0\t0");
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_line_that_cannot_be_read_is_named_with_what_was_expected() {
    let with = |row: &str| {
        batch::run(&format!("{}\n8.0\t256\t40\t0\t0\t-1\t1\n{row}\n", batch::HEADER)).unwrap_err().to_string()
    };
    assert_eq!(with("8.0\t256\t40"), "line 3: expected 7 tab-separated columns or more, got 3");
    assert_eq!(with("8.0\t256\t4x\t0\t0\t-1\t1"), "line 3, column regs: `4x` is not an integer");
    assert_eq!(with("8,0\t256\t40\t0\t0\t-1\t1"), "line 3, column cc: `8,0` is not a compute capability such as 12.0");
    assert!(
        with("6.1\t256\t40\t0\t0\t-1\t1")
            .starts_with("line 3: nothing is known of compute capability 6.1; there are 7.0")
    );
    let header = batch::run("block\tregs\n").unwrap_err().to_string();
    assert!(header.starts_with("line 1: expected a header that starts with `cc\tblock\t"), "{header}");
    assert!(batch::run("").is_err());
}

#[test]
fn worked_cases_of_registers() {
    let by_registers = |registers| blocks("8.0", Request::new(256, registers));
    assert_eq!((by_registers(40), by_registers(41)), (6, 5));
    assert_eq!((by_registers(255), by_registers(256), by_registers(257)), (1, 1, 0));
    assert_eq!((blocks("8.0", Request::new(1000, 64)), blocks("8.0", Request::new(1000, 128))), (1, 0));
    let small = calculate(limits("8.0"), &Request::new(33, 32)).unwrap();
    assert_eq!((small.limits.registers, small.limits.warps, small.blocks_per_sm), (Some(32), Some(32), 32));
    let none = calculate(limits("8.0"), &Request::new(256, 0)).unwrap();
    assert_eq!((none.limits.registers, none.allocated_registers_per_block), (None, 0));
}

#[test]
fn worked_cases_of_shared_memory_and_barriers() {
    let request = Request::new(32, 16);
    for (version, most) in [("8.0", 164), ("8.6", 100), ("9.0", 228)] {
        assert_eq!(calculate(limits(version), &request).unwrap().limits.shared_memory, Some(most), "{version}");
    }
    let none = Request { carveout_percent: 0, ..request };
    let answer = calculate(limits("8.0"), &none).unwrap();
    assert_eq!((answer.blocks_per_sm, answer.limiters), (8, vec![Limiter::SharedMemory]));
    for version in ["7.0", "7.5"] {
        assert_eq!(calculate(limits(version), &none).unwrap().limits.shared_memory, None, "{version}");
    }
    let fixed = calculate(limits("8.0"), &Request { static_shared_bytes: 48 * 1024, ..request }).unwrap();
    assert_eq!((fixed.allocated_shared_bytes_per_block, fixed.limits.shared_memory), (50_176, Some(3)));
    let dynamic = |bytes| blocks("8.6", Request { dynamic_shared_bytes: bytes, ..request });
    assert_eq!((dynamic(99 * 1024), dynamic(99 * 1024 + 1)), (1, 0));
    assert_eq!(blocks("12.0", Request { barriers: 2, ..request }), 12);
}

#[test]
fn occupancy_by_block_size_as_the_chapters_give_it() {
    let sizes = [(32, 50), (64, 100), (128, 100), (256, 100), (320, 83), (448, 88), (512, 100), (768, 100), (1024, 67)];
    for (block, expected) in sizes {
        assert_eq!(percent("12.0", block, 22), expected, "{block} threads on 12.0");
    }
    for version in ["8.0", "9.0"] {
        assert_eq!((percent(version, 1024, 22), percent(version, 768, 22)), (100, 75), "{version}");
    }
}

#[test]
fn occupancy_by_registers_on_12_0() {
    for (registers, expected) in [
        (40, 100),
        (41, 83),
        (48, 83),
        (49, 67),
        (64, 67),
        (65, 50),
        (80, 50),
        (81, 33),
        (128, 33),
        (129, 17),
        (255, 17),
    ] {
        assert_eq!(percent("12.0", 256, registers), expected, "{registers} registers");
    }
    assert_eq!((percent("12.0", 512, 41), percent("12.0", 512, 80)), (67, 33));
    let shared = [(16_000, 6), (16_001, 5), (32_768, 3), (49_152, 2), (101_376, 1)];
    for (bytes, expected) in shared {
        let request = Request { dynamic_shared_bytes: bytes, ..Request::new(256, 22) };
        assert_eq!(blocks("12.0", request), expected, "{bytes} bytes");
    }
}

#[test]
fn cliffs_and_gains_lie_where_the_curve_steps() {
    let request = Request::new(256, 22);
    let points = curve::by_registers(limits("12.0"), &request).unwrap();
    assert_eq!((points.first().unwrap().x, points.last().unwrap().x, points.len()), (1, 255, 255));
    let steps = |a: &curve::Point, b: &curve::Point| a.occupancy.blocks_per_sm != b.occupancy.blocks_per_sm;
    let cliffs: Vec<i64> = points.windows(2).filter(|pair| steps(&pair[0], &pair[1])).map(|pair| pair[1].x).collect();
    assert_eq!(cliffs, [41, 49, 65, 81, 129]);
    let mut found = Vec::new();
    let mut at = request;
    while let Some(cliff) = curve::next_cliff(limits("12.0"), &at).unwrap() {
        found.push(cliff.registers);
        at.registers = cliff.registers;
    }
    assert_eq!(found, cliffs);
    let gain = curve::next_gain(limits("12.0"), &Request::new(256, 80)).unwrap().unwrap();
    assert_eq!((gain.registers, gain.blocks_per_sm, gain.warps_per_sm), (64, 4, 32));
    assert_eq!(curve::next_gain(limits("12.0"), &request).unwrap(), None);
    let sizes = curve::by_block_threads(limits("12.0"), &request).unwrap();
    assert_eq!((sizes.len(), sizes[31].x), (32, 1024));
}

#[test]
fn extremes_are_answers_or_refusals_and_never_overflow() {
    let huge = Request {
        block_threads: i64::MAX,
        registers: i64::MAX,
        static_shared_bytes: i64::MAX,
        dynamic_shared_bytes: i64::MAX,
        carveout_percent: 100,
        barriers: i64::MAX,
        virtual_resources: i64::MAX,
    };
    for limits in device::compute_capabilities() {
        assert_eq!(calculate(limits, &huge).unwrap().blocks_per_sm, 0);
        let refused = [
            (Request { block_threads: 0, ..huge }, InvalidInput::BlockThreads(0)),
            (Request { registers: i64::MIN, ..huge }, InvalidInput::Registers(i64::MIN)),
            (Request { dynamic_shared_bytes: -1, ..huge }, InvalidInput::SharedBytes(-1)),
            (Request { carveout_percent: -2, ..huge }, InvalidInput::Carveout(-2)),
        ];
        for (request, error) in refused {
            assert_eq!(calculate(limits, &request), Err(error));
        }
    }
}

#[test]
fn the_shared_memory_that_is_left_is_just_enough() {
    let request = Request { static_shared_bytes: 1000, ..Request::new(128, 32) };
    for version in ["7.0", "8.0", "8.6", "9.0", "12.0"] {
        let limits = limits(version);
        for wanted in [1, 2, 3, 5, 8] {
            let bytes = available_dynamic_shared_bytes(limits, &request, wanted).unwrap().unwrap();
            let with = |dynamic_shared_bytes| {
                calculate(limits, &Request { dynamic_shared_bytes, ..request }).unwrap().blocks_per_sm
            };
            assert!(with(bytes) >= wanted, "{version}: {bytes} bytes for {wanted} blocks");
            assert!(with(bytes + 256) < wanted, "{version}: {bytes} bytes are not the most for {wanted} blocks");
        }
        assert_eq!(available_dynamic_shared_bytes(limits, &request, 33).unwrap(), None, "{version}");
    }
    let heavy = Request { static_shared_bytes: 90_000, ..Request::new(128, 32) };
    assert_eq!(available_dynamic_shared_bytes(limits("8.6"), &heavy, 2).unwrap(), None);
}

#[test]
fn the_best_block_is_the_largest_of_those_with_most_threads() {
    let best = |version, registers, most| {
        let best = best_block(limits(version), &Request::new(1, registers), most, 48, |_| 0).unwrap().unwrap();
        (best.block_threads, best.grid_blocks)
    };
    assert_eq!(best("8.0", 32, 1024), (1024, 96));
    assert_eq!(best("12.0", 32, 1024), (768, 96), "1,024 does not divide 1,536");
    assert_eq!(best("12.0", 32, 500).0, 384);
    assert_eq!(best("8.0", 64, 1024).0, 1024);
    let by_size = best_block(limits("8.6"), &Request::new(1, 32), 1024, 1, |threads| 100 * threads).unwrap().unwrap();
    assert!(by_size.occupancy.blocks_per_sm * by_size.block_threads <= 1008, "{by_size:?}");
    assert_eq!(best_block(limits("8.0"), &Request::new(1, 300), 1024, 1, |_| 0).unwrap(), None);
}
