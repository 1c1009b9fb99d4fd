//! `diagnose`: walk the six questions for any kernel. Kernels with one thing wrong each, and what the diagnosis names.

use crate::arguments::Argument;
use crate::backend::BackendKind;
use crate::claim::{Claim, equal, holds};
use crate::diagnose::{Diagnosis, Facts, Finding, Subject, examine};
use crate::lab::{Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "diagnose",
    chapter: 3,
    sections: "ch3, ch4",
    question: "which question finds the trouble?",
    kernels: &["copy_stream", "strided_copy", "heavy_capped", "by_lane", "vecadd", "transpose_naive", "fma_chains"],
    text: include_str!("../../../docs/labs/diagnose.md"),
    claims,
    run,
};

/// A launch with one thing to be found.
struct Patient {
    /// Name of the claim.
    id: &'static str,
    kernel: &'static str,
    what: &'static str,
    /// Blocks along x; 0 for the transpose's square of 32.
    grid: u32,
    block: [u32; 3],
    /// As `run --arg` takes them.
    arguments: &'static [&'static str],
    finding: Finding,
}

static PATIENTS: &[Patient] = &[
    Patient {
        id: "stride",
        kernel: "strided_copy",
        what: "a copy of every 32nd element",
        grid: 512,
        block: [256, 1, 1],
        arguments: &["x=in:f32:4194304:ramp", "y=out:f32:4194304", "n=scalar:u32:131072", "stride=scalar:u32:32"],
        finding: Finding::Coalescing,
    },
    Patient {
        id: "transpose",
        kernel: "transpose_naive",
        what: "a transpose that writes columns",
        grid: 0,
        block: [32, 8, 1],
        arguments: &["x=in:f32:1048576:ramp", "y=out:f32:1048576", "n=scalar:u32:1024"],
        finding: Finding::Coalescing,
    },
    Patient {
        id: "capped",
        kernel: "heavy_capped",
        what: "a tile of registers, capped at 40",
        grid: 288,
        block: [256, 1, 1],
        arguments: &["x=in:f32:1105920:const:1", "y=out:f32:73728", "n=scalar:u32:73728", "steps=scalar:u32:64"],
        finding: Finding::Spills,
    },
    Patient {
        id: "by_lane",
        kernel: "by_lane",
        what: "a branch that divides every warp",
        grid: 512,
        block: [256, 1, 1],
        arguments: &["x=in:f32:131072:ramp", "y=out:f32:131072", "n=scalar:u32:131072", "steps=scalar:u32:256"],
        finding: Finding::Divergence,
    },
    Patient {
        id: "one_block",
        kernel: "vecadd",
        what: "an addition by one block",
        grid: 1,
        block: [256, 1, 1],
        arguments: &["a=in:f32:256:ramp", "b=in:f32:256:ramp", "c=out:f32:256", "n=scalar:u32:256"],
        finding: Finding::TooFewBlocks,
    },
    Patient {
        id: "copy",
        kernel: "copy_stream",
        what: "a copy, 16 bytes a thread",
        grid: 4096,
        block: [256, 1, 1],
        arguments: &["from=in:u32:4194304:ramp", "to=out:u32:4194304", "n=scalar:u32:1048576"],
        finding: Finding::MemoryBound,
    },
    Patient {
        id: "arithmetic",
        kernel: "fma_chains",
        what: "nothing but multiply-adds",
        grid: 288,
        block: [256, 1, 1],
        arguments: &["x=in:f32:73728:const:1", "y=out:f32:73728", "n=scalar:u32:73728", "steps=scalar:u32:8"],
        finding: Finding::ComputeBound,
    },
];

fn claims() -> Vec<Claim> {
    let named = PATIENTS.iter().map(|patient| {
        let statement = format!("{}, {}: what the diagnosis names", patient.kernel, patient.what);
        Claim::new(patient.id, "ch3", statement, equal(patient.finding.word())).on_device("RTX 5070").on_machine()
    });
    let answered =
        Claim::new("answered", "ch3", "each of the nine questions is answered with a number", holds("all are"));
    named.chain([answered.on_machine()]).collect()
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    if cx.backend() != BackendKind::Sim {
        return Ok(());
    }
    let mut table = Table::new("what stands out", ["kernel", "launch", "finding", "because", "try next"]);
    let mut unanswered = Vec::new();
    for patient in PATIENTS {
        cx.progress(patient.kernel);
        if patient.finding == Finding::Spills && cx.bench().tools.tools().is_err() {
            cx.not_run(patient.id, "needs ptxas: PTX has no spills");
            continue;
        }
        let diagnosis = Diagnosis::of(&facts(cx, patient)?);
        cx.found(patient.id, diagnosis.finding.word());
        let answers = diagnosis.steps.iter().chain(&diagnosis.checklist);
        let silent =
            answers.filter(|answer| !answer.lines.iter().any(|line| line.contains(|c: char| c.is_ascii_digit())));
        unanswered.extend(silent.map(|answer| format!("{}: {}", patient.kernel, answer.question)));
        table.row([
            patient.kernel.into(),
            patient.what.into(),
            diagnosis.finding.word().into(),
            diagnosis.why.into(),
            diagnosis.finding.next().into(),
        ]);
    }
    cx.table(table);
    cx.holds("answered", unanswered.is_empty(), unanswered.join("; "));
    Ok(())
}

fn facts(cx: &LabContext<'_>, patient: &Patient) -> Result<Facts, LabError> {
    let other = |error: &dyn std::fmt::Display| LabError::Other(format!("{}: {error}", patient.kernel));
    let bench = cx.bench();
    let ptx = bench.code.program(patient.kernel).map_err(|error| other(&error))?;
    let arguments: Vec<Argument> =
        patient.arguments.iter().map(|word| word.parse()).collect::<Result<_, _>>().map_err(|error| other(&error))?;
    let subject = Subject {
        device: cx.device(),
        ptx: &ptx,
        executed: &bench.executed(patient.kernel)?,
        variables: bench.code.variables(),
        resources: cx.resources(patient.kernel, &cx.device().arch())?,
        grid: if patient.grid == 0 { [32, 32, 1] } else { [patient.grid, 1, 1] },
        block: patient.block,
        dynamic_shared_bytes: 0,
        registers: None,
        arguments: &arguments,
    };
    examine(&subject).map_err(|error| other(&error))?.map_err(|fault| other(&fault))
}
