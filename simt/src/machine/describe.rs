//! From what execution found to a fault that a person can act on: source line, thread, allocation, a sentence.

use std::sync::Arc;

use crate::checks::{Doing, Place};
use crate::exec::Grid;
use crate::fault::{Action, Detail, Fault, FaultKind, Party, Violation};
use crate::isa::{InstrInfo, Program, Space};
use crate::memory::{Memory, Nearest, grouped};

/// The fault that a violation in `block` amounts to.
pub(crate) fn describe(grid: &Grid, memory: &Memory, block: [u32; 3], violation: &Violation) -> Fault {
    let program = grid.kernel().program();
    let info = program.info.get(violation.pc as usize).cloned().unwrap_or_default();
    let place = own_line(program, &info);
    let (address, allocation) = match violation.detail {
        Detail::Access { space: Space::Global, address, .. } if is_inside(violation.kind) => (
            Some(address),
            memory.extent(address).map(|extent| {
                let (offset, size) = (grouped(address - extent.start), grouped(extent.end - extent.start));
                format!("byte {offset} of a {size}-byte allocation")
            }),
        ),
        Detail::Access { space: Space::Global, address, bytes, .. } => {
            let nearest = memory.nearest(address, bytes.into());
            let inside = violation.kind == FaultKind::Misaligned && memory.extent(address).is_some();
            (Some(address), (!inside && nearest != Nearest::Null).then(|| nearest.to_string()))
        }
        Detail::Access { address, .. } => (Some(address), None),
        _ => (None, None),
    };
    Fault {
        kind: violation.kind,
        message: message(violation),
        kernel: program.name.clone(),
        file: place.as_ref().map(|(file, _)| file.clone()),
        line: place.map(|(_, line)| line),
        instruction: info.text.clone(),
        listing_line: info.listing_line,
        block,
        thread: grid.thread_index(violation.warp, violation.lane),
        address,
        allocation,
        other: None,
    }
}

/// The other thread of a fault, from where a check saw it.
pub(crate) fn describe_party(grid: &Grid, place: &Place) -> Party {
    let program = grid.kernel().program();
    let info = program.info.get(place.pc as usize).cloned().unwrap_or_default();
    let line = own_line(program, &info);
    Party {
        doing: match place.doing {
            Doing::Access(Action::Read) => "read it",
            Doing::Access(Action::Write) => "wrote it",
            Doing::Access(Action::Atomic) => "updated it atomically",
            Doing::Waits => "waits at a barrier",
            Doing::Exited => "has exited",
            Doing::Runs => "is the other lane",
        },
        file: line.as_ref().map(|(file, _)| file.clone()),
        line: line.map(|(_, line)| line),
        instruction: info.text.clone(),
        listing_line: info.listing_line,
        block: place.block,
        thread: grid.thread_index(place.warp, place.lane),
    }
}

/// Faults whose address is a good one.
fn is_inside(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Race | FaultKind::Uninitialised)
}

/// The innermost source line that is not the standard library's, else the innermost.
fn own_line(program: &Program, info: &InstrInfo) -> Option<(Arc<str>, u32)> {
    let places = || info.source.iter().filter_map(|at| Some((program.files.get(at.file as usize)?.clone(), at.line)));
    places().find(|(file, line)| *line > 0 && !is_library(file)).or_else(|| places().next())
}

/// Whether a path is one of Rust's own sources, as compilers write them.
fn is_library(path: &str) -> bool {
    let path = path.replace('\\', "/");
    ["core", "std", "alloc"].iter().any(|name| {
        path.contains(&format!("library/{name}/src/"))
            || path.contains(&format!("/{name}/src/")) && path.contains("rustc")
    }) || path.contains("/stdarch/")
}

fn message(violation: &Violation) -> String {
    match (violation.kind, violation.detail) {
        (kind, Detail::Access { space, address, bytes, action, limit }) => {
            let what = match kind {
                FaultKind::UseAfterFree => "use after free: ",
                FaultKind::Null => "null pointer: ",
                FaultKind::Misaligned => "misaligned ",
                FaultKind::Race => "race: ",
                FaultKind::Uninitialised => "uninitialised: ",
                _ => "out-of-bounds ",
            };
            let space = match (space, limit) {
                (Space::Shared, Some(size)) => format!(" of the block's {} bytes of shared memory", grouped(size)),
                (Space::Local, Some(size)) => format!(" of the thread's {} bytes of local memory", grouped(size)),
                (_, Some(size)) => format!(" of the kernel's {} bytes of parameters", grouped(size)),
                _ => String::new(),
            };
            let place = if limit.is_some() { format!("at byte {}{space}", grouped(address)) } else { format!("at 0x{address:x}") };
            let plural = if bytes == 1 { "byte" } else { "bytes" };
            let wanted = if kind == FaultKind::Misaligned { format!(", not a multiple of {bytes}") } else { String::new() };
            let why = match kind {
                FaultKind::Race => ", which another thread accesses, and nothing orders the two",
                FaultKind::Uninitialised => ", which nobody wrote before",
                _ => "",
            };
            format!("{what}{} of {bytes} {plural} {place}{wanted}{why}", action.name())
        }
        (FaultKind::BranchIndex, Detail::Value { given, limit }) => {
            format!("jump table index {given}; the table has {limit} entries")
        }
        (FaultKind::BarrierMisuse, Detail::Value { given, limit }) => {
            format!(
                "barrier number or thread count {given}; numbers are below 16, counts are multiples of 32 below {limit}"
            )
        }
        (FaultKind::DivergentBarrier, _) => {
            "divergent barrier: lanes of one warp meet it at two instructions; all threads of a block must reach the same one"
                .to_owned()
        }
        (FaultKind::WarpMask, Detail::Members { given }) => {
            format!("member mask 0x{given:08x} of a warp-wide operation does not name the lanes that take part, each the same ones")
        }
        (FaultKind::Trap, _) => "the kernel executed trap".to_owned(),
        (FaultKind::NoProgress, _) => {
            "no progress: the launch runs on but changes nothing; a thread waits in a loop for something that never comes"
                .to_owned()
        }
        (FaultKind::Deadlock, _) => {
            "deadlock: every thread of the block that is left waits at a barrier or a warp-wide operation that others never reach"
                .to_owned()
        }
        (FaultKind::CallDepth, _) => "calls are nested too deep".to_owned(),
        (FaultKind::StepBudget, _) => "the step budget of the launch is used up".to_owned(),
        (kind, _) => kind.name().to_owned(),
    }
}
