//! Integer and floating-point arithmetic, logic and comparisons.

use expect_test::expect;

use super::check;

#[test]
fn integers_keep_type_half_and_saturation() {
    check(
        r"
        add.s32 %r1, %r2, -1;
        add.sat.s32 %r1, %r2, %r3;
        add.u64 %d1, %d2, 4294967296;
        add.u16x2 %r1, %r2, %r3;
        sub.s16 %h1, %h2, 70000;
        mul.lo.s32 %r1, %r2, 0x10;
        mul.hi.u64 %d1, %d2, %d3;
        mul.wide.s32 %d1, %r2, 4;
        mul.wide.u16 %r1, %h2, %h3;
        mad.lo.s32 %r1, %r2, %r3, %r4;
        mad.hi.sat.s32 %r1, %r2, %r3, %r4;
        mad.wide.u32 %d1, %r2, %r3, %d4;
        mul24.hi.u32 %r1, %r2, %r3;
        sad.u32 %r1, %r2, %r3, %r4;
        div.s64 %d1, %d2, %d3;
        rem.u32 %r1, %r2, 0b101;
        abs.s32 %r1, %r2;
        min.relu.s32 %r1, %r2, 010;",
        expect![[r#"
            r0 = add.s32 r0, <0xffffffff>
            r0 = add.sat.s32 r0, r1
            r2 = add.u64 r0, <0>
            r0 = add.u16x2 r0, r1
            r0 = sub.s16 r0, <0x1170>
            r0 = mul.s32 r0, <16>
            r2 = mul.hi.u64 r0, r4
            r2 = mul.wide.s32 r0, <4>
            r0 = mul.wide.u16 r0, r1
            r0 = mad.s32 r0, r1, r2
            r0 = mad.hi.sat.s32 r0, r1, r2
            r2 = mad.wide.u32 r0, r1, r4
            r0 = mul24.hi.u32 r0, r1
            r0 = sad.u32 r0, r1, r2
            r2 = div.s64 r0, r4
            r0 = rem.u32 r0, <5>
            r0 = abs.s32 r0
            r0 = min.relu.s32 r0, <8>
        "#]],
    );
}

#[test]
fn bit_operations_have_32_bit_counts_and_results() {
    check(
        r"
        popc.b64 %r1, %d2;
        clz.b32 %r1, %r2;
        brev.b64 %d1, %d2;
        bfind.shiftamt.s64 %r1, %d2;
        fns.b32 %r1, %r2, %r3, 1;
        bfe.s64 %d1, %d2, %r3, 8;
        bfi.b32 %r1, %r2, %r3, 4, 8;
        szext.wrap.s32 %r1, %r2, %r3;
        bmsk.clamp.b32 %r1, %r2, %r3;
        dp4a.u32.s32 %r1, %r2, %r3, %r4;
        dp2a.hi.s32.u32 %r1, %r2, %r3, %r4;
        shl.b64 %d1, %d2, 3;
        shr.s16 %h1, %h2, %r3;
        shf.l.wrap.b32 %r1, %r2, %r3, %r4;
        shf.r.clamp.b32 %r1, %r2, %r3, 7;
        prmt.b32 %r1, %r2, %r3, 0x3210;
        prmt.b32.ecl %r1, %r2, %r3, %r4;
        lop3.b32 %r1, %r2, %r3, %r4, 0x96;
        lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, !%p2;
        cnot.b32 %r1, %r2;
        not.b64 %d1, %d2;",
        expect![[r#"
            r2 = popc.b64 r0
            r2 = clz.b32 r0
            r2 = brev.b64 r0
            r2 = bfind.shiftamt.s64 r0
            r2 = fns.b32 r0, r4, <1>
            r2 = bfe.s64 r0, r4, <8>
            r2 = bfi.b32 r0, r4, <4>, <8>
            r2 = szext.wrap.s32 r0, r4
            r2 = bmsk.b32 r0, r4
            r2 = dp4a.u32.s32 r0, r4, r1
            r2 = dp2a.hi.s32.u32 r0, r4, r1
            r2 = shl.b64 r0, <3>
            r0 = shr.s16 r0, r4
            r2 = shfl.wrap.b32 r0, r4, r1
            r2 = shfr.b32 r0, r4, <7>
            r2 = prmt.b32 r0, r4, <0x3210>
            r2 = prmt.ecl.b32 r0, r4, r1
            r2 = lop3.0x96.b32 r0, r4, r1
            r2, p1 = lop3.or.0x80.b32 r0, r4, r1, !p1
            r2 = cnot.b32 r0
            r2 = not.b64 r0
        "#]],
    );
}

#[test]
fn a_carry_chain_goes_through_one_predicate() {
    check(
        r"
        add.cc.u32 %r1, %r2, %r3;
        addc.cc.u32 %r4, %r5, %r6;
        addc.u32 %r7, %r8, 0;
        sub.cc.s64 %d1, %d2, %d3;
        subc.s64 %d4, %d5, %d6;
        mad.lo.cc.u32 %r1, %r2, %r3, %r4;
        madc.hi.u32 %r5, %r2, %r3, %r6;",
        expect![[r#"
            r0, p1 = add.carry_out.u32 r0, r1
            r2, p1 = add.carry_in.carry_out.u32 r0, r2, p1
            r0 = add.carry_in.u32 r0, <0>, p1
            r5, p1 = sub.carry_out.s64 r0, r3
            r5 = sub.carry_in.s64 r0, r3, p1
            r0, p1 = mad.carry_out.u32 r0, r1, r2
            r0 = mad.hi.carry_in.u32 r0, r1, r2, p1
        "#]],
    );
}

#[test]
fn floats_keep_rounding_and_flags() {
    check(
        r"
        add.f32 %r1, %r2, 0f3F800000;
        add.rn.ftz.sat.f32 %r1, %r2, 1.5;
        sub.rz.f64 %d1, %d2, 0d3FF0000000000000;
        mul.rm.f32 %r1, %r2, -2.0;
        fma.rn.f32 %r1, %r2, %r3, %r4;
        mad.f64 %d1, %d2, %d3, 0f40000000;
        fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;
        fma.rn.bf16 %h1, %h2, %h3, %h4;
        add.rn.f32x2 %d1, %d2, %d3;
        div.approx.ftz.f32 %r1, %r2, %r3;
        div.full.f32 %r1, %r2, %r3;
        div.rn.f64 %d1, %d2, %d3;
        rcp.approx.ftz.f64 %d1, %d2;
        sqrt.rn.f32 %r1, %r2;
        rsqrt.approx.f32 %r1, %r2;
        ex2.approx.ftz.bf16x2 %r1, %r2;
        tanh.approx.f16 %h1, %h2;
        min.NaN.xorsign.abs.f32 %r1, %r2, %r3;
        max.ftz.f32 %r1, %r2, %r3, %r4;
        neg.ftz.f16 %h1, %h2;
        copysign.f64 %d1, %d2, %d3;
        testp.subnormal.f32 %p1, %r2;",
        expect![[r#"
            r0 = add.f32 r0, <0x3f800000>
            r0 = add.rn.ftz.sat.f32 r0, <0x3fc00000>
            r2 = sub.rz.f64 r0, <0>
            r0 = mul.rm.f32 r0, <0xc0000000>
            r0 = fma.rn.f32 r0, r1, r2
            r2 = fma.f64 r0, r4, <0>
            r0 = fma.rn.relu.f16x2 r0, r1, r2
            r0 = fma.rn.bf16 r0, r1, r2
            r2 = add.rn.f32x2 r0, r4
            r0 = div.ftz.approx.f32 r0, r1
            r0 = div.full.f32 r0, r1
            r2 = div.rn.f64 r0, r4
            r2 = rcp.ftz.approx.f64 r0
            r0 = sqrt.rn.f32 r0
            r0 = rsqrt.approx.f32 r0
            r0 = ex2.ftz.approx.bf16x2 r0
            r0 = tanh.approx.f16 r0
            r0 = min.NaN.xorsign.abs.f32 r0, r1
            r0 = max3.ftz.f32 r0, r1, r2
            r0 = neg.ftz.f16 r0
            r2 = copysign.f64 r0, r4
            p1 = testp.subnormal.f32 r0
        "#]],
    );
}

#[test]
fn a_rounding_that_is_not_written_means_the_fast_form_of_early_ptx() {
    check(
        "div.f32 %r1, %r2, %r3;\nsin.f32 %r1, %r2;\nsqrt.f64 %d1, %d2;",
        expect![[r#"
        r0 = div.ftz.approx.f32 r0, r1
        r0 = sin.ftz.approx.f32 r0
        r2 = sqrt.f64 r0
    "#]],
    );
}

#[test]
fn comparisons_write_one_predicate_or_two() {
    check(
        r"
        setp.lt.s32 %p1, %r2, %r3;
        setp.hs.u64 %p1|%p2, %d2, 5;
        setp.equ.ftz.f32 _|%p2, %r2, 0f00000000;
        setp.ne.and.b16 %p1, %h2, 0, !%p3;
        setp.num.xor.f64 %p1|%p2, %d2, %d3, %p4;
        setp.gt.bf16x2 %p1|%p2, %r2, %r3;
        set.lt.u32.f32 %r1, %r2, %r3;
        set.ge.or.f32.s64 %r1, %d2, %d3, %p1;
        set.nan.f16x2.f16x2 %r1, %r2, %r3;
        selp.f32 %r1, 0f3F800000, %r2, %p1;
        selp.b64 %d1, %d2, -1, !%p1;
        slct.f64.f32 %d1, %d2, %d3, %r4;",
        expect![[r#"
            p1 = setp.lt.s32 r0, r1
            p1, p2 = setp.hs.u64 r0, <5>
            _, p2 = setp.equ.ftz.f32 r0, <0>
            p1 = setp.ne.and.b16 r0, <0>, !p1
            p1, p2 = setp.num.xor.f64 r0, r2, p1
            p1, p2 = setp.gt.bf16x2 r0, r1
            r4 = set.lt.f32.u32 r0, r1
            r4 = set.ge.or.s64.f32 r0, r2, p1
            r4 = set.nan.f16x2 r0, r1
            r4 = selp.f32 <0x3f800000>, r0, p1
            r4 = selp.b64 r0, <0xffffffff>, !p1
            r4 = slct.f64.f32 r0, r2, r6
        "#]],
    );
}

#[test]
fn predicates_have_a_logic_of_their_own() {
    check(
        r"
        and.pred %p1, %p2, !%p3;
        or.pred %p1, %p2, %p3;
        xor.pred %p1, %p1, %p2;
        not.pred %p1, %p2;
        mov.pred %p1, %p2;
        mov.pred %p1, -1;
        mov.pred %p1, 0;
        @!%p1 add.s32 %r1, %r2, %r3;
        mov.pred %p1, %is_explicit_cluster;",
        expect![[r#"
            p2 = predand.pred p1, !p2
            p2 = predor.pred p1, p2
            p2 = predxor.pred p2, p1
            p2 = prednot.pred p1
            p2 = predmov.pred p1
            p2 = predmov.pred true
            p2 = predmov.pred false
            @!p2 r0 = add.s32 r0, r1
            p2 = predmov.pred false
        "#]],
    );
}
