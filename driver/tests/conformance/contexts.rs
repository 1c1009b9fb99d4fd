//! Contexts: one stack a thread.

use crate::library::{Cuda, Scope, at, code};

fn current(cuda: &Cuda) -> u64 {
    cuda.make("cuCtxGetCurrent", &[])
}

#[test]
fn a_new_context_is_current_in_its_thread_and_in_no_other() {
    let scope = Scope::new();
    assert_eq!(current(scope.cuda), scope.context);
    let elsewhere = std::thread::spawn(|| {
        let cuda = Cuda::get();
        let mut address = 0u64;
        (current(cuda), cuda.call("cuMemAlloc_v2", &[at(&mut address), 4]), cuda.call("cuCtxSynchronize", &[]))
    });
    assert_eq!(elsewhere.join().unwrap(), (0, code::INVALID_CONTEXT, code::INVALID_CONTEXT));
}

#[test]
fn contexts_are_pushed_and_popped_as_a_stack() {
    let outer = Scope::new();
    let cuda = outer.cuda;
    let inner = cuda.make("cuCtxCreate_v2", &[0, 0]);
    assert_eq!(current(cuda), inner);
    assert_eq!(cuda.make("cuCtxPopCurrent_v2", &[]), inner);
    assert_eq!(current(cuda), outer.context);
    cuda.ok("cuCtxPushCurrent_v2", &[inner]);
    assert_eq!(current(cuda), inner);
    cuda.ok("cuCtxDestroy_v2", &[inner]);
    assert_eq!(current(cuda), outer.context, "destroying the current context uncovers the one below");
    cuda.ok("cuCtxSetCurrent", &[0]);
    assert_eq!(current(cuda), 0);
    cuda.ok("cuCtxSetCurrent", &[outer.context]);
}

#[test]
fn a_context_that_was_destroyed_is_refused() {
    let cuda = Cuda::get();
    let context = cuda.make("cuCtxCreate_v2", &[0, 0]);
    cuda.ok("cuCtxDestroy_v2", &[context]);
    // NVIDIA's driver takes it as current, and refuses what is done in it.
    let taken = cuda.call("cuCtxSetCurrent", &[context]) == code::OK;
    assert_ne!(taken, cuda.is_modelled());
    assert_ne!(cuda.call("cuCtxSynchronize", &[]), code::OK);
    assert_ne!(cuda.call("cuCtxDestroy_v2", &[context]), code::OK);
}

#[test]
fn a_context_destroyed_by_another_thread_is_known_as_destroyed() {
    let cuda = Cuda::get();
    let context = cuda.make("cuCtxCreate_v2", &[0, 0]);
    std::thread::spawn(move || Cuda::get().ok("cuCtxDestroy_v2", &[context])).join().unwrap();
    let mut address = 0u64;
    let result = cuda.call("cuMemAlloc_v2", &[at(&mut address), 4]);
    assert!([code::CONTEXT_IS_DESTROYED, code::INVALID_CONTEXT].contains(&result), "{result}");
    cuda.ok("cuCtxSetCurrent", &[0]);
}

#[test]
fn the_primary_context_is_one_and_is_counted() {
    let cuda = Cuda::get();
    let first = cuda.make("cuDevicePrimaryCtxRetain", &[0]);
    let second = cuda.make("cuDevicePrimaryCtxRetain", &[0]);
    assert_eq!(first, second);
    let (mut flags, mut active) = (0u32, 0i32);
    cuda.ok("cuDevicePrimaryCtxRelease_v2", &[0]);
    cuda.ok("cuDevicePrimaryCtxGetState", &[0, at(&mut flags), at(&mut active)]);
    assert_eq!(active, 1, "one reference is left");
    cuda.ok("cuDevicePrimaryCtxRelease_v2", &[0]);
}

#[test]
fn limits_and_configurations_are_read_back() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    cuda.ok("cuCtxSetLimit", &[0, 2048]);
    assert!(cuda.make("cuCtxGetLimit", &[0]) >= 2048, "stack bytes");
    assert_eq!(cuda.call("cuCtxSetLimit", &[99, 1]), code::INVALID_VALUE);
    let (mut least, mut greatest) = (1i32, 1i32);
    cuda.ok("cuCtxGetStreamPriorityRange", &[at(&mut least), at(&mut greatest)]);
    assert!(least == 0 && greatest < 0, "{least} {greatest}");
    let mut version = 0u32;
    cuda.ok("cuCtxGetApiVersion", &[scope.context, at(&mut version)]);
    assert!(version >= 3020, "{version}");
}
