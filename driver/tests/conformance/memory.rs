//! Memory in all its forms, and what the driver says of an address.

use crate::kernels;
use crate::library::{Scope, at, code, of};

#[test]
fn memory_is_freed_once_and_nothing_is_not_allocated() {
    let scope = Scope::new();
    let mut address = 0u64;
    assert_eq!(scope.cuda.call("cuMemAlloc_v2", &[at(&mut address), 0]), code::INVALID_VALUE);
    let address = scope.alloc(3);
    assert_eq!(scope.cuda.call("cuMemFree_v2", &[address + 1]), code::INVALID_VALUE);
    scope.cuda.ok("cuMemFree_v2", &[address]);
    assert_eq!(scope.cuda.call("cuMemFree_v2", &[address]), code::INVALID_VALUE);
    scope.cuda.ok("cuMemFree_v2", &[0]);
}

#[test]
fn more_than_the_device_has_is_out_of_memory_and_the_context_lives_on() {
    let scope = Scope::new();
    let mut address = 0u64;
    assert_eq!(scope.cuda.call("cuMemAlloc_v2", &[at(&mut address), 1 << 50]), 2);
    scope.alloc(4);
}

#[test]
fn free_memory_shrinks_by_what_is_allocated() {
    let scope = Scope::new();
    let info = || {
        let (mut free, mut total) = (0u64, 0u64);
        scope.cuda.ok("cuMemGetInfo_v2", &[at(&mut free), at(&mut total)]);
        (free, total)
    };
    let before = info();
    let address = scope.alloc(256 << 20);
    let (free, total) = info();
    assert_eq!(total, before.1);
    assert!(free < before.0 && free <= total, "{free} of {total}, {before:?} before");
    scope.cuda.ok("cuMemFree_v2", &[address]);
}

#[test]
fn a_pitch_holds_the_width_and_is_aligned() {
    let scope = Scope::new();
    let (mut address, mut pitch) = (0u64, 0u64);
    scope.cuda.ok("cuMemAllocPitch_v2", &[at(&mut address), at(&mut pitch), 100, 3, 4]);
    assert!(pitch >= 100 && pitch.is_multiple_of(32), "{pitch}");
    scope.cuda.ok("cuMemsetD2D8_v2", &[address, pitch, 7, 100, 3]);
    assert_eq!(
        scope.cuda.call("cuMemAllocPitch_v2", &[at(&mut address), at(&mut pitch), 100, 3, 5]),
        code::INVALID_VALUE
    );
}

#[test]
fn kernels_write_host_and_managed_memory_at_the_address_that_the_host_has() {
    let scope = Scope::new();
    let store = scope.kernel(&kernels::small(), "store");
    let pinned = scope.cuda.make("cuMemHostAlloc", &[4, 0]);
    let managed = scope.cuda.make("cuMemAllocManaged", &[4, 1]);
    for (address, value) in [(pinned, 17u64), (managed, 18)] {
        assert_eq!(scope.launch(store, 1, 1, 0, &mut [address, value]), code::OK);
        scope.synchronize();
        // SAFETY: four bytes that host and kernels share, and no kernel runs.
        assert_eq!(u64::from(unsafe { std::ptr::with_exposed_provenance::<u32>(address as usize).read() }), value);
    }
    assert_eq!(scope.cuda.make("cuMemHostGetDevicePointer_v2", &[pinned, 0]), pinned);
    scope.cuda.ok("cuMemFreeHost", &[pinned]);
    scope.cuda.ok("cuMemFree_v2", &[managed]);
}

#[test]
fn kernels_write_the_programs_own_memory_while_it_is_registered() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let store = scope.kernel(&kernels::small(), "store");
    let mut values = vec![0u32; 4096];
    let address = values.as_mut_ptr().expose_provenance() as u64;
    cuda.ok("cuMemHostRegister_v2", &[address, 4096 * 4, 0]);
    assert_eq!(cuda.call("cuMemHostRegister_v2", &[address, 64, 0]), code::HOST_MEMORY_ALREADY_REGISTERED);
    let device = cuda.make("cuMemHostGetDevicePointer_v2", &[address, 0]);
    assert_eq!(device, address);
    assert_eq!(scope.launch(store, 1, 1, 0, &mut [device + 4 * 4095, 99]), code::OK);
    scope.synchronize();
    cuda.ok("cuMemHostUnregister", &[address]);
    assert_eq!(cuda.call("cuMemHostUnregister", &[address]), code::HOST_MEMORY_NOT_REGISTERED);
    // SAFETY: an element of the vector, written behind the compiler's back.
    assert_eq!(unsafe { std::ptr::with_exposed_provenance::<u32>(address as usize).add(4095).read_volatile() }, 99);
    assert_eq!(values.len(), 4096);
}

#[test]
fn an_address_has_a_type_a_range_and_a_context() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let attribute = |number: u64, address: u64| {
        let mut value = 0u64;
        let result = cuda.call("cuPointerGetAttribute", &[at(&mut value), number, address]);
        (result, value)
    };
    let device = scope.alloc(1000);
    let host = cuda.make("cuMemHostAlloc", &[4096, 0]);
    assert_eq!(attribute(2, device + 999), (code::OK, 2));
    assert_eq!(attribute(2, host), (code::OK, 1));
    assert_eq!(attribute(1, device), (code::OK, scope.context));
    assert_eq!(attribute(11, device + 500), (code::OK, device));
    assert_eq!(attribute(12, device).0, code::OK);
    assert_eq!(attribute(3, host), (code::OK, host));
    let local = 0u32;
    assert_eq!(attribute(2, of(&local)).0, code::INVALID_VALUE);
    let (mut base, mut bytes) = (0u64, 0u64);
    cuda.ok("cuMemGetAddressRange_v2", &[at(&mut base), at(&mut bytes), device + 10]);
    assert!(base == device && bytes >= 1000, "{base:x} {bytes}");
}

#[test]
fn memory_in_stream_order_is_counted_by_its_pool() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let pool = cuda.make("cuDeviceGetDefaultMemPool", &[0]);
    let stream = cuda.make("cuStreamCreate", &[1]);
    let address = cuda.make("cuMemAllocAsync", &[5 << 20, stream]);
    cuda.ok("cuMemsetD8Async", &[address, 3, 5 << 20, stream]);
    let used = || {
        let mut used = 0u64;
        cuda.ok("cuMemPoolGetAttribute", &[pool, 7, at(&mut used)]);
        used
    };
    assert!(used() >= 5 << 20, "{}", used());
    cuda.ok("cuMemFreeAsync", &[address, stream]);
    cuda.ok("cuStreamSynchronize", &[stream]);
    let mut threshold = u64::MAX;
    cuda.ok("cuMemPoolSetAttribute", &[pool, 4, at(&mut threshold)]);
    threshold = 0;
    cuda.ok("cuMemPoolGetAttribute", &[pool, 4, at(&mut threshold)]);
    assert_eq!(threshold, u64::MAX);
}
