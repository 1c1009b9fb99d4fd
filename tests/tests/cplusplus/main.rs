//! Kernels in C++, through nvcc: `kernels.cu` and, beside it, the PTX that nvcc 13.2 makes of it. What each computes from that
//! PTX is what it computes from the SASS that ptxas makes of it for each architecture, bit for bit.

use warpwise::kernels::{Code, Sass};
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::ListingOptions;
use warpwise_simt::device;
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Launch, Machine};

const PTX: &str = include_str!("kernels.ptx");
const KERNELS: [&str; 13] = [
    "horner",
    "interpreter",
    "globals",
    "argmax",
    "tiles",
    "ring",
    "calls",
    "halves",
    "integers",
    "library",
    "vectors",
    "warps",
    "atomics",
];
const ARCHITECTURES: [&str; 6] = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];
const ELEMENTS: usize = 1000;
const BLOCK: u32 = 128;
/// The kernels write up to twice as much as they read.
const OUTPUT_BYTES: usize = 4 * 2 * ELEMENTS;

/// Numbers from -1 to 1 with many digits.
fn input() -> Vec<u8> {
    (0..ELEMENTS as u32)
        .map(|index| index.wrapping_mul(2_654_435_761) as i32 as f32 / i32::MAX as f32)
        .flat_map(f32::to_le_bytes)
        .collect()
}

/// What the kernel leaves in its output.
fn run(code: &Code, program: &Program) -> Result<Vec<u8>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut machine = Machine::new(device::find("H200").map_err(|error| text(&error))?);
    let from = machine.alloc(4 * ELEMENTS as u64).map_err(|error| text(&error))?;
    let to = machine.alloc(OUTPUT_BYTES as u64).map_err(|error| text(&error))?;
    machine.write(from, &input()).map_err(|error| text(&error))?;
    machine.fill(to, OUTPUT_BYTES as u64, 0).map_err(|error| text(&error))?;
    let module = machine.load(code.variables()).map_err(|error| text(&error))?;
    let kernel = machine.prepare(module, program).map_err(|error| text(&error))?;
    let params = [&from.to_le_bytes()[..], &to.to_le_bytes(), &(ELEMENTS as u32).to_le_bytes()].concat();
    let blocks = (ELEMENTS as u32).div_ceil(BLOCK);
    let report = machine.launch(&kernel, &Launch::new([blocks, 1, 1], [BLOCK, 1, 1], params));
    if let Some(fault) = report.map_err(|error| text(&error))?.fault {
        return Err(text(&fault));
    }
    let mut bytes = vec![0; OUTPUT_BYTES];
    machine.read(to, &mut bytes).map_err(|error| text(&error))?;
    Ok(bytes)
}

fn sass(arch: &str) -> Sass {
    let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
    let compiled = tools.compile(PTX, &Target::arch(arch)).unwrap_or_else(|error| panic!("{arch}: {error}"));
    let listing = tools.sass(PTX, arch, ListingOptions::default()).unwrap_or_else(|error| panic!("{arch}: {error}"));
    Sass::new(&compiled.cubin, listing).unwrap_or_else(|error| panic!("{arch}: {error}"))
}

#[test]
fn kernels_in_cplusplus_compute_the_same_from_ptx_and_from_sass() {
    let code = Code::parse("kernels.ptx", PTX).unwrap_or_else(|error| panic!("{error}"));
    let of_ptx = KERNELS.map(|name| {
        let program = code.program(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let bytes = run(&code, &program).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(bytes.iter().any(|byte| *byte != 0), "{name} writes something");
        bytes
    });
    let (mut pairs, mut wrong) = (0, Vec::new());
    for arch in ARCHITECTURES {
        let sass = sass(arch);
        for (name, expected) in KERNELS.iter().zip(&of_ptx) {
            let program = sass.program(name).map_err(|error| error.to_string());
            match program.and_then(|program| run(&code, &program)) {
                Err(error) => wrong.push(format!("{arch}, {name}: {error}")),
                Ok(found) => {
                    let differs =
                        found.chunks(4).zip(expected.chunks(4)).position(|(found, expected)| found != expected);
                    wrong.extend(differs.map(|at| format!("{arch}, {name}: word {at} of the output differs")));
                }
            }
            pairs += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {pairs} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(pairs, KERNELS.len() * ARCHITECTURES.len());
    println!("{pairs} pairs of kernels and architectures agree");
}
