//! What a cubin says of its kernels: parameters, registers, shared and local memory, bounds.
//!
//! The attributes of `.nv.info` sections are undocumented; the ones read here were worked out from cubins of known kernels
//! (ptxas 13.2) and are named as cuobjdump prints them.

use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use crate::isa::{Constant, Param, Ty};

/// A cubin's kernels.
#[derive(Clone, Debug)]
pub struct Cubin {
    entries: Vec<Entry>,
}

/// One kernel's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// 80, 90, 120, …
    pub arch: u32,
    /// Of the cubin's ABI, from the upper byte of its flags.
    pub abi_version: u8,
    /// Registers a thread.
    pub registers: u32,
    pub params: Vec<Param>,
    /// Byte of constant bank 0 at which the parameters start, and their size.
    pub params_at: (u32, u32),
    /// Without what the system reserves.
    pub shared_static_bytes: u32,
    pub shared_reserved_bytes: u32,
    /// Of the stack, a thread.
    pub local_bytes: u32,
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub barrier_count: u32,
    /// Constant banks 2, 3 and 4 by number, where it has them; words that nobody knows are `None`.
    pub banks: Vec<(u32, Vec<Option<Constant>>)>,
}

/// Bytes that are no cubin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CubinError {
    #[error("it is no cubin: {0}")]
    Elf(String),
    #[error("kernel {kernel}: its attributes end in the middle of one")]
    Truncated { kernel: String },
    #[error("no kernel `{name}`; it has {}", .known.join(", "))]
    UnknownEntry { name: String, known: Vec<String> },
}

/// From 9.0 on a block's own shared memory starts behind the system's.
const RESERVED_SHARED_BYTES: u32 = 1024;

const ATTRIBUTE_MAX_THREADS: u8 = 0x05;
const ATTRIBUTE_PARAM_CBANK: u8 = 0x0a;
const ATTRIBUTE_REQNTID: u8 = 0x10;
const ATTRIBUTE_FRAME_SIZE: u8 = 0x11;
const ATTRIBUTE_MIN_STACK_SIZE: u8 = 0x12;
const ATTRIBUTE_KPARAM_INFO: u8 = 0x17;
const ATTRIBUTE_REGCOUNT: u8 = 0x2f;
/// An attribute with a size and as many bytes; the others have 16 bits of value in their place.
const FORMAT_SIZED: u8 = 4;

impl Entry {
    /// Words of a constant bank; none where the kernel has no such bank.
    pub(super) fn bank(&self, bank: u32) -> &[Option<Constant>] {
        self.banks.iter().find(|(number, _)| *number == bank).map_or(&[], |(_, words)| words)
    }
}

impl Cubin {
    /// Reads the headers of all kernels.
    ///
    /// # Errors
    /// Where the bytes are no ELF file of 64 bits, or an attribute is cut off.
    pub fn parse(bytes: &[u8]) -> Result<Self, CubinError> {
        let elf = |error: object::Error| CubinError::Elf(error.to_string());
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(elf)?;
        let flags = file.elf_header().e_flags(Endianness::Little);
        let mut entries = Vec::new();
        for section in file.sections() {
            let name = section.name().map_err(elf)?;
            let Some(kernel) = name.strip_prefix(".text.") else { continue };
            let is_entry = file.section_by_name(&format!(".nv.constant0.{kernel}")).is_some();
            if is_entry {
                entries.push(entry(&file, kernel, flags)?);
            }
        }
        Ok(Self { entries })
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// # Errors
    /// Where it has no kernel of this name.
    pub fn entry(&self, name: &str) -> Result<&Entry, CubinError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| CubinError::UnknownEntry {
            name: name.to_owned(),
            known: self.entries.iter().map(|entry| entry.name.clone()).collect(),
        })
    }
}

/// The instructions of one function as they stand in a cubin, before anything is relocated; none where it has no such function.
pub fn cubin_code(cubin: &[u8], function: &str) -> Option<Vec<u8>> {
    let file = ElfFile64::<Endianness>::parse(cubin).ok()?;
    let section = file.section_by_name(&format!(".text.{function}"))?;
    section.data().ok().map(<[u8]>::to_vec)
}

/// Where the header's flags have the architecture depends on the ABI's version.
fn architecture(flags: u32) -> u32 {
    match flags >> 8 & 0xff {
        arch if flags >> 24 != 0 || arch >= 50 => arch,
        _ => flags & 0xff,
    }
}

fn entry(file: &ElfFile64<'_, Endianness>, name: &str, flags: u32) -> Result<Entry, CubinError> {
    let truncated = || CubinError::Truncated { kernel: name.to_owned() };
    let arch = architecture(flags);
    let own = section_bytes(file, &format!(".nv.info.{name}"));
    let all = section_bytes(file, ".nv.info");
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).map(|symbol| symbol.index().0 as u32);
    let reserved = if arch >= 90 { RESERVED_SHARED_BYTES } else { 0 };
    let shared = file.section_by_name(&format!(".nv.shared.{name}")).map_or(0, |section| section.size() as u32);
    let mut entry = Entry {
        name: name.to_owned(),
        arch,
        abi_version: (flags >> 24) as u8,
        registers: 0,
        params: Vec::new(),
        params_at: (0, 0),
        shared_static_bytes: shared.saturating_sub(reserved),
        shared_reserved_bytes: reserved,
        local_bytes: 0,
        max_threads: None,
        required_threads: None,
        barrier_count: barriers(file, name),
        banks: super::banks::of_kernel(file, name),
    };
    for attribute in attributes(own).ok_or_else(truncated)? {
        let word = |at: usize| word(attribute.bytes, 4 * at);
        match attribute.kind {
            ATTRIBUTE_PARAM_CBANK => {
                let place = word(1).ok_or_else(truncated)?;
                entry.params_at = (place & 0xffff, place >> 16);
            }
            ATTRIBUTE_KPARAM_INFO => {
                let (place, size) = (word(1).ok_or_else(truncated)?, word(2).ok_or_else(truncated)?);
                let number = place & 0xffff;
                let param =
                    Param { name: format!("param_{number}"), ty: Ty::B8, bytes: size >> 18, offset: place >> 16 };
                entry.params.push(param);
            }
            ATTRIBUTE_MAX_THREADS => entry.max_threads = three(attribute.bytes),
            ATTRIBUTE_REQNTID => entry.required_threads = three(attribute.bytes),
            _ => {}
        }
    }
    entry.params.sort_by_key(|param| param.offset);
    for attribute in attributes(all).ok_or_else(truncated)? {
        if word(attribute.bytes, 0) != symbol || symbol.is_none() {
            continue;
        }
        let value = word(attribute.bytes, 4).unwrap_or(0);
        match attribute.kind {
            ATTRIBUTE_FRAME_SIZE | ATTRIBUTE_MIN_STACK_SIZE => {
                entry.local_bytes = entry.local_bytes.max(value).next_multiple_of(16);
            }
            ATTRIBUTE_REGCOUNT => entry.registers = value,
            _ => {}
        }
    }
    Ok(entry)
}

/// Numbered barriers, from the flags of the code's section.
fn barriers(file: &ElfFile64<'_, Endianness>, name: &str) -> u32 {
    use object::read::elf::SectionHeader;
    let section = file.section_by_name(&format!(".text.{name}"));
    let flags = section.map_or(0, |section| section.elf_section_header().sh_flags(Endianness::Little));
    (flags >> 20 & 0x1f) as u32
}

fn section_bytes<'data>(file: &ElfFile64<'data, Endianness>, name: &str) -> &'data [u8] {
    file.section_by_name(name).and_then(|section| section.data().ok()).unwrap_or_default()
}

struct Attribute<'a> {
    kind: u8,
    bytes: &'a [u8],
}

/// `None` where the last one is cut off.
fn attributes(mut bytes: &[u8]) -> Option<Vec<Attribute<'_>>> {
    let mut found = Vec::new();
    while let [format, kind, low, high, rest @ ..] = bytes {
        let size = if *format == FORMAT_SIZED { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        found.push(Attribute { kind: *kind, bytes: rest.get(..size)? });
        bytes = &rest[size..];
    }
    bytes.is_empty().then_some(found)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn three(bytes: &[u8]) -> Option<[u32; 3]> {
    Some([word(bytes, 0)?, word(bytes, 4)?, word(bytes, 8)?])
}
