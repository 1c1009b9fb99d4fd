//! Shapes that no device runs: refused by the launch call, with the limit and the value.

use warpwise_kernels::vecadd::vecadd;

use crate::backend::{GpuError, LaunchShape, StreamId};
use crate::claim::{Claim, holds};
use crate::lab::{LabContext, LabError, Table};

/// One refusal: the shape, and the numbers that the refusal must name.
struct Refusal {
    id: &'static str,
    statement: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    names: &'static [u64],
}

const MAX_THREADS: u64 = 1024;

/// Limits: CUDA C++ Programming Guide, "Compute Capabilities".
const REFUSALS: [Refusal; 5] = [
    Refusal {
        id: "refused_none",
        statement: "a block of 0 threads is refused at the launch",
        grid: [1, 1, 1],
        block: [0, 1, 1],
        names: &[0],
    },
    Refusal {
        id: "refused_1025",
        statement: "a block of 1,025 threads is refused at the launch, and the limit of 1,024 is named",
        grid: [1, 1, 1],
        block: [1025, 1, 1],
        names: &[1025, MAX_THREADS],
    },
    Refusal {
        id: "refused_z",
        statement: "65 threads in z are refused, where 64 are allowed",
        grid: [1, 1, 1],
        block: [1, 1, 65],
        names: &[65, 64],
    },
    Refusal {
        id: "refused_product",
        statement: "32×32×2 threads are refused, although each size is allowed",
        grid: [1, 1, 1],
        block: [32, 32, 2],
        names: &[2048, MAX_THREADS],
    },
    Refusal {
        id: "refused_grid",
        statement: "65,536 blocks in y are refused, where 65,535 are allowed",
        grid: [1, 65_536, 1],
        block: [1, 1, 1],
        names: &[65536, 65535],
    },
];

const TOO_MUCH_SHARED: &str = "refused_shared";

pub fn claims() -> Vec<Claim> {
    let refused =
        |id, statement| Claim::new(id, "ch1 §1", statement, holds("the call fails and names value and limit"));
    let mut claims: Vec<Claim> = REFUSALS.iter().map(|refusal| refused(refusal.id, refusal.statement)).collect();
    claims
        .push(refused(TOO_MUCH_SHARED, "a byte of shared memory more than a block may have is refused at the launch"));
    let after = holds("a launch after the refusals runs");
    claims.push(Claim::new("refused_harmless", "ch1 §1", "a refused launch leaves the context usable", after));
    claims
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let [a, b, c] = [gpu.zeros::<f32>(32)?, gpu.zeros::<f32>(32)?, gpu.zeros::<f32>(32)?];
    let args = (a.ptr(), b.ptr(), c.ptr(), 32);
    let mut table = Table::new("refused at the launch", ["grid", "block", "shared bytes", "the answer"]);
    let mut try_shape = |cx: &mut LabContext<'_>, claim: &str, shape: LaunchShape, names: &[u64]| {
        let answer = match gpu.launch_on(StreamId::DEFAULT, &vecadd, shape, args) {
            Ok(_) => "it was accepted".to_owned(),
            Err(GpuError::Refused { reason, .. }) => reason,
            Err(error) => error.to_string(),
        };
        let numbers = numbers(&answer);
        cx.holds(claim, names.iter().all(|number| numbers.contains(number)), &answer);
        let sizes = |sizes: [u32; 3]| sizes.map(|size| size.to_string()).join("×");
        table.row([
            sizes(shape.grid).into(),
            sizes(shape.block).into(),
            shape.dynamic_shared_bytes.into(),
            answer.into(),
        ]);
    };
    for refusal in &REFUSALS {
        try_shape(cx, refusal.id, LaunchShape::new(refusal.grid, refusal.block), refusal.names);
    }
    let most = gpu.device().limits.shared_per_block_optin_bytes;
    let shape = LaunchShape::linear(1, 1).with_dynamic_shared(most + 1);
    try_shape(cx, TOO_MUCH_SHARED, shape, &[most.into(), u64::from(most) + 1]);
    cx.table(table);
    let after = gpu.launch(&vecadd, 1, 32, args).and_then(|_| gpu.synchronize());
    cx.holds("refused_harmless", after.is_ok(), after.err().map_or_else(String::new, |error| error.to_string()));
    Ok(())
}

/// The whole numbers of a sentence, whether or not their digits are grouped.
fn numbers(text: &str) -> Vec<u64> {
    let digits: String = text.chars().filter(|&c| c != ',').collect();
    digits.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn grouped_digits_are_one_number_and_parts_of_numbers_are_none() {
        assert_eq!(numbers("1,025 threads (x = 1025); at most 1024."), [1025, 1025, 1024]);
    }
}
