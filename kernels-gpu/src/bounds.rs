//! Launch bounds and register caps of the kernels that have any, in one table.
//!
//! rustc has no attribute for them. After the device build they are written into the entry's header in the PTX
//! (`.maxntid`, `.minnctapersm`, `.maxnreg`), where ptxas, the driver's JIT and the machine all find them.

/// What a kernel's entry promises and asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The entry's name.
    pub entry: &'static str,
    /// `.maxntid`: the largest block that will be launched, threads along x, y and z.
    pub max_threads: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks that must fit on an SM at once. Needs `max_threads`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`: registers a thread at most.
    pub max_registers: Option<u32>,
}

/// The table, by entry. A kernel that is not in it has no bounds.
pub static BOUNDS: &[Bounds] = &[
    Bounds {
        // Six blocks of 256 threads are the 48 warps of an SM of compute capability 12.0, and leave 65,536 / 1,536 = 42
        // registers a thread, of which allocation in steps of 8 permits 40.
        entry: "heavy_capped",
        max_threads: Some([256, 1, 1]),
        min_blocks_per_sm: Some(6),
        max_registers: None,
    },
    Bounds { entry: "accumulators_capped", max_threads: None, min_blocks_per_sm: None, max_registers: Some(40) },
    // Blocks of 1,024 threads have at most 64 registers each; without this the compiler may take more.
    Bounds { entry: "matmul_tiled", max_threads: Some([32, 32, 1]), min_blocks_per_sm: None, max_registers: None },
    Bounds {
        // 64 sums, two sets of operands and what is on its way are some 120 registers; two blocks fit with 128.
        entry: "matmul_register",
        max_threads: Some([256, 1, 1]),
        min_blocks_per_sm: Some(2),
        max_registers: None,
    },
];

/// The bounds of an entry, if it has any.
pub fn of(entry: &str) -> Option<&'static Bounds> {
    BOUNDS.iter().find(|bounds| bounds.entry == entry)
}
