//! Operations against what an H200 computed, through the whole machine: PTX text, lowering, both CPU levels.
//!
//! The tables are explained in `warpwise_simt::golden`. Every result must agree to the bit, those of the approximate functions too.

use warpwise_simt::device::Device;
use warpwise_simt::exec::CpuLevel;
use warpwise_simt::golden::{Case, Runner, Table};
use warpwise_simt::machine::Machine;
use warpwise_simt::ptx::Module;

/// Runs one case; an error is the sentence that refused it.
fn run(runner: &mut Runner, table: &Table, case: &Case) -> Result<Vec<u64>, String> {
    let text = format!("{}{}", Table::HEADER, table.kernel("k", case));
    let module = Module::parse("golden", &text).map_err(|error| error.to_string())?;
    let program = module.lower("k").map_err(|error| error.to_string())?;
    runner.run(module.variables(), &program)
}

fn check(text: &str, level: CpuLevel, least_cases: usize) {
    let table = Table::parse(text).unwrap();
    let mut machine = Machine::new(Device::default_device());
    machine.set_cpu_level(level);
    let mut runner = Runner::new(machine, &table).unwrap();
    let check = |case| table.difference(case, run(&mut runner, &table, case));
    let wrong: Vec<String> = table.cases.iter().filter_map(check).collect();
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
