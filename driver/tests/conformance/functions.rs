//! What the driver says of kernels, and how many fit.

use crate::kernels;
use crate::library::{Scope, at, code};

fn attribute(scope: &Scope, function: u64, number: u64) -> i32 {
    let mut value = -100i32;
    scope.cuda.ok("cuFuncGetAttribute", &[at(&mut value), number, function]);
    value
}

#[test]
fn attributes_tell_bounds_registers_and_memory() {
    let scope = Scope::new();
    let (vecadd, bounded) = (scope.kernel(&kernels::vecadd(), "vecadd"), scope.kernel(&kernels::small(), "bounded"));
    assert_eq!(attribute(&scope, vecadd, 0), 1024, "threads a block");
    assert_eq!(attribute(&scope, bounded, 0), 64, "threads a block, bounded");
    let registers = attribute(&scope, vecadd, 4);
    assert!((6..=24).contains(&registers), "{registers} registers");
    assert_eq!((attribute(&scope, vecadd, 1), attribute(&scope, vecadd, 3)), (0, 0), "shared and local bytes");
    assert_eq!(attribute(&scope, vecadd, 5), 70, "PTX version");
    assert_eq!(attribute(&scope, vecadd, 8), 48 << 10, "dynamic shared bytes");
    let mut value = 0i32;
    assert_eq!(scope.cuda.call("cuFuncGetAttribute", &[at(&mut value), 99, vecadd]), code::INVALID_VALUE);
}

#[test]
fn attributes_that_can_be_set_are_read_back_and_others_refused() {
    let scope = Scope::new();
    let reverse = scope.kernel(&kernels::reverse(), "reverse");
    scope.cuda.ok("cuFuncSetAttribute", &[reverse, 8, 64 << 10]);
    assert_eq!(attribute(&scope, reverse, 8), 64 << 10);
    scope.cuda.ok("cuFuncSetAttribute", &[reverse, 9, 50]);
    assert_eq!(attribute(&scope, reverse, 9), 50);
    for (number, value) in [(8, 1 << 20), (9, 101), (0, 32), (4, 32)] {
        assert_eq!(scope.cuda.call("cuFuncSetAttribute", &[reverse, number, value]), code::INVALID_VALUE, "{number}");
    }
}

#[test]
fn occupancy_is_limited_by_threads_and_by_shared_memory() {
    let scope = Scope::new();
    let vecadd = scope.kernel(&kernels::vecadd(), "vecadd");
    let mut threads_per_sm = 0i32;
    scope.cuda.ok("cuDeviceGetAttribute", &[at(&mut threads_per_sm), 39, 0]);
    let blocks = |threads: u64, dynamic: u64| {
        let mut blocks = -1i32;
        scope.cuda.ok("cuOccupancyMaxActiveBlocksPerMultiprocessor", &[at(&mut blocks), vecadd, threads, dynamic]);
        blocks
    };
    assert_eq!(blocks(256, 0), threads_per_sm / 256);
    assert_eq!(blocks(1024, 0), threads_per_sm / 1024);
    let mut shared_per_sm = 0i32;
    scope.cuda.ok("cuDeviceGetAttribute", &[at(&mut shared_per_sm), 81, 0]);
    assert_eq!(blocks(32, 40 << 10), shared_per_sm / (41 << 10));
    let (mut grid, mut block) = (0i32, 0i32);
    scope.cuda.ok("cuOccupancyMaxPotentialBlockSize", &[at(&mut grid), at(&mut block), vecadd, 0, 0, 0]);
    let mut sms = 0i32;
    scope.cuda.ok("cuDeviceGetAttribute", &[at(&mut sms), 16, 0]);
    assert_eq!(grid * block, sms * threads_per_sm, "grid {grid}, block {block}");
    let mut bytes = 0u64;
    scope.cuda.ok("cuOccupancyAvailableDynamicSMemPerBlock", &[at(&mut bytes), vecadd, 2, 128]);
    assert!(bytes > 0 && bytes <= shared_per_sm as u64 / 2, "{bytes}");
    let mut none = 0i32;
    let refused = scope.cuda.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &[at(&mut none), vecadd, 0, 0]);
    assert_eq!(refused, code::INVALID_VALUE);
}
