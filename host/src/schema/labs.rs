//! `warpwise.labs/1`: what `labs --json FILE` writes.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Integer, Real, SampledJson, number};
use crate::backend::{CounterSet, Loaded, ReadingsDigest};
use crate::ceilings::{Ceilings, Work};
use crate::claim::{self, Judged, Toolchain};
use crate::lab::{KernelRow, LabOutcome, Plot, RunOutcome, Table};
use crate::numbers::{Regs, SPREAD_MAX, Time, isa_name};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    toolchain: ToolchainJson<'a>,
    ceilings: Vec<CeilingsJson<'a>>,
    labs: Vec<LabJson<'a>>,
    summary: SummaryJson,
}

#[derive(Serialize)]
struct ToolchainJson<'a> {
    rustc: Option<&'a str>,
    llvm: Option<&'a str>,
    ptxas: Option<&'a str>,
    recorded: bool,
}

/// Most of a device: 10⁹ bytes copied, read and written, and 10⁹ operations a second.
#[derive(Serialize)]
struct CeilingsJson<'a> {
    copy_gbs: Real,
    copy_by: &'a str,
    copy_time: TimeJson<'a>,
    /// These three are measured or absent: the driver's copy of 1 GiB, reading alone, writing alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    usual_copy_gbs: Option<Real>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_gbs: Option<Real>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_gbs: Option<Real>,
    fma_gflops: Real,
    fma_time: TimeJson<'a>,
}

#[derive(Serialize)]
struct LabJson<'a> {
    id: &'a str,
    chapter: u8,
    question: &'a str,
    backend: &'static str,
    seconds: Real,
    results: ResultsJson,
    kernels: Vec<KernelJson<'a>>,
    claims: Vec<ClaimJson<'a>>,
    tables: Vec<TableJson<'a>>,
    plots: Vec<PlotJson<'a>>,
    notes: &'a [String],
}

/// What the lab read back from its device; equal digests are equal to the bit.
#[derive(Serialize)]
struct ResultsJson {
    reads: Integer,
    bytes: Integer,
    digest: String,
}

#[derive(Serialize)]
struct KernelJson<'a> {
    kernel: &'a str,
    variant: &'a str,
    device: &'a str,
    arch: &'a str,
    registers: RegistersJson,
    driver: Option<DriverJson>,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    stack_bytes: u32,
    shared_bytes: u32,
    grid: [u32; 3],
    block: [u32; 3],
    occupancy: OccupancyJson<'a>,
    bytes: Option<BytesJson>,
    flops: Option<Value>,
    times: Vec<TimeOfWorkJson<'a>>,
    no_time: Option<&'a str>,
    counters: Option<Map<String, Value>>,
}

#[derive(Serialize)]
pub(super) struct RegistersJson {
    value: u32,
    source: &'static str,
}

/// The same kernel by the driver that loaded it.
#[derive(Serialize)]
struct DriverJson {
    registers: u32,
    local_bytes: u32,
    shared_bytes: u32,
    blocks_per_sm: u32,
    from_cubin: bool,
}

#[derive(Serialize)]
struct OccupancyJson<'a> {
    theoretical: Real,
    achieved: Option<Real>,
    blocks_per_sm: u32,
    limiters: &'a [&'static str],
}

/// What the launch moved: `stated` by the lab as the least, or `counted` in sectors at L2.
#[derive(Serialize)]
struct BytesJson {
    value: Value,
    source: &'static str,
}

/// A time and the shares of the ceilings that the kernel reached in it.
#[derive(Serialize)]
struct TimeOfWorkJson<'a> {
    #[serde(flatten)]
    time: TimeJson<'a>,
    of_copy: Option<Real>,
    of_fma: Option<Real>,
}

#[derive(Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
enum TimeJson<'a> {
    Modelled {
        isa: &'static str,
        device: &'a str,
        validated: bool,
        cycles: Integer,
        us: Real,
        #[serde(skip_serializing_if = "Option::is_none")]
        sampled: Option<SampledJson>,
    },
    Measured {
        device: &'a str,
        us: Real,
        us_min: Real,
        us_max: Real,
        spread: Real,
        samples: u32,
        noisy: bool,
        clocks: Option<ClocksJson<'a>>,
    },
}

#[derive(Serialize)]
struct ClocksJson<'a> {
    sm_mhz_min: u32,
    sm_mhz_max: u32,
    memory_mhz: u32,
    throttled: &'a [&'static str],
}

#[derive(Serialize)]
struct ClaimJson<'a> {
    id: String,
    backend: &'static str,
    section: &'a str,
    statement: &'a str,
    expected: String,
    found: Option<String>,
    verdict: &'static str,
    /// Of how many runs it held in how many.
    held: u32,
    runs: u32,
    why: Option<&'a str>,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct TableJson<'a> {
    title: &'a str,
    columns: &'a [String],
    rows: Vec<Vec<Value>>,
}

#[derive(Serialize)]
struct PlotJson<'a> {
    title: &'a str,
    x: &'a str,
    x_log: bool,
    y: &'a str,
    y_log: bool,
    series: Vec<SeriesJson<'a>>,
}

#[derive(Serialize)]
struct SeriesJson<'a> {
    name: &'a str,
    /// `line`, `steps` or `points`.
    mark: &'static str,
    points: Vec<[Real; 2]>,
}

#[derive(Serialize)]
struct SummaryJson {
    holds: usize,
    fails: usize,
    not_run: usize,
}

/// The document of a run.
pub fn labs(run: &RunOutcome) -> impl Serialize + '_ {
    let summary = run.summary();
    Document {
        schema: "warpwise.labs/1",
        toolchain: toolchain(&run.toolchain),
        ceilings: run.ceilings.iter().map(ceilings).collect(),
        labs: run.labs.iter().map(|outcome| lab(outcome, &run.ceilings)).collect(),
        summary: SummaryJson { holds: summary.holds, fails: summary.fails, not_run: summary.not_run },
    }
}

fn toolchain(toolchain: &Toolchain) -> ToolchainJson<'_> {
    ToolchainJson {
        rustc: toolchain.rustc.as_deref(),
        llvm: toolchain.llvm.as_deref(),
        ptxas: toolchain.ptxas.as_deref(),
        recorded: toolchain.is_recorded(),
    }
}

fn ceilings(ceilings: &Ceilings) -> CeilingsJson<'_> {
    CeilingsJson {
        copy_gbs: Real(ceilings.copy.giga_per_second()),
        copy_by: ceilings.copy_by,
        copy_time: time(&ceilings.copy.time),
        usual_copy_gbs: ceilings.beside.as_ref().map(|beside| Real(beside.usual_copy.giga_per_second())),
        read_gbs: ceilings.beside.as_ref().map(|beside| Real(beside.read.giga_per_second())),
        write_gbs: ceilings.beside.as_ref().map(|beside| Real(beside.write.giga_per_second())),
        fma_gflops: Real(ceilings.fma.giga_per_second()),
        fma_time: time(&ceilings.fma.time),
    }
}

fn lab<'a>(outcome: &'a LabOutcome, ceilings: &[Ceilings]) -> LabJson<'a> {
    LabJson {
        id: outcome.lab.id,
        chapter: outcome.lab.chapter,
        question: outcome.lab.question,
        backend: outcome.backend.word(),
        seconds: Real(outcome.seconds),
        results: results(outcome.results),
        kernels: outcome.kernels.iter().map(|row| kernel(row, ceilings)).collect(),
        claims: outcome.claims.iter().map(|judged| claim(outcome.lab.id, judged)).collect(),
        tables: outcome.tables.iter().map(table).collect(),
        plots: outcome.plots.iter().map(plot).collect(),
        notes: &outcome.notes,
    }
}

fn results(digest: ReadingsDigest) -> ResultsJson {
    let ReadingsDigest { reads, bytes, hash } = digest;
    ResultsJson { reads: Integer(reads.into()), bytes: Integer(bytes.into()), digest: format!("{hash:032x}") }
}

fn kernel<'a>(row: &'a KernelRow, ceilings: &[Ceilings]) -> KernelJson<'a> {
    let work = row.work();
    KernelJson {
        kernel: &row.kernel,
        variant: &row.variant,
        device: &row.device,
        arch: &row.arch,
        registers: registers(row.registers),
        driver: row.loaded.map(driver),
        spill_store_bytes: row.spill_store_bytes,
        spill_load_bytes: row.spill_load_bytes,
        stack_bytes: row.stack_bytes,
        shared_bytes: row.shared_bytes,
        grid: row.grid,
        block: row.block,
        occupancy: OccupancyJson {
            theoretical: Real(row.occupancy.theoretical),
            achieved: row.occupancy.achieved.map(Real),
            blocks_per_sm: row.occupancy.blocks_per_sm,
            limiters: &row.occupancy.limiters,
        },
        bytes: work.bytes.map(|bytes| BytesJson {
            value: number(bytes),
            source: if row.least_bytes.is_some() { "stated" } else { "counted" },
        }),
        flops: work.flops.map(number),
        times: row.times.iter().map(|time| time_of_work(time, work, ceilings)).collect(),
        no_time: row.no_time.as_deref(),
        counters: row.counters.as_ref().map(counters),
    }
}

fn driver(loaded: Loaded) -> DriverJson {
    let Loaded { registers, local_bytes, shared_bytes, blocks_per_sm, from_cubin } = loaded;
    DriverJson { registers, local_bytes, shared_bytes, blocks_per_sm, from_cubin }
}

pub(super) fn registers(registers: Regs) -> RegistersJson {
    RegistersJson { value: registers.value(), source: registers.source() }
}

fn time_of_work<'a>(of: &'a Time, work: Work, ceilings: &[Ceilings]) -> TimeOfWorkJson<'a> {
    let ceilings = ceilings.iter().find(|ceilings| ceilings.are_of(of));
    let shares = ceilings.map(|ceilings| {
        let copy = work.bytes.map(|bytes| Real(ceilings.share_of_copy(bytes, of)));
        (copy, work.flops.map(|flops| Real(ceilings.share_of_fma(flops, of))))
    });
    let (of_copy, of_fma) = shares.unwrap_or_default();
    TimeOfWorkJson { time: time(of), of_copy, of_fma }
}

fn time(time: &Time) -> TimeJson<'_> {
    match time {
        Time::Modelled { cycles, us, isa, device, validated, sampled } => TimeJson::Modelled {
            isa: isa_name(*isa),
            device,
            validated: *validated,
            cycles: Integer((*cycles).into()),
            us: Real(*us),
            sampled: sampled.map(SampledJson::from),
        },
        Time::Measured { us, us_min, us_max, spread, samples, clocks, device } => TimeJson::Measured {
            device,
            us: Real(*us),
            us_min: Real(*us_min),
            us_max: Real(*us_max),
            spread: Real(*spread),
            samples: *samples,
            noisy: *spread > SPREAD_MAX,
            clocks: clocks.as_ref().map(|clocks| ClocksJson {
                sm_mhz_min: clocks.sm_mhz_min,
                sm_mhz_max: clocks.sm_mhz_max,
                memory_mhz: clocks.memory_mhz,
                throttled: &clocks.throttled,
            }),
        },
    }
}

/// The counters as one object, the instruction set they count first.
pub(super) fn counters(counters: &CounterSet) -> Map<String, Value> {
    let isa = ("isa".to_owned(), Value::from(isa_name(counters.isa)));
    std::iter::once(isa).chain(counters.iter().map(|(name, value)| (name.to_owned(), number(value)))).collect()
}

fn claim<'a>(lab: &str, judged: &'a Judged) -> ClaimJson<'a> {
    ClaimJson {
        id: format!("{lab}.{}", judged.claim.id),
        backend: judged.backend.word(),
        section: judged.claim.section,
        statement: &judged.claim.statement,
        expected: judged.claim.relation.to_string(),
        found: judged.found.as_ref().map(claim::Value::to_string),
        verdict: judged.verdict.word(),
        held: judged.runs.held,
        runs: judged.runs.of,
        why: judged.why.as_deref(),
        note: judged.claim.note.as_deref(),
    }
}

fn table(table: &Table) -> TableJson<'_> {
    let rows = table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    TableJson { title: &table.title, columns: &table.columns, rows }
}

fn cell(value: &claim::Value) -> Value {
    let json = match value {
        claim::Value::Integer(value) => serde_json::to_value(Integer(*value)),
        claim::Value::Real(value) => serde_json::to_value(Real(*value)),
        claim::Value::Text(text) => Ok(Value::from(text.as_str())),
    };
    json.unwrap_or(Value::Null)
}

fn plot(plot: &Plot) -> PlotJson<'_> {
    let series = plot.series.iter().map(|series| SeriesJson {
        name: &series.name,
        mark: series.mark.word(),
        points: series.points.iter().map(|&(x, y)| [Real(x), Real(y)]).collect(),
    });
    PlotJson {
        title: &plot.title,
        x: &plot.x.label,
        x_log: plot.x.log,
        y: &plot.y.label,
        y_log: plot.y.log,
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use crate::lab::fixture;
    use crate::schema;

    #[test]
    fn a_run_is_written_as_the_schema_says() {
        expect_file!["snapshots/labs.json"].assert_eq(&schema::text(&schema::labs(&fixture::run())));
    }
}
