//! What ptxas made of the kernels when a bundle was packed: cubins and reports, one pair an architecture, beside the PTX.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpwise_nvtools::ptxas::{Compiled, Report};

/// The folder beside the PTX.
const FOLDER: &str = "compiled";

/// A folder of compiled kernels; it may be absent.
#[derive(Debug)]
pub struct Precompiled {
    folder: Option<PathBuf>,
}

/// The text file of a pair; the cubin lies beside it.
#[derive(Serialize, Deserialize)]
struct Record {
    /// Version of the ptxas that made the cubin.
    ptxas: String,
    report: Report,
}

impl Precompiled {
    /// Looks beside the kernels.
    pub fn beside(kernels: Option<&Path>) -> Self {
        Self { folder: kernels.map(|kernels| kernels.join(FOLDER)).filter(|folder| folder.is_dir()) }
    }

    /// Version of the ptxas that was used.
    pub fn ptxas_version(&self) -> Option<String> {
        let folder = fs::read_dir(self.folder.as_ref()?).ok()?;
        folder.flatten().find_map(|file| Some(record(&file.path())?.ptxas))
    }

    /// The kernels for an architecture, if they were packed for it.
    pub fn get(&self, arch: &str) -> Option<Compiled> {
        let path = self.folder.as_ref()?.join(arch).with_extension("json");
        let record = record(&path)?;
        let cubin = fs::read(path.with_extension("cubin")).ok()?;
        Some(Compiled { cubin, report: record.report })
    }

    /// Packs what ptxas made for an architecture, beside the kernels in `kernels`.
    pub fn put(kernels: &Path, arch: &str, ptxas: &str, compiled: &Compiled) -> io::Result<()> {
        let path = kernels.join(FOLDER).join(arch).with_extension("json");
        fs::create_dir_all(kernels.join(FOLDER))?;
        fs::write(path.with_extension("cubin"), &compiled.cubin)?;
        let record = Record { ptxas: ptxas.to_owned(), report: compiled.report.clone() };
        fs::write(&path, serde_json::to_string_pretty(&record)?)
    }
}

/// Anything that is no record is as good as absent: ptxas is asked instead.
fn record(path: &Path) -> Option<Record> {
    let json = path.extension().is_some_and(|extension| extension == "json");
    json.then(|| serde_json::from_str(&fs::read_to_string(path).ok()?).ok()).flatten()
}
