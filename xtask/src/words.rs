//! The words after `cargo xtask`: the few that are this program's own are taken out, the rest goes on to `warpwise`.

use crate::error::{Error, Result};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The first word that is no option: the command.
    pub command: Option<String>,
    /// Everything but the command and this program's own options, in order.
    pub rest: Vec<String>,
    /// `--no-provision`: install nothing.
    pub no_provision: bool,
    /// `--crate PATH`: a kernel crate of the user's instead of ours.
    pub kernel_crate: Option<PathBuf>,
    /// `--codegen nvvm`: the kernels by rust-cuda's back end.
    pub nvvm: bool,
    /// `--ptx FILE`, with it: what rust-cuda made of them elsewhere.
    pub ptx: Option<PathBuf>,
}

impl Words {
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut parsed = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--no-provision" => parsed.no_provision = true,
                "--crate" => {
                    let path = words.next().filter(|path| !path.starts_with("--"));
                    let path =
                        path.ok_or_else(|| Error::new("--crate needs the folder of a kernel crate: --crate PATH"))?;
                    parsed.kernel_crate = Some(path.into());
                }
                "--codegen" | "--ptx" => {
                    let value = words.next().filter(|value| !value.starts_with("--")).unwrap_or_default();
                    parsed.option(&word, &value)?;
                }
                "--" => {
                    parsed.rest.push(word);
                    parsed.rest.extend(words.by_ref());
                }
                _ => match word.split_once('=') {
                    Some(("--crate", path)) => parsed.kernel_crate = Some(path.into()),
                    Some((option @ ("--codegen" | "--ptx"), value)) => parsed.option(option, value)?,
                    _ if parsed.command.is_none() && !word.starts_with('-') => parsed.command = Some(word),
                    _ => parsed.rest.push(word),
                },
            }
        }
        if parsed.ptx.is_some() && !parsed.nvvm {
            return Err(Error::new(
                "--ptx FILE is PTX that rust-cuda made of the kernels: it goes with --codegen nvvm",
            ));
        }
        if parsed.nvvm && parsed.kernel_crate.is_some() {
            return Err(Error::new("--codegen nvvm is for the kernels here, --crate for yours: leave one of them out"));
        }
        Ok(parsed)
    }

    fn option(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, value) {
            ("--codegen", "nvvm") => self.nvvm = true,
            ("--codegen", "rustc") => self.nvvm = false,
            ("--codegen", _) => {
                return Err(Error::new(format!("--codegen is `{value}`; expected rustc or nvvm")));
            }
            (_, "") => return Err(Error::new("--ptx needs a file: --ptx FILE")),
            (_, path) => self.ptx = Some(path.into()),
        }
        Ok(())
    }

    /// The words that `warpwise` is started with.
    pub fn for_the_program(&self) -> impl Iterator<Item = &String> {
        self.command.iter().chain(&self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    fn parse(line: &str) -> Words {
        Words::parse(line.split_whitespace().map(str::to_owned)).unwrap()
    }

    #[test]
    fn words_of_the_program_keep_their_order() {
        let words = parse("labs launch ids --device H200 --json out.json");
        assert_eq!(words.command.as_deref(), Some("labs"));
        assert_eq!(
            words.for_the_program().map(String::as_str).collect::<Vec<_>>().join(" "),
            "labs launch ids --device H200 --json out.json"
        );
        assert!(!words.no_provision && words.kernel_crate.is_none());
    }

    #[test]
    fn own_options_are_taken_out_wherever_they_stand() {
        for line in
            ["--no-provision --crate my regs k", "regs --crate=my k --no-provision", "regs k --crate my --no-provision"]
        {
            let words = parse(line);
            assert_eq!(words.rest, ["k"], "{line}");
            assert!(words.no_provision, "{line}");
            assert_eq!(words.kernel_crate.as_deref(), Some("my".as_ref()), "{line}");
        }
    }

    #[test]
    fn what_follows_two_dashes_is_left_alone() {
        let words = parse("driver -- program --crate x --no-provision");
        assert_eq!(words.rest, ["--", "program", "--crate", "x", "--no-provision"]);
        assert!(!words.no_provision && words.kernel_crate.is_none());
    }

    #[test]
    fn the_back_end_is_chosen_by_word_and_a_file_goes_with_it() {
        for line in ["labs x --codegen nvvm --ptx k.ptx", "--ptx=k.ptx --codegen=nvvm labs x"] {
            let words = parse(line);
            assert!(words.nvvm && words.rest == ["x"], "{line}");
            assert_eq!(words.ptx.as_deref(), Some("k.ptx".as_ref()), "{line}");
        }
        assert!(!parse("labs --codegen rustc").nvvm);
        for line in [
            "labs --codegen llvm",
            "labs --codegen",
            "labs --ptx k.ptx",
            "labs --codegen nvvm --ptx",
            "labs --codegen nvvm --crate x",
        ] {
            assert!(Words::parse(line.split(' ').map(str::to_owned)).is_err(), "{line}");
        }
    }

    #[test]
    fn crate_without_a_path_is_an_error_that_says_so() {
        for line in [vec!["regs", "--crate"], vec!["regs", "--crate", "--json"]] {
            let error = Words::parse(line.into_iter().map(str::to_owned)).unwrap_err();
            assert!(error.to_string().contains("--crate PATH"), "{error}");
        }
    }
}
