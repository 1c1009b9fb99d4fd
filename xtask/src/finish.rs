//! Makes rustc's raw PTX the PTX that ptxas, a driver and the machine see: `warpwise finish-kernels` does the work, this
//! decides when, and writes down what the PTX was made with.

use crate::compiler::Compiler;
use crate::device_build::Raw;
use crate::error::{Error, Result};
use crate::facts::{self, Value};
use crate::kernel_crate::KernelCrate;
use crate::nvvm_head;
use crate::process;
use crate::stamp;
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// A module of a hundred kernels takes under a second.
const LIMIT: Duration = Duration::from_secs(120);

/// Finishes the crate's PTX, unless both it and the program that would finish it are those of the last time. `must_be_ours`: the text
/// came from outside, so its entries and parameters are held against those of our kernels.
pub fn finish(
    workspace: &Workspace,
    compiler: &Compiler,
    kernels: &KernelCrate,
    raw: &Raw,
    must_be_ours: bool,
) -> Result<()> {
    text(workspace, kernels, &raw.path, must_be_ours)?;
    let ours = kernels.folder == KernelCrate::ours(workspace).folder;
    let sources = match must_be_ours {
        true => nvvm_head::sources_of(&read(&raw.path)?),
        false if ours => nvvm_head::sources(&workspace.root)?,
        false => BTreeMap::new(),
    };
    facts::write(&kernels.output.join("kernels.json"), &facts_of(compiler, kernels, raw, &sources))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::file("read", path, &error))
}

/// The PTX alone: what it was made with is written down already.
pub fn text(workspace: &Workspace, kernels: &KernelCrate, raw: &Path, must_be_ours: bool) -> Result<()> {
    let ptx = kernels.output.join("kernels.ptx");
    let key_path = kernels.output.join("kernels.stamp");
    let key = key(raw, &workspace.program())?;
    if !ptx.is_file() || fs::read_to_string(&key_path).ok().as_deref() != Some(&key) {
        let new = kernels.output.join("kernels.ptx.new");
        let mut command = Command::new(workspace.program());
        command.arg("finish-kernels").arg("--raw").arg(raw).arg("--out").arg(&new);
        if must_be_ours {
            command.arg("--ours");
        }
        let log = workspace.own_folder().join("logs").join("finish-kernels.log");
        let finished = process::run(&mut command, &log, LIMIT)?;
        if !finished.success {
            let reason = finished.tail(12);
            return Err(Error::new(format!("the PTX of {} cannot be finished: {reason}", kernels.name)));
        }
        fs::rename(&new, &ptx).map_err(|error| Error::file("replace", &ptx, &error))?;
        facts::replace(&key_path, key.as_bytes())?;
    }
    Ok(())
}

/// The raw PTX by content, the program by time and length: it is large, and cargo replaces it only if it is another.
fn key(raw: &Path, program: &Path) -> Result<String> {
    let ptx = fs::read(raw).map_err(|error| Error::file("read", raw, &error))?;
    let program_facts = program.metadata().map_err(|error| Error::file("read", program, &error))?;
    let modified = program_facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(format!("{:016x} {} {}\n", stamp::hash(&ptx), program_facts.len(), modified.map_or(0, |since| since.as_nanos())))
}

/// The content of `kernels.json`.
fn facts_of(compiler: &Compiler, kernels: &KernelCrate, raw: &Raw, sources: &BTreeMap<String, String>) -> Value {
    let line = |(path, hash): (&String, &String)| Value::Text(format!("{path} {hash}"));
    Value::Object(vec![
        ("schema", "warpwise.kernels/1".into()),
        ("crate", kernels.name.as_str().into()),
        ("rustc", compiler.version.as_str().into()),
        ("llvm", compiler.llvm.as_str().into()),
        ("compiler", compiler.rustc.as_path().into()),
        ("core_source", compiler.core_source.as_path().into()),
        ("source_hash", raw.source_hash.as_str().into()),
        // Path and hash of each source, for what was made of them at another time to be told from this.
        ("sources", Value::List(sources.iter().map(line).collect())),
        // Source paths in the PTX are relative to it.
        ("source_root", kernels.root.as_path().into()),
    ])
}
