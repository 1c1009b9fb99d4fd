//! Times between events.

use crate::kernels;
use crate::library::{Scope, at, code};

fn elapsed(scope: &Scope, start: u64, end: u64) -> (u32, f32) {
    let mut milliseconds = -1f32;
    let result = scope.cuda.call("cuEventElapsedTime", &[at(&mut milliseconds), start, end]);
    (result, milliseconds)
}

#[test]
fn a_launch_between_two_events_takes_time_and_more_work_takes_more() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let vecadd = scope.kernel(&kernels::vecadd(), "vecadd");
    let [start, middle, end] = [(); 3].map(|()| cuda.make("cuEventCreate", &[0]));
    let count = 1 << 16;
    let [a, b, c] = [(); 3].map(|()| scope.alloc(4 * count));
    cuda.ok("cuEventRecord", &[start, 0]);
    assert_eq!(scope.launch(vecadd, 16, 256, 0, &mut [a, b, c, 4096]), code::OK);
    cuda.ok("cuEventRecord", &[middle, 0]);
    for _ in 0..10 {
        assert_eq!(scope.launch(vecadd, 256, 256, 0, &mut [a, b, c, count as u64]), code::OK);
    }
    cuda.ok("cuEventRecord", &[end, 0]);
    cuda.ok("cuEventSynchronize", &[end]);
    let (little, much) = (elapsed(&scope, start, middle), elapsed(&scope, middle, end));
    assert_eq!((little.0, much.0), (code::OK, code::OK));
    assert!(little.1 > 0.0 && much.1 > little.1, "{little:?} {much:?}");
    let whole = elapsed(&scope, start, end).1;
    assert!((whole - little.1 - much.1).abs() <= 1e-3 * whole + 1e-3, "{whole}");
}

#[test]
fn events_without_times_or_never_recorded_have_none() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let (plain, timeless, never) =
        (cuda.make("cuEventCreate", &[0]), cuda.make("cuEventCreate", &[2]), cuda.make("cuEventCreate", &[0]));
    cuda.ok("cuEventRecord", &[plain, 0]);
    cuda.ok("cuEventRecord", &[timeless, 0]);
    scope.synchronize();
    assert_eq!(elapsed(&scope, plain, timeless).0, code::INVALID_HANDLE);
    assert_eq!(elapsed(&scope, plain, never).0, code::INVALID_HANDLE);
    assert_eq!(elapsed(&scope, plain, plain), (code::OK, 0.0));
    let mut event = 0u64;
    assert_eq!(cuda.call("cuEventCreate", &[at(&mut event), 0x80]), code::INVALID_VALUE);
}
