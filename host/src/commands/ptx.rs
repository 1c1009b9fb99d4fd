//! `ptx KERNEL|FILE`: a kernel's PTX under the source lines that it comes from.

use std::path::Path;

use super::Outcome;
use super::listing::{ListingOptions, Titled};
use crate::error::CommandError;
use crate::kernels::KernelFiles;
use crate::listing::{Sources, ptx};
use crate::report::terminal;
use crate::suggest::UnknownName;
use crate::toolbox::Toolbox;
use crate::user_code::UserCode;

/// Show a kernel's PTX beside its source
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    listing: ListingOptions,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let options = options.listing;
    let (text, entry, mut sources) = match UserCode::is_meant(&options.subject) {
        true => {
            let code = UserCode::read(&options.subject, &Toolbox::look(None))?;
            let text = code.ptx()?.to_owned();
            let known: Vec<String> = ptx::entries(&text).map(str::to_owned).collect();
            let entry = code.entry(options.entry.as_deref(), &known)?;
            (text, entry, Sources::around(Path::new(&options.subject)))
        }
        false => {
            let files = KernelFiles::open()?;
            let sources = Sources::of(&files);
            (files.ptx, options.subject.clone(), sources)
        }
    };
    let listing = ptx::listing(&text, &entry, options.live)
        .ok_or_else(|| UnknownName::new("kernel", &entry, ptx::entries(&text)))?;
    let titled = Titled { title: format!("{entry} in PTX"), arch: "ptx".to_owned(), listing, is_sass: false };
    options.print(&mut terminal::stdout(), &[titled], &mut sources, false)?;
    Ok(Outcome::Good)
}
