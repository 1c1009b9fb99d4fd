//! Lowered code, executed: what only a run can show.
//!
//! Each test gives a body that computes `%d0` (64 bits) from `%r0`, the number of the thread, and the value that it must have.

use warpwise_simt::device;
use warpwise_simt::machine::{Launch, Machine};

use super::{HEADER, REGISTERS, module};

const THREADS: u64 = 32;

/// Runs a kernel of one warp that leaves `%d0` of every thread.
fn run(before: &str, body: &str) -> Vec<u64> {
    let module = module(&format!(
        "{before} .entry k(.param .u64 out) {{ {REGISTERS} .reg .b64 %at<3>; mov.u32 %r0, %tid.x;\n{body}
        ld.param.u64 %at1, [out]; mad.wide.u32 %at2, %r0, 8, %at1; mov.u32 %r0, %tid.x;
        mad.wide.u32 %at2, %r0, 8, %at1; st.global.u64 [%at2], %d0; ret; }}"
    ));
    let program = module.lower("k").unwrap_or_else(|error| panic!("{error}"));
    let mut machine = Machine::new(device::find("RTX 5070").expect("the default device"));
    let id = machine.load(module.variables()).expect("variables");
    let kernel = machine.prepare(id, &program).unwrap_or_else(|error| panic!("{error}\n{HEADER}{program}"));
    let out = machine.alloc(8 * THREADS).expect("memory");
    let launch = Launch::new([1; 3], [THREADS as u32, 1, 1], out.to_le_bytes().to_vec());
    let report = machine.launch(&kernel, &launch).expect("a launch");
    assert!(report.fault.is_none(), "{}", report.fault.map(|fault| fault.to_string()).unwrap_or_default());
    let mut bytes = vec![0; 8 * THREADS as usize];
    machine.read(out, &mut bytes).expect("results");
    bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("8 bytes"))).collect()
}

fn check(body: &str, expected: impl Fn(u64) -> u64) {
    check_with("", body, expected);
}

fn check_with(before: &str, body: &str, expected: impl Fn(u64) -> u64) {
    let expected: Vec<_> = (0..THREADS).map(expected).collect();
    assert_eq!(run(before, body), expected, "{body}");
}

#[test]
fn a_signed_byte_in_a_16_bit_register_leaves_nothing_behind() {
    let table = ".global .b8 bytes[4] = {0x80, 0x7f, 0xff, 1};";
    let body = "and.b32 %r1, %r0, 3; cvt.u64.u32 %d1, %r1; mov.u64 %d2, bytes; add.s64 %d1, %d1, %d2;
        ld.global.s8 %h1, [%d1]; mov.b32 %r2, {%h1, %h1}; cvt.u32.u16 %r3, %h1; mov.b64 %d0, {%r2, %r3};";
    check_with(table, body, |thread| {
        let half = u64::from([0x80u8, 0x7f, 0xff, 1][thread as usize & 3] as i8 as i16 as u16);
        half << 32 | half << 16 | half
    });
}

#[test]
fn results_narrower_than_their_register_are_extended() {
    check("add.u32 %r1, %r0, 0x7f0; cvt.s8.s32 %r2, %r1; cvt.s64.s32 %d0, %r2;", |t| (t + 0x7f0) as i8 as i64 as u64);
    check("add.u32 %r1, %r0, 0x1f0; cvt.u8.u32 %d0, %r1;", |t| (t + 0x1f0) & 0xff);
    check("neg.s32 %r1, %r0; cvt.u16.u32 %h1, %r1; cvt.s32.s16 %d0, %h1;", |t| (t as i64).wrapping_neg() as u64);
    check("neg.s32 %r1, %r0; cvt.s8.s32 %h1, %r1; cvt.u32.s8 %d0, %h1;", |t| {
        u64::from((t as i32).wrapping_neg() as u32)
    });
    check("cvt.rn.f32.u32 %r1, %r0; neg.f32 %r1, %r1; cvt.rzi.s8.f32 %d0, %r1;", |t| (t as i64).wrapping_neg() as u64);
}

#[test]
fn a_carry_goes_up_a_chain_of_words() {
    let body =
        "mov.u32 %r1, -3; mov.u32 %r2, -1; add.cc.u32 %r3, %r1, %r0; addc.cc.u32 %r4, %r2, 0; addc.u32 %r5, 0, 7;
        sub.cc.u32 %r6, %r0, 5; subc.u32 %r7, 0, 0; xor.b32 %r5, %r5, %r7; mov.b64 %d0, {%r4, %r5};";
    check(body, |thread| {
        let carry = u64::from(thread >= 3);
        let (middle, top) = (0xffff_ffffu64.wrapping_add(carry) & 0xffff_ffff, 7 + carry);
        let borrow = if thread < 5 { 0xffff_ffff } else { 0 };
        middle | (top ^ borrow) << 32
    });
}

#[test]
fn a_structure_comes_back_from_a_function_by_field() {
    let function = ".func (.param .align 8 .b8 out[16]) swap(.param .align 8 .b8 in[16])
        { .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %p;
          ld.param.u8 %h1, [in+3]; ld.param.s16 %r2, [in+6]; ld.param.b64 %d1, [in+8]; setp.gt.u64 %p, %d1, 100;
          @%p bra MORE; st.param.b64 [out+8], %d1; bra END; MORE: add.u64 %d1, %d1, 1000; st.param.b64 [out+8], %d1;
          END: st.param.b8 [out+6], %h1; st.param.b32 [out], %r2; st.param.b8 [out+7], 9; ret; }";
    let body = "cvt.u64.u32 %d1, %r0; add.u64 %d1, %d1, 90; sub.s32 %r1, 0, %r0;
        { .param .align 8 .b8 p[16]; .param .align 8 .b8 q[16]; st.param.b32 [p], 0x55000000; st.param.b16 [p+6], %r1;
          st.param.b64 [p+8], %d1; call (q), swap, (p); ld.param.b64 %d2, [q+8]; ld.param.s32 %d3, [q]; ld.param.u16 %r2, [q+6]; }
        cvt.u64.u32 %d4, %r2; shl.b64 %d4, %d4, 32; shl.b64 %d3, %d3, 48; or.b64 %d0, %d3, %d4; add.u64 %d0, %d0, %d2;";
    check_with(function, body, |thread| {
        let value = thread + 90;
        let back = if value > 100 { value + 1000 } else { value };
        (thread.wrapping_neg() << 48 | 0x0955 << 32).wrapping_add(back)
    });
}

#[test]
fn functions_call_functions_in_divergent_lanes() {
    let functions = ".func (.reg .u32 %o) twice(.reg .u32 %i) { .reg .u32 %t; add.u32 %t, %i, %i; mov.u32 %o, %t; ret; }
        .func (.reg .u32 %o) work(.reg .u32 %i) { .reg .u32 %t<3>; .reg .pred %p; and.b32 %t0, %i, 1; setp.eq.u32 %p, %t0, 0;
        @%p bra EVEN; call (%t1), twice, (%i); call (%t2), twice, (%t1); add.u32 %o, %t2, %i; ret;
        EVEN: call (%o), twice, (%i); ret; }";
    check_with(functions, "call (%r1), work, (%r0); cvt.u64.u32 %d0, %r1;", |t| if t % 2 == 0 { 2 * t } else { 5 * t });
    let guarded = "mov.u32 %r1, 1; setp.lt.u32 %p1, %r0, 7; @%p1 call (%r1), work, (%r0); cvt.u64.u32 %d0, %r1;";
    check_with(functions, guarded, |t| if t >= 7 { 1 } else { [2 * t, 5 * t][t as usize % 2] });
}

#[test]
fn vectors_are_permuted_at_once() {
    let body = "add.u32 %r1, %r0, 1; mov.v2.b32 {%r1, %r0}, {%r0, %r1}; mov.b64 %d0, {%r1, %r0};";
    check(body, |thread| thread | (thread + 1) << 32);
}

#[test]
fn local_variables_of_a_function_are_its_own() {
    let function =
        ".func (.reg .u32 %o) f(.reg .u32 %i) { .local .u32 mine; st.local.u32 [mine], %i; ld.local.u32 %o, [mine];
        add.u32 %o, %o, 1; ret; }";
    let body = ".local .align 8 .b8 depot[8]; .reg .b64 %sp<3>; mov.u64 %sp1, depot; cvta.local.u64 %sp2, %sp1;
        st.u32 [%sp2+4], %r0; call (%r1), f, (%r0); ld.local.u32 %r2, [depot+4]; mov.b64 %d0, {%r1, %r2};";
    check_with(function, body, |thread| (thread + 1) | thread << 32);
}

#[test]
fn addresses_of_variables_are_the_same_through_every_space() {
    let variables = ".global .u64 g = 5; .global .u64 p = generic(g); .const .u64 c = 7; .shared .u64 s[32];";
    let body = "mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 8, %r1; cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d2, %d1; cvt.u64.u32 %d3, %r0;
        st.u64 [%d2], %d3; ld.shared.u64 %d4, [%r1]; ld.global.u64 %d5, [p]; ld.u64 %d6, [%d5]; ld.const.u64 %d7, [c];
        mul.lo.u64 %d6, %d6, %d7; add.u64 %d0, %d4, %d6; isspacep.shared %p1, %d2; @!%p1 mov.u64 %d0, 0;";
    check_with(variables, body, |thread| thread + 35);
}

#[test]
fn a_jump_table_sends_every_lane_to_its_target() {
    let body = "and.b32 %r1, %r0, 3; T: .branchtargets A, B, C, B; brx.idx %r1, T;
        A: mov.u64 %d0, 10; bra END; B: mov.u64 %d0, 20; bra END; C: mov.u64 %d0, 30; END:";
    check(body, |thread| [10, 20, 30, 20][thread as usize & 3]);
}

#[test]
fn votes_and_shuffles_of_early_ptx_go_over_the_active_lanes() {
    let body =
        "setp.lt.u32 %p1, %r0, 12; mov.u64 %d0, 0; @!%p1 bra END; setp.gt.u32 %p2, %r0, 3; vote.ballot.b32 %r1, %p2;
        vote.all.pred %p3, %p1; shfl.idx.b32 %r2, %r0, 5, 31; selp.u32 %r2, %r2, 0, %p3; mov.b64 %d0, {%r1, %r2}; END:";
    check(body, |thread| if thread < 12 { 0xff0 | 5 << 32 } else { 0 });
}
