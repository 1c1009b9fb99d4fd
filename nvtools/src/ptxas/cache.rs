//! Results of ptxas on disk, found by the content that led to them.
//!
//! A file is named by a 128-bit hash of everything that ptxas sees, and begins with a hash of what follows. So two runs
//! may write the same file at once (both write the same, and a rename puts it in place), and a damaged file is noticed,
//! counts as absent and is written anew. Nothing else is promised: the folder may be deleted at any time.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::Compiled;
use crate::scratch::write_whole;

/// Goes into every key: raise it when [`Compiled`] or what is read out of ptxas's output changes.
const FORMAT: &str = "warpwise-ptxas-1";

/// A length and the hash of the rest.
const HEAD_BYTES: usize = 8 + 16;

/// Results kept in one folder.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// The name of a result.
pub fn key(banner: &str, arguments: &[String], ptx: &str) -> String {
    let mut hash = Xxh3::new();
    for part in [FORMAT, banner].into_iter().chain(arguments.iter().map(String::as_str)).chain([ptx]) {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    format!("{:032x}", hash.digest128())
}

impl Cache {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// A result, if it is there and undamaged.
    pub fn get(&self, key: &str) -> Option<Compiled> {
        decode(&fs::read(self.folder.join(key)).ok()?)
    }

    /// Keeps a result. A failure to write only means that ptxas runs again the next time.
    pub fn put(&self, key: &str, compiled: &Compiled) {
        if let Some(bytes) = encode(compiled)
            && fs::create_dir_all(&self.folder).is_ok()
        {
            let _ = write_whole(&self.folder.join(key), &bytes);
        }
    }
}

/// Length of the report, hash, report as JSON, cubin.
fn encode(compiled: &Compiled) -> Option<Vec<u8>> {
    let report = serde_json::to_vec(compiled).ok()?;
    let length = report.len() as u64;
    let body = [report, compiled.cubin.clone()].concat();
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(xxh3_128(&body).to_le_bytes());
    bytes.extend(body);
    Some(bytes)
}

fn decode(bytes: &[u8]) -> Option<Compiled> {
    let (head, body) = bytes.split_at_checked(HEAD_BYTES)?;
    let (length, hash) = head.split_at_checked(8)?;
    if hash != xxh3_128(body).to_le_bytes() {
        return None;
    }
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (report, cubin) = body.split_at_checked(length)?;
    let compiled: Compiled = serde_json::from_slice(report).ok()?;
    Some(Compiled { cubin: cubin.to_vec(), ..compiled })
}
