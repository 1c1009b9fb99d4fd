//! What the branches of a SASS function look like: which are guards, which rejoin, what they choose between.
//!
//! Read off a listing's opcodes, predicates and labels; no instruction is executed here.

use warpwise_nvtools::nvdisasm::{Function, Instruction};

/// The ways in which a function leaves the straight line.
#[derive(Debug, Default, PartialEq)]
pub struct Branches<'a> {
    /// `@P0 EXIT`: lanes that leave.
    pub guards: Vec<&'a Instruction>,
    /// Jumps to themselves, which ptxas puts behind a kernel's end.
    pub to_self: Vec<&'a Instruction>,
    /// All other jumps.
    pub others: Vec<&'a Instruction>,
}

pub fn branches(function: &Function) -> Branches<'_> {
    let mut branches = Branches::default();
    for instruction in &function.instructions {
        match instruction.base_opcode() {
            "EXIT" if instruction.predicate.is_some() => branches.guards.push(instruction),
            "BRA" if target(function, instruction) == Some(instruction.address) => branches.to_self.push(instruction),
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "CALL" => branches.others.push(instruction),
            _ => {}
        }
    }
    branches
}

/// Where an instruction with a label jumps to.
fn target(function: &Function, instruction: &Instruction) -> Option<u32> {
    let (_, name) = instruction.operands.split_once("`(")?;
    let name = name.split(')').next()?;
    function.labels.iter().find(|label| label.name == name).map(|label| label.address)
}

/// Instructions that choose a value without a jump: a select, or one under a predicate.
pub fn choices(function: &Function) -> Vec<&Instruction> {
    let chooses = |instruction: &&Instruction| match instruction.base_opcode() {
        "SEL" | "FSEL" | "FMNMX" => true,
        "EXIT" | "BRA" | "BRX" | "JMP" | "CALL" | "RET" => false,
        _ => instruction.predicate.is_some(),
    };
    function.instructions.iter().filter(chooses).collect()
}

/// A branch whose two sides meet again.
#[derive(Debug, PartialEq)]
pub struct Diamond<'a> {
    /// Notes where the sides meet.
    pub bssy: &'a Instruction,
    /// The jump that lanes may disagree about.
    pub branch: &'a Instruction,
    /// The side of the lanes that do not jump.
    pub fall_through: &'a [Instruction],
    /// The side of the lanes that do.
    pub jumped: &'a [Instruction],
    /// Waits for both sides.
    pub bsync: &'a Instruction,
    pub after: &'a [Instruction],
}

/// The first branch between a BSSY and its BSYNC that is taken lane by lane.
pub fn diamond(function: &Function) -> Option<Diamond<'_>> {
    let code = &function.instructions[..];
    let position = |from: usize, matches: &dyn Fn(&Instruction) -> bool| {
        code.iter().skip(from).position(matches).map(|index| from + index)
    };
    let start = position(0, &|instruction| instruction.base_opcode() == "BSSY")?;
    let barrier = |instruction: &Instruction| instruction.operands.split(',').next().map(str::trim).map(str::to_owned);
    let end = position(start, &|instruction| {
        instruction.base_opcode() == "BSYNC" && barrier(instruction) == barrier(&code[start])
    })?;
    let by_lane = |instruction: &Instruction| {
        let predicate = instruction.predicate.as_deref().unwrap_or_default();
        instruction.opcode == "BRA" && predicate.trim_start_matches(['@', '!']).starts_with('P')
    };
    let branch = position(start, &by_lane).filter(|&branch| branch < end)?;
    let target = target(function, &code[branch])?;
    let target = position(branch + 1, &|instruction| instruction.address == target).filter(|&target| target <= end)?;
    Some(Diamond {
        bssy: &code[start],
        branch: &code[branch],
        fall_through: &code[branch + 1..target],
        jumped: &code[target..end],
        bsync: &code[end],
        after: &code[end + 1..],
    })
}

/// Instructions with this opcode, modifiers aside.
pub fn count(code: &[Instruction], opcode: &str) -> usize {
    code.iter().filter(|instruction| instruction.base_opcode() == opcode).count()
}

/// Register operands and others, in order: destination first.
pub fn operands(instruction: &Instruction) -> Vec<&str> {
    instruction.operands.split(',').map(str::trim).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A function from lines such as `@P0 BRA B1` and labels such as `B1:`, 16 bytes an instruction.
    pub fn function(text: &str) -> Function {
        let mut function = Function { name: "f".to_owned(), ..Function::default() };
        let mut listing = String::from("\t.target\tsm_120\n\t.section\t.text.f,\"ax\",@progbits\n");
        let mut address = 0;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.ends_with(':') {
                true => listing.push_str(&format!("{line}\n")),
                false => {
                    listing.push_str(&format!(
                        "/*{address:04x}*/ {line} ; /* 0x0000000000000000 */\n/* 0x0000000000000000 */\n"
                    ));
                    address += 16;
                }
            }
        }
        let parsed = warpwise_nvtools::nvdisasm::parse_listing(&listing).expect("a listing");
        function.clone_from(parsed.function("f").expect("the function"));
        function
    }

    const TWO_ARMS: &str = "
        ISETP.GE.U32.AND P0, PT, R0, UR5, PT
        @P0 EXIT
        BSSY.RECONVERGENT B0, `(JOIN)
        @!P0 BRA `(ELSE)
        BRA.U !UP0, `(END)
        FMUL R4, R4, 0.5
        FADD R4, R4, 1
        BRA `(END)
        ELSE:
        FFMA R4, R4, R3, 1
        END:
        BSYNC.RECONVERGENT B0
        JOIN:
        STG.E desc[UR6][R2.64], R4
        EXIT
        SELF:
        BRA `(SELF)";

    #[test]
    fn the_two_sides_of_a_branch_end_where_they_meet() {
        let function = function(TWO_ARMS);
        let diamond = diamond(&function).expect("a diamond");
        assert_eq!(diamond.branch.address, 0x30);
        assert_eq!((count(diamond.fall_through, "FMUL"), count(diamond.fall_through, "FFMA")), (1, 0));
        assert_eq!((count(diamond.jumped, "FMUL"), count(diamond.jumped, "FFMA")), (0, 1));
        assert_eq!(diamond.after.len(), 3);
    }

    #[test]
    fn guards_and_jumps_to_self_are_told_from_other_branches() {
        let function = function(TWO_ARMS);
        let branches = branches(&function);
        let addresses = |instructions: &[&Instruction]| instructions.iter().map(|i| i.address).collect::<Vec<_>>();
        assert_eq!(addresses(&branches.guards), [0x10]);
        assert_eq!(addresses(&branches.to_self), [0xc0]);
        assert_eq!(addresses(&branches.others), [0x30, 0x40, 0x70]);
    }

    #[test]
    fn a_uniform_branch_or_another_barrier_makes_no_diamond() {
        for (from, to) in [("@!P0 BRA", "@UP0 BRA"), ("BSYNC.RECONVERGENT B0", "BSYNC.RECONVERGENT B1")] {
            assert_eq!(diamond(&function(&TWO_ARMS.replace(from, to))), None, "{to}");
        }
    }

    #[test]
    fn a_predicated_instruction_and_a_select_choose_and_a_guard_does_not() {
        let function = function("@P0 EXIT\n@!P0 FMUL R1, R1, 0.5\nFSEL R1, R1, R2, P0\nFADD R1, R1, 1\nEXIT");
        let opcodes: Vec<&str> = choices(&function).iter().map(|instruction| instruction.base_opcode()).collect();
        assert_eq!(opcodes, ["FMUL", "FSEL"]);
    }
}
