//! `diff A B`: two kernels, commits, compilers, architectures or files side by side, in numbers and in SASS.

use std::path::PathBuf;

use warpwise_nvtools::nvdisasm::{Function, ListingOptions};
use warpwise_simt::device::{ComputeCapability, devices};
use warpwise_simt::sass::Cubin;

use super::{Outcome, sass, standard, write_text};
use crate::backend::LaunchShape;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::{CodeError, KernelFiles};
use crate::pressure::aligned::{Kind, Section, align};
use crate::pressure::{Launch, Side, Snapshot, changes, checkout, parse_side};
use crate::report::terminal;
use crate::schema;
use crate::suggest::UnknownName;
use crate::toolbox::Toolbox;
use crate::user_code::UserCode;
use crate::workbench::{Workbench, WorkbenchError, device};

/// Compare two kernels, commits, compilers, architectures or files
#[derive(clap::Args, Debug)]
pub struct Options {
    /// KERNEL, KERNEL@COMMIT or a file of PTX or a cubin; behind it :sm_80, :rustc=PATH, and the kernel of a file
    #[arg(value_parser = parse_side)]
    a: Side,
    /// The other one, in the same words
    #[arg(value_parser = parse_side)]
    b: Side,
    /// No times, which take the longest
    #[arg(long)]
    no_times: bool,
    /// The numbers alone, no instructions
    #[arg(long)]
    no_sass: bool,
    /// All instructions, those of source lines at which nothing changed too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    launch: standard::LaunchOptions,
    /// Write the comparison as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write its numbers as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let a = snapshot(&options.a, &options, global)?;
    let b = snapshot(&options.b, &options, global)?;
    let sections = match (function(&a), function(&b)) {
        (Some(a), Some(b)) => align(a, b),
        _ => Vec::new(),
    };
    let sides = [(options.a.given.as_str(), &a), (options.b.given.as_str(), &b)];
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::diff(sides, &sections)))?;
    }
    if let Some(path) = &options.csv {
        write_text(path, &schema::csv(&schema::diff(sides, &sections)))?;
    }
    print(&options, sides, &sections)?;
    Ok(Outcome::Good)
}

fn function(snapshot: &Snapshot) -> Option<&Function> {
    snapshot.code.as_ref().map(|code| &*code.function)
}

/// Builds what a side is of and looks at its kernel.
fn snapshot(side: &Side, options: &Options, global: &GlobalOptions) -> Result<Snapshot, CommandError> {
    let arch = side.arch.as_ref().map(|arch| sass::known_arch(arch)).transpose()?;
    let mut global = global.clone();
    if let Some(arch) = &arch {
        global.device = Some(device_of(arch, &global)?);
    }
    let kernels = match &side.file {
        None => checkout::kernels(side)?,
        Some(path) => {
            let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
            let file = path.display().to_string();
            let code = UserCode::read(&file, &tools)?;
            match code.ptx() {
                Ok(ptx) => KernelFiles::of_text(path, ptx),
                Err(_) => return of_cubin(side, &code, arch, &tools, &global),
            }
        }
    };
    let bench = Workbench::with_kernels(&global, "auto", kernels)?;
    bench.say_what_is_missing();
    let known: Vec<&str> = bench.code.entries().collect();
    let kernel = kernel_of(side, &known)?;
    let launch = match bench.code.program(&kernel) {
        Ok(program) => options.launch.of(&program)?,
        // What the machine cannot run has no time, and can be compared all the same.
        Err(CodeError::Ptx(_)) => {
            let header = bench.code.bounds(&kernel)?;
            let block = header.required_threads.or(header.max_threads).unwrap_or(standard::BLOCK);
            Launch::new(LaunchShape::new([1; 3], block), Vec::new())
        }
        Err(error) => return Err(error.into()),
    };
    let mut snapshot = Snapshot::take(&bench, &kernel, launch)?;
    match bench.measures() {
        true => snapshot.look(&bench.modelled(&global)?, !options.no_times)?,
        false => snapshot.look(&bench, !options.no_times)?,
    }
    if !options.no_times {
        snapshot.measure(&bench)?;
    }
    Ok(snapshot)
}

/// Looks at a kernel that is compiled already. It has no time: without PTX there is no telling what its arguments are.
fn of_cubin(
    side: &Side,
    code: &UserCode,
    arch: Option<String>,
    tools: &Toolbox,
    global: &GlobalOptions,
) -> Result<Snapshot, CommandError> {
    let own = device(global).map_err(WorkbenchError::from)?.arch();
    let archs = code.archs();
    let arch = arch.or_else(|| archs.iter().find(|arch| **arch == own).or(archs.first()).cloned()).unwrap_or(own);
    let bytes = code.cubin(&arch, tools)?;
    let cubin = Cubin::parse(&bytes).map_err(|error| CommandError::Usage(error.to_string()))?;
    let known: Vec<&str> = cubin.entries().iter().map(|entry| entry.name.as_str()).collect();
    let kernel = kernel_of(side, &known)?;
    let entry = cubin.entry(&kernel).map_err(|error| CommandError::Usage(error.to_string()))?;
    let listing = tools.disassemble(&bytes, ListingOptions::default()).map_err(WorkbenchError::from)?;
    Snapshot::of_cubin(entry, &arch, listing.function(&kernel).cloned())
}

/// The kernel that was named, or the only one of a file.
fn kernel_of(side: &Side, known: &[&str]) -> Result<String, CommandError> {
    if let Some(kernel) = &side.kernel {
        let is_known = known.contains(&kernel.as_str());
        return if is_known {
            Ok(kernel.clone())
        } else {
            Err(UnknownName::new("kernel", kernel, known.to_vec()).into())
        };
    }
    match known {
        [only] => Ok((*only).to_owned()),
        entries => Err(CommandError::Usage(format!(
            "which kernel of `{0}`? name it as {0}:KERNEL\nthere are: {1}",
            side.given,
            entries.join(", ")
        ))),
    }
}

/// A device of the architecture: the one asked for where it is of it, else the first in the table.
fn device_of(arch: &str, global: &GlobalOptions) -> Result<String, CommandError> {
    let asked = device(global).map_err(WorkbenchError::from)?;
    if asked.arch() == arch {
        return Ok(asked.name.clone());
    }
    let of_arch = devices().iter().find(|device| device.arch() == arch);
    let known = || {
        let mut archs: Vec<ComputeCapability> = devices().iter().map(|device| device.compute_capability).collect();
        archs.sort_unstable();
        archs.dedup();
        archs.iter().map(|version| version.arch()).collect::<Vec<_>>().join(", ")
    };
    of_arch
        .map(|device| device.name.clone())
        .ok_or_else(|| CommandError::Usage(format!("no device of {arch} is modelled; expected one of {}", known())))
}

fn print(options: &Options, sides: [(&str, &Snapshot); 2], sections: &[Section]) -> Result<(), CommandError> {
    let [(name_a, a), (name_b, b)] = sides;
    let mut terminal = terminal::stdout();
    changes::print(&mut terminal, (name_b, b), &[(name_a, a)], |snapshot| {
        [vec![("architecture", snapshot.arch.clone())], snapshot.costs(), snapshot.looks()].concat()
    })?;
    if let Some(mix) = changes::mix(b, a) {
        terminal.line(&format!("\n  instructions: {mix}"))?;
    }
    for (name, snapshot) in sides {
        if let Some(reason) = snapshot.code.as_ref().and_then(|code| code.why_no_time.as_ref()) {
            terminal.line(&cut(&format!("  {name}: no time: {reason}")))?;
        }
    }
    if options.no_sass || sections.is_empty() {
        return Ok(());
    }
    let changed = sections.iter().filter(|section| section.is_changed()).count();
    terminal.line(&match changed {
        0 => format!("\nthe same instructions at all of {} source lines, registers aside", sections.len()),
        _ => format!("\ninstructions differ at {changed} of {} source lines, registers aside", sections.len()),
    })?;
    for section in sections.iter().filter(|section| options.all || section.is_changed()) {
        terminal.line("")?;
        terminal.dim_line(&section.place)?;
        for line in &section.lines {
            match line.kind {
                Kind::Same => terminal.line(&cut(&format!("    {}", line.text)))?,
                Kind::Gone => terminal.gone(&cut(&format!("  - {}", line.text)))?,
                Kind::Come => terminal.come(&cut(&format!("  + {}", line.text)))?,
            }
        }
    }
    Ok(())
}

/// At most as wide as reports are.
fn cut(text: &str) -> String {
    const WIDTH_MAX: usize = 100;
    match text.char_indices().nth(WIDTH_MAX) {
        Some(_) => format!("{}…", text.chars().take(WIDTH_MAX - 1).collect::<String>()),
        None => text.to_owned(),
    }
}
