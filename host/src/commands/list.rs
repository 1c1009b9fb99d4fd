//! `list`: the labs, their exercises and the kernels they use; with `--crate`, the kernels of that crate.

use warpwise_kernels::KERNELS;

use super::Outcome;
use crate::error::CommandError;
use crate::exercises;
use crate::kernels::{Code, KernelFiles};
use crate::labs::LABS;
use crate::report::terminal;

/// List labs and kernels
#[derive(clap::Args, Debug)]
pub struct Options {}

pub fn run(_: Options) -> Result<Outcome, CommandError> {
    let mut terminal = terminal::stdout();
    if let Some(files) = KernelFiles::open().ok().filter(|files| !files.are_ours()) {
        let code = Code::parse(&files.ptx_path.display().to_string(), &files.ptx)?;
        let kernels = code.entries().map(|entry| Ok(vec![entry.to_owned(), parameters(&code, entry)?]));
        let kernels = kernels.collect::<Result<Vec<_>, CommandError>>()?;
        terminal.rows(&["kernel", "parameters, as PTX has them"].map(str::to_owned), kernels)?;
        return Ok(Outcome::Good);
    }
    let labs = LABS.iter().map(|lab| {
        let exercise = exercises::of_lab(lab.id).map_or("", |exercise| exercise.title);
        [lab.id, lab.sections, lab.question, exercise, &lab.kernels.join(" ")].map(str::to_owned).to_vec()
    });
    terminal.rows(&["lab", "from", "question", "exercise", "kernels"].map(str::to_owned), labs)?;
    terminal.line("")?;
    let kernels =
        KERNELS.iter().map(|kernel| vec![kernel.name.to_owned(), kernel.params.join(" "), first_sentence(kernel.doc)]);
    terminal.rows(&["kernel", "parameters", "what it does"].map(str::to_owned), kernels)?;
    Ok(Outcome::Good)
}

/// Types of an entry's parameters. PTX has no names for them, and pointers are `u64` or `b64`.
fn parameters(code: &Code, entry: &str) -> Result<String, CommandError> {
    let types: Vec<&str> = code.program(entry)?.params.iter().map(|param| param.ty.name()).collect();
    Ok(types.join(" "))
}

/// The first sentence of a doc comment, without its marks for code and links.
fn first_sentence(doc: &str) -> String {
    let paragraph: Vec<&str> = doc.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ").replace("[`", "").replace("`]", "").replace('`', "");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_introduced_by_the_first_sentence_of_its_doc_comment() {
        let doc = " [`vecadd()`] without the guard: right when the\n threads are the elements. More.\n\n - `a`: read";
        assert_eq!(first_sentence(doc), "vecadd() without the guard: right when the threads are the elements");
        assert_eq!(first_sentence(""), "");
    }
}
