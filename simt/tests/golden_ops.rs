//! Operations against what an H200 computed, through the whole machine: PTX text, lowering, both CPU levels.
//!
//! The tables are explained in `warpwise_simt::golden`. Every result must agree to the bit, those of the approximate functions too.

use warpwise_simt::device::Device;
use warpwise_simt::exec::CpuLevel;
use warpwise_simt::golden::{Case, THREADS, Table};
use warpwise_simt::machine::{Launch, Machine};
use warpwise_simt::ptx::Module;

/// Runs one case; an error is the sentence that refused it.
fn run(machine: &mut Machine, input: u64, output: u64, table: &Table, case: &Case) -> Result<Vec<u64>, String> {
    let text = format!("{}{}", Table::HEADER, table.kernel("k", case));
    let module = Module::parse("golden", &text).map_err(|error| error.to_string())?;
    let program = module.lower("k").map_err(|error| error.to_string())?;
    let loaded = machine.load(module.variables()).map_err(|error| error.to_string())?;
    let kernel = machine.prepare(loaded, &program).map_err(|error| error.to_string())?;
    let params = [input.to_le_bytes(), output.to_le_bytes()].concat();
    let launch = Launch::new([1, 1, 1], [THREADS as u32, 1, 1], params);
    let report = machine.launch(&kernel, &launch).map_err(|error| error.to_string())?;
    if let Some(fault) = report.fault {
        return Err(fault.to_string());
    }
    let mut bytes = vec![0; THREADS * 8];
    machine.read(output, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect())
}

/// What is wrong with a case's results, if anything.
fn difference(table: &Table, case: &Case, found: Result<Vec<u64>, String>) -> Option<String> {
    let found = match found {
        Ok(found) => found,
        Err(refusal) => return Some(format!("{}: {refusal}", case.statement)),
    };
    let wrong: Vec<usize> = (0..THREADS).filter(|&thread| case.expected.get(thread) != found.get(thread)).collect();
    let thread = *wrong.first()?;
    let named = table.operands.iter().filter(|operand| case.statement.contains(&operand.name));
    let operands: Vec<String> = named.map(|operand| format!("{}={:x}", operand.name, operand.values[thread])).collect();
    let (statement, operands, found) = (&case.statement, operands.join(" "), found[thread]);
    let expected = case.expected.get(thread).map_or("nothing yet".to_owned(), |value| format!("{value:x}"));
    Some(format!(
        "{statement}: {operands} of thread {thread}: {found:x}, an H200 gives {expected} ({} differ)",
        wrong.len()
    ))
}

fn check(text: &str, level: CpuLevel, least_cases: usize) {
    let table = Table::parse(text).unwrap();
    let mut machine = Machine::new(Device::default_device());
    machine.set_cpu_level(level);
    let bytes: Vec<u8> = table.input().into_iter().flat_map(u64::to_le_bytes).collect();
    let input = machine.alloc(bytes.len() as u64).unwrap();
    let output = machine.alloc((THREADS * 8) as u64).unwrap();
    machine.write(input, &bytes).unwrap();
    let wrong: Vec<String> = table
        .cases
        .iter()
        .filter_map(|case| difference(&table, case, run(&mut machine, input, output, &table, case)))
        .collect();
    let count = table.cases.len();
    assert!(count >= least_cases, "the table has {count} cases");
    assert!(wrong.is_empty(), "{} of {count} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

const LANE_WISE: &str = include_str!("data/h200_ops.tsv");
const COLLECTIVE: &str = include_str!("data/h200_collectives.tsv");

#[test]
fn results_equal_those_of_an_h200_at_the_best_cpu_level() {
    check(LANE_WISE, CpuLevel::detect(), 1068);
}

#[test]
fn results_equal_those_of_an_h200_at_the_portable_level() {
    check(LANE_WISE, CpuLevel::Portable, 1068);
}

#[test]
fn collective_results_equal_those_of_an_h200() {
    check(COLLECTIVE, CpuLevel::detect(), 100);
}
