//! The last run of each lab, kept as `labs --json` wrote it, so that a page has results before anyone waits.

use std::path::PathBuf;

use serde_json::Value;

use crate::lab::Lab;

/// A folder with a file a lab and device.
#[derive(Clone, Debug)]
pub struct Recorded {
    folder: PathBuf,
}

impl Recorded {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where the run of a lab on a device is kept. Both are names from our own tables, so the path stays in the folder.
    pub fn path(&self, lab: &'static Lab, device: &str) -> PathBuf {
        let device: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.folder.join(format!("{}--{device}.json", lab.id))
    }

    /// The run, if there is one that can be read.
    pub fn load(&self, lab: &'static Lab, device: &str) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(self.path(lab, device)).ok()?).ok()
    }
}
