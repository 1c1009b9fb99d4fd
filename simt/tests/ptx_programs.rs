//! Whole kernels: text in, the program that comes out. `UPDATE_EXPECT=1` rewrites the expectations.

use expect_test::{Expect, expect};
use warpwise_simt::ptx::Module;

/// Lowers the only entry of `body` (with a header before it) and compares the program.
fn check(text: &str, expected: Expect) {
    let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{text}");
    let module = Module::parse("test.ptx", &text).unwrap_or_else(|error| panic!("{error}"));
    let entry = module.entries().next().unwrap_or_default().to_owned();
    let program = module.lower(&entry).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program.code.len(), program.info.len(), "every instruction has its place");
    expected.assert_eq(&program.to_string());
}

#[test]
fn a_vector_addition_reads_parameters_as_constants_and_meets_at_its_end() {
    check(
        r"
.visible .entry vecadd(.param .u64 .ptr .align 1 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<11>;
    ld.param.b64 %rd4, [a];
    cvta.to.global.u64 %rd6, %rd4;
    ld.param.b32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.lt.u32 %p1, %r5, %r1;
    @%p1 bra $work;
    bra.uni $done;
$work:
    mul.wide.u32 %rd10, %r5, 4;
    add.s64 %rd1, %rd6, %rd10;
    ld.global.b32 %r6, [%rd1];
    add.rn.f32 %r8, %r6, 0f3F800000;
    st.global.b32 [%rd1+4], %r8;
$done:
    ret;
$L__func_end0:
}",
        expect![[r#"
            entry vecadd
              param a: 8 bytes at 0, u64
              param b: 8 bytes at 8, u64
              param c: 8 bytes at 16, u64
              param n: 4 bytes at 24, u32
              6 slots, 1 predicates, 6 registers estimated
              c0 = param[0..4]
              c1 = param[4..8]
              c2 = param[24..28]
              c3 = ntid.x
              c4 = 4
              c5 = 0x3f800000
               0  r0 = mov.b64 c0
               1  r2 = cvta.to.global.u64 r0
               2  r0 = mov.b32 c2
               3  r1 = blockidx(0)
               4  r4 = mov.b32 c3
               5  r5 = threadidx(0)
               6  r1 = mad.s32 r1, r4, r5
               7  p1 = setp.lt.u32 r1, r0
               8  @p1 branch 10 meets 15
               9  branch 15
              10  r4 = mul.wide.u32 r1, c4
              11  r0 = add.s64 r2, r4
              12  r2 = load.global.b32 [r0]
              13  r2 = add.rn.f32 r2, c5
              14  store.global.b32 [r0+4], r2
              15  exit
        "#]],
    );
}
