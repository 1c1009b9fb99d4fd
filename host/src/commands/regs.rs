//! `regs`: registers, spills, stack, shared memory and the occupancy that they allow, for kernels × architectures × caps.

use std::path::{Path, PathBuf};

use warpwise_simt::device::{ComputeCapability, Limits, limits_of};
use warpwise_simt::rewrite::Bounds;

use super::{Outcome, read_lossy, sass, write_text};
use crate::backend::LaunchShape;
use crate::claim::format::percent;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::{KernelFacts, KernelFiles, ResourceRow, Resources};
use crate::pressure::cliff::Steps;
use crate::pressure::{Made, Numbers, Variant, make, parse_numbers};
use crate::report::terminal;
use crate::schema;
use crate::suggest::UnknownName;
use crate::workbench::{Workbench, WorkbenchError};

/// Show registers, spills and occupancy of kernels
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Kernels, as `list` shows them; none: all. A file of PTX first: kernels of that
    #[arg(value_name = "KERNEL|FILE.ptx")]
    kernels: Vec<String>,
    /// Architectures, such as sm_80,sm_120; else the device's
    #[arg(long, value_name = "ARCH,ARCH", value_delimiter = ',')]
    arch: Vec<String>,
    /// Registers a thread at most, each in a row: 32,40,64 or 16..=128. A kernel's own cap does not count then
    #[arg(long, value_name = "N,N|N..=N", value_parser = parse_numbers)]
    maxregs: Option<Numbers>,
    /// Threads a block that the occupancy is for; else those that the kernel states, or 256
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: Option<u32>,
    /// Say in words what the next register would cost, and what one less would save
    #[arg(long)]
    why: bool,
    /// Write the rows as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the rows as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// The chapters' block size, for kernels that state none.
const BLOCK: u32 = 256;

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let (bench, named) = open(&options, global)?;
    bench.say_what_is_missing();
    let kernels = choose(named, &bench)?;
    let archs = match options.arch.is_empty() {
        true => vec![bench.device.arch()],
        false => options.arch.iter().map(|arch| sass::known_arch(arch)).collect::<Result<_, _>>()?,
    };
    let mut rows = Vec::new();
    match &options.maxregs {
        None => {
            bench.compile_ahead(&archs)?;
            for kernel in &kernels {
                for arch in &archs {
                    let made = Made {
                        resources: bench.resources_strictly(kernel, arch, None)?,
                        compiled: None,
                        remarks: Vec::new(),
                    };
                    let own = bench.code.program(kernel)?.max_registers;
                    rows.push(row(&bench, (kernel, arch, own), options.block, made)?);
                }
            }
        }
        Some(Numbers(caps)) => {
            let variants = capped(&kernels, &archs, caps);
            for (variant, made) in variants.iter().zip(make(&bench, &variants, &|_| ())?) {
                let Variant { kernel, arch, bounds } = variant;
                let made = made.map_err(|error| WorkbenchError::Tool(error.into()))?;
                rows.push(row(&bench, (kernel, arch, bounds.max_registers), options.block, made)?);
            }
        }
    }
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::regs(&rows)))?;
    }
    if let Some(path) = &options.csv {
        write_text(path, &schema::csv(&schema::regs(&rows)))?;
    }
    print(&rows, options.why)?;
    Ok(Outcome::Good)
}

/// The kernels that were built, or those of a file, and the names among them that were asked for.
fn open<'o>(options: &'o Options, global: &GlobalOptions) -> Result<(Workbench, &'o [String]), CommandError> {
    match options.kernels.split_first() {
        Some((file, named)) if file.ends_with(".ptx") || Path::new(file).is_file() => {
            let path = PathBuf::from(file);
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            let facts = KernelFacts { package: Some(file.clone()), ..KernelFacts::default() };
            let files = KernelFiles { folder, ptx: read_lossy(&path)?, ptx_path: path, facts };
            Ok((Workbench::with_kernels(global, "sim", files)?, named))
        }
        _ => Ok((Workbench::open(global, "sim")?, &options.kernels)),
    }
}

fn choose(named: &[String], bench: &Workbench) -> Result<Vec<String>, CommandError> {
    let known: Vec<&str> = bench.code.entries().collect();
    if let Some(unknown) = named.iter().find(|kernel| !known.contains(&kernel.as_str())) {
        return Err(UnknownName::new("kernel", unknown, known).into());
    }
    match named.is_empty() {
        true => Ok(known.into_iter().map(str::to_owned).collect()),
        false => Ok(named.to_vec()),
    }
}

/// Every kernel on every architecture under every cap.
fn capped(kernels: &[String], archs: &[String], caps: &[u32]) -> Vec<Variant> {
    let variant = |kernel: &String, arch: &String, cap: &u32| Variant {
        kernel: kernel.clone(),
        arch: arch.clone(),
        bounds: Bounds { max_registers: Some(*cap), ..Bounds::default() },
    };
    let of_kernel = |kernel| archs.iter().flat_map(move |arch| caps.iter().map(move |cap| variant(kernel, arch, cap)));
    kernels.iter().flat_map(of_kernel).collect()
}

fn row(
    bench: &Workbench,
    (kernel, arch, max_registers): (&str, &str, Option<u32>),
    block: Option<u32>,
    made: Made,
) -> Result<ResourceRow, CommandError> {
    let Made { resources, remarks, .. } = made;
    let program = bench.code.program(kernel)?;
    let bound = program.required_threads.or(program.max_threads);
    let stated = bound.map_or(BLOCK, |sizes| sizes.into_iter().fold(1, u32::saturating_mul));
    let block = block.unwrap_or(stated);
    let limits: &Limits = limits_of(arch.parse::<ComputeCapability>()?)?;
    let shape = LaunchShape::new([1; 3], [block, 1, 1]);
    let occupancy = resources.occupancy(limits, shape)?;
    let steps = Steps::of(limits, &resources.request(shape))?;
    let (kernel, arch) = (kernel.to_owned(), arch.to_owned());
    Ok(ResourceRow { kernel, arch, max_registers, resources, block, occupancy, steps, remarks })
}

const COLUMNS: [&str; 9] =
    ["kernel", "arch", "registers", "spill out", "spill in", "stack", "shared", "occupancy", "limiter"];

fn print(rows: &[ResourceRow], why: bool) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    let has_caps = rows.iter().any(|row| row.max_registers.is_some());
    let mut columns = COLUMNS.map(str::to_owned).to_vec();
    if has_caps {
        columns.insert(2, "at most".to_owned());
    }
    let cells = rows.iter().map(|row| {
        let Resources { registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared_bytes, .. } =
            row.resources;
        let limiters: Vec<&str> = row.occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
        let mut cells = vec![
            row.kernel.clone(),
            row.arch.clone(),
            registers.value().to_string(),
            spill_store_bytes.to_string(),
            spill_load_bytes.to_string(),
            stack_bytes.to_string(),
            static_shared_bytes.to_string(),
            format!("{} at {}", percent(row.occupancy.theoretical()), row.block),
            limiters.join(", "),
        ];
        if has_caps {
            cells.insert(2, row.max_registers.map_or("–".to_owned(), |cap| cap.to_string()));
        }
        cells
    });
    terminal.rows(&columns, cells)?;
    let estimated = rows.iter().any(|row| row.resources.registers.source() == "estimated");
    terminal.dim_line(match estimated {
        true => "registers are estimated from the PTX, which shows no spills; occupancy at so many threads a block",
        false => {
            "registers a thread by ptxas; bytes a thread, shared memory a block; occupancy at so many threads a block"
        }
    })?;
    for row in rows.iter().filter(|row| why || !row.remarks.is_empty()) {
        let cap = row.max_registers.map_or_else(String::new, |cap| format!(" with {cap} at most"));
        terminal.line(&format!("\n{} on {}{cap}", row.kernel, row.arch))?;
        for remark in &row.remarks {
            terminal.line(&format!("  {remark}"))?;
        }
        if why {
            let shape = LaunchShape::new([1; 3], [row.block, 1, 1]);
            for line in row.steps.words(&row.resources.request(shape), &row.occupancy) {
                terminal.line(&format!("  {line}"))?;
            }
        }
    }
    Ok(())
}
