use super::super::ALL_SECTORS;
use super::*;
use crate::device::find;

fn uncore(device: &str) -> Uncore {
    let mut uncore = Uncore::new(find(device).unwrap());
    uncore.start_launch();
    uncore
}

fn at(sm: u32, line: u64, cycle: f64) -> Origin {
    Origin { sm, line, cycle }
}

#[test]
fn an_idle_machine_answers_after_the_measured_latencies() {
    let mut h200 = uncore("H200");
    h200.read(at(0, 5, 1000.0), 1);
    assert_eq!(h200.read(at(1, 5, 5000.0), 1), 5280.0, "another SM of the same side");
    assert_eq!(h200.read(at(131, 5, 9000.0), 1), 9500.0, "an SM of the other side");
    assert_eq!(h200.read(at(131, 5, 20_000.0), 1), 20_280.0, "its side has a copy now");
    let mut rtx = uncore("RTX 5070");
    rtx.read(at(0, 5, 0.0), 1);
    assert_eq!(rtx.read(at(47, 5, 5000.0), 1), 5358.0);
    for (name, latency) in [("H200", 672.0), ("RTX 5070", 877.0)] {
        let mut idle = uncore(name);
        // Each from a launch of its own, so that no one waits for another.
        let waits = (0..10_000).map(|line| {
            idle.start_launch();
            idle.read(at(0, 8 * line, 1000.0), 1) - 1000.0
        });
        let mean = waits.sum::<f64>() / 1e4;
        assert!((mean / latency - 1.0).abs() < 0.01, "{name}: memory answers after {mean} cycles");
    }
}

#[test]
fn who_waits_for_several_lines_of_memory_waits_for_the_slowest() {
    let mut h200 = uncore("H200");
    let mut mean_of_slowest = |lines: u64| {
        let warps = 2000;
        h200.flush();
        let waits = (0..warps).map(|warp| {
            h200.start_launch();
            let answers = (0..lines).map(|line| h200.read(at(0, 8 * (100 * warp + line), 0.0), 1));
            answers.fold(0.0, f64::max)
        });
        waits.sum::<f64>() / warps as f64
    };
    // "H200 L2", T3.
    for (lines, measured) in [(1, 690.0), (2, 750.0), (4, 830.0), (8, 920.0), (16, 1070.0), (32, 1150.0)] {
        let found = mean_of_slowest(lines);
        assert!((found / measured - 1.0).abs() < 0.08, "{lines} lines: {found} cycles, measured {measured}");
    }
}

#[test]
fn a_second_reader_waits_for_the_same_fill() {
    let mut h200 = uncore("H200");
    let first = h200.read(at(0, 9, 0.0), ALL_SECTORS);
    let second = h200.read(at(1, 9, 100.0), ALL_SECTORS);
    assert!(first > 500.0, "{first}");
    assert_eq!(second, first, "not sooner than the data is there, and no second fetch");
    assert_eq!(h200.dram.sectors_read, 4);
}

#[test]
fn neither_l2_nor_memory_gives_more_than_its_bandwidth() {
    for name in ["H200", "RTX 5070", "A100"] {
        let device = find(name).unwrap();
        let mut uncore = uncore(name);
        let lines = 200_000;
        let mut pass = |start: f64| {
            let reads = (0..lines).map(|line| uncore.read(at((line % 40) as u32, line, start), ALL_SECTORS));
            reads.fold(0.0, f64::max) - start
        };
        let (cold, warm) = (pass(0.0), pass(1e6));
        let bytes = 128.0 * lines as f64;
        let clock_ghz = f64::from(device.boost_clock_mhz) / 1e3;
        let cold_gbs = bytes / cold * clock_ghz;
        assert!(cold_gbs < device.memory_bandwidth_gbs, "{name}: {cold_gbs} GB/s from memory");
        assert!(cold_gbs > 0.75 * device.memory_bandwidth_gbs, "{name}: {cold_gbs} GB/s from memory");
        let l2_bytes_per_cycle = device.parameters.l2_bytes_per_cycle_per_sm * f64::from(device.sm_count);
        assert!(bytes / warm < l2_bytes_per_cycle, "{name}: {} bytes a cycle from L2", bytes / warm);
        assert!(warm < cold, "{name}");
    }
}

#[test]
fn an_sm_gets_no_more_than_its_port_carries() {
    let mut h200 = uncore("H200");
    let mut pass =
        |start: f64| (0..1000).map(|line| h200.read(at(0, line, start), ALL_SECTORS)).fold(0.0, f64::max) - start;
    let (_, warm) = (pass(0.0), pass(1e6));
    let rate = 128_000.0 / warm;
    assert!((85.0..114.0).contains(&rate), "{rate} bytes a cycle");
}

#[test]
fn a_store_of_parts_of_sectors_costs_l2_a_flit_more() {
    let mut h200 = uncore("H200");
    let lines = 96_000;
    let mut cycles_a_line = |granules: u32| {
        h200.start_launch();
        let answers = (0..lines).map(|line| h200.write(at((line % 132) as u32, line, 0.0), granules));
        answers.fold(0.0, f64::max) / lines as f64
    };
    // "H200 L2", all SMs: 0.050 to 0.055 cycles a whole line, a fourth of 0.216 to 0.229; 0.53 cycles for 8 lines of which a warp
    // stores a word a sector.
    let (whole, words) = (cycles_a_line(u32::MAX), cycles_a_line(0x0101_0101));
    assert!((0.050..0.060).contains(&whole), "{whole}");
    assert!((words / whole - 1.25).abs() < 0.02, "{words} against {whole}");
}

#[test]
fn written_lines_go_to_memory_only_when_they_are_evicted() {
    let mut rtx = uncore("RTX 5070");
    let lines = find("RTX 5070").unwrap().l2_bytes / 128;
    (0..lines).for_each(|line| _ = rtx.write(at(0, line, line as f64), u32::MAX));
    assert_eq!((rtx.dram.sectors_written, rtx.dram.sectors_read), (0, 0));
    (lines..2 * lines).for_each(|line| _ = rtx.write(at(0, line, line as f64), 0xff));
    assert_eq!((rtx.dram.sectors_written, rtx.dram.sectors_read), (4 * lines, 0));
}

#[test]
fn a_partly_written_sector_is_completed_from_memory() {
    let mut rtx = uncore("RTX 5070");
    rtx.write(at(0, 3, 0.0), 0x0f);
    assert!(rtx.read(at(0, 3, 10_000.0), 1) > 10_600.0);
    rtx.write(at(0, 4, 0.0), 0x0f);
    rtx.write(at(0, 4, 0.0), 0xf0);
    assert_eq!(rtx.read(at(0, 4, 20_000.0), 1), 20_358.0, "two halves make a whole");
}

#[test]
fn atomics_on_one_address_follow_one_another() {
    let mut h200 = uncore("H200");
    h200.read(at(0, 1, 0.0), 1);
    let float = AtomicCycles { slice: 32.0 * 1.5, line: 32.0 * 3.5 };
    let last = (0..1000).map(|sm| h200.atomic(at(sm % 132, 1, 2000.0), 1, float)).fold(0.0, f64::max);
    assert!((last - 2000.0 - 112_000.0).abs() < 700.0, "{last}");
    let integer = AtomicCycles { slice: 32.0 * 1.5, line: 0.0 };
    let last = (0..1000).map(|sm| h200.atomic(at(sm % 132, 1, 2e6), 1, integer)).fold(0.0, f64::max);
    assert!((last - 2e6 - 48_000.0).abs() < 700.0, "{last}");
    let one = AtomicCycles { slice: 1.5, line: 3.5 };
    let spread = (0..1000).map(|n| h200.atomic(at(n % 132, n.into(), 4e6), 1, one)).fold(0.0, f64::max);
    assert!(spread - 4e6 < 2600.0, "{spread}");
}

#[test]
fn floats_hold_a_line_and_leave_its_slice_to_others() {
    let mut h200 = uncore("H200");
    let other = (2..1 << 20).find(|line| h200.slice(*line) == h200.slice(0)).unwrap();
    let float = AtomicCycles { slice: 1.5, line: 100.0 };
    let mut done = |line, cycle| h200.atomic(at(0, line, cycle), 1, float);
    done(0, 0.0);
    done(other, 0.0);
    let alone = done(0, 10_000.0) - 10_000.0;
    assert_eq!(done(0, 10_000.0) - 10_000.0, alone + 100.0);
    assert_eq!(done(other, 10_000.0) - 10_000.0, alone + 3.0);
}

#[test]
fn eight_lines_lie_in_two_slices_and_many_spread_evenly_at_any_stride() {
    let h200 = uncore("H200");
    let slices: Vec<usize> = (0..8).map(|line| h200.slice(8 * 777 + line)).collect();
    let (one, other) = (slices[0], slices[2]);
    assert_ne!(one, other);
    assert_eq!(slices, [one, one, other, other, one, one, other, other]);
    for stride in [1, 2, 8, 16, 64, 96, 128, 65, 1 << 14] {
        let mut counts = vec![0; 96];
        (0..96_000).for_each(|n| counts[h200.slice(n * stride)] += 1);
        let most = counts.iter().max().unwrap();
        assert!(*most < 1300, "a stride of {stride} lines: {most} of 96,000 in one slice");
    }
}

#[test]
fn contents_outlive_a_launch_queues_do_not_and_a_flush_empties() {
    let mut h200 = uncore("H200");
    (0..50_000).for_each(|line| _ = h200.read(at(0, line, 0.0), ALL_SECTORS));
    h200.start_launch();
    assert_eq!(h200.read(at(0, 1, 0.0), 1), 280.0);
    h200.host_wrote(128 * 1_000_000, 256);
    assert_eq!(h200.read(at(0, 1_000_001, 1000.0), 1), 1500.0, "in L2, but not yet on this SM's side");
    h200.flush();
    assert!(h200.read(at(0, 1, 5000.0), 1) > 5540.0);
    h200.host_wrote(0, 0);
    h200.host_wrote(u64::MAX - 5, 6);
}
