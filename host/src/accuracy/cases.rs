//! The table of cases: which kernel, how large, of which class, and whether it judges the model or sets its parameters.
//!
//! Each takes 3 µs to 10 ms on an H200 and at most about 20 million warp instructions, so that the model takes seconds.

use super::inputs::Input;
use super::inputs::Input::{Chain, Noise, Out, Ramp, U32, Words, Zeros};

/// What holds a case down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The bandwidth of memory or L2.
    Memory,
    /// The latency of what each thread waits for.
    Latency,
    /// Arithmetic.
    Compute,
    /// Lanes that disagree.
    Divergent,
    Atomic,
    /// Shared memory and its banks, barriers.
    Shared,
    /// Registers that went to local memory.
    Spilling,
    /// Few resident warps.
    Occupancy,
}

impl Class {
    pub const ALL: [Class; 8] = [
        Class::Memory,
        Class::Latency,
        Class::Compute,
        Class::Divergent,
        Class::Atomic,
        Class::Shared,
        Class::Spilling,
        Class::Occupancy,
    ];

    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            Class::Memory => "memory-bound",
            Class::Latency => "latency-bound",
            Class::Compute => "compute-bound",
            Class::Divergent => "divergent",
            Class::Atomic => "atomic",
            Class::Shared => "shared-memory",
            Class::Spilling => "spilling",
            Class::Occupancy => "low-occupancy",
        }
    }
}

/// What a case is for. No kernel is in both sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Judges the model.
    Evaluation,
    /// Parameters of the model may be set by it.
    Calibration,
}

impl Set {
    pub fn word(self) -> &'static str {
        match self {
            Set::Evaluation => "evaluation",
            Set::Calibration => "calibration",
        }
    }
}

/// A launch as data.
#[derive(Debug, PartialEq, Eq)]
pub struct Case {
    pub kernel: &'static str,
    /// Tells apart the cases of a kernel.
    pub size: &'static str,
    pub class: Class,
    pub set: Set,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub inputs: &'static [Input],
}

impl Case {
    const fn new(class: Class, kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Self {
        let (grid, block) = ([1; 3], [1; 3]);
        Self { kernel, size, class, set: Set::Evaluation, grid, block, dynamic_shared_bytes: 0, inputs }
    }

    /// One-dimensional: so many blocks of so many threads.
    const fn line(self, blocks: u32, threads: u32) -> Self {
        self.shape([blocks, 1, 1], [threads, 1, 1])
    }

    const fn shape(mut self, grid: [u32; 3], block: [u32; 3]) -> Self {
        self.grid = grid;
        self.block = block;
        self
    }

    /// With shared memory that is not used, which keeps other blocks out.
    const fn crowded(mut self, dynamic_shared_bytes: u32) -> Self {
        self.dynamic_shared_bytes = dynamic_shared_bytes;
        self
    }

    const fn calibrating(mut self) -> Self {
        self.set = Set::Calibration;
        self
    }

    /// `kernel size`, as messages name it.
    pub fn name(&self) -> String {
        format!("{} {}", self.kernel, self.size)
    }
}

const fn memory(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Memory, kernel, size, inputs)
}

const fn latency(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Latency, kernel, size, inputs)
}

const fn compute(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Compute, kernel, size, inputs)
}

const fn divergent(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Divergent, kernel, size, inputs)
}

const fn atomic(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Atomic, kernel, size, inputs)
}

const fn shared(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Shared, kernel, size, inputs)
}

const fn spilling(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Spilling, kernel, size, inputs)
}

const fn occupancy(kernel: &'static str, size: &'static str, inputs: &'static [Input]) -> Case {
    Case::new(Class::Occupancy, kernel, size, inputs)
}

/// Threads of the lab `occupancy` on an H200: a block of 256 for each of its 132 SMs.
const LAB_TILES: u32 = 132 * 256;
/// Inputs of the tiled kernels at the lab's size, and at 16 times it.
const HEAVY: &[Input] = &[Noise(15 * LAB_TILES), Out(LAB_TILES), U32(LAB_TILES), U32(16)];
const HEAVY_16: &[Input] = &[Noise(15 * 16 * LAB_TILES), Out(16 * LAB_TILES), U32(16 * LAB_TILES), U32(16)];
const ACCUMULATORS: &[Input] = &[Noise(16 * 16 * LAB_TILES), Out(16 * LAB_TILES), U32(16 * LAB_TILES), U32(16)];

const K256: u32 = 1 << 18;
const M1: u32 = 1 << 20;
const M4: u32 = 1 << 22;
const M16: u32 = 1 << 24;

/// A path of 256 steps for a quarter of a million threads.
const PATHS: &[Input] = &[Noise(K256), Out(K256), U32(K256), U32(256)];
/// Matrices of 256² and 512².
const MATRICES_256: &[Input] = &[Noise(1 << 16), Noise(1 << 16), Out(1 << 16), U32(256)];
const MATRICES_512: &[Input] = &[Noise(1 << 18), Noise(1 << 18), Out(1 << 18), U32(512)];
/// A matrix of 2048².
const MATRIX_2048: &[Input] = &[Noise(M4), Out(M4), U32(2048)];

/// Words `apart` from lane to lane and `turn` from warp to warp, in 8 MiB.
const fn scattering(apart: u32, turn: u32, repeats: u32) -> [Input; 5] {
    [Zeros(1 << 21), U32((1 << 21) - 1), U32(apart), U32(turn), U32(repeats)]
}

/// The same in an array of few words, each warp a little further than the one before.
const fn scattering_in(words: u32, apart: u32, repeats: u32) -> [Input; 5] {
    [Zeros(words), U32(words - 1), U32(apart), U32(1), U32(repeats)]
}

/// All cases: those that judge, by class, then those that calibrate.
pub static CASES: &[Case] = &[
    // ---- memory-bound ----
    memory("vecadd", "2^20", &[Noise(M1), Noise(M1), Out(M1), U32(M1)]).line(M1 / 256, 256),
    memory("vecadd", "2^22", &[Noise(M4), Noise(M4), Out(M4), U32(M4)]).line(M4 / 256, 256),
    memory("vecadd", "2^24", &[Noise(M16), Noise(M16), Out(M16), U32(M16)]).line(M16 / 256, 256),
    memory("vecadd4", "2^22", &[Noise(M4), Noise(M4), Out(M4), U32(M4)]).line(M4 / 1024, 256),
    memory("vecadd4", "2^24", &[Noise(M16), Noise(M16), Out(M16), U32(M16)]).line(M16 / 1024, 256),
    memory("blur", "2048x2048", &[Noise(M4), Out(M4), U32(2048), U32(2048)]).shape([64, 256, 1], [32, 8, 1]),
    memory("leaky_relu", "2^22", &[Noise(M4), Out(M4), U32(M4)]).line(M4 / 256, 256),
    memory("strided_copy", "2^20 by 2", &[Noise(2 * M1), Out(2 * M1), U32(M1), U32(2)]).line(M1 / 256, 256),
    memory("strided_copy", "2^20 by 8", &[Noise(8 * M1), Out(8 * M1), U32(M1), U32(8)]).line(M1 / 256, 256),
    memory("strided_copy", "2^20 by 32", &[Noise(32 * M1), Out(32 * M1), U32(M1), U32(32)]).line(M1 / 256, 256),
    memory("gather", "2^20 of 2^20", &[Noise(M1), Words(M1), Out(M1), U32(M1), U32(M1 - 1)]).line(M1 / 256, 256),
    memory("gather", "2^20 of 2^24", &[Noise(M16), Words(M1), Out(M1), U32(M1), U32(M16 - 1)]).line(M1 / 256, 256),
    memory("heat", "128^3", &[Noise(1 << 21), Out(1 << 21), U32(128)]).shape([4, 16, 128], [32, 8, 1]),
    memory("transpose_naive", "2048^2", MATRIX_2048).shape([64, 64, 1], [32, 8, 1]),
    memory("block_sums", "2^24", &[Noise(M16), Out(1056), U32(M16)]).line(1056, 256),
    memory("softmax", "8192 rows of 256", &[Noise(1 << 21), Out(1 << 21), U32(8192), U32(256)]).line(1024, 256),
    // ---- latency-bound ----
    latency("slow", "1 block, 4096 steps", &[Words(256), U32(256), U32(4096)]).line(1, 256),
    latency(
        "walk",
        "132 warps in 1 MiB",
        &[Chain { lines: 1 << 13, apart: 32 }, Out(4224), U32(4224), U32(32), U32(64)],
    )
    .line(132, 32),
    latency(
        "walk",
        "132 warps in 64 MiB",
        &[Chain { lines: 1 << 19, apart: 32 }, Out(4224), U32(4224), U32(32), U32(64)],
    )
    .line(132, 32),
    latency("binary_search", "2^17 in 2^20", &[Ramp(M1, 4096), Words(1 << 17), Out(1 << 17), U32(1 << 17), U32(M1)])
        .line(512, 256),
    latency("whoami", "132 blocks", &[Out(12 * 132 * 256), Zeros(1)]).line(132, 256),
    latency("matmul_naive", "256^3", MATRICES_256).shape([8, 32, 1], [32, 8, 1]),
    // ---- compute-bound ----
    compute("path_a", "2^18, 256 steps", PATHS).line(K256 / 256, 256),
    compute("path_b", "2^18, 256 steps", PATHS).line(K256 / 256, 256),
    compute("fma_chains", "2^16, 16 steps", &[Noise(1 << 16), Out(1 << 16), U32(1 << 16), U32(16)]).line(256, 256),
    compute("polynomial", "2^18, 16 rounds", &[Noise(K256), Out(K256), U32(K256), U32(16)]).line(K256 / 256, 256),
    compute("mix_bits", "2^18, 32 rounds", &[Words(K256), U32(K256), U32(32)]).line(K256 / 256, 256),
    compute("nbody", "8192 bodies", &[Noise(4 * 8192), Out(4 * 8192), U32(8192)]).line(32, 256),
    compute("light", "2^18, 64 steps", &[Noise(5 * K256), Out(K256), U32(K256), U32(64)]).line(K256 / 256, 256),
    // ---- divergent ----
    divergent("by_lane", "2^18, 256 steps", PATHS).line(K256 / 256, 256),
    divergent("split", "2^18, 256 steps, 8", &[Noise(K256), Out(K256), U32(K256), U32(256), U32(8)])
        .line(K256 / 256, 256),
    divergent("leaky_relu_long", "2^20", &[Noise(M1), Out(M1), U32(M1)]).line(M1 / 256, 256),
    divergent("mix", "2^18", &[Noise(K256), Noise(K256), Out(K256), U32(K256)]).line(K256 / 256, 256),
    divergent("collatz", "2^17", &[Out(1 << 17), U32(1 << 17), U32(400)]).line(512, 256),
    divergent("mandelbrot", "512^2", &[Out(K256), U32(512), U32(256)]).shape([16, 64, 1], [32, 8, 1]),
    // ---- atomic ----
    atomic("atomic_add", "2^15 x 4 on 1", &[Zeros(1), U32(0), U32(4)]).line(128, 256),
    atomic("atomic_add", "2^17 x 4 on 32", &[Zeros(32), U32(31), U32(4)]).line(512, 256),
    atomic("atomic_add", "2^17 x 4 on 1024", &[Zeros(1024), U32(1023), U32(4)]).line(512, 256),
    atomic("atomic_add", "2^20 x 4 on 2^20", &[Zeros(M1), U32(M1 - 1), U32(4)]).line(M1 / 256, 256),
    atomic("atomic_add_cas", "2^15 on 2^12", &[Zeros(1 << 12), U32((1 << 12) - 1), U32(1)]).line(128, 256),
    atomic("histogram", "2^22", &[Words(M4), Zeros(256), U32(M4)]).line(1056, 256),
    atomic("histogram_global", "2^20", &[Words(M1), Zeros(256), U32(M1)]).line(M1 / 256, 256),
    // ---- shared memory ----
    shared("matmul_tiled", "512^3", MATRICES_512).shape([16, 16, 1], [32, 32, 1]),
    shared("transpose_tiled", "2048^2", MATRIX_2048).shape([64, 64, 1], [32, 8, 1]),
    shared("transpose_padded", "2048^2", MATRIX_2048).shape([64, 64, 1], [32, 8, 1]),
    shared("block_scan", "2^22", &[Noise(M4), Out(M4)]).line(M4 / 256, 256),
    shared("block_reverse", "2^21", &[Words(1 << 21)]).line(1 << 14, 128),
    // ---- spilling ----
    spilling("heavy", "the lab's", HEAVY).line(132, 256),
    spilling("heavy_capped", "the lab's", HEAVY).line(132, 256),
    spilling("heavy", "16 blocks an SM", HEAVY_16).line(16 * 132, 256),
    spilling("heavy_capped", "16 blocks an SM", HEAVY_16).line(16 * 132, 256),
    spilling("accumulators", "16 blocks an SM", ACCUMULATORS).line(16 * 132, 256),
    spilling("accumulators_capped", "16 blocks an SM", ACCUMULATORS).line(16 * 132, 256),
    // ---- low occupancy ----
    occupancy("ilp4", "1 warp a scheduler", &[Noise(4 * 16896), Out(4 * 16896), U32(16896), U32(1024)]).line(132, 128),
    occupancy("vecadd", "2^22, 2 blocks an SM", &[Noise(M4), Noise(M4), Out(M4), U32(M4)])
        .line(M4 / 256, 256)
        .crowded(48 << 10),
    occupancy("fma_chains", "1 block", &[Noise(256), Out(256), U32(256), U32(64)]).line(1, 256),
    occupancy("matmul_naive", "64^3", &[Noise(4096), Noise(4096), Out(4096), U32(64)]).shape([2, 8, 1], [32, 8, 1]),
    // ---- calibration ----
    latency("empty", "1 block", &[]).line(1, 32).calibrating(),
    latency("empty", "2^14 blocks", &[]).line(1 << 14, 32).calibrating(),
    latency("empty", "2^17 blocks", &[]).line(1 << 17, 32).calibrating(),
    latency("empty", "2^15 blocks of 256", &[]).line(1 << 15, 256).calibrating(),
    latency("chain_ffma", "1 warp, 8192", &[Out(32), U32(8192)]).line(1, 32).calibrating(),
    latency("chain_ffma", "1 warp, 16384", &[Out(32), U32(16384)]).line(1, 32).calibrating(),
    latency("chain_imad", "1 warp, 8192", &[Out(32), U32(8192)]).line(1, 32).calibrating(),
    latency("chain_imad", "1 warp, 16384", &[Out(32), U32(16384)]).line(1, 32).calibrating(),
    latency("chain_mufu", "1 warp, 8192", &[Out(32), U32(8192)]).line(1, 32).calibrating(),
    latency("chain_mufu", "1 warp, 16384", &[Out(32), U32(16384)]).line(1, 32).calibrating(),
    compute("chain_ffma", "1 full SM, 4096", &[Out(2048), U32(4096)]).line(2, 1024).calibrating(),
    compute("chain_imad", "1 block of 1024, 4096", &[Out(1024), U32(4096)]).line(1, 1024).calibrating(),
    compute("chain_mufu", "1 block of 1024, 4096", &[Out(1024), U32(4096)]).line(1, 1024).calibrating(),
    atomic("count", "2^15 x 4 on 1", &[Zeros(1), U32(0), U32(4)]).line(128, 256).calibrating(),
    atomic("count", "2^15 x 16 on 1", &[Zeros(1), U32(0), U32(16)]).line(128, 256).calibrating(),
    atomic("count", "2^17 x 4 on 32", &[Zeros(32), U32(31), U32(4)]).line(512, 256).calibrating(),
    atomic("count", "2^17 x 4 on 1024", &[Zeros(1024), U32(1023), U32(4)]).line(512, 256).calibrating(),
    atomic("count", "2^17 x 16 on 2^17", &[Zeros(1 << 17), U32((1 << 17) - 1), U32(16)]).line(512, 256).calibrating(),
    // One SM, then all, over 8 MiB: neighbours, a word of each sector, of each other sector, of each line, of each 64th.
    memory("scatter_store", "1 SM, by 1", &scattering(1, 32, 256)).line(1, 1024).calibrating(),
    memory("scatter_store", "1 SM, by 8", &scattering(8, 256, 64)).line(1, 1024).calibrating(),
    memory("scatter_store", "1 SM, by 32", &scattering(32, 1, 64)).line(1, 1024).calibrating(),
    atomic("scatter_add", "1 SM, by 1", &scattering(1, 32, 256)).line(1, 1024).calibrating(),
    atomic("scatter_add", "1 SM, by 8", &scattering(8, 256, 64)).line(1, 1024).calibrating(),
    atomic("scatter_add", "1 SM, by 32", &scattering(32, 1, 64)).line(1, 1024).calibrating(),
    memory("scatter_store", "all SMs, by 1", &scattering(1, 32, 64)).line(528, 256).calibrating(),
    memory("scatter_store", "all SMs, by 8", &scattering(8, 256, 16)).line(528, 256).calibrating(),
    memory("scatter_store", "all SMs, by 16", &scattering(16, 512, 16)).line(528, 256).calibrating(),
    memory("scatter_store", "all SMs, by 32", &scattering(32, 1, 16)).line(528, 256).calibrating(),
    memory("scatter_store", "all SMs, by 2048", &scattering(2048, 1, 16)).line(528, 256).calibrating(),
    atomic("scatter_add", "all SMs, by 1", &scattering(1, 32, 64)).line(528, 256).calibrating(),
    atomic("scatter_add", "all SMs, by 8", &scattering(8, 256, 16)).line(528, 256).calibrating(),
    atomic("scatter_add", "all SMs, by 2048", &scattering(2048, 1, 16)).line(528, 256).calibrating(),
    // A word of each of the four sectors of a line, of the lines of a KiB, of 4 KiB.
    atomic("scatter_add", "a line, by 8", &scattering_in(32, 8, 8)).line(264, 256).calibrating(),
    atomic("scatter_add", "1 KiB, by 5", &scattering_in(256, 5, 16)).line(264, 256).calibrating(),
    atomic("scatter_add", "4 KiB, by 37", &scattering_in(1024, 37, 16)).line(264, 256).calibrating(),
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn of(set: Set) -> impl Iterator<Item = &'static Case> {
        CASES.iter().filter(move |case| case.set == set)
    }

    #[test]
    fn at_least_thirty_cases_of_every_class_judge_the_model() {
        assert!(of(Set::Evaluation).count() >= 30);
        let mut classes = BTreeMap::new();
        of(Set::Evaluation).for_each(|case| *classes.entry(case.class).or_insert(0) += 1);
        for class in Class::ALL {
            assert!(classes.get(&class).is_some_and(|&count| count >= 4), "{}: {classes:?}", class.word());
        }
    }

    #[test]
    fn no_kernel_both_judges_and_calibrates() {
        let kernels = |set| of(set).map(|case| case.kernel).collect::<BTreeSet<_>>();
        let both: Vec<_> = kernels(Set::Evaluation).intersection(&kernels(Set::Calibration)).copied().collect();
        assert!(both.is_empty(), "{both:?}");
    }

    #[test]
    fn each_case_has_a_name_of_its_own_and_the_parameters_of_its_kernel() {
        let names: BTreeSet<String> = CASES.iter().map(Case::name).collect();
        assert_eq!(names.len(), CASES.len());
        for case in CASES {
            let kernel = warpwise_kernels::find(case.kernel).unwrap_or_else(|| panic!("no kernel {}", case.kernel));
            let pointers = |types: &[&str]| types.iter().map(|name| name.starts_with('*')).collect::<Vec<_>>();
            let buffers: Vec<bool> = case.inputs.iter().map(|input| !matches!(input, U32(_))).collect();
            assert_eq!(buffers, pointers(kernel.types), "{}", case.name());
        }
    }
}
