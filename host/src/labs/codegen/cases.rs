//! Which kernels are compared, and their launches on a GPU. On the machine they are those of [`crate::counters::CASES`].

use crate::arguments::{Argument, ArgumentError};
use crate::backend::LaunchShape;
use crate::counters::CASES;

/// One kernel, and a launch that keeps a large GPU busy for tens of microseconds to some milliseconds.
pub struct Compared {
    pub kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// In the words of `run --arg`. Where no value decides what is done, arrays are zeros, which take no time to make.
    args: &'static [&'static str],
}

/// The small launch of `reduce_atomic`, whose sum is exact in any order.
const ONES: &[&str] = &["x=in:f32:1000003:const:1", "total=inout:f32:1", "n=scalar:u32:1000003"];

impl Compared {
    /// The launch on a GPU.
    pub fn large(&self) -> Result<(LaunchShape, Vec<Argument>), ArgumentError> {
        let arguments = self.args.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok((LaunchShape::new(self.grid, self.block), arguments))
    }

    /// The launch on the machine, and wherever results are compared: every sum in it that is added up in any order is exact.
    pub fn small(&self) -> Result<(LaunchShape, Vec<Argument>), ArgumentError> {
        let case = CASES.iter().find(|case| case.kernel == self.kernel);
        let Some(case) = case else { return self.large() };
        let arguments = match self.kernel {
            "reduce_atomic" => ONES.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            _ => case.arguments()?,
        };
        Ok((LaunchShape::new(case.grid, case.block), arguments))
    }
}

const fn line(kernel: &'static str, blocks: u32, args: &'static [&'static str]) -> Compared {
    Compared { kernel, grid: [blocks, 1, 1], block: [256, 1, 1], args }
}

const fn square(kernel: &'static str, blocks: [u32; 2], block: [u32; 2], args: &'static [&'static str]) -> Compared {
    Compared { kernel, grid: [blocks[0], blocks[1], 1], block: [block[0], block[1], 1], args }
}

/// 2²⁶ elements and 3.
const ADD: &[&str] = &["a=in:f32:67108867", "b=in:f32:67108867", "c=out:f32:67108867", "n=scalar:u32:67108867"];
const MAP: &[&str] = &["x=in:f32:67108867", "y=out:f32:67108867", "n=scalar:u32:67108867"];
const RELU: &[&str] = &["x=in:f32:16777216:rand:1", "y=out:f32:16777216", "n=scalar:u32:16777216"];
const TOTALS: &[&str] = &["x=in:f32:67108867", "sums=inout:f32:1056", "n=scalar:u32:67108867"];
const TRANSPOSE: &[&str] = &["x=in:f32:67108864", "y=out:f32:67108864", "n=scalar:u32:8192"];
const PRODUCT: &[&str] = &["a=in:f32:4194304", "b=in:f32:4194304", "c=out:f32:4194304", "n=scalar:u32:2048"];
/// Deformable DETR's encoder for an image of 800 by 1,066 pixels.
const ATTENTION: &[&str] = &[
    "value=in:f32:4562176",
    "levels=in:u32:12:list:100,134,0,50,67,13400,25,34,16750,13,17,17600",
    "locations=in:f32:4562176:rand:2",
    "weights=in:f32:2281088:rand:3",
    "output=inout:f32:4562176",
    "queries=scalar:u32:17821",
];

/// All that have a peer, in the order of the chapters.
pub static COMPARED: [Compared; 32] = [
    line("vecadd", 262_145, ADD),
    line("vecadd4", 65_537, ADD),
    square(
        "blur",
        [256, 1024],
        [32, 8],
        &["input=in:f32:67108864", "output=out:f32:67108864", "width=scalar:u32:8192", "height=scalar:u32:8192"],
    ),
    line(
        "by_lane",
        16_384,
        &["x=in:f32:4194304:rand:1", "y=out:f32:4194304", "n=scalar:u32:4194304", "steps=scalar:u32:256"],
    ),
    line("leaky_relu", 65_536, RELU),
    line("heavy", 4096, &["x=in:f32:15728640", "y=out:f32:1048576", "n=scalar:u32:1048576", "steps=scalar:u32:64"]),
    line("light", 16_384, &["x=in:f32:20971520", "y=out:f32:4194304", "n=scalar:u32:4194304", "steps=scalar:u32:64"]),
    line("stencil_1d", 262_145, MAP),
    line("stencil4", 65_537, MAP),
    line("reduce_shared", 1056, TOTALS),
    line("reduce_shuffle", 1056, TOTALS),
    line("reduce_atomic", 1056, TOTALS),
    line("block_scan", 262_144, &["x=in:f32:67108864", "y=out:f32:67108864"]),
    line("relu", 65_536, RELU),
    square("matmul_naive", [64, 256], [32, 8], PRODUCT),
    square("matmul_tiled_16", [128, 128], [16, 16], PRODUCT),
    square("matmul_tiled", [64, 64], [32, 32], PRODUCT),
    square(
        "matmul_register",
        [32, 32],
        [256, 1],
        &["a=in:f32:16777216", "b=in:f32:16777216", "c=out:f32:16777216", "n=scalar:u32:4096"],
    ),
    line(
        "gemv",
        512,
        &["a=in:f32:67108864", "x=in:f32:4096", "y=out:f32:16384", "rows=scalar:u32:16384", "columns=scalar:u32:4096"],
    ),
    line(
        "softmax",
        32_768,
        &["x=in:f32:67108864", "y=out:f32:67108864", "rows=scalar:u32:262144", "columns=scalar:u32:256"],
    ),
    square("transpose_naive", [256, 256], [32, 8], TRANSPOSE),
    square("transpose_padded", [256, 256], [32, 8], TRANSPOSE),
    line(
        "copy_stride",
        32_768,
        &["x=in:f32:58720256", "y=out:f32:8388608", "n=scalar:u32:8388608", "stride=scalar:u32:7"],
    ),
    line(
        "gather",
        32_768,
        &[
            "x=in:f32:4194304",
            "index=in:u32:8388608:rand:1",
            "y=out:f32:8388608",
            "n=scalar:u32:8388608",
            "mask=scalar:u32:4194303",
        ],
    ),
    line(
        "binary_search",
        16_384,
        &[
            "sorted=in:u32:1048576:ramp",
            "keys=in:u32:4194304:rand:1",
            "found=out:u32:4194304",
            "n=scalar:u32:4194304",
            "len=scalar:u32:1048576",
        ],
    ),
    line(
        "shared_stride",
        4224,
        &["out=out:f32:1081344", "steps=scalar:u32:1024", "stride=scalar:u32:33", "swizzle=scalar:u32:0"],
    ),
    line("nbody", 264, &["bodies=in:f32:270336:rand:1", "accelerations=out:f32:270336", "n=scalar:u32:67584"]),
    line("copy_vec4", 65_537, MAP),
    square(
        "mandelbrot",
        [64, 256],
        [32, 8],
        &["escapes=out:u32:4194304", "width=scalar:u32:2048", "limit=scalar:u32:256"],
    ),
    line("histogram", 1056, &["values=in:u32:16777216:rand:1", "bins=inout:u32:256", "n=scalar:u32:16777216"]),
    line("msda_point", 8911, ATTENTION),
    line("msda_tile", 4456, ATTENTION),
];

/// Names of all of them.
pub fn names() -> Vec<&'static str> {
    COMPARED.iter().map(|compared| compared.kernel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::{SOURCES, peer};

    #[test]
    fn each_kernel_has_a_peer_and_each_peer_is_compared() {
        let entries: Vec<&str> = SOURCES.iter().flat_map(|(_, text)| text.split("__global__").skip(1)).collect();
        assert_eq!(entries.len(), COMPARED.len());
        for kernel in names() {
            let call = format!(" {}(", peer(kernel));
            assert!(entries.iter().any(|entry| entry.contains(&call)), "{kernel}");
        }
    }

    #[test]
    fn a_large_launch_takes_the_arguments_of_the_small_one() {
        let names = |arguments: Vec<Argument>| -> Vec<String> {
            arguments.iter().map(|argument| argument.name().to_owned()).collect()
        };
        for compared in &COMPARED {
            assert!(CASES.iter().any(|case| case.kernel == compared.kernel), "{} has no small launch", compared.kernel);
            let small = compared.small().unwrap_or_else(|error| panic!("{}: {error}", compared.kernel)).1;
            let large = compared.large().unwrap_or_else(|error| panic!("{}: {error}", compared.kernel)).1;
            if !compared.kernel.starts_with("reduce") {
                assert_eq!(names(large), names(small), "{}", compared.kernel);
            }
        }
    }
}
