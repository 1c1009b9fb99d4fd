//! Shapes that no device runs: refused by the launch call, with the limit and the value.

use warpwise_kernels::vecadd::vecadd;

use crate::backend::{GpuError, LaunchShape, StreamId};
use crate::claim::{Claim, holds};
use crate::lab::{LabContext, LabError};

/// One refusal: the shape, and the numbers that the refusal must name.
struct Refusal {
    id: &'static str,
    statement: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    names: &'static [&'static str],
}

const MAX_THREADS: &str = "1024";

/// Limits: CUDA C++ Programming Guide, "Compute Capabilities". The last one asks for more than any device has.
const REFUSALS: [Refusal; 6] = [
    Refusal {
        id: "refused_none",
        statement: "a block of 0 threads is refused at the launch",
        grid: [1, 1, 1],
        block: [0, 1, 1],
        dynamic_shared_bytes: 0,
        names: &["0"],
    },
    Refusal {
        id: "refused_1025",
        statement: "a block of 1,025 threads is refused at the launch, and the limit of 1,024 is named",
        grid: [1, 1, 1],
        block: [1025, 1, 1],
        dynamic_shared_bytes: 0,
        names: &["1025", MAX_THREADS],
    },
    Refusal {
        id: "refused_z",
        statement: "65 threads in z are refused, where 64 are allowed",
        grid: [1, 1, 1],
        block: [1, 1, 65],
        dynamic_shared_bytes: 0,
        names: &["65", "64"],
    },
    Refusal {
        id: "refused_product",
        statement: "32×32×2 threads are refused, although each size is allowed",
        grid: [1, 1, 1],
        block: [32, 32, 2],
        dynamic_shared_bytes: 0,
        names: &["2048", MAX_THREADS],
    },
    Refusal {
        id: "refused_grid",
        statement: "65,536 blocks in y are refused, where 65,535 are allowed",
        grid: [1, 65_536, 1],
        block: [1, 1, 1],
        dynamic_shared_bytes: 0,
        names: &["65536", "65535"],
    },
    Refusal {
        id: "refused_shared",
        statement: "1 MiB of shared memory a block is refused at the launch",
        grid: [1, 1, 1],
        block: [1, 1, 1],
        dynamic_shared_bytes: 1 << 20,
        names: &["1048576"],
    },
];

pub fn claims() -> impl Iterator<Item = Claim> {
    let refused = REFUSALS.iter().map(|refusal| {
        let relation = holds("the call fails and names value and limit");
        Claim::new(refusal.id, "ch1 §1", refusal.statement, relation)
    });
    let after = holds("a launch after the refusals runs");
    refused.chain([Claim::new("refused_harmless", "ch1 §1", "a refused launch leaves the context usable", after)])
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let [a, b, c] = [gpu.zeros::<f32>(32)?, gpu.zeros::<f32>(32)?, gpu.zeros::<f32>(32)?];
    let args = (a.ptr(), b.ptr(), c.ptr(), 32);
    for refusal in &REFUSALS {
        let shape = LaunchShape::new(refusal.grid, refusal.block).with_dynamic_shared(refusal.dynamic_shared_bytes);
        let seen = match gpu.launch_on(StreamId::DEFAULT, &vecadd, shape, args) {
            Ok(_) => "it was accepted".to_owned(),
            Err(GpuError::Refused { reason, .. }) => reason,
            Err(error) => error.to_string(),
        };
        let plain: String = seen.chars().filter(|&c| c != ',').collect();
        cx.holds(refusal.id, refusal.names.iter().all(|number| plain.contains(number)), &seen);
        cx.note(format!("refused: {seen}"));
    }
    let after = gpu.launch(&vecadd, 1, 32, args).and_then(|_| gpu.synchronize());
    cx.holds("refused_harmless", after.is_ok(), after.err().map_or_else(String::new, |error| error.to_string()));
    Ok(())
}
