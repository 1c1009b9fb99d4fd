//! Null and nonsense where handles are expected. NVIDIA's driver follows some of them, so these tests are for ours.

use crate::kernels;
use crate::library::{Cuda, Scope, at, code};

#[test]
fn null_handles_are_refused_by_every_driver() {
    let scope = Scope::new();
    let mut out = 0u64;
    for (name, arguments) in [
        ("cuModuleUnload", vec![0]),
        ("cuEventRecord", vec![0, 0]),
        ("cuEventDestroy_v2", vec![0]),
        ("cuEventSynchronize", vec![0]),
        ("cuModuleGetFunction", vec![at(&mut out), 0, crate::library::of("x\0")]),
        ("cuLaunchKernel", vec![0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]),
    ] {
        let result = scope.cuda.call(name, &arguments);
        assert!([code::INVALID_HANDLE, code::INVALID_VALUE].contains(&result), "{name}: {result}");
    }
    scope.synchronize();
}

#[test]
fn handles_that_were_never_given_out_or_are_of_another_kind_are_refused() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    if !cuda.is_modelled() {
        eprintln!("not run: NVIDIA's driver follows such handles");
        return;
    }
    let (stream, event) = (cuda.make("cuStreamCreate", &[0]), cuda.make("cuEventCreate", &[0]));
    for bad in [0xdead_beef, stream, u64::MAX] {
        assert_eq!(cuda.call("cuEventRecord", &[bad, 0]), code::INVALID_HANDLE, "{bad:x} is no event");
    }
    for bad in [3, 0xdead_beef, event] {
        assert_eq!(cuda.call("cuStreamSynchronize", &[bad]), code::INVALID_HANDLE, "{bad:x} is no stream");
    }
    assert_eq!(cuda.call("cuCtxSetCurrent", &[event]), code::INVALID_CONTEXT);
    cuda.ok("cuStreamDestroy_v2", &[stream]);
    assert_eq!(cuda.call("cuStreamDestroy_v2", &[stream]), code::INVALID_HANDLE);
    let store = scope.kernel(&kernels::small(), "nothing");
    let other = Scope::new();
    assert_eq!(other.launch(store, 1, 1, 0, &mut []), code::INVALID_HANDLE, "a function of another context");
}

#[test]
fn null_where_an_answer_goes_is_an_invalid_value() {
    let scope = Scope::new();
    for (name, arguments) in [
        ("cuMemAlloc_v2", vec![0, 4]),
        ("cuDeviceGetCount", vec![0]),
        ("cuDriverGetVersion", vec![0]),
        ("cuStreamCreate", vec![0, 0]),
        ("cuEventCreate", vec![0, 0]),
        ("cuCtxGetCurrent", vec![0]),
        ("cuMemHostAlloc", vec![0, 4, 0]),
    ] {
        assert_eq!(scope.cuda.call(name, &arguments), code::INVALID_VALUE, "{name}");
    }
    assert_eq!(Cuda::get().call("cuInit", &[1]), code::INVALID_VALUE);
}
