//! `bundle`: a folder with the program, the kernels' PTX and cubins, for a GPU machine that has nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Outcome;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::KernelFiles;
use crate::labs::codegen;
use crate::peers;
use crate::toolbox::{Precompiled, Target, ToolError};
use crate::workbench::{Workbench, WorkbenchError};

/// Architectures that cubins are packed for; newer GPUs take the PTX.
const ARCHS: [&str; 6] = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// Pack program, PTX and cubins for a GPU machine without Rust
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The folder to write; what is there is replaced
    #[arg(long, value_name = "DIR", default_value = "target/bundle")]
    out: PathBuf,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let bench = Workbench::open(global, "sim")?;
    bench.kernels.require_ours("bundle")?;
    let refuse = |error: ToolError| CommandError::from(WorkbenchError::from(error));
    let ptxas = bench.tools.tools().map_err(refuse)?.ptxas().version.clone();
    let unfinished = options.out.with_extension("unfinished");
    let failed = |source| CommandError::Write { path: options.out.display().to_string(), source };
    let kernels = start(&unfinished).map_err(failed)?;
    let pack = |bench: &Workbench, folder: &Path| -> Result<(), CommandError> {
        write_kernels(&bench.kernels, folder).map_err(failed)?;
        let targets: Vec<Target> = ARCHS.iter().map(|arch| Target::arch(arch)).collect();
        let made = bench.tools.compile_all(&bench.kernels.ptx, &targets).map_err(refuse)?;
        for (arch, compiled) in ARCHS.iter().zip(made) {
            Precompiled::put(folder, arch, &ptxas, &*compiled.map_err(refuse)?).map_err(failed)?;
        }
        Ok(())
    };
    pack(&bench, &kernels)?;
    let peers = match peers::make(&bench.kernels, &bench.tools, &codegen::names()) {
        Ok(made) => {
            pack(&bench.beside(made)?, &kernels.join(peers::FOLDER))?;
            "with peers in CUDA C++".to_owned()
        }
        Err(error) => format!("without peers in CUDA C++: {error}"),
    };
    replace(&unfinished, &options.out).map_err(failed)?;
    println!("{}: warpwise, kernels.ptx, cubins for {}; {peers}", options.out.display(), ARCHS.join(", "));
    Ok(Outcome::Good)
}

/// Everything but the kernels; their folder.
fn start(folder: &Path) -> io::Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let kernels = folder.join("kernels");
    fs::create_dir_all(&kernels)?;
    fs::copy(std::env::current_exe()?, folder.join("warpwise"))?;
    fs::write(folder.join("README.md"), include_str!("bundle.md"))?;
    Ok(kernels)
}

fn write_kernels(kernels: &KernelFiles, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("kernels.ptx"), &kernels.ptx)?;
    fs::write(folder.join("kernels.json"), kernels.facts.without_paths()?)
}

/// The finished folder takes the place of an older one.
fn replace(unfinished: &Path, folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(unfinished, folder)
}
