//! `sass KERNEL|FILE`: the instructions that the chip would run, under the source lines that they come from.

use std::path::Path;

use warpwise_simt::device::{ComputeCapability, limits_of};

use super::Outcome;
use super::listing::{ListingOptions, Titled};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::Sass;
use crate::listing::{Sources, sass};
use crate::report::terminal;
use crate::suggest::UnknownName;
use crate::toolbox::Toolbox;
use crate::user_code::UserCode;
use crate::workbench::{Workbench, device};

/// Show a kernel's SASS beside its source
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    listing: ListingOptions,
    /// Architectures, such as sm_80,sm_120; else the device's, or those in the file
    #[arg(long, value_name = "ARCH,ARCH", value_delimiter = ',')]
    arch: Vec<String>,
    /// Show how each instruction waits and makes others wait
    #[arg(long)]
    control: bool,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let archs: Vec<String> = options.arch.iter().map(|arch| known_arch(arch)).collect::<Result<_, _>>()?;
    let (listings, mut sources) = match UserCode::is_meant(&options.listing.subject) {
        true => of_file(&options, archs, global)?,
        false => of_kernel(&options, archs, global)?,
    };
    options.listing.print(&mut terminal::stdout(), &listings, &mut sources, options.control)?;
    Ok(Outcome::Good)
}

fn of_kernel(
    options: &Options,
    mut archs: Vec<String>,
    global: &GlobalOptions,
) -> Result<(Vec<Titled>, Sources), CommandError> {
    let bench = Workbench::open(global, "sim")?;
    if archs.is_empty() {
        archs.push(bench.device.arch());
    }
    let kernel = &options.listing.subject;
    if !bench.code.entries().any(|known| known == kernel) {
        return Err(UnknownName::new("kernel", kernel, bench.code.entries()).into());
    }
    let listings = archs.iter().map(|arch| titled(&bench.sass_of(arch)?, kernel, arch, options));
    let listings = listings.collect::<Result<_, CommandError>>()?;
    Ok((listings, Sources::of(&bench.kernels)))
}

fn of_file(
    options: &Options,
    mut archs: Vec<String>,
    global: &GlobalOptions,
) -> Result<(Vec<Titled>, Sources), CommandError> {
    let path = &options.listing.subject;
    let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
    let code = UserCode::read(path, &tools)?;
    if archs.is_empty() {
        archs = code.archs();
    }
    if archs.is_empty() {
        archs.push(device(global).map_err(CommandError::Device)?.arch());
    }
    let mut listings = Vec::new();
    for arch in &archs {
        let sass = code.sass(arch, &tools)?;
        let known: Vec<String> = sass.names().map(str::to_owned).collect();
        let entry = code.entry(options.listing.entry.as_deref(), &known)?;
        listings.push(titled(&sass, &entry, arch, options)?);
    }
    Ok((listings, Sources::around(Path::new(path))))
}

fn titled(sass: &Sass, kernel: &str, arch: &str, options: &Options) -> Result<Titled, CommandError> {
    let listing = sass::listing(sass, kernel, options.listing.live)?;
    let registers = sass.entry(kernel).map_or(0, |entry| entry.registers);
    let title = format!("{kernel} for {arch}: {registers} registers a thread");
    Ok(Titled { title, arch: arch.to_owned(), listing, is_sass: true })
}

/// `sm_120` from any spelling of an architecture that there is.
pub fn known_arch(given: &str) -> Result<String, CommandError> {
    let version: ComputeCapability = given.parse()?;
    Ok(limits_of(version)?.compute_capability.arch())
}
