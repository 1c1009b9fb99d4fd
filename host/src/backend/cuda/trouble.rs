//! The driver's errors that are of the computer and not of a kernel or a call, in words that say what to do.

use super::error::DriverError;
use crate::backend::GpuError;

/// What the driver's number says and what mends it. Numbers and names: `cuda.h`, CUresult.
const TROUBLES: &[(u32, &str, &str)] = &[
    (3, "the CUDA driver is not running", "see whether `nvidia-smi` works"),
    (
        34,
        "the libcuda that was found is a toolkit's stub, not a driver",
        "put the driver's own first on LD_LIBRARY_PATH",
    ),
    (35, "the CUDA driver is too old", "update NVIDIA's driver"),
    (
        46,
        "the GPU is lost or kept by another process",
        "see what `nvidia-smi` says; a lost GPU needs a reset or a restart",
    ),
    (100, "the CUDA driver lists no GPU", "see `nvidia-smi` and CUDA_VISIBLE_DEVICES, or run with --backend sim"),
    (101, "there is no such GPU", "choose one of those that `doctor` lists with --gpu N"),
    (214, "the GPU's memory has an error that cannot be corrected", "reset the GPU, and have it checked"),
    (220, "a link between GPUs has an error that cannot be corrected", "reset the GPUs, and have them checked"),
    (221, "the driver's compiler for PTX is not installed", "install libnvidia-ptxjitcompiler of the driver's version"),
    (222, "the PTX is newer than this driver", "update NVIDIA's driver"),
    (223, "the driver was told to compile no PTX", "unset CUDA_DISABLE_PTX_JIT, or give it a cubin"),
    (802, "the GPUs are not ready yet", "start nvidia-fabricmanager, or wait for it"),
    (803, "the driver's library and its kernel module are of different versions", "restart the computer"),
    (804, "this GPU does not run with the compatibility package's driver", "use the driver's own libcuda"),
    (911, "the GPU is lost", "see what `nvidia-smi` says; a lost GPU needs a reset or a restart"),
    (999, "the GPU is lost, or the driver failed", "see what `nvidia-smi` says; a lost GPU needs a reset or a restart"),
];

/// The trouble, if the error is one: one line of what is wrong, one of what to do.
pub fn trouble(doing: &str, error: DriverError) -> Option<GpuError> {
    if error == DriverError::OUT_OF_MEMORY {
        let message =
            format!("{doing}: the GPU has no memory left (CUDA error 2)\nuse a smaller size, or end what else uses it");
        return Some(GpuError::OutOfMemory(message));
    }
    let (_, what, remedy) = TROUBLES.iter().find(|(number, ..)| *number == error.0)?;
    Some(GpuError::Unusable(format!("{doing}: {what} (CUDA error {})\n{remedy}", error.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(number: u32) -> Option<String> {
        trouble("starting the CUDA driver", DriverError(number)).map(|error| error.to_string())
    }

    #[test]
    fn each_trouble_is_two_lines_what_is_wrong_and_what_to_do() {
        for (number, ..) in TROUBLES.iter().chain(&[(2, "", "")]) {
            let text = said(*number).expect("it is in the table");
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 2, "{text}");
            assert!(
                lines[0].starts_with("starting the CUDA driver: ") && lines[0].contains(&format!("error {number}"))
            );
            assert!(lines.iter().all(|line| line.len() < 120), "{text}");
        }
    }

    #[test]
    fn no_device_a_lost_one_ptx_too_new_and_no_memory_each_say_so() {
        let says = |number, what: &str| assert!(said(number).is_some_and(|text| text.contains(what)), "{number}");
        says(100, "lists no GPU");
        says(999, "lost");
        says(46, "lost");
        says(222, "PTX is newer than this driver");
        says(2, "no memory left");
        says(35, "too old");
    }

    #[test]
    fn what_a_kernel_or_a_call_did_is_no_trouble_of_the_computer() {
        for number in [1, 200, 209, 400, 700, 716, 719] {
            assert_eq!(said(number), None, "{number}");
        }
    }
}
