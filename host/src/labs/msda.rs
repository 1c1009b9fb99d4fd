//! `msda`: can high occupancy be worse?

use cuda_std::host::DevicePtr;
use warpwise_kernels::msda::backward::{msda_point_backward, msda_tile_backward};
use warpwise_kernels::msda::forward::{TILE_THREADS, msda_point, msda_tile};
use warpwise_kernels::msda::reference::{Inputs, Sum};
use warpwise_kernels::msda::{CHANNELS, HEADS, Level, SAMPLES};

use super::counters::{LOAD_REQUESTS, LOAD_SECTORS, counter, ratio, record, time_ratio};
use super::input::noise;
use crate::backend::{DeviceBuffer, Gpu, GpuError, LaunchReport, LaunchShape};
use crate::claim::format::{percent, real};
use crate::claim::{Claim, at_least, at_most, greater_than, holds, less_than, near};
use crate::lab::{Case, Lab, LabContext, LabError, Table};
use crate::random::{Random, generator};

pub static LAB: Lab = Lab {
    id: "msda",
    chapter: 4,
    sections: "ch4",
    question: "can high occupancy be worse?",
    kernels: &["msda_point", "msda_tile", "msda_point_backward", "msda_tile_backward"],
    text: include_str!("../../../docs/labs/msda.md"),
    claims,
    run,
};

const BLOCK: u32 = 256;

/// What a run is made of: height and width of the levels, and queries forward and backward.
struct Size {
    levels: [[u32; 2]; 4],
    forward: u32,
    backward: u32,
}

/// Queries for each SM on the machine, forward and backward: enough that a launch is more than its beginning and end.
const QUERIES_PER_SM: [u32; 2] = [5, 2];

fn on_machine(sms: u32) -> Size {
    let [forward, backward] = QUERIES_PER_SM.map(|queries| queries * sms);
    Size { levels: [[16, 16], [8, 8], [4, 4], [2, 2]], forward, backward }
}

/// Deformable DETR's encoder, for an image of 800 by 1,066: as many queries as pixels.
const ON_GPU: Size = Size { levels: [[100, 134], [50, 67], [25, 34], [13, 17]], forward: 17_821, backward: 17_821 };

/// Queries whose results are checked; the CPU's reference of all would take longer than the lab.
const CHECKED_QUERIES: u32 = 500;

const FADD: &str = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
const FMUL: &str = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

/// What the chapter reports of an A100: occupancy and share of the bandwidth.
const CHAPTER: [[f64; 2]; 2] = [[0.85, 0.051], [0.17, 0.36]];

fn claims() -> Vec<Claim> {
    let (section, occupancy) = ("ch4 §2", "ch4 §4");
    vec![
        Claim::new("output_point", occupancy, "msda_point: error over its bound, at most", at_most(1.0))
            .note("the bound: half a unit in the last place of the sum of magnitudes for each rounding; atomics add in any order"),
        Claim::new("output_tile", occupancy, "msda_tile equals the CPU, bit for bit", holds("no element differs")),
        Claim::new("gradients_point", occupancy, "msda_point_backward: error over its bound, at most", at_most(1.0)),
        Claim::new("gradients_tile", occupancy, "msda_tile_backward: error over its bound, at most", at_most(1.0)),
        Claim::new("occupancy", occupancy, "theoretical occupancy of msda_tile over that of msda_point", less_than(1.0)),
        Claim::new("faster", occupancy, "useful bytes a second, msda_tile over msda_point", at_least(4.0))
            .note("the chapter, on an A100: 36% of the bandwidth against 5.1%, about 7 times"),
        Claim::new("occupancy_backward", occupancy, "the same of the backward kernels: occupancy", less_than(1.0)),
        Claim::new("faster_backward", occupancy, "the same of the backward kernels: useful bytes a second", greater_than(1.0)),
        Claim::new("sectors_point", occupancy, "msda_point: sectors of a load, of 32 at most", at_least(16.0))
            .note("four bytes of each are used at a time")
            .on_machine(),
        Claim::new("sectors_tile", occupancy, "msda_tile: useful bytes of those its loads of values fetch", near(1.0, 0.05))
            .on_machine(),
        Claim::new("multiply_adds", section, "multiply-adds for each value sampled, msda_point", near(4.0, 0.25))
            .note("exact: four for a value blended of four loaded floats, so one a float loaded; where the point lies adds a little")
            .on_machine(),
        Claim::new("memory_bound", section, "multiply-adds a float loaded, of the 20 at the ridge of an A100", less_than(20.0))
            .on_machine(),
    ]
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let size = if gpu.measures() { ON_GPU } else { on_machine(gpu.device().sm_count) };
    let inputs = inputs(size.levels, size.forward);
    let on_device = OnDevice::new(&gpu, &inputs)?;
    check(cx, &gpu, &on_device, &inputs)?;
    let cases = vec![
        on_device.forward(&msda_point, SAMPLES, size.forward),
        on_device.forward(&msda_tile, TILE_THREADS, size.forward),
        on_device.backward(&msda_point_backward, SAMPLES, size.backward),
        on_device.backward(&msda_tile_backward, CHANNELS, size.backward),
    ];
    let reports = cx.measure_in_turn(&gpu, cases)?;
    let [point, tile, point_backward, tile_backward] = &reports[..] else {
        return Err(LabError::Other(format!("{} launches were measured, not 4", reports.len())));
    };
    record(cx, "faster", time_ratio(point, tile));
    record(cx, "faster_backward", time_ratio(point_backward, tile_backward));
    occupancies(cx, &gpu)?;
    counted(cx, size.forward, point, tile);
    table(cx, &gpu, &size, &reports)
}

/// Queries that look anywhere: where they look is the network's choice, and no order helps.
fn inputs(sizes: [[u32; 2]; 4], queries: u32) -> Inputs {
    let mut pixels = 0;
    let levels = sizes.map(|[height, width]| {
        let level = Level { height, width, first_pixel: pixels };
        pixels += height * width;
        level
    });
    let points = queries * HEADS * SAMPLES;
    let mut random = generator(2);
    // A few lie beyond the image.
    let locations = (0..2 * points).map(|_| random.random_range(-0.02..1.02)).collect();
    // Those of a query and head add up to about 1.
    let weights = (0..points).map(|_| random.random_range(0.0..2.0 / SAMPLES as f32)).collect();
    Inputs {
        levels: levels.to_vec(),
        value: noise(pixels * HEADS * CHANNELS, 1),
        locations,
        weights,
        gradient: noise(queries * HEADS * CHANNELS, 3),
    }
}

type Pointer = DevicePtr<f32>;
type Forward = cuda_std::host::Kernel<(Pointer, DevicePtr<u32>, Pointer, Pointer, Pointer, u32)>;
type Backward =
    cuda_std::host::Kernel<(Pointer, DevicePtr<u32>, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, u32)>;

/// Everything that the kernels read and write.
struct OnDevice {
    levels: DeviceBuffer<u32>,
    value: DeviceBuffer<f32>,
    locations: DeviceBuffer<f32>,
    weights: DeviceBuffer<f32>,
    gradient: DeviceBuffer<f32>,
    output: DeviceBuffer<f32>,
    value_gradient: DeviceBuffer<f32>,
    location_gradient: DeviceBuffer<f32>,
    weight_gradient: DeviceBuffer<f32>,
}

impl OnDevice {
    fn new(gpu: &Gpu, inputs: &Inputs) -> Result<Self, GpuError> {
        Ok(Self {
            levels: gpu.upload(&inputs.level_words())?,
            value: gpu.upload(&inputs.value)?,
            locations: gpu.upload(&inputs.locations)?,
            weights: gpu.upload(&inputs.weights)?,
            gradient: gpu.upload(&inputs.gradient)?,
            output: gpu.zeros(inputs.gradient.len())?,
            value_gradient: gpu.zeros(inputs.value.len())?,
            location_gradient: gpu.zeros(inputs.locations.len())?,
            weight_gradient: gpu.zeros(inputs.weights.len())?,
        })
    }

    fn forward(&self, kernel: &Forward, threads: u32, queries: u32) -> Case {
        let read = (self.value.ptr(), self.levels.ptr(), self.locations.ptr(), self.weights.ptr());
        let args = (read.0, read.1, read.2, read.3, self.output.ptr(), queries);
        Case::new(kernel, "", LaunchShape::linear(queries * HEADS * threads, BLOCK), args)
    }

    fn backward(&self, kernel: &Backward, threads: u32, queries: u32) -> Case {
        let read = (self.value.ptr(), self.levels.ptr(), self.locations.ptr(), self.weights.ptr());
        let written = (self.value_gradient.ptr(), self.location_gradient.ptr(), self.weight_gradient.ptr());
        let args = (read.0, read.1, read.2, read.3, self.gradient.ptr(), written.0, written.1, written.2, queries);
        Case::new(kernel, "", LaunchShape::linear(queries * HEADS * threads, BLOCK), args)
    }
}

/// All four against the CPU, the first queries of all.
fn check(cx: &mut LabContext<'_>, gpu: &Gpu, device: &OnDevice, inputs: &Inputs) -> Result<(), LabError> {
    let some = inputs.first(CHECKED_QUERIES);
    let queries = some.queries();
    let (bounds, exact, gradients) = (some.output_bounds(), some.output(), some.gradients());
    for (claim, kernel, threads) in [("output_point", &msda_point, SAMPLES), ("output_tile", &msda_tile, TILE_THREADS)]
    {
        device.output.write(&vec![0.0; inputs.gradient.len()])?;
        cx.measure_in_turn(gpu, vec![device.forward(kernel, threads, queries).unlisted().untimed()])?;
        let output = device.output.download()?;
        if kernel.name == msda_tile.name {
            let found = super::input::differences(&output, exact.iter().copied());
            cx.holds(claim, found.none(), found.to_string());
        } else {
            cx.found(claim, worst(&output, &bounds));
        }
    }
    let kernels =
        [("gradients_point", &msda_point_backward, SAMPLES), ("gradients_tile", &msda_tile_backward, CHANNELS)];
    for (claim, kernel, threads) in kernels {
        device.value_gradient.write(&vec![0.0; inputs.value.len()])?;
        cx.measure_in_turn(gpu, vec![device.backward(kernel, threads, queries).unlisted().untimed()])?;
        let off = [
            worst(&device.value_gradient.download()?, &gradients.value),
            worst(&device.location_gradient.download()?, &gradients.location),
            worst(&device.weight_gradient.download()?, &gradients.weight),
        ];
        cx.found(claim, off.into_iter().fold(0.0, f64::max));
    }
    Ok(())
}

/// The largest error over its bound, of as many as are expected.
fn worst(found: &[f32], expected: &[Sum]) -> f64 {
    let off = |(found, expected): (&f32, &Sum)| {
        let off = expected.off(*found);
        if off.is_nan() { f64::INFINITY } else { off }
    };
    found.iter().zip(expected).map(off).fold(0.0, f64::max)
}

/// Of the chosen device.
fn occupancies(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let of = |cx: &LabContext<'_>, kernel: &str| -> Result<f64, LabError> {
        let resources = cx.resources(kernel, &gpu.device().arch)?;
        Ok(resources.occupancy(gpu.device().limits, LaunchShape::linear(BLOCK, BLOCK))?.theoretical())
    };
    let forward = of(cx, msda_tile.name)? / of(cx, msda_point.name)?;
    cx.found("occupancy", forward);
    let backward = of(cx, msda_tile_backward.name)? / of(cx, msda_point_backward.name)?;
    cx.found("occupancy_backward", backward);
    Ok(())
}

/// Floats of `value` that a forward pass reads.
fn floats(queries: u32) -> f64 {
    f64::from(queries) * f64::from(HEADS * SAMPLES * CHANNELS) * 4.0
}

fn counted(cx: &mut LabContext<'_>, queries: u32, point: &LaunchReport, tile: &LaunchReport) {
    record(cx, "sectors_point", ratio(point, LOAD_SECTORS, LOAD_REQUESTS));
    // Of its loads each reads four points' locations or weights, or a level's size, and the rest values.
    let values = floats(queries) * 4.0;
    let others = f64::from(queries) * f64::from(HEADS * SAMPLES) * 12.0;
    record(cx, "sectors_tile", counter(tile, LOAD_SECTORS).map(|sectors| (values + others) / (32.0 * sectors)));
    let sum = |names: [&str; 3]| names.into_iter().map(|name| counter(point, name)).sum::<Result<f64, String>>();
    record(cx, "multiply_adds", sum([FADD, FMUL, FFMA]).map(|all| all / (floats(queries) / 4.0)));
    record(cx, "memory_bound", sum([FADD, FMUL, FFMA]).map(|all| all / floats(queries)));
}

fn table(cx: &mut LabContext<'_>, gpu: &Gpu, size: &Size, reports: &[LaunchReport]) -> Result<(), LabError> {
    let title = format!("{} queries, backward {}, {}", size.forward, size.backward, gpu.time_source());
    let columns =
        ["kernel", "occupancy", "achieved", "time (µs)", "useful GB/s", "of the copy bandwidth", "chapter (A100)"];
    let mut table = Table::new(title, columns);
    let points = |queries: u32| f64::from(queries) * f64::from(HEADS * SAMPLES);
    let results = |queries: u32| f64::from(queries) * f64::from(HEADS * CHANNELS) * 4.0;
    let forward = 4.0 * floats(size.forward) + 12.0 * points(size.forward) + results(size.forward);
    // Values are read and their gradients added to; a location and a weight have one each.
    let backward = 8.0 * floats(size.backward) + 24.0 * points(size.backward) + results(size.backward);
    let kernels = [msda_point.name, msda_tile.name, msda_point_backward.name, msda_tile_backward.name];
    for (k, (kernel, report)) in kernels.into_iter().zip(reports).enumerate() {
        let resources = cx.resources(kernel, &gpu.device().arch)?;
        let occupancy = resources.occupancy(gpu.device().limits, LaunchShape::linear(BLOCK, BLOCK))?.theoretical();
        let achieved = report.timing.as_ref().map_or_else(String::new, |timing| percent(timing.achieved_occupancy));
        let bytes = if k < 2 { forward } else { backward };
        let ceilings = cx.ceilings()?;
        let share = report.time().filter(|time| ceilings.are_of(time)).map(|time| ceilings.share_of_copy(bytes, time));
        let cell = |value: Option<f64>| value.map_or_else(String::new, real);
        let chapter = CHAPTER.get(k).map_or_else(String::new, |[occupancy, bandwidth]| {
            format!("{} occupied, {:.1}% of bandwidth", percent(*occupancy), bandwidth * 100.0)
        });
        table.row([
            kernel.into(),
            percent(occupancy).into(),
            achieved.into(),
            cell(us(report)).into(),
            cell(us(report).map(|us| bytes / us / 1e3)).into(),
            share.map_or_else(String::new, percent).into(),
            chapter.into(),
        ]);
    }
    cx.table(table);
    cx.note("Useful are the values that the points need, each time they do, locations, weights and results. Caches hold much of it, so more than the copy bandwidth is possible.");
    Ok(())
}

fn us(report: &LaunchReport) -> Option<f64> {
    report.time().map(|time| time.us())
}
