//! Whole kernels, and what is known of them besides their code.

use expect_test::expect;
use warpwise_simt::isa::{SourceLine, Space};

use super::{check_program, module, program};

#[test]
fn a_vector_addition_reads_its_parameters_from_constants_and_meets_at_its_end() {
    check_program(
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

#[test]
fn bounds_in_the_head_are_kept() {
    let program = program(".entry k() .maxntid 128, 2 .minnctapersm 3 .maxnreg 40 .reqntid 64 .pragma \"x\"; { ret; }");
    assert_eq!(program.max_threads, Some([128, 2, 1]));
    assert_eq!(program.required_threads, Some([64, 1, 1]));
    assert_eq!((program.min_blocks_per_sm, program.max_registers), (Some(3), Some(40)));
}

#[test]
fn shared_memory_holds_what_the_entry_names_and_ends_where_dynamic_memory_begins() {
    let text = ".shared .align 4 .b8 one[6]; .shared .align 16 .b8 two[20]; .shared .b8 three[1000];
        .extern .shared .align 64 .b8 rest[];
        .entry k() { .reg .b32 %r; .shared .b64 four; mov.u32 %r, one; mov.u32 %r, two; mov.u32 %r, rest; ret; }";
    let program = program(text);
    assert_eq!(
        program.shared_static_bytes,
        16 + 20 + 4 + 8,
        "one, two and four at their alignments; three is not named"
    );
    assert_eq!(program.shared_dynamic_offset, 64);
}

#[test]
fn a_line_of_source_carries_the_calls_that_it_was_inlined_into() {
    let program = program(
        r#"
        .file 1 "kernels.rs"
        .file 2 "core.rs", 1700000000, 42
        .entry k() {
            .reg .b32 %r<4>;
            add.s32 %r1, %r1, 1;
            .loc 1 10 5
            add.s32 %r1, %r1, 2;
            .loc 2 70 9, function_name $L__str0, inlined_at 1 10 5
            add.s32 %r1, %r1, 3;
            .loc 2 300 1, function_name $L__str1 + 8, inlined_at 2 70 9
            @%r1 add.s32 %r1, %r1, 4;
            .loc 9 1 1
            ret;
        }"#
        .replace("@%r1 ", "")
        .as_str(),
    );
    let chain = |pc: usize| -> Vec<_> {
        program.info[pc].source.iter().map(|at: &SourceLine| (at.file, at.line, at.column)).collect()
    };
    assert_eq!(chain(0), [], "before the first line");
    assert_eq!(chain(1), [(0, 10, 5)]);
    assert_eq!(chain(2), [(1, 70, 9), (0, 10, 5)], "innermost first");
    assert_eq!(chain(3), [(1, 300, 1), (1, 70, 9), (0, 10, 5)], "the chain goes on");
    assert_eq!(chain(4), [], "a file that is not declared");
    assert_eq!(program.files.iter().map(|file| &**file).collect::<Vec<_>>(), ["kernels.rs", "core.rs"]);
}

#[test]
fn an_instruction_is_kept_as_it_was_written() {
    let program = program(".entry k() { .reg .pred %p; .reg .b32 %r;\n\t@!%p add.s32\t%r,\n\t %r, 1 ; ret; }");
    assert_eq!((&*program.info[0].text, program.info[0].listing_line), ("@!%p add.s32 %r, %r, 1 ;", 5));
    assert_eq!(&*program.info[1].text, "ret;");
}

#[test]
fn variables_come_with_their_contents_and_the_addresses_in_them() {
    let module = module(
        r"
        .global .align 8 .u64 pointers[4] = {table, generic(table)+8, 7, f};
        .visible .global .align 4 .b8 table[16] = {1, 2, 0x30, 0b1};
        .const .f32 weights[] = {1.0, 0f40000000, -0.5};
        .global .v4 .f32 rows[2] = {{1.0, 2.0}, {3.0}};
        .global .u16 grid[2][3] = {{1}, {2, 3, 4}};
        .extern .global .u32 elsewhere;
        .func f() { ret; }
        .entry k() { .global .b32 inside = 5; ret; }",
    );
    let names: Vec<_> = module.variables().iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["pointers", "table", "weights", "rows", "grid", "inside"]);
    let [pointers, table, weights, rows, grid, inside] = module.variables() else { panic!("six variables") };
    assert_eq!((pointers.bytes, pointers.align), (32, 8));
    let relocations: Vec<_> =
        pointers.relocations.iter().map(|r| (r.offset, r.symbol.as_str(), r.addend, r.generic)).collect();
    assert_eq!(relocations, [(0, "table", 0, false), (8, "table", 8, true)]);
    assert_eq!(pointers.init[16], 7);
    assert_ne!(pointers.init[24..], [0; 8], "a function has an address too, and it is not null");
    assert_eq!((table.init.as_slice(), table.bytes), (&[1, 2, 0x30, 1][..], 16));
    assert_eq!((weights.space, weights.bytes), (Space::Const, 12));
    assert_eq!(weights.init[8..], (-0.5f32).to_le_bytes());
    assert_eq!((rows.bytes, rows.align, &rows.init[16..]), (32, 16, &3.0f32.to_le_bytes()[..]));
    assert_eq!(grid.init, [1, 0, 0, 0, 0, 0, 2, 0, 3, 0, 4]);
    assert_eq!((inside.space, inside.init.as_slice()), (Space::Global, &[5][..]));
}

#[test]
fn entries_of_a_module_are_lowered_one_by_one() {
    let module = module(
        ".entry good() { ret; } .entry bad() { mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {a}, {b}, {c}, {d}; ret; }",
    );
    assert_eq!(module.entries().collect::<Vec<_>>(), ["good", "bad"]);
    assert!(module.lower("good").is_ok());
    assert!(module.lower("bad").is_err());
    assert_eq!((module.version(), module.target()), ((8, 8), "sm_90"));
}
