//! One launch for each kernel, at a size that fills some SMs and ends in the middle of a warp where the kernel has a guard.

use crate::arguments::{Argument, ArgumentError};
use crate::suggest::UnknownName;

/// A launch as data, its arguments in the words of `run --arg`.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub kernel: &'static str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    args: &'static [&'static str],
}

impl Case {
    pub fn arguments(&self) -> Result<Vec<Argument>, ArgumentError> {
        self.args.iter().map(|text| text.parse()).collect()
    }
}

const fn line(kernel: &'static str, blocks: u32, threads: u32, args: &'static [&'static str]) -> Case {
    Case { kernel, grid: [blocks, 1, 1], block: [threads, 1, 1], args }
}

/// Arguments of the kernels that map `n` elements in some steps.
const MAP_STEPS: &[&str] =
    &["x=in:f32:100003:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "steps=scalar:u32:64"];
const MAP: &[&str] = &["x=in:f32:1000003:rand:1", "y=out:f32:1000003", "n=scalar:u32:1000003"];
const ADD: &[&str] =
    &["a=in:f32:1000003:rand:1", "b=in:f32:1000003:rand:2", "c=out:f32:1000003", "n=scalar:u32:1000003"];
/// Fifteen rows of inputs a thread.
const HEAVY: &[&str] = &["x=in:f32:1500045:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "steps=scalar:u32:16"];

const ACCUMULATORS: &[&str] =
    &["x=in:f32:1600048:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "steps=scalar:u32:16"];
const SCATTERED: &[&str] = &[
    "words=inout:u32:4096",
    "mask=scalar:u32:4095",
    "apart=scalar:u32:33",
    "turn=scalar:u32:5",
    "repeats=scalar:u32:4",
];
/// 100,003 elements of a filter with 33 weights.
const FILTER: &[&str] = &[
    "x=in:f32:100035:rand:1",
    "weights=in:f32:33:rand:2",
    "y=out:f32:100003",
    "len=scalar:u32:100035",
    "taps=scalar:u32:33",
    "n=scalar:u32:100003",
];
const SUMS: &[&str] = &["sums=inout:f32:1024", "mask=scalar:u32:1023", "repeats=scalar:u32:4"];
/// For additions by compare-and-swap: a sum a thread. Where threads share one, how often they try again hangs on who comes first, which
/// hardware does not decide the same way twice between warps, and within a warp by rules of YIELD that the machine does not have (measured
/// in docs/measurements).
const SUM_A_THREAD: &[&str] = &["sums=inout:f32:2048", "mask=scalar:u32:2047", "repeats=scalar:u32:4"];
const PAIR_A_THREAD: &[&str] = &["sums=inout:u32:2048", "mask=scalar:u32:2047", "repeats=scalar:u32:4"];
/// Two of a warp's threads share a word.
const HALF_A_THREAD: &[&str] = &["sums=inout:u16:2048", "mask=scalar:u32:2047", "repeats=scalar:u32:4"];
const HALF_SUMS: &[&str] = &["sums=inout:u32:1024", "mask=scalar:u32:1023", "repeats=scalar:u32:4"];
const WARP_SUMS: &[&str] = &["x=in:u32:4096:rand:1", "sums=out:u32:128"];
/// 37 queries over four levels of 8 × 8 to 1 × 1 pixels. All numbers are multiples of 1/64 below 2^18, so that sums of them are exact and
/// atomic additions give the same in any order.
const ATTENTION: &[&str] = &[
    "value=in:f32:21760:ramp",
    "levels=in:u32:12:list:8,8,0,4,4,64,2,2,80,1,1,84",
    "locations=in:f32:9472:const:0.5",
    "weights=in:f32:4736:const:0.0625",
    "output=out:f32:9472",
    "queries=scalar:u32:37",
];
/// The same where the output is added to.
const ATTENTION_ADDED: &[&str] = &[
    "value=in:f32:21760:ramp",
    "levels=in:u32:12:list:8,8,0,4,4,64,2,2,80,1,1,84",
    "locations=in:f32:9472:const:0.5",
    "weights=in:f32:4736:const:0.0625",
    "output=inout:f32:9472",
    "queries=scalar:u32:37",
];
const ATTENTION_BACKWARD: &[&str] = &[
    "value=in:f32:21760:ramp",
    "levels=in:u32:12:list:8,8,0,4,4,64,2,2,80,1,1,84",
    "locations=in:f32:9472:const:0.5",
    "weights=in:f32:4736:const:0.0625",
    "gradient=in:f32:9472:const:1",
    "value_gradient=inout:f32:21760",
    "location_gradient=out:f32:9472",
    "weight_gradient=out:f32:4736",
    "queries=scalar:u32:37",
];
const TRANSPOSE: &[&str] = &["x=in:f32:82944:rand:1", "y=out:f32:82944", "n=scalar:u32:288"];
/// Items of no terms to 1,002.
const RAGGED: &[&str] = &["terms=in:u32:1003:ramp", "sums=out:u32:1003", "n=scalar:u32:1003"];
const CHAINS: &[&str] = &["next=in:u32:1024:const:3", "out=out:u32:128", "apart=scalar:u32:100", "steps=scalar:u32:40"];

const TOTALS: &[&str] = &["x=in:f32:1000003:rand:1", "sums=out:f32:132", "n=scalar:u32:1000003"];

/// Every kernel, in the order in which the labs meet them.
pub static CASES: &[Case] = &[
    line("vecadd", 3907, 256, ADD),
    line("vecadd_unguarded", 1024, 256, &["a=in:f32:262144:rand:1", "b=in:f32:262144:rand:2", "c=out:f32:262144"]),
    line("vecadd4", 977, 256, ADD),
    line("vecadd4_unguarded", 256, 256, &["a=in:f32:262144:rand:1", "b=in:f32:262144:rand:2", "c=out:f32:262144"]),
    line("slow", 4, 256, &["values=inout:u32:1003:ramp", "n=scalar:u32:1003", "steps=scalar:u32:1000"]),
    line("whoami", 100, 256, &["identities=out:u32:307200", "counter=inout:u32:1"]),
    Case {
        kernel: "blur",
        grid: [32, 88, 1],
        block: [32, 8, 1],
        args: &[
            "input=in:f32:700000:rand:1",
            "output=out:f32:700000",
            "width=scalar:u32:1000",
            "height=scalar:u32:700",
        ],
    },
    line("branch_paths", 391, 256, MAP_STEPS),
    line("path_a", 391, 256, MAP_STEPS),
    line("path_b", 391, 256, MAP_STEPS),
    line("by_lane", 391, 256, MAP_STEPS),
    line("by_warp", 391, 256, MAP_STEPS),
    line(
        "split",
        391,
        256,
        &["x=in:f32:100003:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "steps=scalar:u32:64", "k=scalar:u32:7"],
    ),
    line("leaky_relu", 3907, 256, MAP),
    line("leaky_relu_long", 3907, 256, MAP),
    line("scale", 3907, 256, MAP),
    line(
        "light",
        391,
        256,
        &["x=in:f32:500015:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "steps=scalar:u32:16"],
    ),
    line("heavy", 391, 256, HEAVY),
    line("heavy_capped", 391, 256, HEAVY),
    line(
        "ilp4",
        391,
        256,
        &["x=in:f32:400012:rand:1", "y=out:f32:400012", "n=scalar:u32:100003", "steps=scalar:u32:64"],
    ),
    line("mix", 3907, 256, ADD),
    line("ragged", 4, 256, RAGGED),
    line(
        "ragged_sorted",
        4,
        256,
        &["terms=in:u32:1003:ramp", "order=in:u32:1003:ramp", "sums=out:u32:1003", "n=scalar:u32:1003"],
    ),
    line("ragged_split", 4, 256, RAGGED),
    line("chase_ilp1", 2, 64, CHAINS),
    line("chase_ilp2", 2, 64, CHAINS),
    line("chase_ilp4", 2, 64, CHAINS),
    line("chase_ilp8", 2, 64, CHAINS),
    line(
        "shared_stride",
        4,
        96,
        &["out=out:f32:384", "steps=scalar:u32:40", "stride=scalar:u32:6", "swizzle=scalar:u32:31"],
    ),
    line("shared_pairs", 4, 96, &["out=out:f32:384", "steps=scalar:u32:40"]),
    line("shared_quads", 4, 96, &["out=out:f32:384", "steps=scalar:u32:40"]),
    line("parity_lane", 391, 256, MAP_STEPS),
    line("parity_warp", 391, 256, MAP_STEPS),
    line("relu", 3907, 256, MAP),
    line("relu_long_arms", 391, 256, MAP_STEPS),
    line("reduce_shared", 132, 256, TOTALS),
    line("reduce_shuffle", 132, 256, TOTALS),
    line("reduce_atomic", 132, 256, &["x=in:f32:1000003:rand:1", "total=inout:f32:1", "n=scalar:u32:1000003"]),
    line(
        "runtime_index",
        391,
        256,
        &["x=in:f32:1600048:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "steps=scalar:u32:16"],
    ),
    Case {
        kernel: "matmul_tiled_16",
        grid: [10, 10, 1],
        block: [16, 16, 1],
        args: &["a=in:f32:25600:rand:1", "b=in:f32:25600:rand:2", "c=out:f32:25600", "n=scalar:u32:160"],
    },
    Case {
        kernel: "matmul_register",
        grid: [2, 2, 1],
        block: [256, 1, 1],
        args: &["a=in:f32:65536:rand:1", "b=in:f32:65536:rand:2", "c=out:f32:65536", "n=scalar:u32:256"],
    },
    line(
        "gemv",
        32,
        256,
        &[
            "a=in:f32:256000:rand:1",
            "x=in:f32:256:rand:2",
            "y=out:f32:1000",
            "rows=scalar:u32:1000",
            "columns=scalar:u32:256",
        ],
    ),
    line(
        "gemm_4",
        32,
        256,
        &[
            "a=in:f32:256000:rand:1",
            "x=in:f32:1024:rand:2",
            "y=out:f32:4000",
            "rows=scalar:u32:1000",
            "columns=scalar:u32:256",
        ],
    ),
    line(
        "gemm_16",
        32,
        256,
        &[
            "a=in:f32:256000:rand:1",
            "x=in:f32:4096:rand:2",
            "y=out:f32:16000",
            "rows=scalar:u32:1000",
            "columns=scalar:u32:256",
        ],
    ),
    line("filter_indexed", 391, 256, FILTER),
    line("filter_iterator", 391, 256, FILTER),
    line("filter_unchecked", 391, 256, FILTER),
    line("filter_raw", 391, 256, FILTER),
    line("spin_lock_by_turns", 1, 1, &["counter=inout:u32:2"]),
    line("warp_sum_synced", 128, 32, WARP_SUMS),
    line("warp_sum_sync", 128, 32, WARP_SUMS),
    line("stencil_1d", 391, 256, &["x=in:f32:100003:rand:1", "y=out:f32:100003", "n=scalar:u32:100003"]),
    line("stencil4", 98, 256, &["x=in:f32:100003:rand:1", "y=out:f32:100003", "n=scalar:u32:100003"]),
    line(
        "copy_stride",
        391,
        256,
        &["x=in:f32:700021:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "stride=scalar:u32:7"],
    ),
    line("copy_random", 512, 256, &["x=in:f32:131072:rand:1", "y=out:f32:131072", "bits=scalar:u32:17"]),
    line("copy_vec4", 98, 256, &["x=in:f32:100003:rand:1", "y=out:f32:100003", "n=scalar:u32:100003"]),
    line("msda_point", 19, 256, ATTENTION_ADDED),
    line("msda_tile", 10, 256, ATTENTION),
    line("msda_point_backward", 19, 256, ATTENTION_BACKWARD),
    line("msda_tile_backward", 37, 256, ATTENTION_BACKWARD),
    line("add_ordered", 64, 256, SUMS),
    line("add_scoped", 64, 256, &["sums=inout:f32:64", "repeats=scalar:u32:4", "scope=scalar:u32:1"]),
    line("count_one", 64, 250, &["counter=inout:u32:1", "repeats=scalar:u32:4"]),
    line("add_f64", 64, 256, &["sums=inout:f64:1024", "mask=scalar:u32:1023", "repeats=scalar:u32:4"]),
    line("add_f16", 8, 256, HALF_A_THREAD),
    line("add_f16x2", 64, 256, HALF_SUMS),
    line("add_bf16x2", 8, 256, PAIR_A_THREAD),
    line("fma_chains", 391, 256, MAP_STEPS),
    line("copy_stream", 391, 256, &["from=in:u32:400012:ramp", "to=out:u32:400012", "n=scalar:u32:100003"]),
    line("read_stream", 100, 256, &["from=in:u32:409600:ramp", "found=inout:u32:1", "needle=scalar:u32:1"]),
    line("write_stream", 391, 256, &["to=out:u32:400012", "n=scalar:u32:100003", "value=scalar:u32:7"]),
    line("block_reverse", 100, 128, &["values=inout:u32:12800:ramp"]),
    line("barrier_between_ifs", 100, 128, &["output=out:f32:12800"]),
    line("shuffles", 100, 128, &["output=out:u32:102400", "b=scalar:u32:3", "width=scalar:u32:32"]),
    line("shuffle_f64", 100, 128, &["output=out:f64:12800", "delta=scalar:u32:1"]),
    line("votes", 100, 128, &["output=out:u32:38400", "below=scalar:u32:5"]),
    line("barrier_reductions", 100, 128, &["values=in:u32:12800:ramp", "output=out:u32:38400"]),
    // ---- those that hold the cycle model to account ----
    line("accumulators", 391, 256, ACCUMULATORS),
    line("accumulators_capped", 391, 256, ACCUMULATORS),
    line("atomic_add", 128, 256, SUMS),
    line("atomic_add_cas", 8, 256, SUM_A_THREAD),
    line("histogram", 264, 256, &["values=in:u32:1000003:rand:1", "bins=inout:u32:256", "n=scalar:u32:1000003"]),
    line("histogram_global", 391, 256, &["values=in:u32:100003:rand:1", "bins=inout:u32:256", "n=scalar:u32:100003"]),
    Case {
        kernel: "matmul_naive",
        grid: [5, 19, 1],
        block: [32, 8, 1],
        args: &["a=in:f32:20449:rand:1", "b=in:f32:20449:rand:2", "c=out:f32:20449", "n=scalar:u32:143"],
    },
    Case {
        kernel: "matmul_tiled",
        grid: [5, 5, 1],
        block: [32, 32, 1],
        args: &["a=in:f32:25600:rand:1", "b=in:f32:25600:rand:2", "c=out:f32:25600", "n=scalar:u32:160"],
    },
    Case { kernel: "transpose_naive", grid: [9, 9, 1], block: [32, 8, 1], args: TRANSPOSE },
    Case { kernel: "transpose_tiled", grid: [9, 9, 1], block: [32, 8, 1], args: TRANSPOSE },
    Case { kernel: "transpose_padded", grid: [9, 9, 1], block: [32, 8, 1], args: TRANSPOSE },
    line("block_sums", 132, 256, &["x=in:f32:1000003:rand:1", "sums=out:f32:132", "n=scalar:u32:1000003"]),
    line("block_scan", 400, 256, &["x=in:f32:102400:rand:1", "y=out:f32:102400"]),
    line(
        "softmax",
        126,
        256,
        &["x=in:f32:256256:rand:1", "y=out:f32:256256", "rows=scalar:u32:1001", "columns=scalar:u32:256"],
    ),
    line(
        "strided_copy",
        391,
        256,
        &["x=in:f32:700021:rand:1", "y=out:f32:700021", "n=scalar:u32:100003", "stride=scalar:u32:7"],
    ),
    line(
        "gather",
        391,
        256,
        &[
            "x=in:f32:65536:rand:1",
            "index=in:u32:100003:rand:2",
            "y=out:f32:100003",
            "n=scalar:u32:100003",
            "mask=scalar:u32:65535",
        ],
    ),
    line(
        "walk",
        32,
        256,
        &[
            "next=in:u32:8192:const:77",
            "found=out:u32:8003",
            "n=scalar:u32:8003",
            "apart=scalar:u32:1",
            "hops=scalar:u32:16",
        ],
    ),
    line(
        "binary_search",
        391,
        256,
        &[
            "sorted=in:u32:65536:ramp",
            "keys=in:u32:100003:rand:1",
            "found=out:u32:100003",
            "n=scalar:u32:100003",
            "len=scalar:u32:65536",
        ],
    ),
    Case {
        kernel: "heat",
        grid: [2, 5, 37],
        block: [32, 8, 1],
        args: &["input=in:f32:50653:rand:1", "output=out:f32:50653", "n=scalar:u32:37"],
    },
    line(
        "polynomial",
        391,
        256,
        &["x=in:f32:100003:rand:1", "y=out:f32:100003", "n=scalar:u32:100003", "rounds=scalar:u32:4"],
    ),
    line("mix_bits", 391, 256, &["values=inout:u32:100003:ramp", "n=scalar:u32:100003", "rounds=scalar:u32:4"]),
    line("collatz", 40, 256, &["lengths=out:u32:10003", "n=scalar:u32:10003", "limit=scalar:u32:300"]),
    Case {
        kernel: "mandelbrot",
        grid: [4, 16, 1],
        block: [32, 8, 1],
        args: &["escapes=out:u32:16384", "width=scalar:u32:128", "limit=scalar:u32:64"],
    },
    line("nbody", 4, 256, &["bodies=in:f32:4096:rand:1", "accelerations=out:f32:4096", "n=scalar:u32:1024"]),
    // ---- those that it is calibrated by ----
    line("empty", 1000, 128, &[]),
    line("chase", 1, 1, &["next=in:u32:1024:const:3", "out=out:u32:2", "warm=scalar:u32:10", "steps=scalar:u32:100"]),
    line("chase_shared", 1, 32, &["out=out:u32:2", "steps=scalar:u32:100"]),
    line(
        "read_global",
        4,
        256,
        &[
            "x=in:u32:65536:rand:1",
            "out=out:u32:1024",
            "fours=scalar:u32:2048",
            "parts=scalar:u32:8",
            "turn=scalar:u32:1",
            "passes=scalar:u32:3",
        ],
    ),
    line("read_shared", 4, 256, &["out=out:f32:1024", "passes=scalar:u32:3"]),
    line("chain_ffma", 4, 128, &["y=out:f32:512", "steps=scalar:u32:100"]),
    line("chain_imad", 4, 128, &["y=out:u32:512", "steps=scalar:u32:100"]),
    line("chain_mufu", 4, 128, &["y=out:f32:512", "steps=scalar:u32:100"]),
    line("count", 16, 256, &["counters=inout:u32:64", "mask=scalar:u32:63", "repeats=scalar:u32:4"]),
    line("scatter_add", 16, 256, SCATTERED),
    line("scatter_store", 16, 256, SCATTERED),
];

/// The launches of these kernels; all if none is named.
///
/// # Errors
/// For a kernel that is not in the table.
pub fn chosen(kernels: &[String]) -> Result<Vec<&'static Case>, UnknownName> {
    if kernels.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |kernel: &String| {
        let found = CASES.iter().find(|case| case.kernel == kernel);
        found.ok_or_else(|| UnknownName::new("kernel", kernel, CASES.iter().map(|case| case.kernel)))
    };
    kernels.iter().map(find).collect()
}

/// Kernels without a launch here: each is wrong on purpose, so that its two front ends need not agree. It spins on its own warp, races,
/// reads what nobody wrote, or reads before its array.
pub const WRONG_ON_PURPOSE: &[&str] = &[
    "spin_lock_in_warp",
    "warp_sum_volatile",
    "stencil_no_barrier",
    "stencil_halo_off",
    "stencil_as_printed",
    "add_racy",
];

#[cfg(test)]
mod tests {
    use warpwise_kernels::KERNELS;

    use super::*;

    #[test]
    fn every_kernel_has_one_launch_with_its_own_parameters_in_their_order() {
        let mut launched: Vec<&str> =
            CASES.iter().map(|case| case.kernel).chain(WRONG_ON_PURPOSE.iter().copied()).collect();
        let mut all: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
        launched.sort_unstable();
        all.sort_unstable();
        assert_eq!(launched, all);
        for case in CASES {
            let kernel = warpwise_kernels::find(case.kernel).expect("in the table of kernels");
            let arguments = case.arguments().unwrap_or_else(|error| panic!("{}: {error}", case.kernel));
            let names: Vec<&str> = arguments.iter().map(Argument::name).collect();
            assert_eq!(names, kernel.params, "{}", case.kernel);
            for (argument, of_type) in arguments.iter().zip(kernel.types) {
                let is_buffer = matches!(argument, Argument::Buffer { .. });
                assert_eq!(is_buffer, of_type.starts_with('*'), "{}: {}", case.kernel, argument.name());
            }
        }
    }

    #[test]
    fn a_kernel_that_is_not_there_is_answered_with_one_that_is() {
        let error = chosen(&["vecad".to_owned()]).expect_err("no such kernel");
        assert!(error.to_string().contains("vecadd"), "{error}");
    }
}
