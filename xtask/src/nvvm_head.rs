//! What PTX by rust-cuda says of its making: comments at its head, written when it is built, so that the file keeps them wherever it is
//! carried, and read when it is taken in.
//!
//! ```text
//! // The kernels of Warpwise, by rust-cuda: `--codegen nvvm --ptx FILE` takes this file.
//! // made: 2026-12-01
//! // commit: 0c1cb7e6…
//! // rust-cuda: 946c91f0…
//! // rustc: rustc 1.96.0-nightly (…)
//! // llvm: 7.1.0
//! // cuda: 13.2
//! // source: kernels-gpu/src/access.rs 0123456789abcdef
//! ```

use crate::error::{Error, Result};
use crate::stamp;
use crate::system::System;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const TITLE: &str = "// The kernels of Warpwise, by rust-cuda: `--codegen nvvm --ptx FILE` takes this file.";

/// The sources whose hashes go into the head.
const SOURCES: &str = "kernels-gpu/src";

/// Names and values of a head, the sources left out; none where the text has no head.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Head(BTreeMap<String, String>);

impl Head {
    /// Reads the head of a text.
    pub fn of(ptx: &str) -> Self {
        let lines = ptx.lines().take_while(|line| line.starts_with("// "));
        let fields = lines.filter_map(|line| line.trim_start_matches("// ").split_once(": "));
        Self(fields.filter(|(name, _)| *name != "source").map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// One value, or that it is unknown.
    pub fn value(&self, name: &str) -> &str {
        self.0.get(name).map_or("unknown", String::as_str)
    }
}

/// The head of a text that is made now from the sources under `root`. `rustc` and `llvm` are what those two say of themselves.
pub fn now(system: &dyn System, root: &Path, rust_cuda: &str, rustc: &str, llvm: &str, cuda: &str) -> Result<String> {
    let date = system.output("date", &["-u", "+%F"]).unwrap_or_default();
    let folder = root.display().to_string();
    let git = |arguments: &[&str]| system.output("git", &[&["-C", &folder], arguments].concat());
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let changed = git(&["status", "--porcelain", "--", "kernels-gpu"]).is_some_and(|status| !status.trim().is_empty());
    let commit = format!("{}{}", commit.trim(), if changed { ", with changes" } else { "" });
    let mut text = format!("{TITLE}\n");
    for (name, value) in [
        ("made", date.trim()),
        ("commit", commit.as_str()),
        ("rust-cuda", rust_cuda),
        ("rustc", rustc),
        ("llvm", llvm),
        ("cuda", cuda),
    ] {
        text.push_str(&format!("// {name}: {value}\n"));
    }
    for (path, hash) in sources(root)? {
        text.push_str(&format!("// source: {path} {hash}\n"));
    }
    Ok(text)
}

/// The sources that a text says it is of.
pub fn sources_of(ptx: &str) -> BTreeMap<String, String> {
    let lines = ptx.lines().map_while(|line| line.strip_prefix("// "));
    let sources = lines.filter_map(|line| line.strip_prefix("source: ")?.split_once(' '));
    sources.map(|(path, hash)| (path.to_owned(), hash.to_owned())).collect()
}

/// Which of the sources under `root` are not those that a text is of.
pub fn changed(root: &Path, ptx: &str) -> Result<Vec<String>> {
    let (then, now) = (sources_of(ptx), sources(root)?);
    let paths: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    Ok(paths.into_iter().filter(|path| then.get(*path) != now.get(*path)).cloned().collect())
}

/// Paths of the kernels' sources below `root`, and a hash of what each says: blank lines and lines of comment change nothing.
pub fn sources(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join(SOURCES)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| Error::file("read the folder", &folder, &error))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).map_err(|error| Error::file("read", &path, &error))?;
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                found.insert(name, format!("{:016x}", stamp::hash(code(&text).as_bytes())));
            }
        }
    }
    Ok(found)
}

/// The lines that are no comment, without what they begin and end with.
fn code(source: &str) -> String {
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Fake;

    #[test]
    fn a_head_is_read_as_it_was_written_and_names_every_source() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let output = |line: String, text: &str| (line, text.to_owned());
        let system = Fake {
            outputs: vec![
                output("date -u +%F".to_owned(), "2026-12-01\n"),
                output(format!("git -C {} rev-parse HEAD", root.display()), "abc\n"),
                output(format!("git -C {} status --porcelain -- kernels-gpu", root.display()), " M x\n"),
            ],
            ..Fake::default()
        };
        let text =
            now(&system, root, "946c91f", "rustc 1.96.0-nightly", "7.1.0", "13.2").expect("the sources are there");
        let head = Head::of(&format!("{text}.version 7.8\n// made: never\n"));
        let expected = [("made", "2026-12-01"), ("commit", "abc, with changes"), ("rustc", "rustc 1.96.0-nightly")];
        for (name, value) in expected.into_iter().chain([("llvm", "7.1.0"), ("cuda", "13.2"), ("rust-cuda", "946c91f")])
        {
            assert_eq!(head.value(name), value);
        }
        for source in ["vecadd.rs", "msda/forward.rs", "shared/nvvm.rs"] {
            let line = format!("\n// source: kernels-gpu/src/{source} ");
            assert_eq!(text.matches(&line).count(), 1, "{source}: {text}");
        }
        assert_eq!(changed(root, &text), Ok(Vec::new()));
        let other = text.replace("kernels-gpu/src/vecadd.rs ", "kernels-gpu/src/vecadd.rs f");
        assert_eq!(changed(root, &other), Ok(vec!["kernels-gpu/src/vecadd.rs".to_owned()]));
    }

    #[test]
    fn a_text_without_a_head_says_nothing() {
        let head = Head::of("//\n// Generated by NVIDIA NVVM Compiler\n.version 7.8\n");
        assert_eq!((head.value("made"), head.value("commit")), ("unknown", "unknown"));
    }

    #[test]
    fn comments_and_blank_lines_are_no_change_and_code_is() {
        let old = "/// One.\nfn a() {\n    b();\n}\n";
        assert_eq!(code(old), code("fn a() {\n\n  // why\n  b();\n}"));
        assert_ne!(code(old), code("fn a() {\n    c();\n}\n"));
    }
}
