//! The calculator over a table: tab-separated requests in, the same rows with the answers out.
//!
//! Columns and notation are those of [`HEADER`]: numbers in decimal, the factor mask in hexadecimal, 2147483647 for "no limit".
//! A request that the calculator refuses is a row with `err` 1 and zeros after it; a row that cannot be read is an error.

use std::fmt::Write;
use std::str::FromStr;

use super::{Occupancy, Request, calculate};
use crate::device::{ComputeCapability, UnknownComputeCapability, limits_of};

/// The header of the result. A request table starts with its first [`REQUEST_COLUMNS`] names and may have more.
pub const HEADER: &str = "cc\tblock\tregs\tstatic_smem\tdyn_smem\tcarveout\tnumbarriers\terr\tblocks\tlimWarps\tlimRegs\tlimSmem\
    \tlimBlocks\tlimBars\tfactors\tallocRegsPerBlock\tallocSmemPerBlock";

/// Columns that make a request.
pub const REQUEST_COLUMNS: usize = 7;

/// How the table writes "no limit".
const UNLIMITED: i64 = i32::MAX as i64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    #[error("line 1: expected a header that starts with `{expected}`, tab-separated, got `{given}`", expected = request_header())]
    Header { given: String },
    #[error("line {line}: expected {REQUEST_COLUMNS} tab-separated columns or more, got {columns}")]
    Columns { line: usize, columns: usize },
    #[error("line {line}, column {column}: `{given}` is not {expected}")]
    Value { line: usize, column: &'static str, given: String, expected: &'static str },
    #[error("line {line}: {source}")]
    ComputeCapability { line: usize, source: UnknownComputeCapability },
}

fn request_header() -> String {
    HEADER.split('\t').take(REQUEST_COLUMNS).collect::<Vec<_>>().join("\t")
}

/// Reads a table of requests and writes the table of answers, header included. Empty lines are skipped.
///
/// # Errors
/// The first line that cannot be read, by number, with what was expected there.
pub fn run(table: &str) -> Result<String, BatchError> {
    let mut lines = table.lines().zip(1..);
    let header = lines.next().map_or("", |(line, _)| line);
    if !header.split('\t').map(str::trim).take(REQUEST_COLUMNS).eq(HEADER.split('\t').take(REQUEST_COLUMNS)) {
        return Err(BatchError::Header { given: header.to_owned() });
    }
    let mut output = String::with_capacity(2 * table.len());
    output.push_str(HEADER);
    output.push('\n');
    for (text, line) in lines.filter(|(text, _)| !text.trim().is_empty()) {
        row(text, line, &mut output)?;
    }
    Ok(output)
}

fn row(text: &str, line: usize, output: &mut String) -> Result<(), BatchError> {
    let mut cells = [""; REQUEST_COLUMNS];
    let mut given = text.split('\t').map(str::trim);
    for (index, cell) in cells.iter_mut().enumerate() {
        *cell = given.next().ok_or(BatchError::Columns { line, columns: index })?;
    }
    let row = Row { line, cells };
    let version: ComputeCapability = row.cell(0, "a compute capability such as 12.0")?;
    let limits = limits_of(version).map_err(|source| BatchError::ComputeCapability { line, source })?;
    let request = row.request()?;
    output.push_str(&cells.join("\t"));
    match calculate(limits, &request) {
        Ok(occupancy) => answer(output, &occupancy),
        Err(_) => output.push_str("\t1\t0\t0\t0\t0\t0\t0\t0x0\t0\t0\n"),
    }
    Ok(())
}

struct Row<'a> {
    line: usize,
    cells: [&'a str; REQUEST_COLUMNS],
}

impl Row<'_> {
    fn request(&self) -> Result<Request, BatchError> {
        const INTEGER: &str = "an integer";
        Ok(Request {
            block_threads: self.cell(1, INTEGER)?,
            registers: self.cell(2, INTEGER)?,
            static_shared_bytes: self.cell(3, INTEGER)?,
            dynamic_shared_bytes: self.cell(4, INTEGER)?,
            carveout_percent: self.cell(5, INTEGER)?,
            barriers: self.cell(6, INTEGER)?,
            virtual_resources: 0,
        })
    }

    fn cell<T: FromStr>(&self, index: usize, expected: &'static str) -> Result<T, BatchError> {
        let given = self.cells[index];
        given.parse().map_err(|_| BatchError::Value {
            line: self.line,
            column: HEADER.split('\t').nth(index).unwrap_or_default(),
            given: given.to_owned(),
            expected,
        })
    }
}

fn answer(output: &mut String, occupancy: &Occupancy) {
    let limits = &occupancy.limits;
    let numbers = [limits.warps, limits.registers, limits.shared_memory, limits.blocks, limits.barriers];
    let _ = write!(output, "\t0\t{}", occupancy.blocks_per_sm);
    for limit in numbers {
        let _ = write!(output, "\t{}", limit.unwrap_or(UNLIMITED));
    }
    let registers = occupancy.allocated_registers_per_block;
    let shared = occupancy.allocated_shared_bytes_per_block;
    let _ = writeln!(output, "\t{:#x}\t{registers}\t{shared}", occupancy.factors);
}
