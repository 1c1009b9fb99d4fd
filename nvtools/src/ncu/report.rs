//! What `ncu --csv --metrics …` prints: after its own lines and the program's, a header and a line for each launch and metric.

use serde::Deserialize;

/// The first column of the header: what stands before it is not the report.
const HEADER: &str = "\"ID\",";
/// Beginnings of ncu's own lines, which may also stand between those of the report.
const OWN_LINES: &str = "==";

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("it has no table: no line begins with {HEADER}; ncu found no kernel, or another page was asked for")]
    NoTable,
    #[error("a line of its table is not as expected: {0}")]
    Line(#[from] csv::Error),
}

/// One launch of one kernel, as the hardware counted it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Number of the launch within the run.
    pub id: String,
    pub kernel: String,
    /// `9.0`.
    pub compute_capability: String,
    pub metrics: Vec<(String, Measured)>,
}

/// A metric's value, in units without a prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub value: f64,
    /// Digits behind the point that were printed: the value is known no better.
    pub decimals: u32,
}

impl Profile {
    pub fn get(&self, metric: &str) -> Option<Measured> {
        self.metrics.iter().find(|(name, _)| name == metric).map(|(_, measured)| *measured)
    }
}

impl Measured {
    /// Reads `1,000,003`, `0.97`; nothing else, such as `n/a`.
    fn read(text: &str) -> Option<Self> {
        let plain: String = text.trim().chars().filter(|&c| c != ',').collect();
        let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let value = plain.parse::<f64>().ok().filter(|value| value.is_finite())?;
        Some(Self { value, decimals: decimals.try_into().ok()? })
    }

    /// Whether an exact value would have been printed so.
    pub fn is(&self, exact: f64) -> bool {
        // A little more than half of the last digit, since neither number is exact in binary.
        let rounding = if self.decimals == 0 { 0.0 } else { 0.500_001 * 0.1_f64.powf(self.decimals.into()) };
        (self.value - exact).abs() <= rounding
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "ID")]
    id: String,
    #[serde(rename = "Kernel Name")]
    kernel: String,
    #[serde(rename = "CC", default)]
    compute_capability: String,
    #[serde(rename = "Metric Name")]
    metric: String,
    #[serde(rename = "Metric Value")]
    value: String,
}

/// The launches of a run, in their order. A metric without a number (`n/a`) is left out.
///
/// # Errors
/// If there is no table, or one of another form.
pub fn parse(output: &str) -> Result<Vec<Profile>, ReportError> {
    let table: Vec<&str> = output
        .lines()
        .skip_while(|line| !line.starts_with(HEADER))
        .filter(|line| line.starts_with('"') && !line.starts_with(OWN_LINES))
        .collect();
    if table.is_empty() {
        return Err(ReportError::NoTable);
    }
    let table = table.join("\n");
    let mut profiles: Vec<Profile> = Vec::new();
    for line in csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes()).deserialize() {
        let line: Line = line?;
        let index = match profiles.iter().position(|profile| profile.id == line.id) {
            Some(index) => index,
            None => {
                let Line { id, kernel, compute_capability, .. } = &line;
                let (id, kernel) = (id.clone(), base_name(kernel));
                let compute_capability = compute_capability.clone();
                profiles.push(Profile { id, kernel, compute_capability, metrics: Vec::new() });
                profiles.len() - 1
            }
        };
        if let Some(measured) = Measured::read(&line.value) {
            profiles[index].metrics.push((line.metric, measured));
        }
    }
    Ok(profiles)
}

/// `vecadd(float*, int)` and `vecadd` are the kernel `vecadd`.
fn base_name(kernel: &str) -> String {
    kernel.split('(').next().unwrap_or(kernel).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"==PROF== Connected to process 1234 (/opt/warpwise)
==PROF== Profiling "vecadd" - 0: 0%....50%....100% - 3 passes
launched vecadd
==PROF== Disconnected from process 1234
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1234","warpwise","127.0.0.1","vecadd","1","7","(256, 1, 1)","(3907, 1, 1)","0","9.0","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","250,002"
"0","1234","warpwise","127.0.0.1","vecadd","1","7","(256, 1, 1)","(3907, 1, 1)","0","9.0","Command line profiler metrics","launch__waves_per_multiprocessor","","3.70"
"0","1234","warpwise","127.0.0.1","vecadd","1","7","(256, 1, 1)","(3907, 1, 1)","0","9.0","Command line profiler metrics","sm__no_such_metric","","n/a"
"1","1234","warpwise","127.0.0.1","mix(float *, float *)","1","7","(256, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","sm__ctas_launched.sum","block","1"
"#;

    #[test]
    fn launches_and_their_metrics_are_read_from_between_other_lines() {
        let profiles = parse(OUTPUT).expect("a table");
        let kernels: Vec<&str> = profiles.iter().map(|profile| profile.kernel.as_str()).collect();
        assert_eq!(kernels, ["vecadd", "mix"]);
        assert_eq!(profiles[0].compute_capability, "9.0");
        let sectors = profiles[0].get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
        assert_eq!(sectors, Some(Measured { value: 250_002.0, decimals: 0 }));
        assert_eq!(profiles[0].get("sm__no_such_metric"), None, "n/a is no number");
    }

    #[test]
    fn a_rounded_value_is_the_exact_one_and_an_integer_only_itself() {
        let rounded = Measured::read("3.70").expect("a number");
        assert!(rounded.is(3.699_81) && !rounded.is(3.71));
        let integer = Measured::read("250,002").expect("a number");
        assert!(integer.is(250_002.0) && !integer.is(250_002.4) && !integer.is(250_003.0));
    }

    #[test]
    fn output_without_a_table_or_with_another_one_is_refused() {
        assert!(matches!(parse("==ERROR== The application returned an error code (2).\n"), Err(ReportError::NoTable)));
        assert!(matches!(parse("\"ID\",\"Kernel Name\"\n\"0\",\"vecadd\"\n"), Err(ReportError::Line(_))));
    }
}
