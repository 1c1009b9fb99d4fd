//! Golden tables: PTX statements, the operands that 128 threads give them, and what a GPU computed.
//!
//! A table is text: a row that begins with `@` names an operand and has its values; any other row is a statement, the register its
//! result is in, and the results. Columns are separated by tabs, values are hexadecimal, one after the other, as wide as the register. `#` begins a comment.
//! The tests run the statements on the machine; `warpwise record-golden` runs them on a GPU and writes the table anew, so a
//! statement is added as a row without results.

use std::fmt::{self, Display, Formatter};

use crate::isa::{Program, Variable};
use crate::machine::{Launch, Machine};
use crate::memory::MemoryError;

/// Threads of a statement's one block.
pub const THREADS: usize = 128;

/// An operand: its register and a value for each thread.
#[derive(Clone, Debug)]
pub struct Operand {
    /// `a32`: what is behind the letter is the width in bits.
    pub name: String,
    pub values: Vec<u64>,
}

/// One statement, or several in one line.
#[derive(Clone, Debug)]
pub struct Case {
    pub statement: String,
    /// `d16`, `d32` or `d64`; before the statement it is zero.
    pub result: String,
    /// A value for each thread; empty before it was recorded.
    pub expected: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    comments: Vec<String>,
    pub operands: Vec<Operand>,
    pub cases: Vec<Case>,
}

/// A row that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TableError {
    /// From 1.
    pub line: usize,
    what: &'static str,
}

/// Bits of a register, from its name.
fn bits(register: &str) -> Option<usize> {
    register.get(1..)?.parse().ok().filter(|bits| matches!(bits, 16 | 32 | 64))
}

fn values(register: &str, hex: &str) -> Result<Vec<u64>, &'static str> {
    let digits = bits(register).ok_or("a register is a letter and 16, 32 or 64")? / 4;
    if hex.len() != digits * THREADS {
        return Err("a row has a value for each of 128 threads, as wide as its register");
    }
    let value =
        |thread| hex.get(thread * digits..(thread + 1) * digits).and_then(|hex| u64::from_str_radix(hex, 16).ok());
    (0..THREADS).map(value).collect::<Option<_>>().ok_or("values are hexadecimal")
}

impl Table {
    /// # Errors
    /// The first row that is neither a comment nor an operand nor a statement.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let mut table = Self::default();
        for (index, line) in text.lines().enumerate() {
            table.read(line).map_err(|what| TableError { line: index + 1, what })?;
        }
        Ok(table)
    }

    fn read(&mut self, line: &str) -> Result<(), &'static str> {
        if line.starts_with('#') {
            self.comments.push(line.to_owned());
            return Ok(());
        }
        let columns: Vec<&str> = line.split('\t').collect();
        match columns[..] {
            [name, hex] if name.starts_with('@') => {
                let name = &name[1..];
                self.operands.push(Operand { name: name.to_owned(), values: values(name, hex)? });
            }
            [statement, result] => self.add(statement, result, Vec::new())?,
            [statement, result, hex] => self.add(statement, result, values(result, hex)?)?,
            _ => return Err("a row is @OPERAND and values, or STATEMENT, REGISTER and results"),
        }
        Ok(())
    }

    fn add(&mut self, statement: &str, result: &str, expected: Vec<u64>) -> Result<(), &'static str> {
        if !matches!(result, "d16" | "d32" | "d64") {
            return Err("results are in d16, d32 or d64");
        }
        self.cases.push(Case { statement: statement.to_owned(), result: result.to_owned(), expected });
        Ok(())
    }

    /// The operands as the kernels read them: 8 bytes a value, one operand's after the other's.
    pub fn input(&self) -> Vec<u64> {
        self.operands.iter().flat_map(|operand| &operand.values).copied().collect()
    }

    /// What is before the kernels in a PTX text.
    pub const HEADER: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

    /// The kernel of one statement: its parameters are the addresses of the operands and of 8 bytes a thread for the result.
    pub fn kernel(&self, name: &str, case: &Case) -> String {
        let loads: String = self
            .operands
            .iter()
            .enumerate()
            .map(|(index, Operand { name, .. })| {
                format!("ld.global.b{} {name}, [x+{}];\n", &name[1..], index * THREADS * 8)
            })
            .collect();
        let widen = match case.result.as_str() {
            "d16" => "cvt.u32.u16 d32, d16; cvt.u64.u32 d64, d32;",
            "d32" => "cvt.u64.u32 d64, d32;",
            _ => "",
        };
        format!(
            ".visible .entry {name}(.param .u64 pin, .param .u64 pout) {{\n\
             .reg .b16 h<4>, a16, b16, c16, d16;\n.reg .b32 t<8>, a32, b32, c32, d32, n32, m32, s32, i;\n\
             .reg .b64 a64, b64, c64, d64, x, y, z, o;\n.reg .pred p, q, r;\n\
             ld.param.u64 x, [pin]; ld.param.u64 y, [pout]; mov.u32 i, %tid.x;\n\
             mul.wide.u32 o, i, 8; add.u64 x, x, o; add.u64 y, y, o;\n\
             mov.b16 d16, 0; mov.b32 d32, 0; mov.b64 d64, 0;\n{loads}{}\n{widen}\nst.global.b64 [y], d64;\nret;\n}}\n",
            case.statement
        )
    }
}

/// The table as text, results as wide as their registers.
impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut Formatter<'_>, register: &str, values: &[u64]| {
            let digits = bits(register).unwrap_or(64) / 4;
            values.iter().try_for_each(|value| write!(f, "{value:0digits$x}"))
        };
        for comment in &self.comments {
            writeln!(f, "{comment}")?;
        }
        for Operand { name, values } in &self.operands {
            write!(f, "@{name}\t")?;
            hex(f, name, values)?;
            writeln!(f)?;
        }
        for Case { statement, result, expected } in &self.cases {
            write!(f, "{statement}\t{result}{}", if expected.is_empty() { "" } else { "\t" })?;
            hex(f, result, expected)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A machine with a table's operands in its memory.
#[derive(Debug)]
pub struct Runner {
    machine: Machine,
    input: u64,
    output: u64,
}

impl Runner {
    /// # Errors
    /// Where the device has no room for the operands.
    pub fn new(mut machine: Machine, table: &Table) -> Result<Self, MemoryError> {
        let bytes: Vec<u8> = table.input().into_iter().flat_map(u64::to_le_bytes).collect();
        let input = machine.alloc(bytes.len() as u64)?;
        let output = machine.alloc((THREADS * 8) as u64)?;
        machine.write(input, &bytes)?;
        Ok(Self { machine, input, output })
    }

    /// What a case's kernel computes, a value for each thread.
    ///
    /// # Errors
    /// The sentence that refused it, or its fault.
    pub fn run(&mut self, variables: &[Variable], program: &Program) -> Result<Vec<u64>, String> {
        let machine = &mut self.machine;
        let module = machine.load(variables).map_err(|error| error.to_string())?;
        let kernel = machine.prepare(module, program).map_err(|error| error.to_string())?;
        let params = [self.input.to_le_bytes(), self.output.to_le_bytes()].concat();
        let launch = Launch::new([1, 1, 1], [THREADS as u32, 1, 1], params);
        let report = machine.launch(&kernel, &launch).map_err(|error| error.to_string())?;
        if let Some(fault) = report.fault {
            return Err(fault.to_string());
        }
        let mut bytes = [0; THREADS * 8];
        machine.read(self.output, &mut bytes).map_err(|error| error.to_string())?;
        let (words, _) = bytes.as_chunks();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

impl Table {
    /// The sentence about a case whose results are not the GPU's.
    pub fn difference(&self, case: &Case, found: Result<Vec<u64>, String>) -> Option<String> {
        let found = match found {
            Ok(found) => found,
            Err(refusal) => return Some(format!("{}: {refusal}", case.statement)),
        };
        let differs = |thread: &usize| case.expected.get(*thread) != found.get(*thread);
        let wrong: Vec<usize> = (0..THREADS).filter(differs).collect();
        let thread = *wrong.first()?;
        let named = self.operands.iter().filter(|operand| case.statement.contains(&operand.name));
        let operands: Vec<String> =
            named.map(|operand| format!("{}={:x}", operand.name, operand.values[thread])).collect();
        let told = |values: &[u64]| values.get(thread).map_or("nothing".to_owned(), |value| format!("{value:x}"));
        let (statement, operands, count) = (&case.statement, operands.join(" "), wrong.len());
        let (found, expected) = (told(&found), told(&case.expected));
        Some(format!("{statement}: {operands} of thread {thread}: {found}, a GPU gave {expected} ({count} differ)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_as_it_was_read() {
        let text = include_str!("../tests/data/h200_ops.tsv");
        assert!(Table::parse(text).unwrap().to_string() == text);
    }

    #[test]
    fn a_row_that_cannot_be_read_is_named() {
        let error = |text: &str| Table::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("# a\n@a32\t00"),
            "line 2: a row has a value for each of 128 threads, as wide as its register"
        );
        assert_eq!(error(&format!("@a16\t{}", "xyz0".repeat(THREADS))), "line 1: values are hexadecimal");
        assert_eq!(error("@a8\t00"), "line 1: a register is a letter and 16, 32 or 64");
        assert_eq!(error("not.b32 e32, a32;\te32"), "line 1: results are in d16, d32 or d64");
        assert_eq!(error("\t\t\t"), "line 1: a row is @OPERAND and values, or STATEMENT, REGISTER and results");
    }
}
