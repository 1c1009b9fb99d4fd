//! What is said of texts that are wrong: what was given, what is right, where.

use expect_test::expect;
use warpwise_simt::ptx::Module;

use super::{HEADER, REGISTERS, check_body_error, check_error, error_of};

#[test]
fn an_error_knows_its_place_in_the_text() {
    let text = format!("{HEADER}.entry k() {{\n  .reg .b32 %r<3>;\n  add.s32 %r1, %r2;\n}}");
    let error =
        Module::parse("dir/k.ptx", &text).and_then(|module| module.lower("k")).expect_err("an operand is missing");
    assert_eq!((error.file(), error.line(), error.column()), ("dir/k.ptx", 6, 3));
    assert_eq!(&text[error.span()], "add.s32");
    assert_eq!(error.source_line(), "  add.s32 %r1, %r2;");
    assert_eq!(error.message(), "`add.s32` with 2 operands, expected 3");
    assert_eq!(error.help(), Some("its form is add(.u16|.u32|.u64|.s16|.s32|.s64|.u16x2|.s16x2) d, a, b"));
}

#[test]
fn an_opcode_is_answered_with_the_forms_that_exist() {
    check_body_error(
        "add.rn.s32 %r1, %r2, %r3;",
        expect![[r#"
        test.ptx:5:1: `.rn` is not legal in `add.rn.s32`; legal: add(.u16|.u32|.u64|.s16|.s32|.s64|.u16x2|.s16x2) d, a, b; add.sat(.s32|.u16x2|.s16x2) d, a, b; add.cc(.u32|.s32|.u64|.s64) d, a, b
          add.rn.s32 %r1, %r2, %r3;"#]],
    );
    check_body_error(
        "mul.s32 %r1, %r2, %r3;",
        expect![[r#"
        test.ptx:5:1: `mul.s32` lacks one of .lo, .hi; legal: mul(.lo|.hi)(.u16|.u32|.u64|.s16|.s32|.s64) d, a, b; mul.wide(.u16|.s16|.u32|.s32) d, a, b
          mul.s32 %r1, %r2, %r3;"#]],
    );
    check_body_error(
        "setp.lo.s32 %p1, %r2, %r3;",
        expect![[r#"
        test.ptx:5:1: `.lo` is not legal in `setp.lo.s32`; legal: setp(.eq|.ne|.lt|.le|.gt|.ge)(.s16|.s32|.s64) p|q, a, b; setp(.eq|.ne|.lt|.le|.gt|.ge)(.and|.or|.xor)(.s16|.s32|.s64) p|q, a, b, p
          setp.lo.s32 %p1, %r2, %r3;"#]],
    );
    check_body_error(
        "ld.global.b24 %r1, [%d1];",
        expect![[r#"
            test.ptx:5:1: `.b24` is not legal in `ld.global.b24`; legal: ld{.weak}{.global|.shared|.shared::cta|.local|.const|.param|.param::entry|.param::func}{.ca|.cg|.cs|.lu|.cv|.nc}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last|.L2::evict_unchanged}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}(.b8|.b16|.b32|.b64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f32|.f64) d, [addr], h; …
              ld.global.b24 %r1, [%d1];"#]],
    );
    check_body_error(
        "shfl.sync.left.b32 %r1, %r2, 1, 31, -1;",
        expect![[r#"
        test.ptx:5:1: `.left` is not legal in `shfl.sync.left.b32`; legal: shfl.sync(.up|.down|.bfly|.idx).b32 d|p, a, b, c, e
          shfl.sync.left.b32 %r1, %r2, 1, 31, -1;"#]],
    );
    check_body_error(
        "st.const.b32 [%d1], %r1;",
        expect![[r#"
            test.ptx:5:1: `.const` is not legal in `st.const.b32`; legal: st{.weak}{.global|.shared|.shared::cta|.local|.param|.param::func}{.wb|.cg|.cs|.wt}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last|.L2::evict_unchanged}{.L2::cache_hint}{.v2|.v4|.v8}(.b8|.b16|.b32|.b64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f32|.f64) [addr], a, h; …
              st.const.b32 [%d1], %r1;"#]],
    );
    check_body_error(
        "ad.s32 %r1, %r2, %r3;",
        expect![[r#"
        test.ptx:5:1: `ad` is not an instruction of PTX; near it: add, and, ld, mad
          ad.s32 %r1, %r2, %r3;"#]],
    );
    check_body_error(
        "frobnicate;",
        expect![[r#"
        test.ptx:5:1: `frobnicate` is not an instruction of PTX
          frobnicate;"#]],
    );
    check_body_error(
        "cvt.f32.s32 %r1, %r2;",
        expect![[r#"
        test.ptx:5:1: `cvt.f32.s32` lacks one of .rni, .rzi, .rmi, .rpi; legal: cvt(.rni|.rzi|.rmi|.rpi){.ftz}{.sat}(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)(.f16|.bf16|.f32|.f64) ...; cvt(.rn|.rz|.rm|.rp){.ftz}{.sat}(.f16|.bf16|.f32|.f64)(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64) ...
          cvt.f32.s32 %r1, %r2;"#]],
    );
}

#[test]
fn an_operand_must_fit_the_instruction() {
    check_body_error(
        "add.s32 %r1, %d2, %r3;",
        expect![[r#"
        test.ptx:5:14: `%d2` has 64 bits where .s32 needs 32
          add.s32 %r1, %d2, %r3;"#]],
    );
    check_body_error(
        "add.s64 %r1, %d2, %d3;",
        expect![[r#"
        test.ptx:5:9: `%r1` has 32 bits where .s64 needs 64
          add.s64 %r1, %d2, %d3;"#]],
    );
    check_body_error(
        "add.s32 %r1, %p2, %r3;",
        expect![[r#"
        test.ptx:5:14: `%p2` is a predicate where a value of type .s32 belongs
          add.s32 %r1, %p2, %r3;"#]],
    );
    check_body_error(
        "and.pred %p1, %r2, %p3;",
        expect![[r#"
        test.ptx:5:15: `%r2` is not a predicate register
          and.pred %p1, %r2, %p3;"#]],
    );
    check_body_error(
        "add.s32 5, %r2, %r3;",
        expect![[r#"
        test.ptx:5:9: `5` is not a register for a result of type .s32
          add.s32 5, %r2, %r3;"#]],
    );
    check_body_error(
        "add.f32 %r1, %r2, 3;",
        expect![[r#"
        test.ptx:5:19: `3` is not a value of type .f32; write a float with a point, or its bits as 0f3F800000
          add.f32 %r1, %r2, 3;"#]],
    );
    check_body_error(
        "add.s32 %r1, %r2, 1.5;",
        expect![[r#"
        test.ptx:5:19: `1.5` is not a value of type .s32
          add.s32 %r1, %r2, 1.5;"#]],
    );
    check_body_error(
        "add.s32 %r1, %r2, [%d1];",
        expect![[r#"
        test.ptx:5:19: `[%d1]` is not a source of type .s32
          add.s32 %r1, %r2, [%d1];"#]],
    );
    check_body_error(
        "ld.global.b32 %r1, %d1;",
        expect![[r#"
        test.ptx:5:20: `%d1` is not an address in brackets
          ld.global.b32 %r1, %d1;"#]],
    );
    check_body_error(
        "ld.global.b32 %r1, [%h1];",
        expect![[r#"
        test.ptx:5:20: `[%h1]` is not an address: its register has neither 32 nor 64 bits
          ld.global.b32 %r1, [%h1];"#]],
    );
    check_body_error(
        "ld.global.v2.b32 {%r1, %r2, %r3}, [%d1];",
        expect![[r#"
        test.ptx:5:18: a vector of 3, expected 2
          ld.global.v2.b32 {%r1, %r2, %r3}, [%d1];"#]],
    );
    check_body_error(
        "mov.b32 {%h1, %h2, %h3}, %r1;",
        expect![[r#"
        test.ptx:5:1: a vector of 3 where .b32 is split; a vector of 2 or 4 elements of at least 8 bits
          mov.b32 {%h1, %h2, %h3}, %r1;"#]],
    );
    check_body_error(
        "mov.u32 %r1, %clock64;",
        expect![[r#"
        test.ptx:5:14: `%clock64` has 64 bits where .u32 needs 32
          mov.u32 %r1, %clock64;"#]],
    );
    check_body_error(
        "lop3.b32 %r1, %r2, %r3, %r4, 256;",
        expect![[r#"
        test.ptx:5:30: a truth table of 256; expected 0 to 255
          lop3.b32 %r1, %r2, %r3, %r4, 256;"#]],
    );
    check_body_error(
        "bar.sync 16;",
        expect![[r#"
        test.ptx:5:10: barrier 16; barriers are numbered 0 to 15
          bar.sync 16;"#]],
    );
    check_body_error(
        "@%r1 ret;",
        expect![[r#"
        test.ptx:5:2: `%r1` is not a predicate register
          @%r1 ret;"#]],
    );
}

#[test]
fn a_name_must_be_declared() {
    check_body_error(
        "mov.u32 %r1, %r9;",
        expect![[r#"
        test.ptx:5:14: `%r9` is not declared; no register or special register has that name
          mov.u32 %r1, %r9;"#]],
    );
    check_body_error(
        "mov.u32 %r1, %tidx;",
        expect![[r#"
        test.ptx:5:14: `%tidx` is not declared; no register or special register has that name
          mov.u32 %r1, %tidx;"#]],
    );
    check_body_error(
        "mov.u64 %d1, nothing;",
        expect![[r#"
        test.ptx:5:14: `nothing` is not declared
          mov.u64 %d1, nothing;"#]],
    );
    check_body_error(
        "bra NOWHERE;",
        expect![[r#"
        test.ptx:5:5: there is no label `NOWHERE` here
          bra NOWHERE;"#]],
    );
    check_body_error(
        "{ INNER: } bra INNER;",
        expect![[r#"
        test.ptx:5:16: there is no label `INNER` here
          { INNER: } bra INNER;"#]],
    );
    check_body_error(
        "call nothing;",
        expect![[r#"
        test.ptx:5:6: `nothing` is not declared
          call nothing;"#]],
    );
    check_body_error(
        ".reg .b32 %x; .reg .b64 %x;",
        expect![[r#"
        test.ptx:5:25: `%x` is declared twice in one scope
          .reg .b32 %x; .reg .b64 %x;"#]],
    );
    check_body_error(
        "A: A: ret;",
        expect![[r#"
        test.ptx:5:4: `A` is declared twice in one scope
          A: A: ret;"#]],
    );
    check_body_error(
        "brx.idx %r1, a;",
        expect![[r#"
        test.ptx:5:14: `a` is not the label of a `.branchtargets`
          brx.idx %r1, a;"#]],
    );
}

#[test]
fn memory_must_be_where_the_instruction_looks() {
    check_error(
        ".shared .b32 s; .entry k() { .reg .b32 %r; ld.global.b32 %r, [s]; ret; }",
        expect![[r#"
        test.ptx:4:63: `s` is in shared memory; the instruction accesses what is in global memory
          .shared .b32 s; .entry k() { .reg .b32 %r; ld.global.b32 %r, [s]; ret; }"#]],
    );
    check_error(
        ".const .b32 c; .entry k() { .reg .b32 %r; st.b32 [c], %r; ret; }",
        expect![[r#"
        test.ptx:4:50: `[c]` is not memory that can be written
          .const .b32 c; .entry k() { .reg .b32 %r; st.b32 [c], %r; ret; }"#]],
    );
    check_body_error(
        "ld.param.u64 %d1, [a];",
        expect![[r#"
        test.ptx:5:20: 8 bytes at byte 0 of the parameter `a`, which has 4
          ld.param.u64 %d1, [a];"#]],
    );
    check_body_error(
        "ld.param.b32 %r1, [b+2];",
        expect![[r#"
        test.ptx:5:20: byte 2 of `b` is not aligned for .b32
          ld.param.b32 %r1, [b+2];"#]],
    );
    check_body_error(
        "st.param.b32 [a], %r1;",
        expect![[r#"
        test.ptx:5:15: `a` is not a parameter
          st.param.b32 [a], %r1;"#]],
    );
    check_body_error(
        ".param .b64 p; mov.u64 %d1, p;",
        expect![[r#"
        test.ptx:5:29: the address of the function parameter `p`; parameters of functions are held in registers and have no address
          .param .b64 p; mov.u64 %d1, p;"#]],
    );
}

#[test]
fn calls_must_agree_with_the_function() {
    let function = ".func (.param .b32 o) f(.param .b32 i) { ret; }";
    let call = |call: &str| {
        format!("{function} .entry k() {{ .reg .b32 %r; .reg .b64 %d; .param .b32 p; .param .b64 q; {call} ret; }}")
    };
    check_error(
        &call("call f, (p);"),
        expect![[r#"
        test.ptx:4:120: a call of `f` with 0 results, expected 1
          .func (.param .b32 o) f(.param .b32 i) { ret; } .entry k() { .reg .b32 %r; .reg .b64 %d; .param .b32 p; .param .b64 q; call f, (p); ret; }"#]],
    );
    check_error(
        &call("call (p), f, (p, p);"),
        expect![[r#"
        test.ptx:4:120: a call of `f` with 2 arguments, expected 1
          .func (.param .b32 o) f(.param .b32 i) { ret; } .entry k() { .reg .b32 %r; .reg .b64 %d; .param .b32 p; .param .b64 q; call (p), f, (p, p); ret; }"#]],
    );
    check_error(
        &call("call (p), f, (q);"),
        expect![[r#"
        test.ptx:4:134: `q` has 8 bytes where the function has 4
          .func (.param .b32 o) f(.param .b32 i) { ret; } .entry k() { .reg .b32 %r; .reg .b64 %d; .param .b32 p; .param .b64 q; call (p), f, (q); ret; }"#]],
    );
    check_error(
        &call("call (p), %d, (p), f;"),
        expect![[r#"
        test.ptx:4:130: a call of the address in `%d`; only calls of a named function are executed
          .func (.param .b32 o) f(.param .b32 i) { ret; } .entry k() { .reg .b32 %r; .reg .b64 %d; .param .b32 p; .param .b64 q; call (p), %d, (p), f; ret; }"#]],
    );
    check_error(
        &call("call (p), f, ([%d]);"),
        expect![[r#"
        test.ptx:4:134: `[%d]` is not an argument: a register or a `.param` variable
          .func (.param .b32 o) f(.param .b32 i) { ret; } .entry k() { .reg .b32 %r; .reg .b64 %d; .param .b32 p; .param .b64 q; call (p), f, ([%d]); ret; }"#]],
    );
}

#[test]
fn what_the_machine_does_not_have_is_named() {
    check_body_error(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r3}, {%r4};",
        expect![[r#"
            test.ptx:5:1: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` is not executed by the machine; other entries of the module can still run
              mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r3}, {%r4};"#]],
    );
    check_body_error(
        "cp.async.ca.shared.global [%r1], [%d1], 16;",
        expect![[r#"
        test.ptx:5:1: `cp.async.ca.shared.global` is not executed by the machine; other entries of the module can still run
          cp.async.ca.shared.global [%r1], [%d1], 16;"#]],
    );
    check_body_error(
        "tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4}, [b, {%r5,%r6}];",
        expect![[r#"
        test.ptx:5:1: `tex.2d.v4.f32.f32` is not executed by the machine; other entries of the module can still run
          tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4}, [b, {%r5,%r6}];"#]],
    );
    check_body_error(
        "barrier.cluster.arrive.aligned;",
        expect![[r#"
        test.ptx:5:1: `barrier.cluster.arrive.aligned` is not executed by the machine; other entries of the module can still run
          barrier.cluster.arrive.aligned;"#]],
    );
    check_body_error(
        "ld.global.v8.b32 {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, [%d1];",
        expect![[r#"
        test.ptx:5:1: vectors of 8 are not executed by the machine
          ld.global.v8.b32 {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, [%d1];"#]],
    );
    check_error(
        ".extern .func (.param .b32 o) vprintf(.param .b64 f, .param .b64 a);
        .entry k() { .param .b32 o; .param .b64 f; call (o), vprintf, (f, f); ret; }",
        expect![[r#"
            test.ptx:5:62: `vprintf` is declared, but has no body in this module; the machine executes only functions whose code is in the module
              .entry k() { .param .b32 o; .param .b64 f; call (o), vprintf, (f, f); ret; }"#]],
    );
    check_error(
        ".func f() { call g; ret; } .func g() { call f; ret; } .entry k() { call f; ret; }",
        expect![[r#"
        test.ptx:4:45: `f` calls itself, directly or through others; recursion is not supported: every function has its registers once
          .func f() { call g; ret; } .func g() { call f; ret; } .entry k() { call f; ret; }"#]],
    );
}

#[test]
fn the_structure_of_a_module_is_checked_first() {
    check_error(
        ".entry k() { add.s32 }",
        expect![[r#"
        test.ptx:4:22: found `}`, expected an operand (register, number, `[address]` or `{vector}`)
          .entry k() { add.s32 }"#]],
    );
    check_error(
        ".entry k( { ret; }",
        expect![[r#"
        test.ptx:4:11: found `{`, expected `.param` or `.reg`
          .entry k( { ret; }"#]],
    );
    check_error(
        ".entry k() { ret; ",
        expect![[r#"
        test.ptx:4:12: the body that begins here does not end; close it with `}`
          .entry k() { ret;"#]],
    );
    check_error(
        ".entry k() { ret }",
        expect![[r#"
        test.ptx:4:18: found `}`, expected an operand (register, number, `[address]` or `{vector}`)
          .entry k() { ret }"#]],
    );
    check_error(
        ".entry k() .maxthreads 3 { ret; }",
        expect![[r#"
        test.ptx:4:12: `.maxthreads` is not a directive of a function's head; expected .maxntid, .reqntid, .minnctapersm, .maxnreg, .pragma, .noreturn, `{` or `;`
          .entry k() .maxthreads 3 { ret; }"#]],
    );
    check_error(
        ".global .b33 x;",
        expect![[r#"
        test.ptx:4:9: found `.b33`, expected a type such as .b32, `.align`, `.v2` or `.v4`
          .global .b33 x;"#]],
    );
    check_error(
        ".global .align 3 .b32 x;",
        expect![[r#"
        test.ptx:4:16: an alignment of 3 bytes; expected a power of two up to 1,048,576
          .global .align 3 .b32 x;"#]],
    );
    check_error(
        ".global .b32 x[2] = {1, 2, 3};",
        expect![[r#"
        test.ptx:4:14: 12 bytes of initial values for 8 bytes
          .global .b32 x[2] = {1, 2, 3};"#]],
    );
    check_error(
        ".global .f32 x = 1;",
        expect![[r#"
        test.ptx:4:18: `1` is not a value of type .f32
          .global .f32 x = 1;"#]],
    );
    check_error(
        ".global .u32 x = y;",
        expect![[r#"
        test.ptx:4:18: an address as a value of type .u32; addresses have 64 bits: .u64 or .b64
          .global .u32 x = y;"#]],
    );
    check_error(
        ".global .u8 x[] = {0xFF(y)};",
        expect![[r#"
        test.ptx:4:20: one byte of an address as an initial value; only whole addresses are supported: `.u64 p = x`
          .global .u8 x[] = {0xFF(y)};"#]],
    );
    check_error(
        ".global .b32 x[1/0];",
        expect![[r#"
        test.ptx:4:17: this constant expression has no value (division by zero, or not for floats)
          .global .b32 x[1/0];"#]],
    );
    check_error(
        "/* never closed",
        expect![[r#"
        test.ptx:4:1: a comment that begins with `/*` does not end; close it with `*/`
          /* never closed"#]],
    );
    check_error(
        ".entry k() { mov.u32 %r1, €; }",
        expect![[r#"
        test.ptx:4:27: `€` is not part of PTX
          .entry k() { mov.u32 %r1, €; }"#]],
    );
    check_error(
        "int main() { }",
        expect![[r#"
        test.ptx:4:1: found `int`, expected .version, .target, .address_size, .entry, .func, .global, .const, .shared, .file or .section
          int main() { }"#]],
    );
    check_error(
        ".entry k() { ret; } .entry k() { ret; }",
        expect![[r#"
        test.ptx:4:28: `k` is defined twice
          .entry k() { ret; } .entry k() { ret; }"#]],
    );
    check_error(
        ".entry k(.param .u32 a, .param .u32 a) { ret; }",
        expect![[r#"
        test.ptx:4:37: `a` is declared twice in one scope
          .entry k(.param .u32 a, .param .u32 a) { ret; }"#]],
    );
    check_error(
        ".loc 1 2 3, inlined 4 5 6",
        expect![[r#"
        test.ptx:4:13: `inlined` is not part of `.loc`; expected `function_name` or `inlined_at`
          .loc 1 2 3, inlined 4 5 6"#]],
    );
}

#[test]
fn a_text_begins_with_its_version() {
    let expected =
        "test.ptx:1:1: the module has no `.version` directive; a PTX text begins with `.version 7.8` or the like";
    assert_eq!(error_of(""), expected);
    expect![[r#"
        test.ptx:1:10: found `8`, expected a version such as 7.8
          .version 8"#]]
    .assert_eq(&error_of(".version 8\n"));
    expect![[r#"
        test.ptx:1:10: PTX ISA 300.1 does not exist; versions are 1.0 to 9.x
          .version 300.1"#]]
    .assert_eq(&error_of(".version 300.1\n"));
    expect![[r#"
        test.ptx:3:15: an address of 16 bits; expected 32 or 64
          .address_size 16"#]]
    .assert_eq(&error_of(".version 8.0\n.target sm_80\n.address_size 16\n"));
}

#[test]
fn an_entry_that_is_not_there_is_answered_with_those_that_are() {
    let module = Module::parse("k.ptx", &format!("{HEADER}.entry one() {{ ret; }} .entry two();")).expect("a module");
    expect![[r#"
        k.ptx:1:1: there is no entry `three`; the module has one
          .version 8.8"#]]
    .assert_eq(&module.lower("three").expect_err("no such entry").to_string());
    let empty = Module::parse("k.ptx", HEADER).expect("a module");
    expect![[r#"
        k.ptx:1:1: there is no entry `k`; the module has no entry with a body
          .version 8.8"#]]
    .assert_eq(&empty.lower("k").expect_err("no entry").to_string());
    assert!(REGISTERS.contains("%r<9>"), "the texts above count on registers 0 to 8");
}
