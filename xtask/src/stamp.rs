//! Whether a product is still that of its inputs: a stamp beside it lists them as they were.
//!
//! A file that has its old time and length is taken as unchanged; one that has not is read, so that a checkout or a
//! touch that changes no content makes nothing stale.

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// FNV-1a, 64 bits: inputs are told apart, not defended against forgery.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[derive(Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Everything that is no file: compiler, flags, places.
    key: String,
    inputs: Vec<Input>,
}

#[derive(Debug, PartialEq, Eq)]
struct Input {
    length: u64,
    modified_ns: u128,
    hash: u64,
    path: PathBuf,
}

impl Stamp {
    /// The inputs as they are now. `key` must have no line breaks.
    pub fn take(key: &str, paths: &BTreeSet<PathBuf>) -> Result<Self> {
        let inputs = paths.iter().map(|path| Input::read(path)).collect::<Result<_>>()?;
        Ok(Self { key: key.to_owned(), inputs })
    }

    /// Whether an input was changed at or after `time`: then it is not known which content a build saw.
    pub fn has_input_since(&self, time: SystemTime) -> bool {
        let since = nanoseconds(time);
        self.inputs.iter().any(|input| input.modified_ns >= since)
    }

    /// A hash of all contents, as hexadecimal digits.
    pub fn content(&self) -> String {
        let hashes: Vec<u8> = self.inputs.iter().flat_map(|input| input.hash.to_le_bytes()).collect();
        format!("{:016x}", hash(&hashes))
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text = format!("{}\n", self.key);
        for Input { length, modified_ns, hash, path } in &self.inputs {
            text.push_str(&format!("{length} {modified_ns} {hash:x} {}\n", path.display()));
        }
        fs::write(path, text).map_err(|error| Error::file("write", path, &error))
    }

    /// Reads the stamp at `path`, if it is there, of the same key, and still true.
    pub fn current(path: &Path, key: &str) -> Option<Self> {
        let stamp = Self::read(path).filter(|stamp| stamp.key == key)?;
        stamp.inputs.iter().all(Input::is_unchanged).then_some(stamp)
    }

    /// Whether there is a stamp at `path` that is still true of all inputs but some, whatever its key.
    pub fn is_true_but_for(path: &Path, some: &dyn Fn(&Path) -> bool) -> bool {
        let unchanged = |input: &Input| some(&input.path) || input.is_unchanged();
        Self::read(path).is_some_and(|stamp| stamp.inputs.iter().all(unchanged))
    }

    fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let key = lines.next()?.to_owned();
        let inputs = lines.map(Input::parse).collect::<Option<_>>()?;
        Some(Self { key, inputs })
    }
}

impl Input {
    fn read(path: &Path) -> Result<Self> {
        let problem = |error: std::io::Error| Error::file("read", path, &error);
        let metadata = path.metadata().map_err(problem)?;
        let content = fs::read(path).map_err(problem)?;
        Ok(Self {
            length: content.len() as u64,
            modified_ns: metadata.modified().map(nanoseconds).unwrap_or(0),
            hash: hash(&content),
            path: path.to_owned(),
        })
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(4, ' ');
        Some(Self {
            length: fields.next()?.parse().ok()?,
            modified_ns: fields.next()?.parse().ok()?,
            hash: u64::from_str_radix(fields.next()?, 16).ok()?,
            path: fields.next()?.into(),
        })
    }

    fn is_unchanged(&self) -> bool {
        let Ok(metadata) = self.path.metadata() else { return false };
        if metadata.len() != self.length {
            return false;
        }
        let same_time = metadata.modified().is_ok_and(|modified| nanoseconds(modified) == self.modified_ns);
        same_time || fs::read(&self.path).is_ok_and(|content| hash(&content) == self.hash)
    }
}

fn nanoseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::Stamp;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    /// A folder with one input, `a.rs`, stamped under the key "flags".
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("xtask-stamp-{}-{name} with space", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("a.rs"), "fn a() {}").unwrap();
            let stamp = Stamp::take("flags", &BTreeSet::from([folder.join("a.rs")])).unwrap();
            stamp.write(&folder.join("stamp")).unwrap();
            Self(folder)
        }

        fn is_current(&self, key: &str) -> bool {
            Stamp::current(&self.0.join("stamp"), key).is_some()
        }

        fn set_time(&self, time: SystemTime) {
            fs::File::options().write(true).open(self.0.join("a.rs")).unwrap().set_modified(time).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn unchanged_inputs_are_current_under_the_same_key_only() {
        let folder = Folder::new("same");
        assert!(folder.is_current("flags"));
        assert!(!folder.is_current("other flags"));
    }

    #[test]
    fn a_stamp_is_true_but_for_the_inputs_that_may_have_changed() {
        let folder = Folder::new("but for");
        let stamp = folder.0.join("stamp");
        let own = folder.0.join("a.rs");
        assert!(Stamp::is_true_but_for(&stamp, &|_| false));
        fs::write(&own, "fn b() {}").unwrap();
        folder.set_time(SystemTime::now() + Duration::from_secs(9));
        assert!(!Stamp::is_true_but_for(&stamp, &|_| false));
        assert!(Stamp::is_true_but_for(&stamp, &|path| path == own));
        assert!(!Stamp::is_true_but_for(&folder.0.join("none"), &|_| true));
    }

    #[test]
    fn a_touch_makes_nothing_stale_and_an_edit_does_at_any_length() {
        let folder = Folder::new("edit");
        folder.set_time(SystemTime::now() + Duration::from_secs(5));
        assert!(folder.is_current("flags"));
        fs::write(folder.0.join("a.rs"), "fn b() {}").unwrap();
        assert!(!folder.is_current("flags"), "same length, other content");
        fs::write(folder.0.join("a.rs"), "fn a() {} ").unwrap();
        assert!(!folder.is_current("flags"), "other length");
    }

    #[test]
    fn a_removed_input_and_a_broken_stamp_are_stale() {
        let folder = Folder::new("removed");
        fs::write(folder.0.join("stamp"), "flags\n12 broken\n").unwrap();
        assert!(!folder.is_current("flags"));
        let folder = Folder::new("removed too");
        fs::remove_file(folder.0.join("a.rs")).unwrap();
        assert!(!folder.is_current("flags"));
    }

    #[test]
    fn an_input_edited_while_the_build_ran_is_noticed() {
        let folder = Folder::new("race");
        let inputs = BTreeSet::from([folder.0.join("a.rs")]);
        let begin = SystemTime::now() + Duration::from_secs(1);
        assert!(!Stamp::take("flags", &inputs).unwrap().has_input_since(begin));
        folder.set_time(begin + Duration::from_secs(1));
        assert!(Stamp::take("flags", &inputs).unwrap().has_input_since(begin));
    }

    #[test]
    fn the_hash_of_contents_follows_contents_and_not_times() {
        let folder = Folder::new("hash");
        let inputs = BTreeSet::from([folder.0.join("a.rs")]);
        let before = Stamp::take("k", &inputs).unwrap().content();
        folder.set_time(SystemTime::now() + Duration::from_secs(5));
        assert_eq!(Stamp::take("other", &inputs).unwrap().content(), before);
        fs::write(folder.0.join("a.rs"), "fn c() {}").unwrap();
        assert_ne!(Stamp::take("k", &inputs).unwrap().content(), before);
    }
}
