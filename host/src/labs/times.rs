//! Times of launches that are compared, or the reason why there are none.

use crate::backend::LaunchReport;

const NO_TIME: &str = "there is no time";

/// Microseconds.
pub fn us(report: &LaunchReport) -> Result<f64, String> {
    report.time().map(|time| time.us()).ok_or_else(|| NO_TIME.to_owned())
}

/// One launch's time over another's.
pub fn us_ratio(first: &LaunchReport, second: &LaunchReport) -> Result<f64, String> {
    Ok(us(first)? / us(second)?)
}
