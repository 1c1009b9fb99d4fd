//! What an H200 computed, against the SASS that ptxas makes of the same statements for sm_90, on the machine.
//!
//! A statement whose SASS has an instruction that the machine does not know is refused before it runs; how many those are is
//! held, so that the number can only fall.

use std::sync::Arc;

use warpwise::kernels::Sass;
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::device;
use warpwise_simt::golden::{Case, THREADS, Table};
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Launch, Machine};

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

fn run(machine: &mut Machine, program: &Program, input: u64, output: u64) -> Result<Vec<u64>, String> {
    let module = machine.load(&[]).map_err(|error| error.to_string())?;
    let kernel = machine.prepare(module, program).map_err(|error| error.to_string())?;
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

/// The sentence about a case that is wrong.
fn difference(case: &Case, found: Result<Vec<u64>, String>) -> Option<String> {
    let found = match found {
        Ok(found) => found,
        Err(error) => return Some(format!("{}: {error}", case.statement)),
    };
    let wrong: Vec<usize> = (0..THREADS).filter(|&thread| case.expected[thread] != found[thread]).collect();
    let &thread = wrong.first()?;
    let (found, expected) = (found[thread], case.expected[thread]);
    let (statement, count) = (&case.statement, wrong.len());
    Some(format!("{statement}: thread {thread}: {found:x}, an H200 gives {expected:x} ({count} differ)"))
}

fn check(text: &str, refused_at_most: usize) {
    let table = Table::parse(text).unwrap();
    let sass = compiled(&table);
    let mut machine = Machine::new(device::find("H200").unwrap());
    let bytes: Vec<u8> = table.input().into_iter().flat_map(u64::to_le_bytes).collect();
    let input = machine.alloc(bytes.len() as u64).unwrap();
    let output = machine.alloc((THREADS * 8) as u64).unwrap();
    machine.write(input, &bytes).unwrap();
    let (mut refused, mut wrong) = (Vec::new(), Vec::new());
    for (index, case) in table.cases.iter().enumerate() {
        match sass.program(&name(index)) {
            Err(error) => refused.push(format!("{}: {error}", case.statement)),
            Ok(program) => {
                let program: Arc<Program> = program;
                wrong.extend(difference(case, run(&mut machine, &program, input, output)));
            }
        }
    }
    let count = table.cases.len();
    println!("{count} statements, {} refused:\n{}", refused.len(), refused.join("\n"));
    assert!(wrong.is_empty(), "{} of {count} statements differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused.len() <= refused_at_most, "{} of {count} statements are refused", refused.len());
}

#[test]
fn sass_of_lane_wise_statements_gives_what_an_h200_gives() {
    check(include_str!("../../simt/tests/data/h200_ops.tsv"), 232);
}

#[test]
fn sass_of_collective_statements_gives_what_an_h200_gives() {
    check(include_str!("../../simt/tests/data/h200_collectives.tsv"), 4);
}
