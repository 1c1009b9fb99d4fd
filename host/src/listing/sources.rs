//! Source files that a listing quotes, read once each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::SourcePlace;
use crate::kernels::KernelFiles;

/// The lines of the sources under some folders. A file that is not there is quoted as nothing: a bundle has no sources.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Sources with relative paths are looked for in the folder that the kernels' build named, then in the folders above the
    /// kernels (they lie in a checkout's `target`).
    pub fn of(kernels: &KernelFiles) -> Self {
        let above = kernels.folder.ancestors().map(Path::to_owned);
        Self { roots: kernels.facts.source_root.iter().cloned().chain(above).collect(), files: HashMap::new() }
    }

    /// Sources of a file that the user brought: beside it, then in the working folder.
    pub fn around(path: &Path) -> Self {
        let beside = path.parent().map(Path::to_owned).unwrap_or_default();
        Self { roots: vec![beside, PathBuf::from(".")], files: HashMap::new() }
    }

    /// The text of a line, without indentation.
    pub fn line(&mut self, place: &SourcePlace) -> Option<&str> {
        self.written(place).map(str::trim)
    }

    /// The text of a line as it is written.
    pub fn written(&mut self, place: &SourcePlace) -> Option<&str> {
        let roots = &self.roots;
        let lines = self.files.entry(place.file.clone()).or_insert_with(|| read(roots, &place.file));
        let line = lines.as_ref()?.get((place.line as usize).checked_sub(1)?)?;
        Some(line)
    }
}

fn read(roots: &[PathBuf], file: &str) -> Option<Vec<String>> {
    let text = roots.iter().find_map(|root| std::fs::read_to_string(root.join(file)).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}
