//! Any command of `warpwise`: builds what it needs, then becomes it.

use crate::error::{Error, Result};
use crate::prepare::{self, Need};
use crate::program;
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::{Command, ExitCode};

/// What commands need of the kernels; one that is not here needs nothing.
const NEEDS: [(&str, Need); 17] = [
    ("accuracy", Need::Kernels),
    ("bench", Need::IfPossible),
    ("book", Need::Kernels),
    ("bundle", Need::Kernels),
    ("counters", Need::Kernels),
    ("diagnose", Need::Kernels),
    ("diff", Need::Kernels),
    ("labs", Need::Kernels),
    ("ptx", Need::Kernels),
    ("quiz", Need::Kernels),
    ("regs", Need::Kernels),
    ("run", Need::IfPossible),
    ("sass", Need::Kernels),
    ("step", Need::Kernels),
    ("sweep", Need::Kernels),
    ("trace", Need::Kernels),
    ("watch", Need::Kernels),
];

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    let words = &with_the_exercise(workspace, words)?;
    let kernels = prepare::prepare(workspace, words, need(words))?;
    let mut command = Command::new(workspace.program());
    command.args(words.for_the_program()).env("WARPWISE_CHECKOUT", &workspace.root);
    if let Some(folder) = kernels {
        command.env("WARPWISE_KERNELS", folder);
    }
    if words.no_provision {
        command.env("WARPWISE_NO_PROVISION", "1");
    }
    command.env("WARPWISE_BUILD_CMD", build_command(workspace, words));
    program::become_it(command)
}

/// The line for a shell that builds the same kernels again: `watch` and `diff` start it, with words of their own behind it.
fn build_command(workspace: &Workspace, words: &Words) -> String {
    let quoted = |word: &str| match cfg!(windows) {
        true => format!("\"{word}\""),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let mut line = format!("{} build", quoted(&workspace.own_executable.display().to_string()));
    if words.no_provision {
        line.push_str(" --no-provision");
    }
    if words.nvvm {
        line.push_str(" --codegen nvvm");
    }
    if let Some(path) = &words.ptx {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        line.push_str(&format!(" --ptx {}", quoted(&path.display().to_string())));
    }
    if let Some(path) = &words.kernel_crate {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        line.push_str(&format!(" --crate {}", quoted(&path.display().to_string())));
    }
    line
}

/// The help of `warpwise`, after our own.
pub fn help(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    prepare::prepare(workspace, words, Need::Nothing)?;
    println!("\nCommands of warpwise:\n");
    let mut command = Command::new(workspace.program());
    command.arg("--help");
    program::become_it(command)
}

/// `exercise ID --check` is about the crate that `exercise ID` wrote.
fn with_the_exercise(workspace: &Workspace, words: &Words) -> Result<Words> {
    let mut with = words.clone();
    if words.kernel_crate.is_none() {
        let mut folders = checked_exercise(words).map(|id| workspace.root.join("exercises").join(id));
        with.kernel_crate = folders.find(|folder| folder.is_dir());
    }
    match checked_exercise(words).next() {
        Some(id) if with.kernel_crate.is_none() => Err(Error::new(format!(
            "there is nothing to check yet: `cargo xtask exercise {id}` shows the task and writes the kernel to change"
        ))),
        _ => Ok(with),
    }
}

/// The words of which one is the exercise, if a check was asked for. What is no name is left to the program to refuse.
fn checked_exercise(words: &Words) -> impl Iterator<Item = &String> {
    let is_asked_for = words.command.as_deref() == Some("exercise") && words.rest.iter().any(|word| word == "--check");
    let is_name = |word: &&String| word.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    words.rest.iter().filter(move |_| is_asked_for).filter(is_name)
}

/// Help needs no kernels, whatever it is about, and neither does code that the user brings.
fn need(words: &Words) -> Need {
    let is_code = |word: &str| [".ptx", ".cubin", ".fatbin"].iter().any(|end| word.ends_with(end));
    let does_without = words.rest.iter().any(|word| word == "--help" || word == "-h" || is_code(word));
    if checked_exercise(words).next().is_some() && !does_without {
        return Need::Kernels;
    }
    let row = NEEDS.iter().find(|(command, _)| words.command.as_deref() == Some(command));
    row.filter(|_| !does_without).map_or(Need::Nothing, |(_, need)| *need)
}

#[cfg(test)]
mod tests {
    use super::{build_command, need};
    use crate::prepare::Need;
    use crate::words::Words;
    use crate::workspace::Workspace;

    #[test]
    fn the_command_that_builds_again_is_one_line_for_a_shell() {
        let words = |line: &str| Words::parse(line.split('|').map(str::to_owned)).unwrap();
        let workspace = Workspace {
            root: "/w".into(),
            target: "/w/target".into(),
            own_executable: "/w/it's/xtask".into(),
            cargo: "cargo".into(),
        };
        assert_eq!(build_command(&workspace, &words("watch|heavy")), r"'/w/it'\''s/xtask' build");
        let of_a_crate = build_command(&workspace, &words("watch|--crate|/no such/crate|--no-provision"));
        assert_eq!(of_a_crate, r"'/w/it'\''s/xtask' build --no-provision --crate '/no such/crate'");
    }

    #[test]
    fn labs_wait_for_kernels_and_doctor_occupancy_and_help_do_not() {
        let need_of = |line: &str| need(&Words::parse(line.split(' ').map(str::to_owned)).unwrap());
        assert_eq!(need_of("labs launch"), Need::Kernels);
        assert_eq!(need_of("bench"), Need::IfPossible);
        assert_eq!(need_of("run --entry vecadd"), Need::IfPossible);
        assert_eq!(need_of("exercise guard --check"), Need::Kernels);
        for line in [
            "exercise",
            "exercise guard --hint",
            "exercise --check",
            "exercise ../x --check",
            "doctor",
            "occupancy --block 256",
            "run x.ptx",
            "sass x.cubin",
            "list",
            "explain launch",
            "labs --help",
            "no-such",
        ] {
            assert_eq!(need_of(line), Need::Nothing, "{line}");
        }
    }
}
