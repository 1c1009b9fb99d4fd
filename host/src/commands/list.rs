//! `list`: the labs, and the kernels they use.

use warpwise_kernels::KERNELS;

use super::Outcome;
use crate::error::CommandError;
use crate::labs::LABS;
use crate::report::terminal;

/// List labs and kernels
#[derive(clap::Args, Debug)]
pub struct Options {}

pub fn run(_: Options) -> Result<Outcome, CommandError> {
    let mut terminal = terminal::stdout();
    let labs = LABS
        .iter()
        .map(|lab| vec![lab.id.to_owned(), lab.sections.to_owned(), lab.question.to_owned(), lab.kernels.join(" ")]);
    terminal.rows(&["lab", "from", "question", "kernels"].map(str::to_owned), labs)?;
    terminal.line("")?;
    let kernels =
        KERNELS.iter().map(|kernel| vec![kernel.name.to_owned(), kernel.params.join(" "), first_sentence(kernel.doc)]);
    terminal.rows(&["kernel", "parameters", "what it does"].map(str::to_owned), kernels)?;
    Ok(Outcome::Good)
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
