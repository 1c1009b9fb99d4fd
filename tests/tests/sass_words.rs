//! `explain-sass` has words for every opcode and modifier that our kernels are compiled to.

use std::collections::BTreeSet;

use tests::listing;
use warpwise::sass_words;

#[test]
fn every_opcode_and_modifier_of_our_listings_is_explained() {
    let (mut without, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for arch in ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"] {
        for instruction in listing(arch).functions.iter().flat_map(|function| &function.instructions) {
            if !seen.insert(instruction.opcode.clone()) {
                continue;
            }
            match sass_words::explain(&instruction.opcode) {
                Err(_) => drop(without.insert(instruction.base_opcode().to_owned())),
                Ok(explained) => {
                    let unknown = explained.modifiers.iter().filter(|(_, text)| text.is_none());
                    without.extend(unknown.map(|(name, _)| format!("{}: .{name}", instruction.base_opcode())));
                }
            }
        }
    }
    println!("{} spellings of opcodes", seen.len());
    assert!(seen.len() > 100, "only {} spellings in all kernels: is this the whole listing?", seen.len());
    assert!(without.is_empty(), "there are no words for {without:?}");
}
