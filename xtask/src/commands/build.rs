//! `cargo xtask build [--into FOLDER] [--only KERNEL,KERNEL [--again]]`: kernels and program, and nothing started. With a folder, the
//! kernels go there, as files beside those that other commands use. Of some kernels alone, a build takes a fraction of the time; again,
//! when only the crate's own files have changed, it takes less.

use crate::error::{Error, Result};
use crate::prepare::{self, Need, Wish};
use crate::words::Words;
use crate::workspace::Workspace;
use std::process::ExitCode;

pub fn run(workspace: &Workspace, words: &Words) -> Result<ExitCode> {
    if let Some(folder) = prepare::prepare_as(workspace, words, Need::Kernels, &wish(words)?)? {
        println!("{}", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn wish(words: &Words) -> Result<Wish> {
    const USAGE: &str = "usage: cargo xtask build [--crate PATH] [--into FOLDER [--only KERNEL,KERNEL [--again]]]";
    let mut wish = Wish::default();
    let mut words = words.rest.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--into" => wish.into = words.next().map(Into::into),
            "--only" => wish.only = words.next().cloned(),
            "--again" => wish.again = true,
            _ => return Err(Error::new(USAGE)),
        }
    }
    // Some kernels in the usual place would be taken for all, and without a folder that stays there is nothing to do again.
    let is_half = matches!(wish, Wish { only: Some(_), into: None, .. } | Wish { only: None, again: true, .. });
    if is_half { Err(Error::new(USAGE)) } else { Ok(wish) }
}

#[cfg(test)]
mod tests {
    use super::{Wish, wish};
    use crate::words::Words;

    fn of(line: &str) -> Option<Wish> {
        wish(&Words::parse(line.split(' ').map(str::to_owned)).unwrap()).ok()
    }

    #[test]
    fn some_kernels_go_into_a_folder_of_the_callers_and_never_to_the_usual_place() {
        assert_eq!(of("build"), Some(Wish::default()));
        let some = of("build --only a,b --again --into /k").unwrap();
        assert_eq!((some.only.as_deref(), some.again, some.into), (Some("a,b"), true, Some("/k".into())));
        for line in ["build --only a", "build --again --into /k", "build heavy"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
