//! The PTX front end, by what it makes of texts. `UPDATE_EXPECT=1 cargo test` rewrites the expectations.

mod arithmetic;
mod calls;
mod control_flow;
mod data_movement;
mod errors;
mod execution;
mod limits;
mod memory;
mod mutations;
mod programs;
mod registers;
mod text;
mod warp;

use expect_test::Expect;
use warpwise_simt::isa::Program;
use warpwise_simt::ptx::Module;

const HEADER: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

/// Registers that every snippet may use.
const REGISTERS: &str = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<9>;";

/// A module with a header before `text`.
fn module(text: &str) -> Module {
    Module::parse("test.ptx", &format!("{HEADER}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

/// The first entry of a module.
fn program(text: &str) -> Program {
    let module = module(text);
    let entry = module.entries().next().unwrap_or_default().to_owned();
    let program = module.lower(&entry).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program.code.len(), program.info.len(), "every instruction says where it comes from");
    program
}

/// The first entry of a module, printed.
fn check_program(text: &str, expected: Expect) {
    expected.assert_eq(&program(text).to_string());
}

/// The instructions of a kernel with these statements, constants in place of their numbers; without the last `exit`.
///
/// Of a constant of 64 bits, the low word is shown.
fn check(body: &str, expected: Expect) {
    check_kernel("", body, expected);
}

/// As [`check`], with declarations before the kernel.
fn check_kernel(before: &str, body: &str, expected: Expect) {
    let program = program(&format!("{before}\n.entry k(.param .u32 a, .param .u64 b) {{ {REGISTERS}\n{body}\n}}"));
    let code = &program.code[..program.code.len() - 1];
    let lines: Vec<_> = code.iter().map(|instr| with_constants(&program, &instr.to_string())).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

fn with_constants(program: &Program, instruction: &str) -> String {
    let words = instruction.split_inclusive([' ', ',', '[', ']', '+']);
    let replaced = words.map(|word| {
        let name = word.trim_end_matches([' ', ',', '[', ']', '+']);
        let index = name.strip_prefix('c').and_then(|digits| digits.parse::<usize>().ok());
        match index.and_then(|index| program.constants.get(index)) {
            Some(constant) => format!("<{constant}>{}", &word[name.len()..]),
            None => word.to_owned(),
        }
    });
    replaced.collect()
}

/// What is said of a module that is wrong, or of its first entry.
fn error_of(text: &str) -> String {
    let result = Module::parse("test.ptx", text).and_then(|module| {
        let entry = module.entries().next().unwrap_or_default().to_owned();
        module.lower(&entry).map(|program| program.to_string())
    });
    match result {
        Ok(program) => panic!("no error, but\n{program}"),
        Err(error) => error.to_string(),
    }
}

fn check_error(text: &str, expected: Expect) {
    expected.assert_eq(&error_of(&format!("{HEADER}{text}")));
}

/// What is said of a kernel with these statements.
fn check_body_error(body: &str, expected: Expect) {
    check_error(&format!(".entry k(.param .u32 a, .param .u64 b) {{ {REGISTERS}\n{body}\n}}"), expected);
}
