//! Moves, conversions, special registers and addresses as values.

use expect_test::expect;

use super::{check, check_kernel};

#[test]
fn moves_copy_join_and_split() {
    check(
        r"
        mov.u32 %r1, %r2;
        mov.f64 %d1, 0d4000000000000000;
        mov.b32 %r1, 0f3F800000;
        mov.u16 %h1, -1;
        mov.b128 %q1, %q2;
        mov.b64 %d1, {%r1, %r2};
        mov.b32 {%h1, _}, %r3;
        mov.b64 {%h1, %h2, %h3, %h4}, %d2;
        mov.b128 %q1, {%d1, 7};
        mov.u32 %r1, WARP_SZ;
        mov.u64 %d1, (1 << 40) + 0x10 * -2;",
        expect![[r#"
            r1 = mov.b32 r0
            r2 = mov.b64 <0>
            r1 = mov.b32 <0x3f800000>
            r0 = mov.b16 <0xffff>
            r6 = mov.b128 r2
            r2 = pack.b64.b32 r1, r0
            r0 = unpack.b32.b16 r0
            r0, r1, r6, r7 = unpack.b64.b16 r4
            r6 = pack.b128.b64 r2, <7>
            r1 = mov.b32 <32>
            r2 = mov.b64 <0xffffffe0>
        "#]],
    );
}

#[test]
fn vectors_are_moved_at_once() {
    check(
        r"
        .reg .v4 .u16 %v; .reg .v2 .b32 %w<3>;
        mov.v4.u16 %v, {%h1, %h2, %h3, %h4};
        mov.v2.b32 {%r1, %r2}, {%r2, %r1};
        mov.v2.b32 %w1, %w2;
        mov.u16 %h5, %v.z;
        mov.b32 %w1.y, %r3;
        add.s32 %r4, %w1.x, %w1.g;",
        expect![[r#"
            r4 = pack.b64.b16 r0, r1, r2, r3
            r0, r1, r2, r3 = unpack.b64.b16 r4
            r6 = pack.b64.b32 r4, r5
            r5, r4 = unpack.b64.b32 r6
            r6 = pack.b64.b32 r4, r5
            r4, r5 = unpack.b64.b32 r6
            r6 = mov.b16 r2
            r5 = mov.b32 r0
            r0 = add.s32 r4, r5
        "#]],
    );
}

#[test]
fn special_registers_are_read_by_one_move() {
    check(
        r"
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, %ctaid.z;
        mov.u32 %r3, %ntid.y;
        mov.u32 %r4, %nctaid.x;
        mov.u32 %r5, %tid.w;
        mov.u32 %r1, %laneid;
        mov.u32 %r1, %lanemask_lt;
        mov.u64 %d1, %clock64;
        mov.u64 %d1, %globaltimer;
        mov.u32 %r1, %nsmid;
        mov.u32 %r1, %dynamic_smem_size;
        mov.u64 %d1, %gridid;
        mov.u32 %r1, %cluster_nctaid.x;
        mov.u32 %r1, %envreg3;",
        expect![[r#"
            r0 = threadidx(0)
            r0 = blockidx(2)
            r0 = mov.b32 <ntid.y>
            r0 = mov.b32 <nctaid.x>
            r0 = mov.b32 <0>
            r0 = laneid
            r0 = lanemasklt
            r0 = clock64
            r0 = globaltimer
            r0 = mov.b32 <smcount>
            r0 = mov.b32 <shareddynamicbytes>
            r0 = mov.b64 <gridid>
            r0 = mov.b32 <1>
            r0 = mov.b32 <0>
        "#]],
    );
}

#[test]
fn a_special_register_in_another_instruction_is_read_before_it() {
    check(
        r"
        mad.lo.s32 %r1, %ctaid.x, %ntid.x, %tid.x;
        @%p1 cvt.u64.u32 %d1, %laneid;",
        expect![[r#"
            r0 = blockidx(0)
            r1 = threadidx(0)
            r0 = mad.s32 r0, <ntid.x>, r1
            @p1 r0 = laneid
            @p1 r1 = cvt.u64.u32 r0
        "#]],
    );
}

#[test]
fn conversions_keep_both_types() {
    check(
        r"
        cvt.rn.f32.s32 %r1, %r2;
        cvt.rzi.ftz.sat.u8.f32 %h1, %r2;
        cvt.u64.u32 %d1, %r2;
        cvt.s16.s8 %h1, %h2;
        cvt.rn.f16.f32 %h1, %r2;
        cvt.f64.f32 %d1, %r2;
        cvt.rni.f32.f32 %r1, %r2;
        cvt.rn.relu.f16x2.f32 %r1, %r2, %r3;
        cvt.rn.satfinite.e4m3x2.f32 %h1, %r2, %r3;
        cvt.rn.f16x2.e5m2x2 %r1, %h2;
        cvt.rna.tf32.f32 %r1, %r2;
        cvt.pack.sat.s16.s32 %r1, %r2, %r3;
        cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;",
        expect![[r#"
            r0 = cvt.rn.f32.s32 r0
            r0 = cvt.rzi.ftz.sat.u8.f32 r0
            r0 = cvt.u16.u8 r0
            r1 = cvt.u64.u32 r0
            r0 = cvt.s16.s8 r0
            r0 = cvt.rn.f16.f32 r0
            r1 = cvt.f64.f32 r0
            r0 = cvt.rni.f32 r0
            r0 = cvt.rn.relu.f16x2.f32 r0, r1
            r0 = cvt.rn.satfinite.e4m3x2.f32 r0, r1
            r0 = cvt.rn.f16x2.e5m2x2 r0
            r0 = cvt.rna.tf32.f32 r0
            r0 = cvtpack.sat.s16.s32 r0, r1
            r0 = cvtpack.sat.u8.s32 r0, r1, r2
        "#]],
    );
}

#[test]
fn a_result_narrower_than_its_register_is_extended_by_its_sign() {
    check(
        r"
        cvt.s8.s32 %r1, %r2;
        cvt.u16.u64 %r1, %d2;
        cvt.s32.s8 %d1, %h2;
        cvt.u32.s8 %d1, %h2;
        cvt.rzi.s8.f32 %r1, %r2;
        cvt.u32.u16 %r1, %r2;",
        expect![[r#"
            r0 = cvt.s32.s8 r0
            r0 = cvt.u32.u16 r1
            r1 = cvt.s64.s8 r0
            r0 = cvt.u32.s8 r0
            r1 = cvt.u64.u32 r0
            r0 = cvt.rzi.s8.f32 r0
            r0 = cvt.s32.s8 r0
            r0 = cvt.u32.u16 r0
        "#]],
    );
}

#[test]
fn variables_have_addresses_in_their_space() {
    check_kernel(
        r"
        .global .align 4 .b8 table[64];
        .const .f32 weights[4];
        .shared .align 16 .b8 tile[100];
        .extern .shared .align 32 .b8 dynamic[];",
        r"
        .local .align 8 .b8 depot[24]; .local .u32 spot;
        .shared .u32 counter;
        mov.u64 %d1, table;
        mov.u64 %d1, table + 12;
        mov.u64 %d1, weights;
        mov.u32 %r1, tile;
        mov.u64 %d1, counter;
        mov.u64 %d1, dynamic+4;
        mov.u64 %d1, spot;
        mov.b64 %d1, depot;
        mov.b64 %d1, b;
        cvta.global.u64 %d2, table;
        cvta.shared.u64 %d2, %d1;
        cvta.to.local.u64 %d2, %d1;
        cvta.param.u64 %d2, b;
        isspacep.shared %p1, %d2;
        add.s64 %d1, %d2, tile;",
        expect![[r#"
            r0 = mov.b64 <word 0 of table>
            r0 = mov.b64 <word 0 of table+12>
            r0 = mov.b64 <word 0 of weights>
            r0 = mov.b32 <0>
            r0 = mov.b64 <100>
            r0 = mov.b64 <132>
            r0 = mov.b64 <24>
            r0 = mov.b64 <0>
            r0 = mov.b64 <8>
            r2 = cvta.global.u64 <word 0 of table>
            r2 = cvta.shared.u64 r0
            r2 = cvta.to.local.u64 r0
            r2 = cvta.param.u64 <8>
            p1 = isspace.shared.u64 r2
            r0 = add.s64 r2, <0>
        "#]],
    );
}
