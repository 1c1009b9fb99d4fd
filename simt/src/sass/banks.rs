//! Constant banks 2, 3 and 4: what a cubin says of their words.
//!
//! Bank 2 has the compiler's own tables, bank 3 the module's `.const` variables, bank 4 addresses of its other variables. A word is
//! known to the inner form as a literal, as what a variable holds when the launch starts, or as an address. Worked out from cubins
//! of known kernels (ptxas 13.2).

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};

use crate::isa::Constant;

/// The words of one bank; `None`: nobody knows what is there.
pub(super) type Words = Vec<Option<Constant>>;

/// A 64-bit address.
const RELOCATION_ADDRESS: u32 = 2;
const WORD_BYTES: u64 = 4;

/// The banks that a kernel has, with their numbers.
pub(super) fn of_kernel(file: &ElfFile64<'_, Endianness>, kernel: &str) -> Vec<(u32, Words)> {
    let mut banks = Vec::new();
    for bank in [2, 3, 4] {
        let own = file.section_by_name(&format!(".nv.constant{bank}.{kernel}"));
        let Some(section) = own.or_else(|| file.section_by_name(&format!(".nv.constant{bank}"))) else { continue };
        let mut words: Words = literals(section.data().unwrap_or_default());
        if bank == 3 {
            place_variables(file, section.index(), &mut words);
        }
        place_addresses(file, &section, &mut words);
        banks.push((bank, words));
    }
    banks
}

fn literals(bytes: &[u8]) -> Words {
    let word = |chunk: &[u8]| {
        let mut word = [0; WORD_BYTES as usize];
        word[..chunk.len()].copy_from_slice(chunk);
        Some(Constant::Literal(u32::from_le_bytes(word)))
    };
    bytes.chunks(WORD_BYTES as usize).map(word).collect()
}

/// Words that are a variable's. A word that two of them share is not known.
fn place_variables(file: &ElfFile64<'_, Endianness>, section: object::SectionIndex, words: &mut Words) {
    let symbols = file.symbols().filter(|symbol| symbol.section_index() == Some(section) && symbol.size() > 0);
    for symbol in symbols {
        let Ok(name) = symbol.name() else { continue };
        let Some(end) = symbol.address().checked_add(symbol.size()) else { continue };
        let own = symbol.address() / WORD_BYTES..end.div_ceil(WORD_BYTES);
        let known = own.start.min(words.len() as u64) as usize..own.end.min(words.len() as u64) as usize;
        for (index, word) in known.clone().zip(&mut words[known]) {
            let start = index as u64 * WORD_BYTES;
            let shared = start < symbol.address() || matches!(word, None | Some(Constant::Stored { .. }));
            let bytes = (end - start.min(end)).min(WORD_BYTES) as u8;
            let offset = start.saturating_sub(symbol.address());
            *word = (!shared).then(|| Constant::Stored { name: name.to_owned(), offset, bytes });
        }
    }
}

fn place_addresses<'d>(file: &ElfFile64<'d, Endianness>, section: &impl ObjectSection<'d>, words: &mut Words) {
    for (offset, relocation) in section.relocations() {
        let at = (offset / WORD_BYTES).min(words.len() as u64) as usize;
        let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
        let name = file.symbol_by_index(symbol).ok().and_then(|symbol| Some(symbol.name().ok()?.to_owned()));
        let is_address = matches!(relocation.flags(), RelocationFlags::Elf { r_type } if r_type == RELOCATION_ADDRESS);
        for (word, to) in (0..2).zip(words.iter_mut().skip(at)) {
            let addend = relocation.addend();
            let address = |name: &String| Constant::Variable { name: name.clone(), addend, word };
            *to = name.as_ref().filter(|_| is_address && offset % WORD_BYTES == 0).map(address);
        }
    }
}
