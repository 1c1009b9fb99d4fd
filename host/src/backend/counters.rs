//! Counters of one launch under Nsight Compute's names, from the machine or from hardware.

use warpwise_simt::isa::Isa;
use warpwise_simt::machine::Report;

/// Share of the SMs' warps that was resident, in percent, on average over cycles with any.
pub const ACHIEVED_OCCUPANCY_PERCENT: &str = "sm__warps_active.avg.pct_of_peak_sustained_active";

/// Names and values, in the order in which their source lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterSet {
    /// The code that was counted: instruction counts of PTX and SASS differ.
    pub isa: Isa,
    values: Vec<(String, f64)>,
}

impl CounterSet {
    pub fn new(isa: Isa, values: impl IntoIterator<Item = (String, f64)>) -> Self {
        Self { isa, values: values.into_iter().collect() }
    }

    /// The counters of a launch on the machine: what was executed, and after a timed run what the cycle model counted.
    pub fn of_report(report: &Report) -> Self {
        let executed = report.counters.iter().map(|(name, value)| (name.to_owned(), value.as_f64()));
        let timed = report.timing.iter().flat_map(|timing| {
            let achieved = (ACHIEVED_OCCUPANCY_PERCENT.to_owned(), timing.achieved_occupancy * 100.0);
            timing.counters().into_iter().map(|(name, value)| (name.to_owned(), value as f64)).chain([achieved])
        });
        Self::new(report.isa, executed.chain(timed))
    }

    /// The value of a counter such as `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }
}
