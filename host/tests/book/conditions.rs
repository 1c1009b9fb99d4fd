//! Conditions that a reader types: how they are read, and that the machine finds of each thread what Rust does.

use warpwise::book::condition::{ARM, element, parse, run};

/// Lanes of a warp.
const WARP_SIZE: usize = 32;

#[test]
fn operators_bind_as_in_cpp() {
    for (text, same) in [
        ("1 + 2 * 3 < 4 << 1 && tid % 2 == 0 || n", "(((1 + (2*3)) < (4 << 1)) && ((tid%2) == 0)) || n"),
        ("tid / 32 % 2", "(tid / 32) % 2"),
        ("a[i] > -3", "(a[(i)]) > (-3)"),
        ("!tid & ~1", "(!tid) & (~1)"),
        ("0x10 >= 16", "(0x10) >= (16)"),
    ] {
        assert_eq!(parse(text), parse(same), "{text}");
        assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
    }
    assert_ne!(parse("1 - 2 - 3"), parse("1 - (2 - 3)"));
    assert_ne!(parse("16"), parse("16u"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let deep = "(".repeat(60);
    let long = format!("1 {}", "+ 1".repeat(70));
    for (text, at, says) in [
        ("", 0, "was expected"),
        ("tid & 1 == 0", 4, "Rust after it"),
        ("0 < lane < 5", 9, "&&"),
        ("threadIdx % 2", 0, "threadIdx.x"),
        ("threadId.x", 0, "not known"),
        ("lane = 3", 5, "=="),
        ("lane < 1.5", 7, "whole"),
        ("lane < 4294967296", 7, "2^32"),
        ("(lane", 5, "`)`"),
        ("lane)", 4, "closes nothing"),
        ("a > 0", 2, "a[i]"),
        ("lane < ö", 7, "was expected"),
        ("i < n ? 1 : 2", 6, "before it"),
        (&deep, 40, "deep"),
        (&long, 200, "200"),
    ] {
        let wrong = parse(text).expect_err(text);
        assert_eq!(wrong.at, at, "{text}: {wrong}");
        assert!(wrong.text.contains(says), "{text}: {wrong}");
    }
}

/// A thread as the tests know it.
#[derive(Clone, Copy)]
struct Thread {
    thread: [u32; 3],
    block: [u32; 3],
    dim: [u32; 3],
    n: u32,
}

impl Thread {
    fn tid(self) -> u32 {
        self.thread[0] + self.dim[0] * (self.thread[1] + self.dim[1] * self.thread[2])
    }
    fn i(self) -> u32 {
        self.block[0] * self.dim[0] + self.thread[0]
    }
}

fn threads(grid: [u32; 3], dim: [u32; 3], n: u32) -> Vec<Thread> {
    let mut all = Vec::new();
    for by in 0..grid[1] {
        for bx in 0..grid[0] {
            for z in 0..dim[2] {
                for y in 0..dim[1] {
                    all.extend((0..dim[0]).map(|x| Thread { thread: [x, y, z], block: [bx, by, 0], dim, n }));
                }
            }
        }
    }
    all
}

#[test]
fn the_machine_finds_what_rust_finds_for_every_thread() {
    type Same = fn(Thread) -> u32;
    let all: [(&str, Same); 17] = [
        ("threadIdx.x % 2 == 0", |t| (t.thread[0] % 2 == 0).into()),
        ("lane < 16", |t| (t.tid() % 32 < 16).into()),
        ("(tid / 32) % 2", |t| (t.tid() / 32) % 2),
        ("warp % 2 == 1", |t| ((t.tid() / 32) % 2 == 1).into()),
        ("i < n", |t| (t.i() < t.n).into()),
        ("i < n && a[i] > 0", |t| (t.i() < t.n && element(t.i()) > 0).into()),
        ("i >= n || a[i] < -3", |t| (t.i() >= t.n || element(t.i()) < -3).into()),
        ("threadIdx.x - 1 < 5", |t| (t.thread[0].wrapping_sub(1) < 5).into()),
        ("-1 < 5", |_| 1),
        ("-1 < threadIdx.x", |_| 0),
        ("-8 >> 1 == -4", |_| 1),
        ("blockIdx.y * gridDim.x + blockIdx.x ^ 1", |t| (t.block[1] * 3 + t.block[0]) ^ 1),
        ("threadIdx.y + blockDim.y * threadIdx.z", |t| t.thread[1] + t.dim[1] * t.thread[2]),
        ("!(tid & 3) | ~0 << 4", |t| u32::from(t.tid() & 3 == 0) | !0 << 4),
        ("0x10 * warpSize - 7u", |_| 505),
        ("-7 / 2 == -3 && -7 % 2 == -1", |_| 1),
        ("blockDim.x != 24 || (tid > 4 && a[tid - 4] > 0 || !tid)", |t| {
            u32::from(t.dim[0] != 24 || t.tid() > 4 && element(t.tid() - 4) > 0 || t.tid() == 0)
        }),
    ];
    for (grid, block) in [([3, 2, 1], [50, 1, 1]), ([3, 2, 1], [24, 3, 2]), ([3, 1, 1], [64, 2, 1])] {
        let n = 120.max(block.iter().product());
        for (text, same) in all {
            let found = run(&parse(text).expect(text), grid, block, n).expect(text);
            assert_eq!(found.fault, None, "{text}");
            let expected: Vec<u32> = threads(grid, block, n).into_iter().map(same).collect();
            assert_eq!(found.values, expected, "{text}, blocks of {block:?}");
            let per_block = block.iter().product::<u32>() as usize;
            let of_warp = expected.chunks(per_block).flat_map(|block| block.chunks(WARP_SIZE));
            for (number, (warp, values)) in found.warps.iter().zip(of_warp).enumerate() {
                let holds = (0..).zip(values).fold(0, |mask, (lane, value)| mask | u32::from(*value != 0) << lane);
                assert_eq!(warp.holds, holds, "{text}, warp {number}");
                assert!(!(found.is_known_uniform && warp.parted()), "{text} is called uniform and parts warp {number}");
            }
        }
    }
}

#[test]
fn what_is_known_before_depends_on_the_shape_of_blocks() {
    for (text, block, known) in [
        ("threadIdx.x / 32 == 0", [64, 1, 1], true),
        ("threadIdx.x / 32 == 0", [64, 2, 1], true),
        ("threadIdx.x / 32 == 0", [48, 2, 1], false),
        ("blockIdx.x % 2", [48, 2, 1], true),
        ("n > 5", [48, 1, 1], true),
        ("threadIdx.x < 64", [64, 1, 1], false),
    ] {
        let found = run(&parse(text).expect(text), [2, 1, 1], block, 64).expect(text);
        assert_eq!(found.is_known_uniform, known, "{text} in {block:?}");
    }
}

#[test]
fn a_warp_that_parts_issues_both_arms_and_one_that_does_not_one() {
    let cost = |text: &str| {
        let found = run(&parse(text).expect(text), [1, 1, 1], [64, 1, 1], 1).expect(text);
        (found.warps[0].issued, found.warps[0].alone())
    };
    let (parts, one_way) = cost("lane < 16");
    let (agrees, same) = cost("warp < 1");
    assert_eq!(agrees, same);
    assert_eq!(parts - one_way, ARM as u64, "the other arm is what it pays more");
}

#[test]
fn an_element_that_is_not_there_is_a_fault_and_not_the_end() {
    let found = run(&parse("a[i + 1000] > 0").expect("a condition"), [1, 1, 1], [64, 1, 1], 64).expect("a run");
    assert!(found.fault.is_some_and(|fault| fault.contains("condition")));
}
