//! What a way through a kernel costs: the time with many steps above that with few, so that launch, loads and stores cancel.

use crate::backend::{Gpu, LaunchReport};
use crate::lab::{Case, LabContext, LabError};

/// A kernel with fewer and with more steps. The report's row is that of more.
pub struct Pair {
    fewer: Case,
    more: Case,
}

/// What a pair cost, and its launch with more steps.
pub struct Cost {
    /// Microseconds; `None` where there is no time.
    pub us: Option<f64>,
    pub more: LaunchReport,
}

impl Pair {
    pub fn new(fewer: Case, more: Case) -> Self {
        Self { fewer: fewer.unlisted(), more }
    }
}

/// Measures all pairs in turn. Each pair's memory is afterwards as its launch with more steps left it.
pub fn costs(cx: &mut LabContext<'_>, gpu: &Gpu, pairs: Vec<Pair>) -> Result<Vec<Cost>, LabError> {
    let cases = pairs.into_iter().flat_map(|pair| [pair.fewer, pair.more]).collect();
    let mut reports = cx.measure_in_turn(gpu, cases)?.into_iter();
    let mut costs = Vec::new();
    while let (Some(fewer), Some(more)) = (reports.next(), reports.next()) {
        let us = more.time().zip(fewer.time()).map(|(more, fewer)| more.us() - fewer.us());
        costs.push(Cost { us, more });
    }
    Ok(costs)
}

/// One cost over another, or why there is none.
pub fn over(numerator: &Cost, denominator: &Cost) -> Result<f64, String> {
    let both = numerator.us.zip(denominator.us);
    both.map(|(numerator, denominator)| numerator / denominator).ok_or_else(|| "there is no time".to_owned())
}
