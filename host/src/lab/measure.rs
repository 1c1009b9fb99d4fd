//! The usual measurement: a kernel is launched, timed and counted, and a row of the report says what came of it.
//!
//! Times that are to be compared are taken together, by [`LabContext::measure_in_turn`]: on a GPU the samples of all of them
//! alternate, so that clocks which drift in between do so for all alike.

use cuda_std::host::{Kernel, KernelArgs};
use warpwise_simt::isa::Isa;

use super::{KernelRow, LabContext, LabError, OccupancyFigures};
use crate::backend::{BackendKind, Gpu, LaunchReport, LaunchRequest, LaunchShape};
use crate::kernels::Resources;

/// A launch to be measured beside others: its kernel's type is checked here and forgotten.
pub struct Case {
    request: LaunchRequest,
    shape: LaunchShape,
    variant: String,
    is_listed: bool,
    is_timed: bool,
    least_bytes: Option<u64>,
    max_registers: Option<u32>,
}

impl Case {
    /// `variant` tells apart rows of one kernel.
    pub fn new<A: KernelArgs>(kernel: &Kernel<A>, variant: impl Into<String>, shape: LaunchShape, args: A) -> Self {
        Self::named(kernel.name, variant, shape, args)
    }

    /// As [`Case::new`] for an entry that is known by name only: nothing checks that the arguments are its own.
    pub fn named<A: KernelArgs>(
        entry: impl Into<String>,
        variant: impl Into<String>,
        shape: LaunchShape,
        args: A,
    ) -> Self {
        Self::of(LaunchRequest::named(entry, shape, &args), variant)
    }

    /// A launch that is put together already.
    pub fn of(request: LaunchRequest, variant: impl Into<String>) -> Self {
        let LaunchRequest { grid, block, dynamic_shared_bytes, .. } = request;
        let (shape, variant) = (LaunchShape { grid, block, dynamic_shared_bytes }, variant.into());
        Self { request, shape, variant, is_listed: true, is_timed: true, least_bytes: None, max_registers: None }
    }

    /// The same launch without a row of the report.
    #[must_use]
    pub fn unlisted(self) -> Self {
        Self { is_listed: false, ..self }
    }

    /// Says how many bytes the launch has to read and write at least, which its time is put against.
    #[must_use]
    pub fn moving(self, bytes: u64) -> Self {
        Self { least_bytes: Some(bytes), ..self }
    }

    /// The same launch of the kernel compiled with at most so many registers, as [`LabContext::gpu_capped`] loads it.
    #[must_use]
    pub fn capped(self, max_registers: u32) -> Self {
        Self { max_registers: Some(max_registers), ..self }
    }

    /// The same launch with what it reads in L2 before its time is taken.
    #[must_use]
    pub fn from_warm_l2(self) -> Self {
        Self { request: LaunchRequest { from_warm_l2: true, ..self.request }, ..self }
    }

    /// The same launch for its counters alone, which take a tenth of the time on the machine.
    #[must_use]
    pub fn untimed(self) -> Self {
        Self { is_timed: false, ..self }
    }
}

impl LabContext<'_> {
    /// Launches the kernel under the cycle model (on a GPU: with warm-up and samples), waits, and records a row: registers by
    /// ptxas, occupancy, limiter, time and counters. `variant` tells apart rows of one kernel.
    ///
    /// A kernel that spills by ptxas runs without the cycle model where its PTX is what the machine executes: PTX has no spills,
    /// so a time from it would be wrong.
    pub fn measure<A: KernelArgs>(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel<A>,
        variant: &str,
        shape: LaunchShape,
        args: A,
    ) -> Result<LaunchReport, LabError> {
        let reports = self.measure_in_turn(gpu, vec![Case::new(kernel, variant, shape, args)])?;
        reports.into_iter().next().ok_or_else(|| LabError::Other(format!("no report of {}", kernel.name)))
    }

    /// As [`LabContext::measure`] for launches whose times are to be compared; their reports in the same order. What several of
    /// them write is afterwards as the last one left it.
    pub fn measure_in_turn(&mut self, gpu: &Gpu, cases: Vec<Case>) -> Result<Vec<LaunchReport>, LabError> {
        let mut requests = Vec::new();
        let mut found = Vec::new();
        for case in &cases {
            let (kernel, arch) = (&case.request.kernel, &gpu.device().arch);
            let resources = self.bench().resources(kernel, arch, case.max_registers)?;
            let is_timed = case.is_timed && (!resources.spills() || self.executes_spills(gpu, &case.request.kernel)?);
            let request = case.request.clone();
            requests.push(if is_timed { request.timed(Some(resources.registers.value())) } else { request });
            found.push((resources, is_timed));
        }
        if let Some(case) = cases.first() {
            self.progress(&case.request.kernel);
        }
        let reports = gpu.run_in_turn(requests)?;
        for ((case, report), (resources, is_timed)) in cases.iter().zip(&reports).zip(found) {
            if case.is_listed {
                let row = row(gpu, case, report, resources, is_timed)?;
                self.row(row);
            }
        }
        Ok(reports)
    }
}

impl LabContext<'_> {
    /// Whether what runs of the kernel has the spills that ptxas made: on hardware, and on the machine where it executes SASS.
    fn executes_spills(&self, gpu: &Gpu, kernel: &str) -> Result<bool, LabError> {
        let on_machine = self.backend() == BackendKind::Sim;
        Ok(gpu.measures() || (on_machine && self.bench().executed(kernel)?.isa == Isa::Sass))
    }
}

fn row(
    gpu: &Gpu,
    case: &Case,
    report: &LaunchReport,
    resources: Resources,
    is_timed: bool,
) -> Result<KernelRow, LabError> {
    let Case { request, shape, variant, least_bytes, .. } = case;
    let occupancy = resources.occupancy(gpu.device().limits, *shape)?;
    Ok(KernelRow {
        kernel: request.kernel.clone(),
        variant: variant.clone(),
        device: gpu.device().name.clone(),
        arch: gpu.device().arch.clone(),
        registers: resources.registers,
        loaded: gpu.loaded(request)?,
        spill_store_bytes: resources.spill_store_bytes,
        spill_load_bytes: resources.spill_load_bytes,
        stack_bytes: resources.stack_bytes,
        shared_bytes: resources.static_shared_bytes + shape.dynamic_shared_bytes,
        grid: shape.grid,
        block: shape.block,
        occupancy: OccupancyFigures::new(&occupancy, report.counters.as_ref()),
        least_bytes: *least_bytes,
        times: report.times.clone(),
        no_time: (!is_timed).then(|| "needs SASS".to_owned()),
        counters: report.counters.clone(),
    })
}
