//! What tools made, on disk, found by the content that led to it.
//!
//! A file is named by a 128-bit hash of everything that the tool sees, and begins with a hash of what follows. So two runs
//! may write the same file at once (both write the same, and a rename puts it in place), and a damaged file is noticed,
//! counts as absent and is written anew. Nothing else is promised: the folder may be deleted at any time.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::scratch::write_whole;

/// Length of the hash of the rest.
const HEAD_BYTES: usize = 16;

/// Results kept in one folder.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// The name of a result: of a format's name, the tool's banner, its arguments and its input.
pub(crate) fn key(format: &str, banner: &str, arguments: &[impl AsRef<str>], input: &[u8]) -> String {
    let mut hash = Xxh3::new();
    let arguments = arguments.iter().map(|argument| argument.as_ref().as_bytes());
    for part in [format.as_bytes(), banner.as_bytes()].into_iter().chain(arguments).chain([input]) {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("{:032x}", hash.digest128())
}

impl Cache {
    /// The folder is made when first written to.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// A result, if it is there and undamaged.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.folder.join(key)).ok()?;
        let body = bytes.split_off(bytes.len().min(HEAD_BYTES));
        (bytes == xxh3_128(&body).to_le_bytes()).then_some(body)
    }

    /// Keeps a result. A failure to write only means that the tool runs again the next time.
    pub fn put(&self, key: &str, body: &[u8]) {
        if fs::create_dir_all(&self.folder).is_ok() {
            let bytes = [&xxh3_128(body).to_le_bytes(), body].concat();
            let _ = write_whole(&self.folder.join(key), &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_result_comes_back_and_a_damaged_one_counts_as_absent() {
        let scratch = Scratch::new("warpwise-cache-").unwrap();
        let cache = Cache::new(&scratch.path().join("made when needed"));
        assert_eq!(cache.get("a"), None);
        for body in [&b"a listing"[..], b""] {
            cache.put("a", body);
            assert_eq!(cache.get("a").as_deref(), Some(body));
        }
        let file = scratch.path().join("made when needed").join("a");
        for damaged in [&b"short"[..], b"", &[0; 40]] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(cache.get("a"), None, "{damaged:?}");
        }
    }

    #[test]
    fn every_part_of_a_key_counts_and_so_does_where_it_ends() {
        let keys = [
            key("f", "b", &["x", "y"], b"in"),
            key("g", "b", &["x", "y"], b"in"),
            key("f", "c", &["x", "y"], b"in"),
            key("f", "b", &["xy"], b"in"),
            key("f", "b", &["x", "y"], b"on"),
            key("f", "b", &["x"], b"yin"),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{index}");
        }
    }
}
