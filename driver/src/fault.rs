//! What NVIDIA's driver answers to a fault of a kernel.

use warpwise_simt::fault::{Fault, FaultKind};
use warpwise_simt::machine::LaunchRefused;
use warpwise_simt::memory::MemoryError;

use crate::code::Code;
use crate::notice;

/// Says the whole fault on stderr, since the API has only a number for it.
pub fn report(fault: &Fault) -> Code {
    notice::say(&fault.to_string());
    code_of(fault.kind)
}

fn code_of(kind: FaultKind) -> Code {
    match kind {
        FaultKind::OutOfBounds | FaultKind::UseAfterFree | FaultKind::Null => Code::ILLEGAL_ADDRESS,
        FaultKind::Misaligned => Code::MISALIGNED_ADDRESS,
        FaultKind::Trap => Code::LAUNCH_FAILED,
        FaultKind::NoProgress | FaultKind::Deadlock | FaultKind::StepBudget => Code::LAUNCH_TIMEOUT,
        FaultKind::BranchIndex => Code::INVALID_PC,
        FaultKind::BarrierMisuse | FaultKind::DivergentBarrier | FaultKind::WarpMask => Code::ILLEGAL_INSTRUCTION,
        // What only the checks find has no code of NVIDIA's.
        FaultKind::Uninitialised | FaultKind::Race => Code::LAUNCH_FAILED,
        FaultKind::CallDepth => Code::HARDWARE_STACK_ERROR,
    }
}

/// What the launch call answers to a configuration that breaks a limit; the reason is said once.
pub fn refused(kernel: &str, reason: &LaunchRefused) -> Code {
    notice::say_once(&format!("launch of {kernel} refused: {reason}"));
    match reason {
        LaunchRefused::Registers { .. } => Code::LAUNCH_OUT_OF_RESOURCES,
        _ => Code::INVALID_VALUE,
    }
}

/// Queued work on memory that went wrong although it was checked: the memory was freed in between.
pub fn of_memory(error: &MemoryError) -> Code {
    notice::say(&error.to_string());
    Code::ILLEGAL_ADDRESS
}
