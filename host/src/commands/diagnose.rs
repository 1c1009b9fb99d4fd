//! `diagnose KERNEL|FILE.ptx`: the six questions of chapter 3 and the checklist of chapter 4, answered with the numbers of a run.
//! Exit code 1 if the kernel faults.

use std::path::PathBuf;

use serde::Serialize;

use super::subject::SubjectOptions;
use super::{Outcome, write_text};
use crate::cli::GlobalOptions;
use crate::diagnose::{Answer, Diagnosis, Subject, examine};
use crate::error::CommandError;
use crate::kernels::Resources;
use crate::report::terminal;
use crate::schema;
use crate::toolbox::Target;
use crate::workbench::{Workbench, device};

/// Ask a kernel the questions of a performance trace, and what to try next
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    subject: SubjectOptions,
    /// Write the answers as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernel: &'a str,
    device: &'a str,
    isa: &'static str,
    steps: &'a [Answer],
    checklist: &'a [Answer],
    finding: &'static str,
    why: &'a str,
    next: &'a str,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let source = options.subject.source()?;
    let device = device(global)?;
    let program = &source.program;
    // The tools stand beside the kernels that were built; a file of PTX can do without either.
    let bench = match Workbench::open(global, "sim") {
        Err(error) if source.built => return Err(error.into()),
        other => other.ok(),
    };
    let (resources, timed) = match &bench {
        Some(bench) if source.built => {
            (bench.resources(&program.name, &device.arch(), None)?, bench.executed(&program.name)?)
        }
        bench => {
            let compiled = bench.as_ref().and_then(|bench| {
                let target = Target { entry: Some(program.name.clone()), ..Target::arch(&device.arch()) };
                bench.tools.compile(&source.text, &target).ok()
            });
            let by_ptxas = compiled.as_ref().and_then(|compiled| compiled.resources(&program.name));
            (by_ptxas.map_or_else(|| Resources::estimated(program, None), Resources::compiled), program.clone())
        }
    };
    let subject = Subject {
        device,
        ptx: program,
        executed: &timed,
        variables: source.code.variables(),
        resources,
        grid: options.subject.grid,
        block: options.subject.block,
        dynamic_shared_bytes: options.subject.shared,
        registers: options.subject.regs,
        arguments: &options.subject.arguments(program)?,
    };
    let facts = match examine(&subject)? {
        Ok(facts) => facts,
        Err(fault) => {
            terminal::stdout().line(&format!("fault: {fault}"))?;
            return Ok(Outcome::Failed);
        }
    };
    let diagnosis = Diagnosis::of(&facts);
    print(&facts.kernel, &diagnosis)?;
    if let Some(path) = &options.json {
        let document = Document {
            schema: "warpwise.diagnose/1",
            kernel: &facts.kernel,
            device: &device.name,
            isa: facts.isa_word(),
            steps: &diagnosis.steps,
            checklist: &diagnosis.checklist,
            finding: diagnosis.finding.word(),
            why: &diagnosis.why,
            next: diagnosis.finding.next(),
        };
        write_text(path, &schema::text(&document))?;
    }
    Ok(Outcome::Good)
}

fn print(kernel: &str, diagnosis: &Diagnosis) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    terminal.line(&format!("{kernel}: the trace of chapter 3"))?;
    for (number, answer) in diagnosis.steps.iter().enumerate() {
        terminal.line(&format!("\n{}. {}", number + 1, answer.question))?;
        answer.lines.iter().try_for_each(|line| terminal.line(&format!("   {line}")))?;
    }
    terminal.line("\nthe checklist of chapter 4")?;
    for (number, answer) in diagnosis.checklist.iter().enumerate() {
        terminal.line(&format!("\n{}. {}", number + 1, answer.question))?;
        answer.lines.iter().try_for_each(|line| terminal.line(&format!("   {line}")))?;
    }
    terminal.line(&format!("\nwhat stands out: {} ({})", diagnosis.finding.word(), diagnosis.why))?;
    terminal.line(&format!("try next: {}", diagnosis.finding.next()))?;
    Ok(())
}
