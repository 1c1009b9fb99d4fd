use std::sync::Arc;

use super::*;
use crate::isa::Control;
use crate::sass::Instruction;

/// One instruction a line, as nvdisasm prints it; `name:` is a label.
fn code(text: &str) -> Code {
    let mut code = Code::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let address = 16 * code.instructions.len() as u32;
        if let Some(name) = line.strip_suffix(':') {
            code.labels.push((name.to_owned(), address));
            continue;
        }
        let (predicate, line) = match line.strip_prefix('@') {
            Some(rest) => {
                rest.split_once(' ').map(|(guard, rest)| (Some(format!("@{guard}")), rest)).expect("an opcode")
            }
            None => (None, line),
        };
        let (opcode, operands) = line.split_once(' ').unwrap_or((line, ""));
        code.instructions.push(Instruction {
            address,
            predicate,
            opcode: opcode.to_owned(),
            operands: operands.to_owned(),
            encoding: 0,
            control: Control::default(),
            source: Arc::from([]),
        });
    }
    code
}

fn abi(arch: u32) -> Abi {
    Abi { arch, registers: 20, many_uniform: true }
}

/// The registers alive at each instruction, with nvdisasm's marks, without R1.
fn alive(text: &str, rule: Rule) -> Vec<String> {
    let mark = |usage| match usage {
        Use::Written => "^",
        Use::Read => "v",
        Use::ReadAndWritten => "x",
        Use::Held => "",
    };
    let live = live(&code(text), &abi(120), rule);
    let one = |live: Live| {
        let registers = live.registers.into_iter().filter(|(register, _)| register.to_string() != "R1");
        registers.map(|(register, usage)| format!("{register}{}", mark(usage))).collect::<Vec<_>>().join(" ")
    };
    live.into_iter().map(one).collect()
}

#[test]
fn a_register_is_alive_from_its_write_to_its_last_read() {
    let found = alive(
        "LDC.64 R2, c[0x0][0x380]
         LDG.E R4, desc[UR6][R2.64]
         FADD R4, R4, 1
         STG.E desc[UR6][R2.64], R4
         EXIT",
        Rule::Nvdisasm,
    );
    assert_eq!(found, ["R2^ R3^ UR6 UR7", "R2v R3v R4^ UR6v UR7v", "R2 R3 R4x UR6 UR7", "R2v R3v R4v UR6v UR7v", "",]);
}

#[test]
fn a_result_that_nobody_reads_counts_where_it_is_written() {
    assert_eq!(alive("MOV R5, 0x1\nEXIT", Rule::Exact), ["R5^", ""]);
}

#[test]
fn a_loop_keeps_what_its_next_round_reads() {
    let found = alive(
        "MOV R2, RZ
         .L_x_0:
         IADD R2, R2, 0x1
         ISETP.LT.AND P0, PT, R2, R3, PT
         @P0 BRA `(.L_x_0)
         EXIT",
        Rule::Nvdisasm,
    );
    assert_eq!(found, ["R2^ R3", "R2x R3", "R2v R3v P0^", "R2 R3 P0v", ""]);
}

#[test]
fn what_a_guarded_write_keeps_is_seen_by_the_exact_rule() {
    // R2 reaches the store where P0 is true; nvdisasm forgets it at the label.
    let text = "MOV R2, RZ
         ISETP.LT.AND P1, PT, R3, R4, PT
         .L_x_0:
         ISETP.NE.AND P0, PT, R3, R4, PT
         @!P0 MOV R2, R3
         .L_x_1:
         STG.E desc[UR6][R4.64], R2
         EXIT";
    let holds = |rule| alive(text, rule)[1].contains("R2");
    assert_eq!((holds(Rule::Nvdisasm), holds(Rule::Exact)), (false, true));
    for rule in [Rule::Nvdisasm, Rule::Exact] {
        assert!(alive(text, rule)[2].starts_with("R2 R3v"), "inside the stretch it is held");
    }
}

#[test]
fn p2r_reads_the_predicates_of_its_mask_by_the_exact_rule() {
    let text = "P2R R4, PR, RZ, 0x5\nSTG.E desc[UR6][R2.64], R4\nEXIT";
    assert_eq!(alive(text, Rule::Exact)[0], "R2 R3 R4^ UR6 UR7 P0v P2v");
    assert_eq!(alive(text, Rule::Nvdisasm)[0], "R2 R3 R4^ UR6 UR7");
    assert_eq!(alive("R2P PR, R4, 0x3\nEXIT", Rule::Exact)[0], "R4v P0^ P1^");
}

#[test]
fn a_call_spoils_what_its_callee_need_not_save() {
    let found = alive("CALL.REL.NOINC `(.L_x_9)\nSTG.E desc[UR30][R16.64], R18\nEXIT", Rule::Nvdisasm);
    assert!(found[0].starts_with("R0x R3^ R4^ R5^"), "{}", found[0]);
    assert!(found[0].contains(" R15^ R16 R17 R18 UR4^") && found[0].contains("UR23^ UR30 UR31 P0^"), "{}", found[0]);
    let narrow = Abi { many_uniform: false, ..abi(120) };
    let first = &live(&code("CALL.REL.NOINC `(.L_x_9)\nEXIT"), &narrow, Rule::Nvdisasm)[0];
    assert_eq!((first.count(File::Uniform), first.count(File::UniformPredicate)), (6, 1));
}

#[test]
fn a_descriptor_that_8x_does_not_print_is_read() {
    let mut hidden = code("LDG.E R5, [R4.64]\nEXIT");
    hidden.instructions[0].encoding = 0x0001_6200_0c1e_1900_0000_0004_0405_7981;
    let with = |arch| live(&hidden, &abi(arch), Rule::Nvdisasm)[0].count(File::Uniform);
    assert_eq!((with(80), with(90)), (2, 0));
}

#[test]
fn an_opcode_that_nobody_knows_writes_its_first_operand() {
    assert_eq!(alive("XYZZY.64 R4, P1, R6, UR8, P2\nEXIT", Rule::Exact)[0], "R4^ R5^ R6v R7v UR8v UR9v P1^ P2v");
}
