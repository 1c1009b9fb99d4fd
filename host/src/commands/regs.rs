//! `regs`: registers, spills, stack, shared memory and the occupancy that they allow, for kernels × architectures × caps.

use std::path::{Path, PathBuf};

use warpwise_simt::device::{ComputeCapability, Limits, limits_of};
use warpwise_simt::rewrite::Bounds;
use warpwise_simt::sass::Cubin;

use super::{Outcome, sass, write_text};
use crate::backend::LaunchShape;
use crate::claim::format::percent;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::{KernelFiles, ResourceRow, Resources};
use crate::pressure::cliff::Steps;
use crate::pressure::{Made, Numbers, Variant, make, parse_numbers};
use crate::report::terminal;
use crate::schema;
use crate::suggest::UnknownName;
use crate::toolbox::Toolbox;
use crate::user_code::UserCode;
use crate::workbench::{Workbench, WorkbenchError};

/// Show registers, spills and occupancy of kernels
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Kernels, as `list` shows them; none: all. A file of PTX, a cubin or a fatbin first: kernels of that
    #[arg(value_name = "KERNEL|FILE")]
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
    let archs: Vec<String> = options.arch.iter().map(|arch| sass::known_arch(arch)).collect::<Result<_, _>>()?;
    let rows = match options.kernels.split_first() {
        Some((file, named)) if UserCode::is_meant(file) => of_file(&options, global, file, named, archs)?,
        _ => of_bench(&options, &Workbench::open(global, "sim")?, &options.kernels, archs)?,
    };
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::regs(&rows)))?;
    }
    if let Some(path) = &options.csv {
        write_text(path, &schema::csv(&schema::regs(&rows)))?;
    }
    print(&rows, options.why)?;
    Ok(Outcome::Good)
}

/// Rows of a file: of its PTX, or of the cubins in it as they are.
fn of_file(
    options: &Options,
    global: &GlobalOptions,
    file: &str,
    named: &[String],
    archs: Vec<String>,
) -> Result<Vec<ResourceRow>, CommandError> {
    let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
    let code = UserCode::read(file, &tools)?;
    if let Ok(ptx) = code.ptx() {
        let kernels = KernelFiles::of_text(Path::new(file), ptx);
        return of_bench(options, &Workbench::with_kernels(global, "sim", kernels)?, named, archs);
    }
    if options.maxregs.is_some() {
        let message = format!("`{file}` is compiled already: --maxregs takes kernels as PTX");
        return Err(CommandError::Usage(message));
    }
    let archs = if archs.is_empty() { code.archs() } else { archs };
    let mut rows = Vec::new();
    for arch in &archs {
        let cubin = Cubin::parse(&code.cubin(arch, &tools)?).map_err(|error| CommandError::Usage(error.to_string()))?;
        let known: Vec<String> = cubin.entries().iter().map(|entry| entry.name.clone()).collect();
        for kernel in choose(named, &known)? {
            let entry = cubin.entry(&kernel).map_err(|error| CommandError::Usage(error.to_string()))?;
            let bound = options.block.map(|block| [block, 1, 1]).or(entry.required_threads).or(entry.max_threads);
            let made = Made { resources: Resources::of_cubin(entry), compiled: None, remarks: Vec::new() };
            rows.push(ResourceRow { knows_spills: false, ..row((&kernel, arch, None), threads(bound), made)? });
        }
    }
    Ok(rows)
}

fn of_bench(
    options: &Options,
    bench: &Workbench,
    named: &[String],
    archs: Vec<String>,
) -> Result<Vec<ResourceRow>, CommandError> {
    bench.say_what_is_missing();
    let known: Vec<String> = bench.code.entries().map(str::to_owned).collect();
    let kernels = choose(named, &known)?;
    let archs = if archs.is_empty() { vec![bench.device.arch()] } else { archs };
    let block = |kernel: &str| -> Result<u32, CommandError> {
        let header = bench.code.bounds(kernel)?;
        let bound = options.block.map(|block| [block, 1, 1]);
        Ok(threads(bound.or(header.required_threads).or(header.max_threads)))
    };
    let mut rows = Vec::new();
    match &options.maxregs {
        None => {
            bench.compile_ahead(&archs)?;
            for kernel in &kernels {
                for arch in &archs {
                    let resources = bench.resources_strictly(kernel, arch, None)?;
                    let made = Made { resources, compiled: None, remarks: Vec::new() };
                    let own = bench.code.bounds(kernel)?.max_registers;
                    rows.push(row((kernel, arch, own), block(kernel)?, made)?);
                }
            }
        }
        Some(Numbers(caps)) => {
            let variants = capped(&kernels, &archs, caps);
            for (variant, made) in variants.iter().zip(make(bench, &variants, &|_| ())?) {
                let Variant { kernel, arch, bounds } = variant;
                let made = made.map_err(|error| WorkbenchError::Tool(error.into()))?;
                rows.push(row((kernel, arch, bounds.max_registers), block(kernel)?, made)?);
            }
        }
    }
    Ok(rows)
}

/// Threads of a block that is stated, or of the chapters'.
fn threads(bound: Option<[u32; 3]>) -> u32 {
    bound.map_or(BLOCK, |sizes| sizes.into_iter().fold(1, u32::saturating_mul))
}

fn choose(named: &[String], known: &[String]) -> Result<Vec<String>, CommandError> {
    if let Some(unknown) = named.iter().find(|kernel| !known.contains(kernel)) {
        return Err(UnknownName::new("kernel", unknown, known).into());
    }
    Ok(if named.is_empty() { known.to_vec() } else { named.to_vec() })
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
    (kernel, arch, max_registers): (&str, &str, Option<u32>),
    block: u32,
    made: Made,
) -> Result<ResourceRow, CommandError> {
    let Made { resources, remarks, .. } = made;
    let limits: &Limits = limits_of(arch.parse::<ComputeCapability>()?)?;
    let shape = LaunchShape::new([1; 3], [block, 1, 1]);
    let occupancy = resources.occupancy(limits, shape)?;
    let steps = Steps::of(limits, &resources.request(shape))?;
    let (kernel, arch) = (kernel.to_owned(), arch.to_owned());
    let knows_spills = true;
    Ok(ResourceRow { kernel, arch, max_registers, resources, block, occupancy, steps, remarks, knows_spills })
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
        let Resources { registers, stack_bytes, static_shared_bytes, .. } = row.resources;
        let spilled = |bytes: Option<u32>| bytes.map_or_else(|| "–".to_owned(), |bytes| bytes.to_string());
        let limiters: Vec<&str> = row.occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
        let mut cells = vec![
            row.kernel.clone(),
            row.arch.clone(),
            registers.value().to_string(),
            spilled(row.spills().map(|(out, _)| out)),
            spilled(row.spills().map(|(_, back)| back)),
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
    terminal.note(match estimated {
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
