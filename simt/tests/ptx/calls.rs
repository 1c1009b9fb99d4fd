//! Functions: arguments and results in registers, slots above the caller's.

use expect_test::expect;

use super::check_program;

#[test]
fn arguments_and_results_are_moved_to_the_function_and_back() {
    check_program(
        r"
        .func (.param .b64 result) scale(.param .b64 x, .param .b32 by)
        {
            .reg .b32 %r<3>; .reg .b64 %d<4>;
            ld.param.f64 %d1, [x];
            ld.param.b32 %r1, [by];
            cvt.rn.f64.u32 %d2, %r1;
            mul.rn.f64 %d3, %d1, %d2;
            st.param.f64 [result], %d3;
            ret;
        }
        .entry k(.param .u64 out)
        {
            .reg .b64 %d<4>; .reg .b32 %r<2>;
            ld.param.u64 %d1, [out];
            mov.u32 %r1, %tid.x;
            ld.global.f64 %d2, [%d1];
            { .param .b64 param0; .param .b32 param1; .param .b64 retval0;
              st.param.f64 [param0], %d2;
              st.param.b32 [param1], %r1;
              call.uni (retval0), scale, (param0, param1);
              ld.param.f64 %d3, [retval0]; }
            st.global.f64 [%d1], %d3;
            ret;
        }",
        expect![[r#"
            entry k
              param out: 8 bytes at 0, u64
              14 slots, 0 predicates, 6 registers estimated
              c0 = param[0..4]
              c1 = param[4..8]
               0  r0 = mov.b64 c0
               1  r2 = threadidx(0)
               2  r3 = load.global.f64 [r0]
               3  r5 = mov.b64 r3
               4  r2 = mov.b32 r2
               5  r7 = mov.b64 r5
               6  r9 = mov.b32 r2
               7  call 12
               8  r2 = mov.b64 r7
               9  r4 = mov.b64 r2
              10  store.global.f64 [r0], r4
              11  exit
              12  r10 = mov.b64 r7
              13  r7 = mov.b32 r9
              14  r8 = cvt.rn.f64.u32 r7
              15  r12 = mul.rn.f64 r10, r8
              16  r7 = mov.b64 r12
              17  return
        "#]],
    );
}

#[test]
fn a_structure_travels_as_words_and_its_fields_are_bytes_of_them() {
    check_program(
        r"
        .func (.param .align 8 .b8 out[16]) f(.param .align 8 .b8 in[16])
        {
            .reg .b16 %h<3>; .reg .b32 %r<6>; .reg .b64 %d<3>;
            ld.param.u8 %r1, [in+9];
            ld.param.s16 %r2, [in+14];
            ld.param.v2.b32 {%r3, %r4}, [in];
            add.s32 %r5, %r3, %r4;
            st.param.b8 [out+5], %r1;
            st.param.v2.b32 [out+8], {%r2, %r5};
            ret;
        }
        .entry k()
        {
            .reg .b16 %h<3>; .reg .b32 %r<3>; .reg .b64 %d<3>;
            { .param .align 8 .b8 p[16]; .param .align 8 .b8 q[16];
              st.param.b64 [p], 1;
              st.param.b16 [p+10], 2;
              call (q), f, (p);
              ld.param.b64 %d1, [q+8]; }
            st.global.b64 [%d1], %d1;
            ret;
        }",
        expect![[r#"
            entry k
              16 slots, 0 predicates, 7 registers estimated
              c0 = 1
              c1 = 0
              c2 = 2
              c3 = 16
              c4 = 8
               0  r0 = mov.b64 c0
               1  r2 = bfi.b32 c2, r2, c3, c3
               2  r6 = mov.b128 r0
               3  call 8
               4  r0 = mov.b128 r12
               5  r4 = mov.b64 r2
               6  store.global.b64 [r4], r4
               7  exit
               8  r10 = bfe.u32 r8, c4, c4
               9  r11 = bfe.s32 r9, c3, c3
              10  r12, r13 = unpack.b64.b32 r6
              11  r6 = add.s32 r12, r13
              12  r13 = bfi.b32 r10, r13, c4, c4
              13  r14 = pack.b64.b32 r11, r6
              14  return
        "#]],
    );
}

#[test]
fn functions_may_have_registers_as_parameters() {
    check_program(
        r"
        .func (.reg .u32 %sum) add3(.reg .u32 %a, .reg .v2 .u32 %b)
        {
            add.u32 %sum, %a, %b.x;
            add.u32 %sum, %sum, %b.y;
            ret;
        }
        .entry k() { .reg .u32 %x; .reg .v2 .u32 %y; call (%x), add3, (5, %y); st.shared.u32 [%x], %x; ret; }",
        expect![[r#"
            entry k
              5 slots, 0 predicates, 3 registers estimated
              c0 = 5
               0  r2 = mov.b32 c0
               1  r3 = mov.b64 r0
               2  call 6
               3  r0 = mov.b32 r2
               4  store.shared.u32 [r0], r0
               5  exit
               6  r2 = add.u32 r2, r3
               7  r2 = add.u32 r2, r4
               8  return
        "#]],
    );
}

#[test]
fn what_waits_across_a_call_counts_with_the_functions_registers() {
    let text = |live: &str| {
        format!(
            r".func (.param .b32 out) f(.param .b32 in)
            {{ .reg .b32 %r<9>; ld.param.b32 %r1, [in]; mul.lo.s32 %r2, %r1, 3; mad.lo.s32 %r3, %r1, %r2, %r2;
               mad.lo.s32 %r4, %r1, %r2, %r3; st.param.b32 [out], %r4; ret; }}
            .entry k() {{ .reg .b32 %r<9>; .reg .b64 %d<9>; mov.u32 %r1, %tid.x; {live}
               {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), f, (p); ld.param.b32 %r2, [q]; }}
               st.shared.u64 [%r2], %d1; ret; }}"
        )
    };
    let alone = super::program(&text("")).estimated_registers;
    let with_64_bits = super::program(&text("mov.u64 %d1, %clock64;")).estimated_registers;
    assert_eq!((alone, with_64_bits), (3, 5));
}

#[test]
fn a_failed_assertion_of_the_runtime_is_a_trap() {
    check_program(
        ".extern .func __assertfail(.param .b64 a)\n.entry k() { .param .b64 p; call.uni __assertfail, (p); ret; }",
        expect![[r#"
            entry k
              0 slots, 0 predicates, 0 registers estimated
               0  trap
               1  exit
        "#]],
    );
}
