//! Texts that ask for too much, or go too deep: answered at once, with a sentence.

use std::fmt::Write;

use super::{HEADER, REGISTERS, error_of, program};

fn complains(text: &str, of: &str) {
    let error = error_of(&format!("{HEADER}{text}"));
    assert!(error.contains(of), "`{of}` is not in: {error}");
}

#[test]
fn a_range_of_registers_costs_only_what_is_named() {
    let program = program(
        ".entry k() { .reg .b32 %r<4294967295>; mov.u32 %r4000000000, 1; st.shared.u32 [0], %r4000000000; ret; }",
    );
    assert_eq!(program.slot_count, 1);
}

#[test]
fn sizes_that_no_memory_has_are_refused() {
    complains(".global .b64 x[99999999][99999999];", "larger than any memory");
    complains(".global .b8 x[-1];", "an array of -1 elements");
    complains(".entry k() { .shared .b8 s[100000000]; ret; }", "bytes of shared memory");
    complains(".entry k() { .local .b8 s[100000000]; ret; }", "bytes of local memory");
    complains(".entry k(.param .b8 p[40000]) { ret; }", "the kernel's parameters need 40000 bytes");
    complains(".func f(.param .b8 p[5000]) { ret; } .entry k() { call f; ret; }", "a function parameter of 5000 bytes");
}

#[test]
fn nesting_is_bounded() {
    let deep = 100_000;
    complains(&format!(".entry k() {{ {} ", "{".repeat(deep)), "scopes nested deeper");
    complains(&format!(".global .b32 x = {}1;", "(".repeat(deep)), "nested deeper");
    complains(&format!(".global .b32 x = {}1;", "-".repeat(deep)), "nested deeper");
    complains(&format!(".global .b32 x = 1{};", "?1:1".repeat(deep)), "nested deeper");
    complains(&format!(".global .b32 x[] = {};", "{".repeat(deep)), "nested deeper");
    complains(&format!(".entry k() {{ mov.b32 {} ", "{".repeat(deep)), "nested deeper");
    complains(&format!(".entry k() {{ mov.b32 {} ", "a|".repeat(deep)), "nested deeper");
    complains(&format!(".global .b32 x{};", "[1]".repeat(deep)), "more than 16 dimensions");
}

#[test]
fn a_long_chain_of_calls_needs_no_stack() {
    let mut text = String::new();
    for i in 0..3000 {
        _ = writeln!(text, ".func f{i}() {{ call f{}; ret; }}", i + 1);
    }
    let program = program(&format!("{text} .func f3000() {{ ret; }} .entry k() {{ call f0; ret; }}"));
    assert_eq!(program.code.len(), 2 + 2 * 3000 + 1);
}

#[test]
fn a_kernel_that_keeps_too_much_alive_is_refused() {
    let loads: String = (0..9000).map(|i| format!("ld.shared.u32 %r{i}, [{i}];\n")).collect();
    let stores: String = (0..9000).map(|i| format!("st.shared.u32 [{i}], %r{i};\n")).collect();
    complains(
        &format!(".entry k() {{ .reg .b32 %r<9000>; {loads}{stores} ret; }}"),
        "more than 8192 32-bit registers at once",
    );
}

#[test]
fn a_kernel_with_too_many_constants_is_refused() {
    let moves: String = (0..40_000).map(|i| format!("mov.u32 %r1, {};\n", 100_000 + i)).collect();
    complains(&format!(".entry k() {{ {REGISTERS} {moves} ret; }}"), "different constants");
}

#[test]
fn many_blocks_and_long_lives_take_no_longer_than_they_must() {
    // A thousand branches in a row, each value read at the very end.
    let mut text = String::from(".entry k() { .reg .pred %p; .reg .b32 %r<1001>;\n");
    for i in 0..1000 {
        _ = writeln!(text, "@%p bra L{i}; mov.u32 %r{i}, {i}; L{i}:");
    }
    (0..1000).for_each(|i| _ = writeln!(text, "st.shared.u32 [{i}], %r{i};"));
    let program = program(&format!("{text} ret; }}"));
    assert_eq!((program.code.len(), program.estimated_registers), (3001, 1000));
}
