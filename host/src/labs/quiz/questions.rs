//! The questions, and the run that answers each.

use warpwise_kernels::access::strided_copy;
use warpwise_kernels::atomics::atomic_add;
use warpwise_kernels::banks::{shared_quads, shared_stride};
use warpwise_kernels::calibration::empty;
use warpwise_kernels::divergence::{by_lane, path_a, path_b};
use warpwise_kernels::parity::parity_warp;
use warpwise_kernels::relu::relu;
use warpwise_kernels::vecadd::vecadd;
use warpwise_simt::device::{ComputeCapability, limits_of};
use warpwise_simt::occupancy::{Occupancy, Request, calculate};

use super::{Machine, Question};
use crate::backend::LaunchShape;
use crate::lab::LabError;
use crate::labs::census::Census;
use crate::labs::counters::{DIVERGENT_BRANCHES, INSTRUCTIONS, LOAD_REQUESTS, LOAD_SECTORS, SHARED_LOAD_PASSES, WARPS};
use crate::labs::input::noise;

macro_rules! questions {
    ($($id:ident $chapter:literal $section:literal $text:literal [$($option:literal)*] $right:literal $because:literal $answer:expr;)*) => {
        /// All questions, by chapter.
        pub static QUESTIONS: &[Question] = &[$(Question {
            id: stringify!($id),
            chapter: $chapter,
            section: $section,
            text: $text,
            options: &[$($option),*],
            right: $right,
            because: $because,
            answer: $answer,
        }),*];
    };
}

questions! {
    blocks 1 "ch1 §2" "a million and three elements, 256 threads a block: how many blocks?" [3906 3907 3908] 3907
        "the grid is rounded up to whole blocks" |machine| machine.blocks_of_vecadd(1_000_003);
    partial_warps 1 "ch1 §7" "1,003 elements, 256 threads a block: how many warps have some lanes with work and some without?" [0 1 4 32] 1
        "the one that the array ends in; warps behind it have none" |machine| machine.partial_warps(1_003);
    rows_of_16 1 "ch1 §4" "blocks of 16 by 16 threads: in how many rows of its block is a warp?" [1 2 16 32] 2
        "warps are cut from the line of all threads, and a row is half a warp" |machine| machine.rows_of_a_warp([16, 16, 1]);
    one_block 1 "ch1 §3" "one block of 1,024 threads on 48 SMs: how many SMs does it keep busy?" [1 4 32 48] 1
        "a block lives on one SM" |machine| machine.sms_of_a_block(1_024);
    occupancy_41 1 "ch1 §9" "256 threads a block, 41 registers a thread, RTX 5070: percent of occupancy?" [67 83 85 100] 83
        "41 is given out as 48, and five blocks fit" |_| percent("12.0", 256, 41);
    occupancy_1024 1 "ch1 §9" "1,024 threads a block and few registers, RTX 5070: percent of occupancy?" [50 67 75 100] 67
        "1,536 threads fit, and a second block does not" |_| percent("12.0", 1_024, 32);

    warps_of_48 2 "ch2, how a block runs" "a block of 48 threads: how many warps?" [1 2 3 48] 2
        "the second warp has 16 lanes" |machine| machine.warps_of_a_block(48);
    last_warp_of_250 2 "ch2, how a block runs" "a block of 250 threads: how many lanes does its last warp have?" [2 6 26 32] 26
        "seven warps are full" |machine| machine.last_warp(250);
    both_paths 2 "ch2, warp divergence" "even lanes take path A, odd ones path B: percent of the instructions of A alone and B alone together?" [50 75 100 200] 100
        "each warp walks both" |machine| machine.both_paths();
    regrouped 2 "ch2, warp divergence" "even elements in one warp, odd ones in the next: at how many branches do lanes part?" [0 1 16 32] 0
        "the lanes of each warp agree" |machine| machine.parted_when_regrouped();
    regrouped_sectors 2 "ch2, warp divergence" "the same: how many sectors does a warp's load of every other float touch?" [4 8 16 32] 8
        "64 floats lie in 256 bytes" |machine| machine.sectors_when_regrouped();

    threads 3 "ch3, from a grid to a block" "1,024 blocks of 256 threads: how many threads?" [1024 32768 262144] 262144
        "far more than lanes: they take turns" |machine| machine.threads(1_024, 256);
    warps_of_250 3 "ch3, the warp" "a block of 250 threads: how many warps?" [7 8 9 250] 8
        "250 / 32, rounded up" |machine| machine.warps_of_a_block(250);
    blocks_of_96 3 "ch3, registers" "96 registers a thread, 256 threads a block: how many blocks live on an SM of 65,536 registers?" [1 2 3 6] 2
        "24,576 registers each" |_| Ok(occupancy("12.0", 256, 96)?.blocks_per_sm as f64);
    relu_parts 3 "ch3, the warp" "ReLU over elements of both signs: at how many branches do lanes part?" [0 1 2 32] 0
        "the compiler takes the maximum of x and 0" |machine| machine.parted_in_relu();
    column 3 "ch3, shared memory" "a warp reads a column of an array with 32 words a row in shared memory: how many passes?" [1 2 16 32] 32
        "all of them are in one bank" |machine| machine.passes(32);
    padded_column 3 "ch3, shared memory" "the same with 33 words a row: how many passes?" [1 2 16 33] 1
        "each word is in another bank" |machine| machine.passes(33);

    contiguous 4 "ch4, coalescing" "32 lanes read 32 neighbouring floats: how many sectors?" [1 4 8 32] 4
        "128 bytes, 32 each" |machine| machine.sectors(1);
    scattered 4 "ch4, coalescing" "32 lanes read floats that lie 32 floats apart: how many sectors?" [4 8 16 32] 32
        "each float brings a sector of its own" |machine| machine.sectors(32);
    traffic 4 "ch4, coalescing" "floats that lie 8 apart against neighbours: how many times the sectors?" [2 4 8 32] 8
        "a sector holds 8 floats, of which one is used" |machine| Ok(machine.sectors(8)? / machine.sectors(1)?);
    a100_warps 4 "ch4, occupancy" "how many warps can live on an SM of an A100?" [32 48 64 108] 64
        "2,048 threads" |_| Ok(occupancy("8.0", 1_024, 32)?.warps_per_sm() as f64);
    atomic 4 "ch4, atomics" "1,024 threads add 1 to one number atomically, four times each: what is it then?" [1 4 1024 4096] 4096
        "none is lost" |machine| machine.atomic_sum();
    quads 4 "ch4, the hierarchy" "each lane reads 16 bytes of shared memory side by side: how many passes for the warp?" [1 2 4 16] 4
        "512 bytes, 128 a pass" |machine| machine.passes_of_quads();
}

fn occupancy(capability: &str, threads: i64, registers: i64) -> Result<Occupancy, LabError> {
    let other = |error: &dyn std::fmt::Display| LabError::Other(error.to_string());
    let version: ComputeCapability = capability.parse().map_err(|error| other(&error))?;
    Ok(calculate(limits_of(version).map_err(|error| other(&error))?, &Request::new(threads, registers))?)
}

/// Whole percent.
fn percent(capability: &str, threads: i64, registers: i64) -> Result<f64, LabError> {
    Ok((100.0 * occupancy(capability, threads, registers)?.theoretical()).round())
}

impl Machine {
    fn counter(&self, report: &crate::backend::LaunchReport, name: &str) -> Result<f64, LabError> {
        report.counter(name).ok_or_else(|| LabError::Other(format!("the machine counts no {name}")))
    }

    fn blocks_of_vecadd(&self, n: u32) -> Result<f64, LabError> {
        let x = self.gpu.zeros::<f32>(n as usize)?;
        let launch = self.gpu.launch_shaped(&vecadd, LaunchShape::linear(n, 256), (x.ptr(), x.ptr(), x.ptr(), n))?;
        self.counter(&self.gpu.report(launch)?, "sm__ctas_launched.sum")
    }

    fn partial_warps(&self, n: u32) -> Result<f64, LabError> {
        let census = Census::take(&self.gpu, LaunchShape::linear(n, 256))?;
        Ok(census.count(|identity| identity.index_1d < n).partial as f64)
    }

    fn rows_of_a_warp(&self, block: [u32; 3]) -> Result<f64, LabError> {
        let census = Census::take(&self.gpu, LaunchShape::new([1; 3], block))?;
        let mut rows: Vec<u32> =
            census.warps().next().into_iter().flatten().map(|identity| identity.thread_idx[1]).collect();
        rows.dedup();
        Ok(rows.len() as f64)
    }

    fn sms_of_a_block(&self, threads: u32) -> Result<f64, LabError> {
        Ok(Census::take(&self.gpu, LaunchShape::linear(threads, threads))?.sms() as f64)
    }

    fn last_warp(&self, threads: u32) -> Result<f64, LabError> {
        let census = Census::take(&self.gpu, LaunchShape::linear(threads, threads))?;
        Ok(census.warps().last().map_or(0.0, |warp| warp.len() as f64))
    }

    fn warps_of_a_block(&self, threads: u32) -> Result<f64, LabError> {
        let launch = self.gpu.launch(&empty, 1, threads, ())?;
        self.counter(&self.gpu.report(launch)?, WARPS)
    }

    fn threads(&self, blocks: u32, threads: u32) -> Result<f64, LabError> {
        let launch = self.gpu.launch(&empty, blocks, threads, ())?;
        self.counter(&self.gpu.report(launch)?, "sm__threads_launched.sum")
    }

    /// In percent, to the nearest 25: what is done once is in both sums.
    fn both_paths(&self) -> Result<f64, LabError> {
        let (n, steps) = (1_024, 400);
        let (x, y) = (self.gpu.upload(&noise(n, 3))?, self.gpu.zeros::<f32>(n as usize)?);
        let mut counts = Vec::new();
        for kernel in [&path_a, &path_b, &by_lane] {
            let args = (x.ptr(), y.ptr(), n, steps);
            let launch = self.gpu.launch_shaped(kernel, LaunchShape::linear(n, 256), args)?;
            counts.push(self.counter(&self.gpu.report(launch)?, INSTRUCTIONS)?);
        }
        Ok((100.0 * counts[2] / (counts[0] + counts[1]) / 25.0).round() * 25.0)
    }

    fn regrouped(&self) -> Result<crate::backend::LaunchReport, LabError> {
        let n = 4_096;
        let (x, y) = (self.gpu.upload(&noise(n, 4))?, self.gpu.zeros::<f32>(n as usize)?);
        let args = (x.ptr(), y.ptr(), n, 20);
        Ok(self.gpu.report(self.gpu.launch_shaped(&parity_warp, LaunchShape::linear(n, 256), args)?)?)
    }

    fn parted_when_regrouped(&self) -> Result<f64, LabError> {
        self.counter(&self.regrouped()?, DIVERGENT_BRANCHES)
    }

    fn sectors_when_regrouped(&self) -> Result<f64, LabError> {
        let report = self.regrouped()?;
        Ok(self.counter(&report, LOAD_SECTORS)? / self.counter(&report, LOAD_REQUESTS)?)
    }

    fn parted_in_relu(&self) -> Result<f64, LabError> {
        let n = 4_096;
        let (x, y) = (self.gpu.upload(&noise(n, 5))?, self.gpu.zeros::<f32>(n as usize)?);
        let launch = self.gpu.launch_shaped(&relu, LaunchShape::linear(n, 256), (x.ptr(), y.ptr(), n))?;
        self.counter(&self.gpu.report(launch)?, DIVERGENT_BRANCHES)
    }

    fn sectors(&self, stride: u32) -> Result<f64, LabError> {
        let n = 1_024;
        let (x, y) = (self.gpu.zeros::<f32>((n * stride) as usize)?, self.gpu.zeros::<f32>((n * stride) as usize)?);
        let args = (x.ptr(), y.ptr(), n, stride);
        let report = self.gpu.report(self.gpu.launch_shaped(&strided_copy, LaunchShape::linear(n, 256), args)?)?;
        Ok(self.counter(&report, LOAD_SECTORS)? / self.counter(&report, LOAD_REQUESTS)?)
    }

    fn passes(&self, stride: u32) -> Result<f64, LabError> {
        let (steps, out) = (32, self.gpu.zeros::<f32>(32)?);
        let launch = self.gpu.launch(&shared_stride, 1, 32, (out.ptr(), steps, stride, 0))?;
        Ok(self.counter(&self.gpu.report(launch)?, SHARED_LOAD_PASSES)? / f64::from(steps))
    }

    fn passes_of_quads(&self) -> Result<f64, LabError> {
        let (steps, out) = (32, self.gpu.zeros::<f32>(32)?);
        let launch = self.gpu.launch(&shared_quads, 1, 32, (out.ptr(), steps))?;
        Ok(self.counter(&self.gpu.report(launch)?, SHARED_LOAD_PASSES)? / f64::from(steps))
    }

    fn atomic_sum(&self) -> Result<f64, LabError> {
        let sums = self.gpu.zeros::<f32>(1)?;
        self.gpu.launch(&atomic_add, 4, 256, (sums.ptr(), 0, 4))?;
        Ok(sums.download()?.first().copied().unwrap_or(f32::NAN).into())
    }
}
