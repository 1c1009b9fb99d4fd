//! What a lab works with: contexts on the chosen device, what ptxas says of a kernel, and the record of what was found.

use std::collections::HashMap;
use std::time::Instant;

use warpwise_simt::device::Device;
use warpwise_simt::exec::Divergence;

use super::{KernelRow, Lab, LabError, LabOutcome, Plot, Table};
use crate::backend::gpus::MODELLED;
use crate::backend::{BackendKind, Gpu, IsaChoice, MachineOptions, Readings};
use crate::ceilings::Ceilings;
use crate::claim::{Claim, Judged, Setting, TRUE, Times, Value, holds};
use crate::kernels::Resources;
use crate::progress::Progress;
use crate::workbench::Workbench;

/// The claim that something came to its end, which is listed only where it did not.
const RUNS: &str = "runs";

/// One run of one lab.
pub struct LabContext<'a> {
    bench: &'a Workbench,
    progress: &'a Progress,
    readings: Readings,
    kernels: Vec<KernelRow>,
    tables: Vec<Table>,
    plots: Vec<Plot>,
    notes: Vec<String>,
    found: HashMap<String, Value>,
    missing: HashMap<String, String>,
}

impl<'a> LabContext<'a> {
    /// Runs the lab to its end or its first error, and judges its claims.
    pub fn run(lab: &'static Lab, bench: &'a Workbench, progress: &'a Progress) -> LabOutcome {
        let started = Instant::now();
        progress.lab(lab.id);
        let mut cx = Self::new(bench, progress);
        let result = (lab.run)(&mut cx);
        cx.into_outcome(lab, result, started.elapsed().as_secs_f64())
    }

    /// A record with nothing in it yet.
    pub(crate) fn new(bench: &'a Workbench, progress: &'a Progress) -> Self {
        Self {
            bench,
            progress,
            readings: Readings::default(),
            kernels: Vec::new(),
            tables: Vec::new(),
            plots: Vec::new(),
            notes: Vec::new(),
            found: HashMap::new(),
            missing: HashMap::new(),
        }
    }

    /// A record of its own on another bench, which shows progress at the same place, and whose readings are part of this lab's results.
    pub(crate) fn beside<'b>(&self, bench: &'b Workbench) -> LabContext<'b>
    where
        'a: 'b,
    {
        LabContext { readings: self.readings.clone(), ..LabContext::new(bench, self.progress) }
    }

    // ---- where and with what ----

    /// The device that the run was asked for; with the backend `cuda`, the model of the GPU at hand.
    pub fn device(&self) -> &'static Device {
        self.bench.device
    }

    pub fn backend(&self) -> BackendKind {
        self.bench.backend()
    }

    /// A new context on the chosen device, with the kernels loaded. What is read back from it belongs to the lab's results.
    pub fn gpu(&self) -> Result<Gpu, LabError> {
        Ok(self.bench.gpu()?.noting(&self.readings))
    }

    /// As [`LabContext::gpu`] with one kernel only, compiled with at most so many registers. Nothing where what runs would not have the
    /// spills; so what is read back from it is not among the results, which every backend is to agree on.
    pub fn gpu_capped(&self, kernel: &str, max_registers: u32) -> Result<Option<Gpu>, LabError> {
        Ok(self.bench.gpu_capped(kernel, max_registers)?)
    }

    /// A new context of the machine on another device, or run another way: for claims that are the machine's alone.
    pub fn machine(&self, device: &'static Device, options: MachineOptions) -> Result<Gpu, LabError> {
        Ok(self.bench.machine(device, options)?)
    }

    /// The machine's options as the command line gave them, to be changed for [`LabContext::machine`].
    pub fn options(&self) -> MachineOptions {
        self.bench.options
    }

    /// Everything of the run that is not this lab's alone: PTX, listings, tools.
    pub fn bench(&self) -> &'a Workbench {
        self.bench
    }

    /// What the device of the run does at most.
    pub fn ceilings(&self) -> Result<&'a Ceilings, LabError> {
        Ok(self.bench.ceilings()?)
    }

    /// Registers, spills and shared memory of a kernel on an architecture (`sm_120`).
    pub fn resources(&self, kernel: &str, arch: &str) -> Result<Resources, LabError> {
        Ok(self.bench.resources(kernel, arch, None)?)
    }

    /// As [`LabContext::resources`], compiled with at most so many registers.
    pub fn resources_capped(&self, kernel: &str, arch: &str, max_registers: u32) -> Result<Resources, LabError> {
        Ok(self.bench.resources(kernel, arch, Some(max_registers))?)
    }

    /// Says on the terminal what goes on, in long labs.
    pub fn progress(&self, step: &str) {
        self.progress.step(step);
    }

    // ---- what was found ----

    /// What was found for the claim `id` of this lab.
    pub fn found(&mut self, id: &str, value: impl Into<Value>) {
        self.found.insert(id.to_owned(), value.into());
    }

    /// For a claim in words ([`crate::claim::holds`]): whether it holds, and what was seen if it does not.
    pub fn holds(&mut self, id: &str, holds: bool, otherwise: impl Into<String>) {
        self.found(id, if holds { TRUE.to_owned() } else { otherwise.into() });
    }

    /// Why the claim `id` could not be decided here.
    pub fn not_run(&mut self, id: &str, reason: impl Into<String>) {
        self.missing.insert(id.to_owned(), reason.into());
    }

    pub fn row(&mut self, row: KernelRow) {
        self.kernels.push(row);
    }

    pub fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    pub fn plot(&mut self, plot: Plot) {
        self.plots.push(plot);
    }

    /// A line for the reader, below the tables.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

impl LabContext<'_> {
    fn into_outcome(mut self, lab: &'static Lab, result: Result<(), LabError>, seconds: f64) -> LabOutcome {
        let error = result.err();
        let trouble = error.as_ref().and_then(LabError::of_the_device).cloned();
        let setting = self.setting();
        let of_the_driver =
            self.driver_agrees(lab).map(|(claim, found, missing)| claim.judge(found, missing, &setting));
        let mut claims = self.judge((lab.claims)(), lab.sections, "the lab", error);
        // Behind the claim that the lab came to its end, if that failed.
        let first = usize::from(claims.first().is_some_and(|judged| judged.claim.id == RUNS));
        claims.splice(first..first, of_the_driver);
        LabOutcome {
            lab,
            backend: setting.backend,
            seconds,
            results: self.readings.digest(),
            kernels: self.kernels,
            tables: self.tables,
            plots: self.plots,
            notes: self.notes,
            claims,
            trouble,
        }
    }

    /// Our own driver takes PTX alone, and so does the machine without ptxas or where it is asked to.
    fn times(&self) -> Times {
        let options = self.bench.options;
        match self.bench.backend() {
            BackendKind::Cuda if !self.bench.device_name().ends_with(MODELLED) => Times::Measured,
            BackendKind::Sim
                if options.isa != IsaChoice::Ptx
                    && options.divergence == Divergence::Converge
                    && self.bench.toolchain().ptxas.is_some() =>
            {
                Times::ModelledFromSass
            }
            _ => Times::ModelledFromPtx,
        }
    }

    fn setting(&self) -> Setting {
        Setting {
            backend: self.bench.backend(),
            // On our own driver a device is what it models, "(modelled)" or not.
            device: self.bench.device_name().trim_end_matches(MODELLED).to_owned(),
            times: self.times(),
            toolchain: self.bench.toolchain().clone(),
        }
    }

    /// The verdict on each claim by what was found so far. `what` (`the lab`) ended with `error`, if that is one.
    pub(crate) fn judge(
        &mut self,
        listed: Vec<Claim>,
        sections: &'static str,
        what: &str,
        error: Option<LabError>,
    ) -> Vec<Judged> {
        let setting = self.setting();
        let stopped = error.map(|error| error.to_string());
        let mut claims = Vec::new();
        if let Some(error) = &stopped {
            let end = Claim::new(RUNS, sections, format!("{what} runs to its end"), holds("it does"));
            claims.push(end.judge(Some(Value::Text(error.clone())), None, &setting));
        }
        for claim in listed {
            let found = self.found.remove(&claim.id);
            let missing = self.missing.remove(&claim.id);
            let missing = missing.or_else(|| stopped.as_ref().map(|_| format!("{what} stopped before it")));
            claims.push(claim.judge(found, missing, &setting));
        }
        // What was found for no claim of the list is a slip of the author, and worth seeing.
        let mut unlisted: Vec<String> = self.found.drain().map(|(id, _)| id).collect();
        unlisted.extend(self.missing.drain().map(|(id, _)| id));
        unlisted.sort();
        for id in unlisted {
            let unlisted = Claim::new(&id, sections, "every claim found is listed", holds("it is listed"));
            claims.push(unlisted.judge(Some(Value::Text("not listed".to_owned())), None, &setting));
        }
        claims
    }

    pub(crate) fn take_rows(&mut self) -> Vec<KernelRow> {
        std::mem::take(&mut self.kernels)
    }

    /// On a GPU, what every row is held to: the driver that loaded ptxas's cubin counts its registers as ptxas did, and as many
    /// resident blocks as the calculator.
    fn driver_agrees(&self, lab: &Lab) -> Option<(Claim, Option<Value>, Option<String>)> {
        let statement = "the driver counts registers as ptxas and resident blocks as the calculator does, in every row";
        let claim = Claim::new("driver_agrees", lab.sections, statement, holds("they agree"));
        let loaded: Vec<&KernelRow> = self.kernels.iter().filter(|row| row.loaded.is_some()).collect();
        let is_of_cubins = loaded.first()?.loaded.is_some_and(|loaded| loaded.from_cubin);
        if !is_of_cubins {
            return Some((claim, None, Some("the driver compiled the PTX itself".to_owned())));
        }
        let otherwise = loaded.iter().find_map(|row| Some(format!("{}: {}", row.kernel, row.disagreement()?)));
        Some((claim, Some(Value::Text(otherwise.unwrap_or_else(|| TRUE.to_owned()))), None))
    }
}
