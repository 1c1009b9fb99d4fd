//! `regs`: registers, spills, stack, shared memory and the occupancy that they allow, for kernels × architectures.

use std::path::PathBuf;

use warpwise_simt::device::{ComputeCapability, limits_of};

use super::{Outcome, sass, write_text};
use crate::backend::LaunchShape;
use crate::claim::format::percent;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::{ResourceRow, Resources};
use crate::report::terminal;
use crate::schema;
use crate::suggest::UnknownName;
use crate::workbench::Workbench;

/// Show registers, spills and occupancy of kernels
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Kernels, as `list` shows them; none: all
    kernels: Vec<String>,
    /// Architectures, such as sm_80,sm_120; else the device's
    #[arg(long, value_name = "ARCH,ARCH", value_delimiter = ',')]
    arch: Vec<String>,
    /// Write the rows as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The chapters' block size, for kernels that state none.
const BLOCK: u32 = 256;

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "sim")?;
    bench.say_what_is_missing();
    let kernels = choose(&options, &bench)?;
    let archs = match options.arch.is_empty() {
        true => vec![bench.device.arch()],
        false => options.arch.iter().map(|arch| sass::known_arch(arch)).collect::<Result<_, _>>()?,
    };
    bench.compile_ahead(&archs)?;
    let mut rows = Vec::new();
    for kernel in &kernels {
        for arch in &archs {
            rows.push(row(&bench, kernel, arch)?);
        }
    }
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::regs(&rows)))?;
    }
    print(&rows)?;
    Ok(Outcome::Good)
}

fn choose(options: &Options, bench: &Workbench) -> Result<Vec<String>, CommandError> {
    let known: Vec<&str> = bench.code.entries().collect();
    if let Some(unknown) = options.kernels.iter().find(|kernel| !known.contains(&kernel.as_str())) {
        return Err(UnknownName::new("kernel", unknown, known).into());
    }
    match options.kernels.is_empty() {
        true => Ok(known.into_iter().map(str::to_owned).collect()),
        false => Ok(options.kernels.clone()),
    }
}

fn row(bench: &Workbench, kernel: &str, arch: &str) -> Result<ResourceRow, CommandError> {
    let resources = bench.resources_strictly(kernel, arch, None)?;
    let program = bench.code.program(kernel)?;
    let bound = program.required_threads.or(program.max_threads);
    let block = bound.map_or(BLOCK, |sizes| sizes.into_iter().fold(1, u32::saturating_mul));
    let limits = limits_of(arch.parse::<ComputeCapability>()?)?;
    let occupancy = resources.occupancy(limits, LaunchShape::new([1; 3], [block, 1, 1]))?;
    let max_registers = program.max_registers;
    Ok(ResourceRow { kernel: kernel.to_owned(), arch: arch.to_owned(), max_registers, resources, block, occupancy })
}

const COLUMNS: [&str; 9] =
    ["kernel", "arch", "registers", "spill out", "spill in", "stack", "shared", "occupancy", "limiter"];

fn print(rows: &[ResourceRow]) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    let cells = rows.iter().map(|row| {
        let Resources { registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared_bytes, .. } =
            row.resources;
        let limiters: Vec<&str> = row.occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
        vec![
            row.kernel.clone(),
            row.arch.clone(),
            registers.value().to_string(),
            spill_store_bytes.to_string(),
            spill_load_bytes.to_string(),
            stack_bytes.to_string(),
            static_shared_bytes.to_string(),
            format!("{} at {}", percent(row.occupancy.theoretical()), row.block),
            limiters.join(", "),
        ]
    });
    terminal.rows(&COLUMNS.map(str::to_owned), cells)?;
    let estimated = rows.iter().any(|row| row.resources.registers.source() == "estimated");
    terminal.dim_line(match estimated {
        true => "registers are estimated from the PTX, which shows no spills; occupancy at so many threads a block",
        false => {
            "registers a thread by ptxas; bytes a thread, shared memory a block; occupancy at so many threads a block"
        }
    })?;
    Ok(())
}
