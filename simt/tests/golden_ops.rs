//! Every lane-wise operation against what an H200 computed, through the whole machine: PTX text, lowering, both CPU levels.
//!
//! `data/h200_ops.tsv` has the operands (rows that begin with `@`) and, for each statement, the results of 128 threads. Exact rows must
//! agree to the bit. Approximations may differ by the bound in the row: the sum of the GPU's error and ours.

use std::collections::HashMap;

use warpwise_simt::device::Device;
use warpwise_simt::exec::CpuLevel;
use warpwise_simt::machine::{Launch, Machine};
use warpwise_simt::ptx::Module;

const THREADS: usize = 128;

/// A row of the table.
struct Case<'t> {
    statement: &'t str,
    result: &'t str,
    bound: &'t str,
    expected: Vec<u64>,
}

struct Golden<'t> {
    /// Operand names in the order of their arrays.
    names: Vec<&'t str>,
    operands: HashMap<&'t str, Vec<u64>>,
    cases: Vec<Case<'t>>,
}

fn numbers(hex: &str, count: usize) -> Vec<u64> {
    let digits = hex.len() / count;
    (0..count).map(|index| u64::from_str_radix(&hex[index * digits..][..digits], 16).unwrap()).collect()
}

fn golden(text: &str) -> Golden<'_> {
    let mut golden = Golden { names: Vec::new(), operands: HashMap::new(), cases: Vec::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        match columns[..] {
            [name, values] => {
                let name = name.trim_start_matches('@');
                golden.names.push(name);
                golden.operands.insert(name, numbers(values, THREADS));
            }
            [statement, result, bound, values] => {
                golden.cases.push(Case { statement, result, bound, expected: numbers(values, THREADS) });
            }
            _ => panic!("a row has 2 or 4 columns: {line:.60}"),
        }
    }
    golden
}

/// The kernel that the GPU ran.
fn kernel(names: &[&str], case: &Case<'_>) -> String {
    let loads: String = names
        .iter()
        .enumerate()
        .map(|(index, name)| format!("ld.global.b{} {name}, [x+{}];\n", &name[1..], index * THREADS * 8))
        .collect();
    let widen = match case.result {
        "d16" => "cvt.u32.u16 d32, d16; cvt.u64.u32 d64, d32;",
        "d32" => "cvt.u64.u32 d64, d32;",
        _ => "",
    };
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout) {{\n\
         .reg .b16 h<4>, a16, b16, c16, d16;\n.reg .b32 t<8>, a32, b32, c32, d32, n32, m32, s32, i;\n\
         .reg .b64 a64, b64, c64, d64, x, y, z, o;\n.reg .pred p, q, r;\n\
         ld.param.u64 x, [pin]; ld.param.u64 y, [pout]; mov.u32 i, %tid.x;\n\
         mul.wide.u32 o, i, 8; add.u64 x, x, o; add.u64 y, y, o;\n\
         mov.b16 d16, 0; mov.b32 d32, 0; mov.b64 d64, 0;\n{loads}{}\n{widen}\nst.global.b64 [y], d64;\nret;\n}}\n",
        case.statement
    )
}

/// Runs one case; an error is the sentence that refused it.
fn run(machine: &mut Machine, input: u64, output: u64, names: &[&str], case: &Case<'_>) -> Result<Vec<u64>, String> {
    let module = Module::parse("golden", &kernel(names, case)).map_err(|error| error.to_string())?;
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

/// A float of a format as `f64`.
fn float(bits: u64, format: &str) -> f64 {
    match format {
        "half" => half::f16::from_bits(bits as u16).to_f64(),
        "bhalf" => half::bf16::from_bits(bits as u16).to_f64(),
        "rel64" => f64::from_bits(bits),
        _ => f32::from_bits(bits as u32).into(),
    }
}

/// Whether two results agree as far as the row's bound asks.
fn agrees(bound: &str, found: u64, expected: u64) -> bool {
    let (kind, limit) = bound.split_once(':').unwrap_or((bound, "0"));
    let limit: f64 = limit.parse().unwrap();
    if matches!(kind, "half" | "bhalf") && (found >> 16 != 0 || expected >> 16 != 0) {
        return agrees(bound, found & 0xffff, expected & 0xffff) && agrees(bound, found >> 16, expected >> 16);
    }
    let (a, b) = (float(found, kind), float(expected, kind));
    found == expected
        || match kind {
            "ulp" => a.is_finite() && b.is_finite() && (found as i32).abs_diff(expected as i32) <= limit as u32,
            "abs" => (a - b).abs() <= limit,
            // The PTX ISA bounds lg2 absolutely near 1 and relatively elsewhere.
            "lg2" => (a - b).abs() <= 2f64.powi(-22).max(b.abs() * 2f64.powi(-22)),
            "rel" | "rel64" => (a - b).abs() <= limit * b.abs(),
            // And the least step of f16, for subnormal results.
            "half" | "bhalf" => (a - b).abs() <= limit * b.abs() + 2f64.powi(-24),
            _ => false,
        }
}

/// Runs every case and gives the sentences about those that are wrong.
fn differences(level: CpuLevel) -> (usize, Vec<String>) {
    let text = include_str!("data/h200_ops.tsv");
    let golden = golden(text);
    let mut machine = Machine::new(Device::default_device());
    machine.set_cpu_level(level);
    let input = machine.alloc((golden.names.len() * THREADS * 8) as u64).unwrap();
    let output = machine.alloc((THREADS * 8) as u64).unwrap();
    let bytes: Vec<u8> =
        golden.names.iter().flat_map(|name| &golden.operands[name]).flat_map(|value| value.to_le_bytes()).collect();
    machine.write(input, &bytes).unwrap();
    let mut wrong = Vec::new();
    for case in &golden.cases {
        match run(&mut machine, input, output, &golden.names, case) {
            Err(refusal) => wrong.push(format!("{}: {refusal}", case.statement)),
            Ok(found) => {
                let pairs = || found.iter().zip(&case.expected).enumerate();
                let differs = |(_, (found, expected)): &(usize, (&u64, &u64))| !agrees(case.bound, **found, **expected);
                if let Some((thread, (found, expected))) = pairs().find(differs) {
                    let operands: Vec<String> = golden
                        .names
                        .iter()
                        .filter(|name| case.statement.contains(**name))
                        .map(|name| format!("{name}={:x}", golden.operands[name][thread]))
                        .collect();
                    let count = pairs().filter(differs).count();
                    wrong.push(format!(
                        "{}: {} of {found:x}, an H200 gives {expected:x} ({count} differ)",
                        case.statement,
                        operands.join(" ")
                    ));
                }
            }
        }
    }
    (golden.cases.len(), wrong)
}

fn check(level: CpuLevel) {
    let (count, wrong) = differences(level);
    assert!(count > 1000, "the table has {count} cases");
    assert!(wrong.is_empty(), "{} of {count} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn results_equal_those_of_an_h200_at_the_best_cpu_level() {
    check(CpuLevel::detect());
}

#[test]
fn results_equal_those_of_an_h200_at_the_portable_level() {
    check(CpuLevel::Portable);
}
