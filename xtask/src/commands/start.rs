//! Any command of `warpwise`: builds what it needs, then becomes it.

use crate::error::Result;
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
    ("exercise", Need::Kernels),
    ("labs", Need::Kernels),
    ("ptx", Need::Kernels),
    ("regs", Need::Kernels),
    ("run", Need::IfPossible),
    ("sass", Need::Kernels),
    ("step", Need::Kernels),
    ("sweep", Need::Kernels),
    ("trace", Need::Kernels),
    ("watch", Need::Kernels),
];

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    let kernels = prepare::prepare(workspace, words, need(words))?;
    let mut command = Command::new(workspace.program());
    command.args(words.for_the_program());
    if let Some(folder) = kernels {
        command.env("WARPWISE_KERNELS", folder);
    }
    if words.no_provision {
        command.env("WARPWISE_NO_PROVISION", "1");
    }
    program::become_it(command)
}

/// The help of `warpwise`, after our own.
pub fn help(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    prepare::prepare(workspace, words, Need::Nothing)?;
    println!("\nCommands of warpwise:\n");
    let mut command = Command::new(workspace.program());
    command.arg("--help");
    program::become_it(command)
}

/// Help needs no kernels, whatever it is about, and neither does PTX that the user brings.
fn need(words: &Words) -> Need {
    let does_without = words.rest.iter().any(|word| word == "--help" || word == "-h" || word.ends_with(".ptx"));
    let row = NEEDS.iter().find(|(command, _)| words.command.as_deref() == Some(command));
    row.filter(|_| !does_without).map_or(Need::Nothing, |(_, need)| *need)
}

#[cfg(test)]
mod tests {
    use super::need;
    use crate::prepare::Need;
    use crate::words::Words;

    #[test]
    fn labs_wait_for_kernels_and_doctor_occupancy_and_help_do_not() {
        let need_of = |line: &str| need(&Words::parse(line.split(' ').map(str::to_owned)).unwrap());
        assert_eq!(need_of("labs launch"), Need::Kernels);
        assert_eq!(need_of("bench"), Need::IfPossible);
        assert_eq!(need_of("run --entry vecadd"), Need::IfPossible);
        for line in ["doctor", "occupancy --block 256", "run x.ptx", "list", "explain launch", "labs --help", "no-such"]
        {
            assert_eq!(need_of(line), Need::Nothing, "{line}");
        }
    }
}
