//! Reads `nvdisasm -c -lrm narrow`: which registers are in use at each instruction.
//!
//! Behind each instruction stands a table with one group of columns a register file. The group's heading ends with
//! `# 0123…`: the count of live registers, then one column a register, from register 0 on.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The register files that nvdisasm tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RegisterFile {
    /// `R0`…
    General,
    /// `P0`…
    Predicate,
    /// `UR0`…
    Uniform,
    /// `UP0`…
    UniformPredicate,
    /// `B0`…: convergence barriers.
    Barrier,
}

/// A register of a thread or, if uniform, of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Register {
    pub file: RegisterFile,
    pub index: u16,
}

/// What an instruction does with a register that is live there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Use {
    Written,
    Read,
    ReadAndWritten,
    /// Holds a value for later.
    Held,
}

/// The registers in use at one instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    pub registers: Vec<(Register, Use)>,
}

impl Live {
    /// How many registers of one file are in use.
    pub fn count(&self, file: RegisterFile) -> usize {
        self.registers.iter().filter(|(register, _)| register.file == file).count()
    }
}

/// A table that does not hold what its heading says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiveError {
    #[error("line {line}: a table of live registers without a heading")]
    NoHeading { line: usize },
    #[error("line {line}: `{mark}` is no mark of a live register")]
    UnknownMark { line: usize, mark: char },
    #[error("line {line}: {found} live registers are marked, and {counted} are counted")]
    Miscounted { line: usize, found: usize, counted: usize },
    #[error("it has no live registers")]
    Empty,
}

/// The names in the headings.
const FILES: [(&str, RegisterFile); 5] = [
    ("GPR", RegisterFile::General),
    ("PRED", RegisterFile::Predicate),
    ("UGPR", RegisterFile::Uniform),
    ("UPRED", RegisterFile::UniformPredicate),
    ("BAR", RegisterFile::Barrier),
];

/// Live registers by function and address.
pub type LiveByAddress = HashMap<(String, u32), Live>;

/// Reads all tables.
pub fn parse(text: &str) -> Result<LiveByAddress, LiveError> {
    let mut live = HashMap::new();
    let mut function = String::new();
    let mut heading = Heading::default();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.trim_start().strip_prefix(".section\t") {
            let name = name.trim().split(',').next().unwrap_or_default();
            function = name.strip_prefix(".text.").unwrap_or(name).to_owned();
            heading = Heading::default();
        }
        let Some((code, table)) = line.split_once("// |") else { continue };
        match address(code) {
            Some(address) => {
                live.insert((function.clone(), address), heading.read_row(table, index + 1)?);
            }
            None => heading.read(table),
        }
    }
    if live.is_empty() { Err(LiveError::Empty) } else { Ok(live) }
}

/// The address of the instruction in a line, if there is one: `/*0070*/`.
fn address(code: &str) -> Option<u32> {
    let (address, _) = code.trim_start().strip_prefix("/*")?.split_once("*/")?;
    u32::from_str_radix(address, 16).ok()
}

/// Where the columns of each register file are.
#[derive(Default)]
struct Heading {
    files: Vec<RegisterFile>,
    /// Of each group: the column of `#` and that of register 0, counted from the group's start.
    columns: Vec<usize>,
}

impl Heading {
    fn read(&mut self, table: &str) {
        let groups: Vec<&str> = groups(table).collect();
        let names = groups.iter().map(|group| FILES.iter().find(|(name, _)| *name == group.trim()));
        if let Some(files) = names.map(|file| file.map(|&(_, file)| file)).collect::<Option<Vec<_>>>() {
            self.files = files;
        } else if groups.iter().all(|group| group.contains("# 0")) {
            self.columns = groups.iter().filter_map(|group| group.find("# 0")).collect();
        }
    }

    fn read_row(&self, table: &str, line: usize) -> Result<Live, LiveError> {
        if self.files.is_empty() || self.files.len() != self.columns.len() {
            return Err(LiveError::NoHeading { line });
        }
        let mut live = Live::default();
        for ((group, &file), &column) in groups(table).zip(&self.files).zip(&self.columns) {
            let counted = group.get(..=column).unwrap_or_default().trim();
            let marks = group.get(column + 2..).unwrap_or_default();
            for (index, mark) in marks.chars().enumerate() {
                let usage = match mark {
                    ' ' => continue,
                    '^' => Use::Written,
                    'v' => Use::Read,
                    'x' => Use::ReadAndWritten,
                    ':' => Use::Held,
                    mark => return Err(LiveError::UnknownMark { line, mark }),
                };
                live.registers.push((Register { file, index: index as u16 }, usage));
            }
            let (found, counted) = (live.count(file), counted.parse().unwrap_or(0));
            if found != counted {
                return Err(LiveError::Miscounted { line, found, counted });
            }
        }
        Ok(live)
    }
}

/// The groups of a table's row, without what follows the last bar.
fn groups(table: &str) -> impl Iterator<Item = &str> {
    table.rsplit_once('|').map_or("", |(groups, _)| groups).split('|').filter(|group| !group.is_empty())
}
