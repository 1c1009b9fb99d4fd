//! A small launch of one of the labs' kernels, with inputs made for looking: lanes that disagree, loops of a few rounds.

use std::sync::Arc;

use maud::{Markup, html};
use warpwise_kernels::{self as kernels, KERNELS};
use warpwise_simt::device::Device;
use warpwise_simt::isa::Program;

use super::ask::within;
use super::controls;
use crate::arguments::Argument;
use crate::book::problem::Problem;
use crate::cli::GlobalOptions;
use crate::commands::subject::{Ready, Source, SubjectOptions};
use crate::kernels::Resources;
use crate::labs::LABS;
use crate::workbench::Workbench;

/// Which kernel, in which shape, on how many elements.
pub struct Small<'a> {
    pub kernel: &'a str,
    pub blocks: i64,
    /// Threads a block along x and y.
    pub block: [i64; 2],
    pub n: i64,
    /// What the kernel's other numbers are: rounds of a loop, a stride.
    pub number: i64,
}

/// Instructions after which a launch is ended whatever it does.
const STEPS_MAX: u64 = 2_000_000;

impl Small<'_> {
    /// The kernel with its arguments, for a launch of at most `threads_max` threads.
    ///
    /// # Errors
    /// There is no such kernel, or a number is out of its range.
    pub fn subject(&self, threads_max: i64) -> Result<SubjectOptions, Problem> {
        let kernel = kernels::find(self.kernel).filter(|kernel| is_offered(kernel.name));
        let kernel = kernel.ok_or_else(|| {
            let known: Vec<&str> = offered().collect();
            Problem::input(format!("no kernel here is called `{}`; there are {}", self.kernel, known.join(", ")))
                .for_a_script()
        })?;
        let [x, y] = [within("block x", self.block[0], 1, 1024)?, within("block y", self.block[1], 1, 1024)?];
        let threads = within("the number of threads a block", x * y, 1, 1024)?;
        let blocks = within("the number of blocks", self.blocks, 1, threads_max)?;
        within("the number of threads, blocks times block size,", blocks * threads, 1, threads_max)?;
        let n = within("n", self.n, 1, threads_max)?;
        let number = within("the other number", self.number, 0, 64)?;
        let elements = n.max(blocks * threads);
        let words = kernel.params.iter().zip(kernel.types).map(|(name, ty)| word(name, ty, n, number, elements));
        Ok(SubjectOptions {
            subject: kernel.name.to_owned(),
            entry: None,
            grid: [blocks as u32, 1, 1],
            block: [x as u32, y as u32, 1],
            shared: 0,
            args: words.collect(),
            regs: None,
        })
    }
}

/// A launch that is ready, the code that runs, and what ptxas says of it.
pub struct OnDevice {
    pub ready: Ready,
    pub program: Arc<Program>,
    pub resources: Resources,
}

/// Makes a launch ready on a device, in the code that the machine times there.
///
/// # Errors
/// What the kernel, its code or its arguments refuse.
pub fn on_device(
    mut subject: SubjectOptions,
    bench: &Workbench,
    device: &Device,
    global: &GlobalOptions,
) -> Result<OnDevice, Problem> {
    let resources = bench.resources(&subject.subject, &device.arch(), None).map_err(Problem::here)?;
    subject.regs = Some(resources.registers.value());
    let program = bench.executed(&subject.subject).map_err(Problem::here)?;
    let source = subject.source().map_err(Problem::here)?;
    let mut ready = subject.ready(&source, &program, device, global).map_err(Problem::here)?;
    ready.launch.step_budget = Some(STEPS_MAX);
    Ok(OnDevice { ready, program, resources })
}

/// Makes a launch of a kernel's PTX ready.
///
/// # Errors
/// As of [`on_device`].
pub fn of_ptx(subject: &SubjectOptions, global: &GlobalOptions) -> Result<(Source, Ready), Problem> {
    let source = subject.source().map_err(Problem::here)?;
    let mut ready = subject.ready_ptx(&source, global).map_err(Problem::here)?;
    ready.launch.step_budget = Some(STEPS_MAX);
    Ok((source, ready))
}

/// An argument as a word, by the parameter's name and type.
fn word(name: &str, ty: &str, n: i64, number: i64, elements: i64) -> String {
    let pointee = ty.strip_prefix("*const ").or(ty.strip_prefix("*mut "));
    match (pointee, ty, name) {
        (Some(element @ ("f32" | "f64")), ..) => {
            format!("{name}=inout:{element}:{elements}:list:{}", list(elements, signs))
        }
        (Some(element), ..) => format!("{name}=inout:{element}:{elements}:list:{}", list(elements, |i| i % 8)),
        (None, "f32" | "f64", _) => format!("{name}=scalar:{ty}:1"),
        (None, _, "n") => format!("{name}=scalar:{ty}:{n}"),
        _ => format!("{name}=scalar:{ty}:{number}"),
    }
}

fn list(elements: i64, value: impl Fn(i64) -> i64) -> String {
    (0..elements).map(|i| value(i).to_string()).collect::<Vec<_>>().join(",")
}

/// Every third is negative, so that conditions on a sign part the lanes.
fn signs(i: i64) -> i64 {
    let size = i % 16 + 1;
    if i % 3 == 0 { -size } else { size }
}

/// Kernels of the labs that a list of numbers can be given to.
pub fn offered() -> impl Iterator<Item = &'static str> {
    let in_a_lab = |name: &str| LABS.iter().any(|lab| lab.kernels.contains(&name));
    KERNELS.iter().map(|kernel| kernel.name).filter(move |name| in_a_lab(name) && is_offered(name))
}

fn is_offered(name: &str) -> bool {
    kernels::find(name).is_some_and(|kernel| {
        kernel.params.iter().zip(kernel.types).all(|(name, ty)| word(name, ty, 1, 1, 1).parse::<Argument>().is_ok())
    })
}

/// The knobs for such a launch.
pub fn knobs(kernel: &str, blocks: (i64, i64), block: i64, n: i64, number: i64) -> Markup {
    let kernels: Vec<(&str, &str)> = offered().map(|name| (name, name)).collect();
    html! {
        (controls::choice("kernel", "Kernel", &kernels, kernel))
        (controls::number("blocks", "Blocks", (1, blocks.1), blocks.0))
        (controls::number("block_x", "Threads a block, x", (1, 1024), block))
        (controls::number("block_y", "Threads a block, y", (1, 1024), 1))
        (controls::number("n", "n, elements", (1, 131_072), n))
        (controls::number("number", "Its other numbers", (0, 64), number))
    }
}
