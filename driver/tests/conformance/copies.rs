//! Copies and fills of odd sizes, in all directions.

use crate::library::{Scope, at, code, of};

fn ramp(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 31 + 7) as u8).collect()
}

#[test]
fn bytes_of_odd_sizes_and_places_come_back_as_they_went() {
    let scope = Scope::new();
    let memory = scope.alloc(200_000);
    for (bytes, offset) in [(1, 0), (3, 1), (7, 255), (255, 3), (65_536, 1), (65_537, 5), (131_071, 13)] {
        let sent = ramp(bytes);
        scope.cuda.ok("cuMemcpyHtoD_v2", &[memory + offset, of(&sent[..]), bytes as u64]);
        assert_eq!(scope.download::<u8>(memory + offset, bytes), sent, "{bytes} bytes at {offset}");
    }
}

#[test]
fn asynchronous_copies_from_memory_that_is_reused_at_once_send_what_was_there() {
    let scope = Scope::new();
    let stream = scope.cuda.make("cuStreamCreate", &[0]);
    for bytes in [5, 64 << 10, (64 << 10) + 1, 300_001] {
        let memory = scope.alloc(bytes);
        let mut sent = ramp(bytes);
        let expected = sent.clone();
        scope.cuda.ok("cuMemcpyHtoDAsync_v2", &[memory, of(&sent[..]), bytes as u64, stream]);
        sent.fill(0);
        let mut back = vec![0u8; bytes];
        scope
            .cuda
            .ok("cuMemcpyDtoHAsync_v2", &[back.as_mut_ptr().expose_provenance() as u64, memory, bytes as u64, stream]);
        scope.cuda.ok("cuStreamSynchronize", &[stream]);
        assert_eq!(back, expected, "{bytes} bytes");
    }
}

#[test]
fn a_copy_that_leaves_its_allocation_is_refused() {
    let scope = Scope::new();
    let (a, b, bytes) = (scope.alloc(256), scope.alloc(256), ramp(1 << 22));
    let past = 1u64 << 21;
    assert_eq!(scope.cuda.call("cuMemcpyHtoD_v2", &[a, of(&bytes[..]), past + 1]), code::INVALID_VALUE);
    assert_eq!(scope.cuda.call("cuMemcpyDtoD_v2", &[a, b, past + 1]), code::INVALID_VALUE);
    assert_eq!(scope.cuda.call("cuMemcpyHtoD_v2", &[0, of(&bytes[..]), 1]), code::INVALID_VALUE);
    assert_eq!(scope.cuda.call("cuMemcpyHtoD_v2", &[a, 0, 1]), code::INVALID_VALUE);
    scope.cuda.ok("cuMemcpyHtoD_v2", &[a, of(&bytes[..]), 0]);
}

#[test]
fn device_to_device_and_unified_copies_find_their_sides() {
    let scope = Scope::new();
    let sent = ramp(999);
    let (a, b) = (scope.upload(&sent), scope.alloc(1000));
    scope.cuda.ok("cuMemcpyDtoD_v2", &[b + 1, a, 999]);
    assert_eq!(scope.download::<u8>(b + 1, 999), sent);
    let mut back = vec![0u8; 999];
    scope.cuda.ok("cuMemcpy", &[back.as_mut_ptr().expose_provenance() as u64, b + 1, 999]);
    assert_eq!(back, sent);
    scope.cuda.ok("cuMemcpyPeer", &[a, scope.context, b, scope.context, 999]);
    assert_eq!(scope.download::<u8>(a + 1, 998), sent[..998]);
}

#[test]
fn fills_take_elements_of_every_width_and_odd_counts() {
    let scope = Scope::new();
    let memory = scope.alloc(400_003);
    scope.cuda.ok("cuMemsetD8_v2", &[memory, 0x11, 400_003]);
    scope.cuda.ok("cuMemsetD16_v2", &[memory + 2, 0xbeef, 3]);
    scope.cuda.ok("cuMemsetD32_v2", &[memory + 8, 0x0102_0304, 99_998]);
    let bytes = scope.download::<u8>(memory, 400_003);
    assert_eq!(bytes[..10], [0x11, 0x11, 0xef, 0xbe, 0xef, 0xbe, 0xef, 0xbe, 4, 3]);
    assert_eq!(bytes[399_996..], [4, 3, 2, 1, 0x11, 0x11, 0x11]);
    assert_eq!(scope.cuda.call("cuMemsetD32_v2", &[memory + 2, 1, 1]), code::INVALID_VALUE);
    assert_eq!(scope.cuda.call("cuMemsetD16_v2", &[memory + 1, 1, 1]), code::INVALID_VALUE);
    scope.cuda.ok("cuMemsetD8_v2", &[memory, 1, 0]);
}

#[test]
fn a_fill_of_rows_leaves_the_gaps_between_them() {
    let scope = Scope::new();
    let memory = scope.upload(&[0u8; 64]);
    scope.cuda.ok("cuMemsetD2D16_v2", &[memory, 16, 0x0201, 3, 4]);
    let bytes = scope.download::<u8>(memory, 64);
    for row in bytes.chunks(16) {
        assert_eq!(row, [1, 2, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn a_box_is_copied_row_by_row() {
    #[repr(C)]
    #[derive(Default)]
    struct Box2d {
        from: [u64; 2],
        from_type: u32,
        from_rest: [u64; 4],
        to: [u64; 2],
        to_type: u32,
        to_rest: [u64; 4],
        width: u64,
        height: u64,
    }
    let scope = Scope::new();
    let sent = ramp(64);
    let memory = scope.upload(&[0u8; 100]);
    // Three rows of five bytes from (2, 1) of an 8-byte pitch on the host to (1, 2) of a 10-byte pitch on the device.
    let mut copy = Box2d {
        from: [2, 1],
        from_type: 1,
        from_rest: [of(&sent[..]), 0, 0, 8],
        to: [1, 2],
        to_type: 2,
        to_rest: [0, memory, 0, 10],
        width: 5,
        height: 3,
    };
    scope.cuda.ok("cuMemcpy2DUnaligned_v2", &[at(&mut copy)]);
    let back = scope.download::<u8>(memory, 100);
    for row in 0..10 {
        let expected = match row {
            2..5 => [&[0][..], &sent[(row - 1) * 8 + 2..][..5], &[0; 4]].concat(),
            _ => vec![0; 10],
        };
        assert_eq!(back[row * 10..][..10], expected, "row {row}");
    }
    copy.width = 11;
    assert_eq!(scope.cuda.call("cuMemcpy2DUnaligned_v2", &[at(&mut copy)]), code::INVALID_VALUE);
}
