//! Loads, stores, atomics, fences.

use expect_test::expect;

use super::{check, check_kernel};

#[test]
fn loads_and_stores_keep_space_type_and_ordering() {
    check(
        r"
        ld.global.f32 %r1, [%d1];
        ld.global.nc.L1::no_allocate.L2::128B.b32 %r1, [%d1+-4];
        ld.shared.u16 %h1, [%r1+16];
        ld.shared::cta.b64 %d2, [8];
        ld.local.s32 %r1, [%d1-8];
        ld.const.u8 %h1, [%d1];
        ld.u64 %d2, [%d1];
        ld.volatile.global.u32 %r1, [%d1];
        ld.acquire.gpu.global.b32 %r1, [%d1];
        ld.relaxed.cta.shared.b32 %r1, [%r2];
        ld.mmio.relaxed.sys.global.u32 %r1, [%d1];
        ld.global.cv.b128 %q1, [%d1];
        ldu.global.f32 %r1, [%d1];
        ld.global.L2::cache_hint.f32 %r1, [%d1], %d2;
        st.global.f32 [%d1], %r1;
        st.shared.b8 [%r1], %h2;
        st.global.wt.u32 [%d1+4], 7;
        st.release.sys.global.b32 [%d1], %r1;
        st.b64 [%d1], %d2;",
        expect![[r#"
            r2 = load.global.f32 [r0]
            r2 = load.global.readonly.b32 [r0-4]
            r2 = load.shared.u16 [r2+16]
            r3 = load.shared.b64 [8]
            r2 = load.local.s32 [r0-8]
            r2 = load.const.u8 [r0]
            r3 = load.generic.u64 [r0]
            r2 = load.volatile.global.u32 [r0]
            r2 = load.acquire.global.b32 [r0]
            r2 = load.relaxed.block.shared.b32 [r0]
            r2 = load.mmio.system.global.u32 [r0]
            r5 = load.global.volatile.b128 [r0]
            r2 = load.global.f32 [r0]
            r2 = load.global.f32 [r0]
            store.global.f32 [r0], r2
            store.shared.b8 [r2], r0
            store.global.volatile.u32 [r0+4], <7>
            store.release.system.global.b32 [r0], r2
            store.generic.b64 [r0], r3
        "#]],
    );
}

#[test]
fn vector_accesses_have_an_element_a_register() {
    check(
        r"
        .reg .v4 .f32 %v;
        ld.global.v2.f32 {%r1, %r2}, [%d1];
        ld.global.nc.v4.u32 {%r1, _, %r3, %r4}, [%d1];
        ld.shared.v2.u64 {%d2, %d3}, [%r1];
        ld.global.v4.f32 %v, [%d1];
        ld.global.b32 {%r1}, [%d1];
        st.global.v4.u16 [%d1], {%h1, %h2, %h3, 5};
        st.local.v2.f64 [%d1], {%d2, %d3};
        st.v4.f32 [%d1], %v;",
        expect![[r#"
            r2, r3 = load.global.v2.f32 [r0]
            r2, _, r3, r4 = load.global.readonly.v4.u32 [r0]
            r3, r5 = load.shared.v2.u64 [r2]
            r7, r8, r9, r10 = load.global.v4.f32 [r0]
            r2 = load.global.b32 [r0]
            store.global.v4.u16 [r0], r2, r11, r12, <5>
            store.local.v2.f64 [r0], r3, r5
            store.generic.v4.f32 [r0], r7, r8, r9, r10
        "#]],
    );
}

#[test]
fn narrow_loads_extend_to_their_register() {
    check(
        r"
        ld.global.s8 %r1, [%d1];
        ld.global.u8 %h1, [%d1];
        ld.global.s32 %d2, [%d1];
        ld.global.v2.u8 {%d2, %d3}, [%d1];
        st.global.u8 [%d1], %d2;",
        expect![[r#"
            r2 = load.global.s8 [r0]
            r2 = load.global.u8 [r0]
            r2 = load.global.s32 [r0]
            r3 = cvt.s64.s32 r2
            r2, r5 = load.global.v2.u8 [r0]
            r3 = cvt.u64.u8 r2
            r0 = cvt.u64.u8 r5
            store.global.u8 [r0], r3
        "#]],
    );
}

#[test]
fn variables_are_accessed_where_they_are() {
    check_kernel(
        ".global .u32 counter; .const .f32 weights[4]; .shared .f32 tile[64]; .extern .shared .f32 more[];",
        r"
        .local .b32 spot[4];
        ld.global.u32 %r1, [counter];
        ld.const.f32 %r1, [weights+8];
        ld.shared.f32 %r1, [tile+12];
        st.shared.f32 [more+4], %r1;
        st.local.b32 [spot+4], %r1;
        ld.u32 %r1, [counter];
        ld.f32 %r1, [tile];
        atom.shared.add.f32 %r1, [tile], %r2;",
        expect![[r#"
            r0 = load.global.u32 [<word 0 of counter>]
            r0 = load.const.f32 [<word 0 of weights>+8]
            r0 = load.shared.f32 [12]
            store.shared.f32 [260], r0
            store.local.b32 [4], r0
            r0 = load.global.u32 [<word 0 of counter>]
            r0 = load.shared.f32 [0]
            r0 = atomic.add.shared.f32 [0], r0
        "#]],
    );
}

#[test]
fn parameters_of_a_kernel_are_constants() {
    super::check_program(
        r"
        .entry k(.param .s8 small, .param .u16 half, .param .u64 .ptr .global .align 4 at, .param .align 16 .b8 whole[40])
        {
            .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .b64 %d<9>;
            ld.param.s8 %r1, [small];
            ld.param.s8 %h1, [small];
            ld.param.u16 %d1, [half];
            ld.param.u64 %d2, [at];
            ld.param.f32 %r2, [whole+36];
            ld.param.s32 %d3, [whole+4];
            ld.param.v4.u32 {%r3, %r4, %r5, %r6}, [whole+16];
            mov.b64 %d4, whole;
            ld.param.u32 %r7, [%d4+8];
            ret;
        }",
        expect![[r#"
            entry k
              param small: 1 bytes at 0, s8
              param half: 2 bytes at 2, u16
              param at: 8 bytes at 8, u64
              param whole: 40 bytes at 16, b8
              4 slots, 0 predicates, 2 registers estimated
              c0 = signed param[0..1]
              c1 = param[2..4]
              c2 = param[8..12]
              c3 = param[12..16]
              c4 = param[52..56]
              c5 = param[20..24]
              c6 = 16
              c7 = 0
               0  r0 = mov.b32 c0
               1  r0 = mov.b16 c0
               2  r0 = cvt.u64.u32 c1
               3  r0 = mov.b64 c2
               4  r0 = mov.b32 c4
               5  r0 = cvt.s64.s32 c5
               6  r0, r1, r2, r3 = load.param.v4.u32 [32]
               7  r0 = mov.b64 c6
               8  r2 = load.param.u32 [r0+8]
               9  exit
        "#]],
    );
}

#[test]
fn atomics_have_a_result_or_none() {
    check(
        r"
        atom.global.add.u32 %r1, [%d1], 1;
        atom.add.relaxed.cta.f64 %d2, [%d1], %d3;
        atom.shared.cas.b32 %r1, [%r2], %r3, %r4;
        atom.acq_rel.gpu.global.exch.b64 %d2, [%d1], %d3;
        atom.global.inc.u32 _, [%d1], 15;
        atom.global.add.noftz.f16x2 %r1, [%d1], %r2;
        atom.min.s64 %d2, [%d1+8], %d3;
        atom.global.cas.b16 %h1, [%d1], %h2, %h3;
        red.global.add.f32 [%d1], %r1;
        red.release.sys.global.and.b32 [%d1], 0xFF;
        membar.cta;
        membar.gl;
        fence.acq_rel.sys;
        fence.proxy.async;
        prefetch.global.L2 [%d1];
        createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;",
        expect![[r#"
            r2 = atomic.add.global.u32 [r0], <1>
            r5 = atomic.add.relaxed.block.generic.f64 [r0], r3
            r2 = atomic.cas.shared.b32 [r2], r0, r1
            r5 = atomic.exch.acquirerelease.global.b64 [r0], r3
            atomic.inc.global.u32 [r0], <15>
            r2 = atomic.add.global.f16x2 [r0], r2
            r5 = atomic.min.generic.s64 [r0+8], r3
            r3 = atomic.cas.global.b16 [r0], r3, r4
            atomic.add.global.f32 [r0], r2
            atomic.and.release.system.global.b32 [r0], <255>
            fence.block
            fence.gpu
            fence.system
            nop
            nop
            r0 = mov.b64 <0>
        "#]],
    );
}
