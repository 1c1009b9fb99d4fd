//! Everything that has to be there before `warpwise` starts: a compiler, the kernels' PTX, the program.
//!
//! Two things take long on a bare machine, so they run side by side: the program's compilation, and the way from no
//! compiler to PTX. All of it happens under one lock.

use crate::compiler::{self, Compiler, Search};
use crate::device_build;
use crate::error::{Error, Result};
use crate::facts;
use crate::finish;
use crate::kernel_crate::KernelCrate;
use crate::lock;
use crate::nvvm;
use crate::nvvm_needs;
use crate::program;
use crate::provision;
use crate::system::{Machine, System};
use crate::words::Words;
use crate::workspace::Workspace;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// What a command needs of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It does without.
    Nothing,
    /// It says more with them, and starts without them where there is no compiler.
    IfPossible,
    Kernels,
}

/// Builds what a command needs. Returns the folder of the kernels that `warpwise` is to take: those built now, or those
/// that an earlier command left, if the user names none.
pub fn prepare(workspace: &Workspace, words: &Words, need: Need) -> Result<Option<PathBuf>> {
    prepare_as(workspace, words, need, &Wish::default())
}

/// How the kernels are wanted, where not all of them in their usual place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// A folder of the caller's.
    pub into: Option<PathBuf>,
    /// Some of the crate's kernels, their names between commas.
    pub only: Option<String>,
    /// They were built before by the same words, and all that may have changed since are the crate's files.
    pub again: bool,
}

/// As [`prepare`], with the kernels as the caller wishes.
pub fn prepare_as(workspace: &Workspace, words: &Words, need: Need, wish: &Wish) -> Result<Option<PathBuf>> {
    let own_folder = workspace.own_folder();
    Workspace::create(&own_folder)?;
    // Whoever names a folder of kernels wants those, as they are.
    let are_named = Machine.variable("WARPWISE_KERNELS").is_some();
    if words.nvvm && words.ptx.is_none() && need != Need::Nothing {
        nvvm_needs::require(&Machine)?;
    }
    let ours = if words.nvvm { nvvm::kernels(workspace) } else { KernelCrate::ours(workspace) };
    let left = (!are_named && ours.output.join("kernels.ptx").is_file()).then(|| ours.output.clone());
    let kernels = match &words.kernel_crate {
        Some(path) => Some(KernelCrate::of_the_user(workspace, path)?),
        None if need == Need::Nothing || are_named => None,
        None => Some(ours),
    };
    let kernels = kernels.map(|kernels| KernelCrate {
        output: wish.into.clone().unwrap_or_else(|| kernels.output.clone()),
        only: wish.only.clone(),
        ..kernels
    });
    let _lock = lock::acquire(&own_folder.join("lock"))?;
    if let Some(kernels) = kernels.as_ref().filter(|_| wish.again && !words.nvvm)
        && let Some(raw) = device_build::build_again(workspace, kernels)?
    {
        finish::text(workspace, kernels, &raw, false)?;
        return Ok(Some(kernels.output.clone()));
    }
    match kernels {
        Some(kernels) => with_kernels(workspace, words, need, kernels),
        None => {
            record(workspace, &compiler::search(&Machine).unwrap_or_default(), &[])?;
            program::build(workspace, words, &AtomicBool::new(false)).map(|()| left)
        }
    }
}

/// Both sides at once. A side that fails has the other given up, where the command cannot start without it.
fn with_kernels(workspace: &Workspace, words: &Words, need: Need, kernels: KernelCrate) -> Result<Option<PathBuf>> {
    let program_is_unwanted = AtomicBool::new(false);
    let (made, program) = thread::scope(|scope| {
        let program = scope.spawn(|| program::build(workspace, words, &program_is_unwanted));
        let made = match words.nvvm {
            true => {
                nvvm::build(workspace, words.ptx.as_deref()).and_then(|raw| Ok((nvvm::compiler(workspace, &raw)?, raw)))
            }
            false => device_compiler(workspace, words)
                .and_then(|compiler| device_build::build(workspace, &compiler, &kernels).map(|raw| (compiler, raw))),
        };
        program_is_unwanted.store(made.is_err() && need != Need::IfPossible, Ordering::Relaxed);
        (made, program.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match made {
        Ok((compiler, raw)) => {
            program?;
            finish::finish(workspace, &compiler, &kernels, &raw, words.nvvm)?;
            Ok(Some(kernels.output))
        }
        Err(error) if need == Need::IfPossible => {
            eprintln!("without kernels: {error}");
            program.map(|()| None)
        }
        Err(error) => Err(error),
    }
}

/// A compiler that is there, or one that can be had.
fn device_compiler(workspace: &Workspace, words: &Words) -> Result<Compiler> {
    let mut search = compiler::search(&Machine)?;
    let mut provisioned = Vec::new();
    let mut failures = Vec::new();
    if search.compiler.is_none() && !words.no_provision {
        let logs = workspace.own_folder().join("logs");
        for way in provision::ways(&Machine) {
            match provision::go(way, &Machine, &logs) {
                Ok(()) => provisioned.push(way.name()),
                Err(failure) => failures.push(failure),
            }
            search = compiler::search(&Machine)?;
            if search.compiler.is_some() {
                break;
            }
        }
    }
    record(workspace, &search, &provisioned)?;
    let Search { compiler, rejected } = search;
    compiler.ok_or_else(|| {
        let rejected: Vec<String> = rejected.iter().map(|one| format!("{} {}", one.rustc, one.reason)).collect();
        let tried = if failures.is_empty() { String::new() } else { format!("\n{}", failures.join("; ")) };
        let (reasons, advice) = (rejected.join("; "), provision::advice(&Machine));
        Error::new(format!("no compiler here can make PTX: {reasons}{tried}\n{advice}"))
    })
}

/// Writes `build.json`, for `doctor` and reports.
fn record(workspace: &Workspace, search: &Search, provisioned: &[&str]) -> Result<()> {
    let path = workspace.own_folder().join("build.json");
    facts::write(&path, &facts::build(search, provisioned, &provision::advice(&Machine)))
}
