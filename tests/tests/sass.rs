//! Both front ends over every kernel: what the SASS of each architecture computes is what the PTX does, bit for bit.

use std::sync::atomic::{AtomicUsize, Ordering};

use tests::{FrontEnd, machine, sass, with};
use warpwise::arguments::{Argument, Init, bind};
use warpwise::backend::{DeviceBuffer, Gpu, LaunchRequest, LaunchShape};
use warpwise::counters::{CASES, Case, WRONG_ON_PURPOSE};
use warpwise_kernels::KERNELS;
use warpwise_simt::isa::Program;

/// Each with a device of its own.
const ARCHITECTURES: [(&str, &str); 6] = [
    ("sm_80", "A100"),
    ("sm_86", "RTX 3090"),
    ("sm_89", "RTX 4090"),
    ("sm_90", "H200"),
    ("sm_100", "B200"),
    ("sm_120", "RTX 5070"),
];

#[test]
fn the_machine_knows_every_instruction_of_every_kernel_on_every_architecture() {
    let mut refused = Vec::new();
    let mut pairs = 0;
    for (arch, _) in ARCHITECTURES {
        let sass = sass(arch);
        for kernel in KERNELS {
            match sass.program(kernel.name) {
                Ok(program) => {
                    assert_eq!(program.code.len(), program.control.len(), "{}", kernel.name);
                    pairs += 1;
                }
                Err(error) => refused.push(format!("{arch}: {error}")),
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert_eq!(pairs, ARCHITECTURES.len() * KERNELS.len());
}

/// Kernels that write what their clock showed: of their results the first word counts.
const CLOCKED: [&str; 2] = ["chase", "chase_shared"];
/// Kernels that write which SM they ran on, which the device decides; of others the PTX is run on one device.
const OF_THE_DEVICE: [&str; 1] = ["whoami"];
/// Kernels that write nothing.
const EMPTY: [&str; 1] = ["empty"];

#[test]
fn every_kernel_computes_the_same_from_its_ptx_and_from_its_sass_of_every_architecture() {
    const THREADS: usize = 2;
    let pairs = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let pairs = &pairs;
            scope.spawn(move || {
                for case in CASES.iter().skip(first).step_by(THREADS) {
                    pairs.fetch_add(compare(case), Ordering::Relaxed);
                }
            });
        }
    });
    let pairs = pairs.into_inner();
    assert_eq!(pairs, CASES.len() * ARCHITECTURES.len());
    let kernels = KERNELS.iter().filter(|kernel| CASES.iter().any(|case| case.kernel == kernel.name)).count();
    assert_eq!(kernels + WRONG_ON_PURPOSE.len(), KERNELS.len(), "every kernel has a launch");
    println!("{pairs} pairs of launches agree: {} launches on {} architectures", CASES.len(), ARCHITECTURES.len());
}

/// Holds the SASS of every architecture to the PTX; says how many there were.
fn compare(case: &Case) -> usize {
    let run = |front_end, program: &Program| {
        let mut found = None;
        with(front_end, || found = Some(results(&machine(), program, case)));
        found.expect("it ran")
    };
    let program = |arch| sass(arch).program(case.kernel).unwrap_or_else(|error| panic!("{error}"));
    let mut ptx = Vec::new();
    for (arch, device) in ARCHITECTURES {
        if ptx.is_empty() || OF_THE_DEVICE.contains(&case.kernel) {
            ptx = run(FrontEnd::Ptx(device), &program(arch));
        }
        let of_sass = run(FrontEnd::Sass(device), &program(arch));
        for ((name, expected), (_, found)) in ptx.iter().zip(&of_sass) {
            let compared = if CLOCKED.contains(&case.kernel) { size_of::<u32>() } else { expected.len() };
            let (expected, found) = (&expected[..compared], &found[..compared]);
            let differs = expected.iter().zip(found).position(|(expected, found)| expected != found);
            assert_eq!(differs, None, "{arch}, {}: `{name}` differs at this byte", case.kernel);
        }
        let is_empty = EMPTY.contains(&case.kernel);
        assert!(ptx.is_empty() == is_empty && ptx.len() == of_sass.len(), "{}: nothing was compared", case.kernel);
    }
    ARCHITECTURES.len()
}

/// Every buffer of the case after its launch, with its name.
fn results(gpu: &Gpu, program: &Program, case: &Case) -> Vec<(String, Vec<u8>)> {
    let arguments = case.arguments().unwrap_or_else(|error| panic!("{}: {error}", case.kernel));
    let mut buffers: Vec<(String, DeviceBuffer<u8>)> = Vec::new();
    let mut values = Vec::new();
    for argument in &arguments {
        match argument {
            Argument::Scalar { value, .. } => values.push(value.clone()),
            Argument::Buffer { name, element, len, init, .. } => {
                let buffer = match init {
                    Init::Zeros => gpu.zeros(len * element.bytes()).expect("it fits"),
                    init => gpu.upload(&init.bytes(name, *element, *len).expect("initial values")).expect("it fits"),
                };
                values.push(buffer.ptr().address().to_le_bytes().to_vec());
                buffers.push((name.clone(), buffer));
            }
        }
    }
    let shape = LaunchShape::new(case.grid, case.block);
    let request = LaunchRequest::packed(case.kernel, shape, bind::layout(program, &values));
    gpu.run_in_turn(vec![request]).unwrap_or_else(|error| panic!("{}: {error}", case.kernel));
    let read = |(name, buffer): &(String, DeviceBuffer<u8>)| (name.clone(), buffer.download().expect("it ran"));
    buffers.iter().map(read).collect()
}
