//! Slots: reuse, holes, guarded writes, and the estimate of registers.

use super::program;

fn kernel(body: &str) -> warpwise_simt::isa::Program {
    program(&format!(".entry k() {{ .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<99>;\n{body}\n}}"))
}

#[test]
fn a_value_that_is_no_longer_wanted_gives_its_slot_away() {
    // A chain of a hundred values, each read once.
    let chain: String = (2..90).map(|i| format!("add.s32 %r{i}, %r{}, {i};\n", i - 1)).collect();
    let program = kernel(&format!("mov.u32 %r1, %tid.x;\n{chain}st.shared.u32 [%r89], %r89; ret;"));
    assert_eq!((program.slot_count, program.estimated_registers), (1, 1));
}

#[test]
fn a_result_never_overlaps_a_source_in_part() {
    let program = kernel(
        r"mov.u64 %d1, %clock64; mov.u32 %r1, %tid.x;
        add.u64 %d2, %d1, 1; mul.wide.u32 %d3, %r1, %r1; mov.b64 {%r2, %r3}, %d2;
        st.shared.v2.u64 [%r2], {%d2, %d3}; st.shared.u32 [%r3], %r1; ret;",
    );
    let words = |op: &warpwise_simt::isa::Op| match op {
        warpwise_simt::isa::Op::Alu(alu) => alu.ty.slots(),
        _ => 0,
    };
    for instr in &program.code {
        let Some(dst) = instr.dst[0].filter(|_| words(&instr.op) > 0) else { continue };
        for src in instr.src.iter().filter(|src| !src.is_none() && !src.is_constant()) {
            let (dst, src) = (usize::from(dst.0), src.index());
            let apart = dst.abs_diff(src) >= 2;
            assert!(apart || dst == src, "{instr} writes a part of what it reads");
        }
    }
}

#[test]
fn values_alive_together_have_slots_of_their_own() {
    let loads: String = (1..=20).map(|i| format!("ld.shared.u32 %r{i}, [{}];\n", 4 * i)).collect();
    let stores: String = (1..=20).map(|i| format!("st.shared.u32 [{}], %r{i};\n", 4 * i)).collect();
    let program = kernel(&format!("{loads}{stores}ret;"));
    assert_eq!((program.slot_count, program.estimated_registers), (20, 20));
    let pairs = kernel("mov.u64 %d1, %clock64; mov.u64 %d2, %clock64; st.shared.v2.u64 [0], {%d1, %d2}; ret;");
    assert_eq!((pairs.slot_count, pairs.estimated_registers), (4, 4), "64 bits count twice");
}

#[test]
fn a_value_keeps_its_slot_around_a_loop() {
    let program = kernel(
        r"mov.u32 %r1, 7; mov.u32 %r2, 0;
        LOOP: mov.u32 %r3, %tid.x; add.s32 %r2, %r2, %r3; setp.lt.u32 %p1, %r2, %r1; @%p1 bra LOOP;
        st.shared.u32 [0], %r2; ret;",
    );
    assert_eq!(program.slot_count, 3, "the limit, the sum and the value of one round");
}

#[test]
fn a_guarded_write_keeps_what_was_there() {
    let program = kernel(
        r"mov.u32 %r1, 1; setp.eq.u32 %p1, %r9, 0; @%p1 mov.u32 %r1, 2; mov.u32 %r2, 3;
        st.shared.v2.u32 [0], {%r1, %r2}; ret;",
    );
    let slot = |pc: usize| program.code[pc].dst[0];
    assert_eq!(slot(0), slot(2), "both writes go to one slot");
    assert_ne!(slot(2), slot(3), "which is still wanted afterwards");
}

#[test]
fn two_guarded_writes_make_no_value_before_them() {
    // Without an analysis of what can have been written, `%r1` would be alive from the start of the kernel.
    let program = kernel(
        r"mov.u32 %r5, %tid.x; st.shared.u32 [0], %r5; setp.eq.u32 %p1, 1, 1;
        @%p1 mov.u32 %r1, 2; @!%p1 mov.u32 %r1, 3; st.shared.u32 [4], %r1; ret;",
    );
    assert_eq!(program.slot_count, 1);
}

#[test]
fn a_hole_in_a_value_is_filled_by_others() {
    let program = kernel(
        r"mov.u32 %r1, %tid.x; st.shared.u32 [0], %r1;
        mov.u32 %r2, %tid.y; st.shared.u32 [4], %r2;
        mov.u32 %r1, %tid.z; st.shared.u32 [8], %r1; ret;",
    );
    assert_eq!(program.slot_count, 1);
}

#[test]
fn predicates_are_reused_too_and_the_first_is_constantly_true() {
    let program = kernel(
        r"setp.eq.u32 %p1, %r1, 0; @%p1 add.u32 %r1, %r1, 1;
        setp.eq.u32 %p2, %r1, 0; @%p2 add.u32 %r1, %r1, 1; st.shared.u32 [0], %r1; ret;",
    );
    assert_eq!(program.pred_count, 2);
}
