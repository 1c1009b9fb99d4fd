//! What an H200 computed, against the SASS that ptxas makes of the same statements for sm_90, on the machine.
//!
//! A statement whose SASS has an instruction that the machine does not know would be refused before it runs: none is.

use warpwise::kernels::Sass;
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::device;
use warpwise_simt::golden::{Runner, Table};
use warpwise_simt::machine::Machine;

const ARCH: &str = "sm_90";

fn name(index: usize) -> String {
    format!("golden_{index}")
}

/// All statements compiled as one module.
fn compiled(table: &Table) -> Sass {
    let kernels = table.cases.iter().enumerate().map(|(index, case)| table.kernel(&name(index), case));
    let ptx: String = std::iter::once(Table::HEADER.to_owned()).chain(kernels).collect();
    let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
    let compiled = tools.compile(&ptx, &Target::arch(ARCH)).unwrap_or_else(|error| panic!("{error}"));
    let listing = tools.sass(&ptx, ARCH, ListingOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    Sass::new(&compiled.cubin, listing).unwrap_or_else(|error| panic!("{error}"))
}

fn check(text: &str) {
    let table = Table::parse(text).unwrap();
    let sass = compiled(&table);
    let machine = Machine::new(device::find("H200").unwrap());
    let mut runner = Runner::new(machine, &table).unwrap();
    let (mut refused, mut wrong) = (Vec::new(), Vec::new());
    for (index, case) in table.cases.iter().enumerate() {
        match sass.program(&name(index)) {
            Err(error) => refused.push(format!("{}: {error}", case.statement)),
            Ok(program) => wrong.extend(table.difference(case, runner.run(&[], &program))),
        }
    }
    let count = table.cases.len();
    assert!(wrong.is_empty(), "{} of {count} statements differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused.is_empty(), "{} of {count} statements are refused:\n{}", refused.len(), refused.join("\n"));
    println!("{count} statements");
}

#[test]
fn sass_of_lane_wise_statements_gives_what_an_h200_gives() {
    check(include_str!("../../simt/tests/data/h200_ops.tsv"));
}

#[test]
fn sass_of_collective_statements_gives_what_an_h200_gives() {
    check(include_str!("../../simt/tests/data/h200_collectives.tsv"));
}
