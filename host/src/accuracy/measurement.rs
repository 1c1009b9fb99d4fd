//! What a GPU took, as a file: written on hardware, kept in docs/measurements, and a copy inside the program.

use serde::{Deserialize, Serialize};

use super::Case;
use super::ladder::Rung;

/// The schema's name, at the head of every file.
pub const SCHEMA: &str = "warpwise.measurement/1";

/// The latest measurement that is kept, on an H200.
const H200: &str = include_str!("../../../docs/measurements/2026-11-30-h200-accuracy.json");

/// Times and rungs of one device on one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub schema: String,
    /// As the driver names it.
    pub measured_on: String,
    /// `2026-11-30`, in UTC.
    pub date: String,
    pub times: Vec<TimeRow>,
    pub ladder: Vec<LadderRow>,
}

/// Samples of one case, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeRow {
    pub kernel: String,
    pub size: String,
    pub us: f64,
    pub us_min: f64,
    pub us_max: f64,
    pub samples: u32,
    /// The SM's clock meanwhile, where it could be read.
    pub sm_mhz: Option<u32>,
    /// Why the time is to be taken with care; usually empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// What the device answered to a rung of the ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LadderRow {
    pub name: String,
    pub unit: String,
    pub value: f64,
}

impl Measurement {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let measurement: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match measurement.schema == SCHEMA {
            true => Ok(measurement),
            false => Err(format!("the schema is `{}`, expected `{SCHEMA}`", measurement.schema)),
        }
    }

    /// The measurement of a modelled device that comes with the program; `None` if there is none.
    ///
    /// # Errors
    /// If the copy cannot be read, which a test rules out.
    pub fn kept(device: &str) -> Option<Result<Self, String>> {
        (device == "H200").then(|| Self::parse(H200))
    }

    /// Microseconds of a case, if it was measured.
    pub fn us(&self, case: &Case) -> Option<f64> {
        self.times.iter().find(|row| row.kernel == case.kernel && row.size == case.size).map(|row| row.us)
    }

    /// The answer to a rung, if it was asked.
    pub fn rung(&self, rung: &Rung) -> Option<f64> {
        self.ladder.iter().find(|row| row.name == rung.name).map(|row| row.value)
    }
}

/// Today in UTC, by the calendar that everyone uses: Howard Hinnant's `civil_from_days`.
pub fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

fn date(days_since_1970: u64) -> String {
    // Eras of 400 years that begin on 1 March, so that the leap day is the last of a year.
    let days = days_since_1970 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::super::{CASES, ladder};
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, text) in [(0, "1970-01-01"), (11_016, "2000-02-29"), (20_787, "2026-11-30"), (20_819, "2027-01-01")]
        {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn the_measurement_that_is_kept_has_every_case_and_every_rung() {
        let kept = Measurement::kept("H200").expect("it is kept").expect("it can be read");
        assert!(kept.measured_on.contains("H200"));
        let missing: Vec<String> = CASES.iter().filter(|case| kept.us(case).is_none()).map(Case::name).collect();
        assert!(missing.is_empty(), "never measured: {missing:?}");
        for row in &kept.times {
            assert!(row.samples >= 30 && row.us > 0.0, "{row:?}");
        }
        for rung in ladder::RUNGS {
            assert!(kept.rung(rung).is_some_and(|value| value > 0.0), "{}", rung.name);
        }
        assert!(Measurement::kept("RTX 5070").is_none());
    }

    #[test]
    fn a_file_of_another_schema_is_refused() {
        let text = r#"{"schema": "x/1", "measured_on": "", "date": "", "times": [], "ladder": []}"#;
        assert_eq!(Measurement::parse(text), Err("the schema is `x/1`, expected `warpwise.measurement/1`".to_owned()));
    }
}
