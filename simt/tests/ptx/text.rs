//! What a text may look like: comments, sections, scopes, names, old habits.

use expect_test::expect;

use super::{check, check_program, program};

#[test]
fn comments_preprocessor_lines_and_debug_sections_are_passed_over() {
    let program = program(
        r#"
        # 1 "a.cu"
        /* a comment * with / stars **/
        .section .debug_info { .b8 1 .b32 .debug_abbrev .b64 $L__tmp0 { } }
        $L__sec_end0:
        .pragma "nounroll";
        .entry k() // to the end
        { /**/ .pragma "nounroll"; $L__tmp0: ret; /* 1.5 */ }
        "#,
    );
    assert_eq!(program.code.len(), 1);
}

#[test]
fn names_mean_the_innermost_declaration() {
    check(
        r"
        .reg .b32 %x;
        mov.u32 %x, 1;
        { .reg .b64 %x, %y<2>; mov.u64 %x, 2; mov.u64 %y1, 3; { .reg .f32 %y<9>; mov.f32 %y1, 4.0; } }
        st.shared.u32 [0], %x;
        mov.u32 %r1, 1;
        { mov.u32 %r2, 2; .reg .b32 %r<3>; mov.u32 %r1, 3; }
        st.shared.v2.u32 [0], {%r1, %r2};",
        expect![[r#"
            r0 = mov.b32 <1>
            r1 = mov.b64 <2>
            r1 = mov.b64 <3>
            r1 = mov.b32 <0x40800000>
            store.shared.u32 [0], r0
            r0 = mov.b32 <1>
            r1 = mov.b32 <2>
            r2 = mov.b32 <3>
            store.shared.v2.u32 [0], r0, r1
        "#]],
    );
}

#[test]
fn the_longest_matching_range_has_the_register() {
    // `%r1` is a prefix of its own; `%r12` is register 2 of it only if the other range ends before 12.
    let text = ".entry k() { .reg .b32 %r<20>; .reg .b64 %r1<5>; mov.u32 %r12, 1; st.shared.u32 [0], %r12; ret; }";
    assert_eq!(program(text).code.len(), 3);
}

#[test]
fn texts_of_early_ptx_are_read() {
    let text = r"
        .version 1.4
        .target sm_10, map_f64_to_f32
        .reg .u32 %shared_by_kernels<3>;
        .extern .func (.reg .u32 r) declared (.reg .u32 a)
        .visible .func helper () { ret; }
        .entry k (.param .u32 __cudaparm_p)
        {
            .reg .u32 %r<5>; .reg .u16 %rh<5>;
            $LBB1: ld.param.u32 %r1, [__cudaparm_p];
            cvt.u32.u16 %r2, %tid.x;
            mov.u16 %rh1, %ctaid.x;
            mul.wide.u16 %shared_by_kernels1, %rh1, 4;
            st.global.u32 [%r1+0], %shared_by_kernels1;
            exit;
        }";
    let module = warpwise_simt::ptx::Module::parse("old.ptx", text).expect("early PTX");
    expect![[r#"
        entry k
          param __cudaparm_p: 4 bytes at 0, u32
          2 slots, 0 predicates, 2 registers estimated
          c0 = param[0..4]
          c1 = 4
           0  r0 = mov.b32 c0
           1  r1 = threadidx(0)
           2  r1 = cvt.u32.u16 r1
           3  r1 = blockidx(0)
           4  r1 = mul.wide.u16 r1, c1
           5  store.global.u32 [r0], r1
           6  exit
    "#]]
    .assert_eq(&module.lower("k").expect("early PTX").to_string());
}

#[test]
fn a_dump_names_everything_a_program_has() {
    check_program(
        r"
        .entry k(.param .u32 n) .maxntid 64
        {
            .reg .b32 %r<4>; .shared .b32 s[2]; .local .b32 l[2];
            T: .branchtargets A, B;
            mov.u32 %r1, %tid.x;
            brx.idx %r1, T;
            A: bar.sync 0;
            B: st.local.b32 [l], %r1;
            ret;
        }",
        expect![[r#"
            entry k
              param n: 4 bytes at 0, u32
              1 slots, 0 predicates, 1 registers estimated, 8 bytes shared, dynamic from 8, 8 bytes local, 1 barriers
              max threads 64, 1, 1
              c0 = 0
              table 0: [2, 3]
               0  r0 = threadidx(0)
               1  branch table 0 meets 3 r0
               2  barrier.sync c0
               3  store.local.b32 [0], r0
               4  exit
        "#]],
    );
}
