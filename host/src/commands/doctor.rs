//! `doctor`: what was found on this computer, what is missing, and the command that mends it.

use std::path::Path;

use serde::Deserialize;
use warpwise_nvtools::Environment;
use warpwise_nvtools::locate::find_ncu;
use warpwise_nvtools::ncu::{self, NcuError};

use super::Outcome;
use crate::claim::Toolchain;
use crate::error::CommandError;
use crate::folders;
use crate::kernels::{KernelFiles, KernelFilesError};
use crate::parallel::cores;
use crate::report::terminal;
use crate::toolbox::Toolbox;

/// Say what was found, what is missing, and what mends it
#[derive(clap::Args, Debug)]
pub struct Options {}

/// One thing that was looked for.
struct Finding {
    what: &'static str,
    found: Option<String>,
    /// What its absence means and what to do, one line each.
    otherwise: String,
}

pub fn run(_: Options) -> Result<Outcome, CommandError> {
    let kernels = KernelFiles::open();
    let folder = kernels.as_ref().ok().map(|files| files.folder.as_path());
    let tools = Toolbox::look(folder);
    let mut findings = vec![compiler(&folders::workspace(folder)), of_kernels(&kernels)];
    findings.extend(nvidia(&tools));
    findings.push(nsight_compute(find_ncu(&Environment::of_process()).as_deref(), ncu::version));
    findings.push(gpu());
    findings.push(processor());
    print(&findings)?;
    if let Ok(files) = &kernels {
        let toolchain = Toolchain {
            rustc: files.facts.rustc.clone(),
            llvm: files.facts.llvm.clone(),
            ptxas: tools.ptxas_version(),
        };
        let binds = toolchain.reason_not_recorded().unwrap_or_else(|| "they bind".to_owned());
        terminal::stdout().line(&format!("\nclaims on exact register counts: {binds}"))?;
    }
    Ok(Outcome::Good)
}

fn print(findings: &[Finding]) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    let rows = findings.iter().map(|finding| {
        let found = finding.found.as_deref().unwrap_or("not found");
        vec![finding.what.to_owned(), found.to_owned()]
    });
    terminal.rows(&["what", "found"].map(str::to_owned), rows)?;
    for finding in findings.iter().filter(|finding| finding.found.is_none()) {
        terminal.line(&format!("\n{}: {}", finding.what, finding.otherwise))?;
    }
    Ok(())
}

/// What the kernels' build writes about its search for a device compiler.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Build {
    compiler: Option<Compiler>,
    rejected: Vec<Rejected>,
    mend: Option<String>,
}

#[derive(Deserialize)]
struct Compiler {
    path: String,
    version: String,
    llvm: String,
    core_source: String,
    origin: String,
}

#[derive(Deserialize)]
struct Rejected {
    path: String,
    reason: String,
}

fn compiler(target: &Path) -> Finding {
    let text = std::fs::read_to_string(target.join("warpwise").join("build.json"));
    let build: Build = text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let found = build.compiler.map(|compiler| {
        let Compiler { path, version, llvm, core_source, origin } = compiler;
        format!("{path} {version}, LLVM {llvm} ({origin}), core's source in {core_source}")
    });
    let mut otherwise: Vec<String> =
        build.rejected.iter().map(|rejected| format!("{}, which {}", rejected.path, rejected.reason)).collect();
    otherwise.push(build.mend.unwrap_or_else(|| "`cargo xtask doctor` looks for one".to_owned()));
    Finding { what: "device compiler", found, otherwise: otherwise.join("\n") }
}

fn of_kernels(kernels: &Result<KernelFiles, KernelFilesError>) -> Finding {
    let what = "kernels";
    match kernels {
        Ok(files) => Finding { what, found: Some(files.ptx_path.display().to_string()), otherwise: String::new() },
        Err(error) => Finding { what, found: None, otherwise: error.to_string() },
    }
}

const WITHOUT_PTXAS: &str = "without it registers are estimated from PTX, and there is no SASS\n`cargo xtask regs` fetches it \
    (Python 3 with pip is needed), or let WARPWISE_CUDA name the folder of a CUDA installation";

fn nvidia(tools: &Toolbox) -> Vec<Finding> {
    let tools = match tools.tools() {
        Ok(tools) => tools,
        Err(_) => return vec![Finding { what: "ptxas", found: None, otherwise: WITHOUT_PTXAS.to_owned() }],
    };
    let describe =
        |tool: &warpwise_nvtools::locate::Tool| format!("{} {} ({})", tool.path.display(), tool.version, tool.origin);
    let optional = |what, tool: Result<&warpwise_nvtools::locate::Tool, _>| match tool {
        Ok(tool) => Finding { what, found: Some(describe(tool)), otherwise: String::new() },
        Err(missing) => Finding { what, found: None, otherwise: format!("{missing}") },
    };
    let ptxas = Finding { what: "ptxas", found: Some(describe(tools.ptxas())), otherwise: String::new() };
    vec![ptxas, optional("nvdisasm", tools.nvdisasm()), optional("cuobjdump", tools.cuobjdump())]
}

/// Nsight Compute's command line; looked for apart from the others, since it comes in a package of its own.
fn nsight_compute(path: Option<&Path>, version: impl Fn(&Path) -> Result<String, NcuError>) -> Finding {
    let (found, trouble) = match path.map(|path| (path.display(), version(path))) {
        Some((path, Ok(version))) => (Some(format!("{path} {version}")), None),
        Some((_, Err(error))) => (None, Some(error.to_string())),
        None => (None, None),
    };
    let purpose = format!(
        "`counters` needs it, and a GPU, to put the hardware's counters beside the machine's; nothing else does\n\
         get Nsight Compute from {} (a CUDA toolkit has it too), and have ncu on PATH",
        ncu::SOURCE
    );
    Finding { what: "ncu", found, otherwise: trouble.into_iter().chain([purpose]).collect::<Vec<_>>().join("\n") }
}

/// Where distributions and the driver's installer put the driver's library on Linux.
const DRIVER_LIBRARIES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
];

fn gpu() -> Finding {
    let found = DRIVER_LIBRARIES.iter().find(|path| Path::new(path).exists());
    Finding {
        what: "NVIDIA driver",
        found: found.map(|path| (*path).to_owned()),
        otherwise: "kernels run on the SIMT machine, and times are modelled; nothing needs mending".to_owned(),
    }
}

fn processor() -> Finding {
    #[cfg(target_arch = "x86_64")]
    let avx2 = is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let avx2 = false;
    let cores = cores();
    let speed = if avx2 { "AVX2" } else { "no AVX2: the machine takes its portable path" };
    Finding { what: "processor", found: Some(format!("{cores} threads, {speed}")), otherwise: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ncu_is_found_with_its_version() {
        let finding = nsight_compute(Some(Path::new("/opt/ncu")), |_| Ok("2025.3.1.0".to_owned()));
        assert_eq!(finding.found.as_deref(), Some("/opt/ncu 2025.3.1.0"));
    }

    #[test]
    fn an_ncu_that_is_missing_or_broken_is_said_with_what_it_is_for_and_where_it_comes_from() {
        let missing = nsight_compute(None, |_| Ok(String::new()));
        let said = "it printed nothing".to_owned();
        let broken = nsight_compute(Some(Path::new("/opt/ncu")), |ncu| {
            Err(NcuError::Failed { ncu: ncu.to_owned(), said: said.clone() })
        });
        for finding in [&missing, &broken] {
            assert_eq!(finding.found, None);
            assert!(finding.otherwise.contains("`counters`") && finding.otherwise.contains(ncu::SOURCE));
        }
        assert!(broken.otherwise.starts_with("/opt/ncu failed: it printed nothing\n"), "{}", broken.otherwise);
    }
}
