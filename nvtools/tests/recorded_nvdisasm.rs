//! What nvdisasm was recorded to print, read back.

use warpwise_nvtools::nvdisasm::{
    Instruction, ListingError, LiveError, Register, RegisterFile, Use, parse_listing, parse_live,
};

const SM_120: &str = include_str!("data/listing_sm_120.txt");
const LIVE: &str = include_str!("data/live_sm_120.txt");

fn source(instruction: &Instruction) -> Vec<(&str, u32)> {
    instruction.source.iter().map(|line| (line.file.rsplit('/').next().unwrap_or_default(), line.line)).collect()
}

#[test]
fn functions_labels_and_instructions() {
    let listing = parse_listing(SM_120).expect("a recorded listing");
    assert_eq!(listing.arch, "sm_120");
    let names: Vec<_> = listing.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["calls", "vecadd"]);
    let vecadd = listing.function("vecadd").expect("it is there");
    assert_eq!(vecadd.instructions.len(), 32, "20 of code, the closing branch, padding to a multiple of 128 bytes");
    assert_eq!(vecadd.labels.len(), 2);
    assert_eq!(vecadd.labels[0].address, 0x140);
    for (index, instruction) in vecadd.instructions.iter().enumerate() {
        assert_eq!(instruction.address as usize, index * 16);
    }
}

#[test]
fn an_instruction_with_all_its_parts() {
    let listing = parse_listing(SM_120).expect("a recorded listing");
    let vecadd = listing.function("vecadd").expect("it is there");
    let exit = &vecadd.instructions[7];
    assert_eq!((exit.predicate.as_deref(), exit.opcode.as_str(), exit.operands.as_str()), (Some("@P0"), "EXIT", ""));
    let load = &vecadd.instructions[13];
    assert_eq!((load.opcode.as_str(), load.base_opcode()), ("LDG.E", "LDG"));
    assert_eq!(load.operands, "R5, desc[UR4][R4.64]");
    assert_eq!(load.encoding as u64, 0x0000_0004_0405_7981);
    assert_eq!(vecadd.instructions[5].encoding, 0x001f_ca00_0f8e_0200_0000_0004_0909_7c24);
    assert_eq!(vecadd.instructions[5].control().to_string(), "B0-----:R-:W-:Y:S05");
}

#[test]
fn source_lines_come_innermost_first_and_hold_until_the_next() {
    let listing = parse_listing(SM_120).expect("a recorded listing");
    let vecadd = &listing.function("vecadd").expect("it is there").instructions;
    assert_eq!(source(&vecadd[0]), [("lib.rs", 13)]);
    assert_eq!(source(&vecadd[1]), [("helper.rs", 5), ("lib.rs", 14)]);
    assert_eq!(source(&vecadd[2]), source(&vecadd[1]));
    assert_eq!(source(&vecadd[3]), [("lib.rs", 15)]);
    let far = listing.functions[0].labels.iter().find(|label| label.name.ends_with("3far")).expect("a called function");
    let deepest = listing.functions[0].instructions.iter().map(|instruction| instruction.source.len()).max();
    assert_eq!((far.address % 16, deepest), (0, Some(3)));
}

#[test]
fn sm_80_has_the_same_form() {
    let listing = parse_listing(include_str!("data/listing_sm_80.txt")).expect("a recorded listing");
    assert_eq!(listing.arch, "sm_80");
    let vecadd = &listing.function("vecadd").expect("it is there").instructions;
    assert!(vecadd.iter().any(|instruction| instruction.opcode == "FADD"));
    let waits: Vec<_> =
        vecadd.iter().filter(|instruction| instruction.opcode == "FADD").map(|i| i.control().wait_mask).collect();
    assert_ne!(waits, [0], "the sum waits for its loads");
}

#[test]
fn live_registers_of_vecadd() {
    let live = parse_live(LIVE).expect("a recorded table");
    let at = |address| &live[&("vecadd".to_owned(), address)];
    let counts: Vec<usize> = (0..21).map(|index| at(index * 16).count(RegisterFile::General)).collect();
    assert_eq!(counts, [1, 2, 2, 2, 3, 3, 2, 2, 4, 4, 6, 8, 8, 8, 7, 7, 6, 6, 4, 1, 1]);
    let general = |index| Register { file: RegisterFile::General, index };
    let multiply_add = at(0x50);
    assert!(multiply_add.registers.contains(&(general(0), Use::Read)));
    assert!(multiply_add.registers.contains(&(general(9), Use::ReadAndWritten)));
    assert!(multiply_add.registers.contains(&(general(1), Use::Held)));
    let compare = at(0x60);
    assert_eq!(compare.count(RegisterFile::Predicate), 1);
    assert!(compare.registers.contains(&(Register { file: RegisterFile::Uniform, index: 5 }, Use::Read)));
    assert!(!live.contains_key(&("vecadd".to_owned(), 0x150)), "padding has no row");
}

#[test]
fn a_listing_cut_anywhere_is_a_listing_or_an_error() {
    let mut errors = 0;
    for (end, _) in SM_120.char_indices().step_by(101) {
        errors += usize::from(parse_listing(&SM_120[..end]).is_err());
    }
    assert!(errors > 50, "{errors}");
    for (end, _) in LIVE.char_indices().step_by(101) {
        let _ = parse_live(&LIVE[..end]);
    }
}

#[test]
fn text_that_is_no_listing_says_where() {
    assert_eq!(parse_listing(""), Err(ListingError::Empty));
    assert_eq!(parse_listing("nvdisasm: what?\n"), Err(ListingError::Empty));
    let bad = SM_120.replacen("/* 0x000fe20000000800 */", "/* 0xnonsense */", 1);
    let error = parse_listing(&bad).expect_err("half an encoding is missing").to_string();
    assert_eq!(error, "line 17: `/* 0xnonsense */` where the second half of an encoding was expected");
    assert!(parse_listing(&SM_120.replacen(".section\t.text.calls", ".section\t.data", 1)).is_err());
    assert!(parse_listing(&SM_120.replacen(", line 42", ", line many", 1)).is_err());
}

#[test]
fn tables_that_contradict_themselves_say_where() {
    assert_eq!(parse_live(""), Err(LiveError::Empty));
    let miscounted = LIVE.replacen("// |  1  ^", "// |  2  ^", 1);
    assert!(matches!(parse_live(&miscounted), Err(LiveError::Miscounted { found: 1, counted: 2, .. })));
    let marked = LIVE.replacen("// |  1  ^", "// |  1  ?", 1);
    assert!(matches!(parse_live(&marked), Err(LiveError::UnknownMark { mark: '?', .. })));
    let headless: String =
        LIVE.lines().filter(|line| !line.contains("# 0")).map(|line| line.to_owned() + "\n").collect();
    assert!(matches!(parse_live(&headless), Err(LiveError::NoHeading { .. })));
}
