//! Faults of kernels: not at the launch, at the next wait, and for ever in that context.

use crate::kernels;
use crate::library::{Scope, at, code};
use crate::streams::gate;

fn fault(kernel: &str, arguments: &mut [u64]) -> (u32, u32, Scope) {
    let scope = Scope::new();
    let function = scope.kernel(&kernels::small(), kernel);
    let launched = scope.launch(function, 1, 1, 0, arguments);
    (launched, scope.cuda.call("cuCtxSynchronize", &[]), scope)
}

#[test]
fn a_store_to_nowhere_is_an_illegal_address_at_the_next_wait_and_sticks_to_its_context_alone() {
    let other = Scope::new();
    let kept = other.upload(&[5u32]);
    let (launched, waited, scope) = fault("store", &mut [0x10, 1]);
    assert_eq!((launched, waited), (code::OK, code::ILLEGAL_ADDRESS));
    let mut address = 0u64;
    assert_eq!(scope.cuda.call("cuMemAlloc_v2", &[at(&mut address), 4]), code::ILLEGAL_ADDRESS);
    assert_eq!(scope.cuda.call("cuCtxSynchronize", &[]), code::ILLEGAL_ADDRESS);
    assert_eq!(scope.cuda.call("cuStreamQuery", &[0]), code::ILLEGAL_ADDRESS);
    let cuda = scope.cuda;
    drop(scope);
    if cuda.is_modelled() {
        // With NVIDIA's driver other contexts of the process are lost, too.
        cuda.ok("cuCtxSetCurrent", &[other.context]);
        assert_eq!(other.download::<u32>(kept, 1), [5]);
    }
}

#[test]
fn in_a_lost_context_everything_but_its_end_answers_with_the_fault() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let text = format!("{}\0", kernels::small());
    let module = cuda.make("cuModuleLoadData", &[crate::library::of(text.as_str())]);
    let store = cuda.make("cuModuleGetFunction", &[module, crate::library::of("store\0")]);
    let (memory, stream, event) = (scope.alloc(4), cuda.make("cuStreamCreate", &[0]), cuda.make("cuEventCreate", &[0]));
    assert_eq!(scope.launch(store, 1, 1, stream, &mut [0x10, 1]), code::OK);
    assert_eq!(cuda.call("cuStreamSynchronize", &[stream]), code::ILLEGAL_ADDRESS);
    assert_eq!(scope.launch(store, 1, 1, stream, &mut [memory, 1]), code::ILLEGAL_ADDRESS);
    for (name, arguments) in [
        ("cuEventRecord", vec![event, stream]),
        ("cuEventQuery", vec![event]),
        ("cuMemsetD8_v2", vec![memory, 0, 4]),
        ("cuMemFree_v2", vec![memory]),
        ("cuEventDestroy_v2", vec![event]),
        ("cuStreamDestroy_v2", vec![stream]),
        ("cuModuleUnload", vec![module]),
    ] {
        assert_eq!(cuda.call(name, &arguments), code::ILLEGAL_ADDRESS, "{name}");
    }
}

#[test]
fn a_store_past_all_shared_memory_is_an_illegal_address() {
    let scope = Scope::new();
    let reverse = scope.kernel(&kernels::reverse(), "reverse");
    let memory = scope.alloc(4096);
    // Four bytes of shared memory for 1,024 threads: a GPU gives a block a whole unit, and this is past it.
    assert_eq!(scope.launch(reverse, 1, 1024, 0, &mut [memory, 1 << 20]), code::OK);
    assert_eq!(scope.cuda.call("cuCtxSynchronize", &[]), code::ILLEGAL_ADDRESS);
}

#[test]
fn a_store_to_an_odd_address_is_misaligned() {
    let scope = Scope::new();
    let address = scope.alloc(64);
    let store = scope.kernel(&kernels::small(), "store");
    assert_eq!(scope.launch(store, 1, 1, 0, &mut [address + 2, 1]), code::OK);
    assert_eq!(scope.cuda.call("cuCtxSynchronize", &[]), code::MISALIGNED_ADDRESS);
}

#[test]
fn a_trap_is_a_launch_failure() {
    let (launched, waited, _scope) = fault("trap", &mut []);
    assert_eq!((launched, waited), (code::OK, code::LAUNCH_FAILED));
}

#[test]
fn work_after_a_fault_is_left_out_and_a_copy_back_reports_it() {
    let scope = Scope::new();
    let text = kernels::small();
    let store = scope.kernel(&text, "store");
    let kept = scope.cuda.make("cuMemHostAlloc", &[4, 0]);
    let word = std::ptr::with_exposed_provenance_mut::<u32>(kept as usize);
    // SAFETY: four bytes of the driver's that the host may use.
    unsafe { word.write_volatile(1) };
    // Both are queued before the first runs.
    let (opener, _arrived) = gate(&scope, 0);
    let launched = [scope.launch(store, 1, 1, 0, &mut [8, 2]), scope.launch(store, 1, 1, 0, &mut [kept, 2])];
    opener.send(()).unwrap();
    assert_eq!(launched, [code::OK; 2]);
    let mut out = 0u32;
    let device = kept;
    assert_eq!(scope.cuda.call("cuMemcpyDtoH_v2", &[at(&mut out), device, 4]), code::ILLEGAL_ADDRESS);
    // SAFETY: as above.
    assert_eq!(unsafe { word.read_volatile() }, 1);
}

#[test]
fn a_use_after_free_is_an_illegal_address() {
    let scope = Scope::new();
    let address = scope.alloc(64 << 20);
    scope.cuda.ok("cuMemFree_v2", &[address]);
    let store = scope.kernel(&kernels::small(), "store");
    assert_eq!(scope.launch(store, 1, 1, 0, &mut [address, 1]), code::OK);
    assert_eq!(scope.cuda.call("cuCtxSynchronize", &[]), code::ILLEGAL_ADDRESS);
}

#[test]
fn a_read_past_the_end_in_code_with_source_lines_is_an_illegal_address() {
    let scope = Scope::new();
    let vecadd = scope.kernel(&kernels::vecadd(), "vecadd");
    let [a, b, c] = [40_000, 80_000, 80_000].map(|bytes| scope.alloc(bytes));
    // Far past the end of `a`, so that a GPU notices, too.
    let far = a + (1 << 38);
    assert_eq!(scope.launch(vecadd, 40, 256, 0, &mut [far, b, c, 10_240]), code::OK);
    assert_eq!(scope.cuda.call("cuCtxSynchronize", &[]), code::ILLEGAL_ADDRESS);
}
