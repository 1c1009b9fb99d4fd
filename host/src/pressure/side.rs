//! One side of a comparison, in words: `heavy`, `heavy@HEAD~3`, `heavy:sm_80`, `heavy:rustc=/usr/bin/rustc`, `FILE.ptx:heavy`.

use std::path::{Path, PathBuf};

/// A kernel, and where and for what it is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The word as it was given.
    pub given: String,
    /// A file of PTX; none: the kernels that are built.
    pub file: Option<PathBuf>,
    /// May be left out of a file with one kernel.
    pub kernel: Option<String>,
    /// Anything that git takes for a commit.
    pub commit: Option<String>,
    /// `sm_80`; else the device's.
    pub arch: Option<String>,
    /// The device compiler; else the one that `cargo xtask` finds.
    pub rustc: Option<PathBuf>,
}

/// Reads one side.
///
/// # Errors
/// What was given, and what was expected.
pub fn parse_side(text: &str) -> Result<Side, String> {
    let expected = || {
        format!(
            "`{text}` is no side of a comparison; expected KERNEL, KERNEL@COMMIT or FILE.ptx, behind it :sm_80, :rustc=PATH or, for a file, :KERNEL"
        )
    };
    let mut words = text.split(':');
    let subject = words.next().filter(|subject| !subject.is_empty()).ok_or_else(expected)?;
    let mut side = Side { given: text.to_owned(), ..Side::default() };
    if subject.ends_with(".ptx") || Path::new(subject).is_file() {
        side.file = Some(subject.into());
    } else if let Some((kernel, commit)) = subject.split_once('@') {
        side.kernel = Some(kernel.to_owned()).filter(|kernel| !kernel.is_empty());
        side.commit = Some(commit.to_owned()).filter(|commit| !commit.is_empty() && !commit.starts_with('-'));
        if side.kernel.is_none() || side.commit.is_none() {
            return Err(expected());
        }
    } else {
        side.kernel = Some(subject.to_owned());
    }
    for word in words {
        match word.strip_prefix("rustc=") {
            Some(path) if !path.is_empty() && side.file.is_none() => side.rustc = Some(path.into()),
            None if word.starts_with("sm_") => side.arch = Some(word.to_owned()),
            None if side.file.is_some() && side.kernel.is_none() && !word.is_empty() => {
                side.kernel = Some(word.to_owned())
            }
            _ => return Err(expected()),
        }
    }
    Ok(side)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_a_kernel_or_a_file_and_what_it_is_compiled_for() {
        let side = |text: &str| parse_side(text).unwrap();
        assert_eq!(side("heavy").kernel.as_deref(), Some("heavy"));
        let at = side("heavy@HEAD~3:sm_80");
        assert_eq!(
            (at.kernel.as_deref(), at.commit.as_deref(), at.arch.as_deref()),
            (Some("heavy"), Some("HEAD~3"), Some("sm_80"))
        );
        assert_eq!(side("heavy:rustc=/usr/bin/rustc").rustc, Some("/usr/bin/rustc".into()));
        let file = side("/tmp/x.ptx:heavy:sm_90");
        assert_eq!(
            (file.file, file.kernel.as_deref(), file.arch.as_deref()),
            (Some("/tmp/x.ptx".into()), Some("heavy"), Some("sm_90"))
        );
        assert_eq!(side("/tmp/x.ptx").kernel, None);
    }

    #[test]
    fn what_is_no_side_says_what_one_is() {
        for text in ["", ":sm_80", "heavy@", "@HEAD", "heavy:x", "heavy@--exec", "x.ptx:rustc=/r"] {
            let error = parse_side(text).expect_err(text);
            assert!(error.contains("KERNEL@COMMIT"), "{error}");
        }
    }
}
