//! Accesses that must not happen: what the fault says, and that everything before it was done.

mod support;

use support::Bench;
use warpwise_simt::device::Device;
use warpwise_simt::fault::FaultKind;
use warpwise_simt::machine::Machine;
use warpwise_simt::memory::MemoryError;

#[test]
fn a_store_past_the_end_names_thread_address_and_allocation() {
    let mut bench = Bench::new("", "st.global.u32 [%mine], %t;", 1003);
    let launch = bench.launch(4, 256, 0);
    let fault = bench.fault(&launch);
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!((fault.block, fault.thread), ([3, 0, 0], [235, 0, 0]), "element 1,003 is the first past the end");
    assert_eq!(fault.address, Some(bench.out + 4 * 1003));
    assert_eq!(fault.allocation.as_deref(), Some("4 bytes past the end of a 4,012-byte allocation"));
    assert_eq!(fault.message, format!("out-of-bounds write of 4 bytes at 0x{:x}", bench.out + 4012));
    assert!(fault.to_string().starts_with("kernel k: out-of-bounds write of 4 bytes at 0x2000"), "{fault}");
    assert!(fault.instruction.contains("st.global.u32 [%mine], %t"), "{fault}");
    assert_eq!(bench.read()[..768], (0..768).map(|i| i % 256).collect::<Vec<_>>(), "earlier blocks had stored");
}

#[test]
fn addresses_that_are_not_memory() {
    let cases = [
        ("mov.u64 %d1, 0; ld.global.u32 %r3, [%d1+12];", FaultKind::Null, "null pointer: read of 4 bytes at 0xc"),
        ("mov.u64 %d1, 0x7ffd12345670; ld.global.u32 %r3, [%d1];", FaultKind::OutOfBounds, "not device memory"),
        ("ld.global.u32 %r3, [%out+2];", FaultKind::Misaligned, "not a multiple of 4"),
        ("ld.global.v2.u32 {%r3, %r4}, [%out+4];", FaultKind::Misaligned, "not a multiple of 8"),
        ("ld.global.u32 %r3, [%out+-4];", FaultKind::OutOfBounds, "4 bytes before the start of a 128-byte allocation"),
        ("atom.global.add.u32 %r3, [%out+128], 1;", FaultKind::OutOfBounds, "atomic of 4 bytes"),
        ("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%out+128];", FaultKind::OutOfBounds, "16 bytes past the end"),
        ("st.u64 [%out+124], %out;", FaultKind::Misaligned, "write of 8 bytes"),
        ("mov.u64 %d1, -8; ld.global.u64 %d2, [%d1];", FaultKind::OutOfBounds, "0xfffffffffffffff8"),
    ];
    for (body, kind, part) in cases {
        let mut bench = Bench::new("", body, 32);
        let launch = bench.launch(1, 32, 0);
        let fault = bench.fault(&launch);
        assert_eq!(fault.kind, kind, "{body}: {fault}");
        assert!(fault.to_string().contains(part), "{body}: {fault}");
    }
}

#[test]
fn shared_and_local_memory_have_their_own_bounds() {
    let declarations = ".shared .align 4 .b8 tile[100];";
    let cases = [
        ("mov.u32 %r3, tile; ld.shared.u32 %r4, [%r3+100];", "at byte 100 of the block's 100 bytes of shared memory"),
        ("mov.u32 %r3, tile; st.shared.u8 [%r3+-1], %r4;", "shared memory"),
        ("mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; ld.u32 %r4, [%d1+4096];", "at byte 4,096 of the block's"),
        (".local .align 4 .b8 mine[16]; mov.u64 %d1, mine; st.local.u32 [%d1+16], %r4;", "16 bytes of local memory"),
    ];
    for (body, part) in cases {
        let mut bench = Bench::new(declarations, body, 1);
        let launch = bench.launch(1, 32, 0);
        let fault = bench.fault(&launch);
        assert_eq!(fault.kind, FaultKind::OutOfBounds, "{body}: {fault}");
        assert!(fault.to_string().contains(part), "{body}: {fault}");
    }
}

#[test]
fn only_the_lanes_whose_guard_is_true_are_checked() {
    let body = "setp.lt.u32 %p1, %i, %n; @%p1 st.global.u32 [%mine], %i;";
    let mut bench = Bench::new("", body, 45);
    let launch = bench.launch(1, 64, 45);
    assert_eq!(bench.output(&launch), (0..45).collect::<Vec<_>>());
}

#[test]
fn a_use_after_the_free_is_told_from_a_wild_address() {
    let mut bench = Bench::new("", "ld.global.u32 %r3, [%out+8];", 4);
    let launch = bench.launch(1, 32, 0);
    bench.machine.free(bench.out).unwrap();
    bench.machine.alloc(4096).unwrap();
    let fault = bench.fault(&launch);
    assert_eq!(fault.kind, FaultKind::UseAfterFree);
    assert_eq!(fault.allocation.as_deref(), Some("byte 8 of a 16-byte allocation that was freed"));
}

#[test]
fn trap_names_the_first_lane_that_executes_it() {
    let body = "setp.gt.u32 %p1, %t, 36; @%p1 trap;";
    let mut bench = Bench::new("", body, 1);
    let launch = bench.launch(1, 64, 0);
    let fault = bench.fault(&launch);
    assert_eq!((fault.kind, fault.thread), (FaultKind::Trap, [37, 0, 0]));
}

#[test]
fn a_fault_in_the_second_of_two_dimensions_names_the_thread_by_its_axes() {
    let mut bench = Bench::new("", "st.global.u32 [%mine], %t;", 100);
    let launch = warpwise_simt::machine::Launch { block: [8, 16, 1], ..bench.launch(1, 1, 0) };
    assert_eq!(bench.fault(&launch).thread, [4, 12, 0], "element 100 of a block of 8 × 16");
}

#[test]
fn the_host_side_is_checked_too() {
    let mut machine = Machine::new(Device::default_device());
    let address = machine.alloc(10).unwrap();
    assert_eq!(address % 256, 0);
    assert!(matches!(machine.write(address, &[0; 11]), Err(MemoryError::OutOfRange { .. })));
    assert!(matches!(machine.read(address + 9, &mut [0; 2]), Err(MemoryError::OutOfRange { .. })));
    assert!(matches!(machine.free(address + 1), Err(MemoryError::NotAllocated { .. })));
    assert!(matches!(machine.alloc(u64::MAX), Err(MemoryError::OutOfMemory { .. })));
    machine.write(address, &[7; 10]).unwrap();
    machine.free(address).unwrap();
    assert!(matches!(machine.free(address), Err(MemoryError::NotAllocated { .. })));
    assert!(matches!(machine.read(address, &mut [0]), Err(MemoryError::OutOfRange { .. })));
    let error = machine.read(address, &mut [0]).unwrap_err().to_string();
    assert!(error.contains("that was freed"), "{error}");
}

#[test]
fn addresses_repeat_from_machine_to_machine() {
    let place = || {
        let mut machine = Machine::new(Device::default_device());
        [machine.alloc(1000).unwrap(), machine.alloc(0).unwrap(), machine.alloc(5_000_000).unwrap()]
    };
    assert_eq!(place(), place());
}

#[test]
fn two_machines_do_not_share_memory() {
    let (mut a, mut b) = (Machine::new(Device::default_device()), Machine::new(Device::default_device()));
    let (x, y) = (a.alloc(4).unwrap(), b.alloc(4).unwrap());
    a.write(x, &[1; 4]).unwrap();
    b.write(y, &[2; 4]).unwrap();
    let mut bytes = [0; 4];
    a.read(x, &mut bytes).unwrap();
    assert_eq!((x, bytes), (y, [1; 4]));
}
