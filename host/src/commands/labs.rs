//! `labs`: runs labs, prints what they found, writes it for programs and browsers. Exit code 1 if a claim fails, 2 if the
//! GPU itself let a lab down.

use std::path::PathBuf;

use super::{Outcome, write_text};
use crate::backend::GpuError;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::lab::{Lab, LabContext, RunOutcome};
use crate::labs::{self, LABS};
use crate::progress::Progress;
use crate::report::{html, terminal};
use crate::schema;
use crate::workbench::Workbench;

/// Run labs: kernels, tables, claims
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Labs, as `list` shows them; none: all
    ids: Vec<String>,
    /// Labs of this chapter only
    #[arg(long, value_name = "N", conflicts_with = "ids")]
    chapter: Option<u8>,
    /// Where kernels run: a GPU where there is one, else the machine
    #[arg(long, value_name = "auto|sim|cuda", default_value = "auto")]
    backend: String,
    /// Runs of each lab on its backend: a claim has to hold in all of them. Times on a GPU differ from run to run, the machine's
    /// do not
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeat: u32,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let chosen = choose(&options)?;
    let bench = Workbench::open(global, &options.backend)?;
    bench.kernels.require_ours("labs")?;
    bench.say_what_is_missing();
    let model = bench.measures().then(|| bench.modelled(global)).transpose()?;
    let progress = Progress::stderr();
    let mut terminal = terminal::stdout();
    let benches = std::iter::once(&bench).chain(&model);
    let ceilings = benches.map(|bench| bench.ceilings().cloned()).collect::<Result<_, _>>()?;
    let mut run = RunOutcome { toolchain: bench.toolchain().clone(), ceilings, labs: Vec::new() };
    let is_kept = options.json.is_some() || options.html.is_some();
    for lab in chosen {
        if terminal.is_unread() && !is_kept {
            break;
        }
        let mut outcome = LabContext::run(lab, &bench, &progress);
        for _ in 1..options.repeat {
            if outcome.trouble.is_some() {
                break;
            }
            outcome.add_run(LabContext::run(lab, &bench, &progress));
        }
        if let Some(model) = &model {
            outcome.add_model(LabContext::run(lab, model, &progress));
        }
        progress.aside(|| terminal.lab(&outcome, &run.ceilings))?;
        run.labs.push(outcome);
        // A GPU that is lost is lost to the labs to come; one that had too little memory may have enough for them.
        if matches!(run.labs.last().and_then(|lab| lab.trouble.as_ref()), Some(GpuError::Unusable(_))) {
            break;
        }
    }
    drop(progress);
    terminal.summary(&run)?;
    if let Some(path) = &options.json {
        write_text(path, &schema::text(&schema::labs(&run)))?;
    }
    if let Some(path) = &options.html {
        write_text(path, &html::page(&run))?;
    }
    if let Some(trouble) = run.labs.iter().find_map(|lab| lab.trouble.clone()) {
        return Err(trouble.into());
    }
    Ok(if run.summary().fails > 0 { Outcome::Failed } else { Outcome::Good })
}

fn choose(options: &Options) -> Result<Vec<&'static Lab>, CommandError> {
    if !options.ids.is_empty() {
        return options.ids.iter().map(|id| Ok(labs::find(id)?)).collect();
    }
    let Some(chapter) = options.chapter else {
        return Ok(LABS.to_vec());
    };
    let chosen: Vec<&Lab> = LABS.iter().copied().filter(|lab| lab.chapter == chapter).collect();
    if chosen.is_empty() {
        let mut chapters: Vec<String> = LABS.iter().map(|lab| lab.chapter.to_string()).collect();
        chapters.dedup();
        return Err(CommandError::Usage(format!(
            "no lab is of chapter {chapter}; there are labs of {}",
            chapters.join(", ")
        )));
    }
    Ok(chosen)
}
