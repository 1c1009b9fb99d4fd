//! Source files that a listing quotes, read once each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::SourcePlace;

/// The lines of the sources under some folders. A file that is not there is quoted as nothing: a bundle has no sources.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Sources with relative paths are looked for under the folders above `start` (the kernels' folder lies in a
    /// checkout's `target`), and under the working directory.
    pub fn near(start: &Path) -> Self {
        let mut roots: Vec<PathBuf> = start.ancestors().map(Path::to_owned).collect();
        roots.push(PathBuf::from("."));
        Self { roots, files: HashMap::new() }
    }

    /// The text of a line, without indentation.
    pub fn line(&mut self, place: &SourcePlace) -> Option<&str> {
        let roots = &self.roots;
        let lines = self.files.entry(place.file.clone()).or_insert_with(|| read(roots, &place.file));
        let line = lines.as_ref()?.get((place.line as usize).checked_sub(1)?)?;
        Some(line.trim())
    }
}

fn read(roots: &[PathBuf], file: &str) -> Option<Vec<String>> {
    let text = roots.iter().find_map(|root| std::fs::read_to_string(root.join(file)).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}
