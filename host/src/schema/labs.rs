//! `warpwise.labs/1`: what `labs --json FILE` writes.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Integer, Real, number};
use crate::backend::CounterSet;
use crate::claim::{self, Judged, Toolchain};
use crate::lab::{KernelRow, LabOutcome, Plot, RunOutcome, Table};
use crate::numbers::{Regs, Time, isa_name};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    toolchain: ToolchainJson<'a>,
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

#[derive(Serialize)]
struct LabJson<'a> {
    id: &'a str,
    chapter: u8,
    question: &'a str,
    backend: &'static str,
    seconds: Real,
    kernels: Vec<KernelJson<'a>>,
    claims: Vec<ClaimJson<'a>>,
    tables: Vec<TableJson<'a>>,
    plots: Vec<PlotJson<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct KernelJson<'a> {
    kernel: &'a str,
    variant: &'a str,
    device: &'a str,
    arch: &'a str,
    registers: RegistersJson,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    stack_bytes: u32,
    shared_bytes: u32,
    grid: [u32; 3],
    block: [u32; 3],
    occupancy: OccupancyJson<'a>,
    times: Vec<TimeJson<'a>>,
    no_time: Option<&'a str>,
    counters: Option<Map<String, Value>>,
}

#[derive(Serialize)]
pub(super) struct RegistersJson {
    value: u32,
    source: &'static str,
}

#[derive(Serialize)]
struct OccupancyJson<'a> {
    theoretical: Real,
    achieved: Option<Real>,
    blocks_per_sm: u32,
    limiters: &'a [&'static str],
}

#[derive(Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
enum TimeJson<'a> {
    Modelled { isa: &'static str, device: &'a str, validated: bool, cycles: Integer, us: Real },
    Measured { device: &'a str, us: Real, us_min: Real, us_max: Real, samples: u32 },
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
    y: &'a str,
    series: Vec<SeriesJson<'a>>,
}

#[derive(Serialize)]
struct SeriesJson<'a> {
    name: &'a str,
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
        labs: run.labs.iter().map(lab).collect(),
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

fn lab(outcome: &LabOutcome) -> LabJson<'_> {
    LabJson {
        id: outcome.lab.id,
        chapter: outcome.lab.chapter,
        question: outcome.lab.question,
        backend: outcome.backend.word(),
        seconds: Real(outcome.seconds),
        kernels: outcome.kernels.iter().map(kernel).collect(),
        claims: outcome.claims.iter().map(|judged| claim(outcome.lab.id, judged)).collect(),
        tables: outcome.tables.iter().map(table).collect(),
        plots: outcome.plots.iter().map(plot).collect(),
        notes: &outcome.notes,
    }
}

fn kernel(row: &KernelRow) -> KernelJson<'_> {
    KernelJson {
        kernel: &row.kernel,
        variant: &row.variant,
        device: &row.device,
        arch: &row.arch,
        registers: registers(row.registers),
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
        times: row.times.iter().map(time).collect(),
        no_time: row.no_time.as_deref(),
        counters: row.counters.as_ref().map(counters),
    }
}

pub(super) fn registers(registers: Regs) -> RegistersJson {
    RegistersJson { value: registers.value(), source: registers.source() }
}

fn time(time: &Time) -> TimeJson<'_> {
    match time {
        Time::Modelled { cycles, us, isa, device, validated } => TimeJson::Modelled {
            isa: isa_name(*isa),
            device,
            validated: *validated,
            cycles: Integer((*cycles).into()),
            us: Real(*us),
        },
        Time::Measured { us, us_min, us_max, samples, device } => TimeJson::Measured {
            device,
            us: Real(*us),
            us_min: Real(*us_min),
            us_max: Real(*us_max),
            samples: *samples,
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
        points: series.points.iter().map(|&(x, y)| [Real(x), Real(y)]).collect(),
    });
    PlotJson { title: &plot.title, x: &plot.x.label, y: &plot.y.label, series: series.collect() }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::lab::fixture;
    use crate::schema;

    #[test]
    fn a_run_is_written_as_the_schema_says() {
        expect![[r#"
            {
              "schema": "warpwise.labs/1",
              "toolchain": {
                "rustc": "1.96.0",
                "llvm": "22.1.8",
                "ptxas": "13.2.78",
                "recorded": true
              },
              "labs": [
                {
                  "id": "sample",
                  "chapter": 1,
                  "question": "what is < 1 & > 0?",
                  "backend": "sim",
                  "seconds": 0.25,
                  "kernels": [
                    {
                      "kernel": "vecadd",
                      "variant": "n = 1,000,003",
                      "device": "RTX 5070",
                      "arch": "sm_120",
                      "registers": {
                        "value": 12,
                        "source": "ptxas"
                      },
                      "spill_store_bytes": 0,
                      "spill_load_bytes": 0,
                      "stack_bytes": 0,
                      "shared_bytes": 0,
                      "grid": [
                        3907,
                        1,
                        1
                      ],
                      "block": [
                        256,
                        1,
                        1
                      ],
                      "occupancy": {
                        "theoretical": 1.0,
                        "achieved": 0.81,
                        "blocks_per_sm": 6,
                        "limiters": [
                          "warps"
                        ]
                      },
                      "times": [
                        {
                          "source": "modelled",
                          "isa": "ptx",
                          "device": "RTX 5070",
                          "validated": false,
                          "cycles": 41000,
                          "us": 16.322
                        },
                        {
                          "source": "measured",
                          "device": "NVIDIA H200",
                          "us": 5.1,
                          "us_min": 5.0,
                          "us_max": 5.9,
                          "samples": 50
                        }
                      ],
                      "no_time": null,
                      "counters": {
                        "isa": "ptx",
                        "smsp__inst_executed.sum": 562608,
                        "l1tex__average.ratio": 3.5
                      }
                    },
                    {
                      "kernel": "heavy_capped",
                      "variant": "",
                      "device": "RTX 5070",
                      "arch": "sm_120",
                      "registers": {
                        "value": 40,
                        "source": "ptxas"
                      },
                      "spill_store_bytes": 148,
                      "spill_load_bytes": 160,
                      "stack_bytes": 152,
                      "shared_bytes": 0,
                      "grid": [
                        3907,
                        1,
                        1
                      ],
                      "block": [
                        256,
                        1,
                        1
                      ],
                      "occupancy": {
                        "theoretical": 1.0,
                        "achieved": 0.81,
                        "blocks_per_sm": 6,
                        "limiters": [
                          "warps"
                        ]
                      },
                      "times": [],
                      "no_time": "needs SASS",
                      "counters": null
                    }
                  ],
                  "claims": [
                    {
                      "id": "sample.blocks",
                      "backend": "sim",
                      "section": "ch1 §2",
                      "statement": "3,907 blocks are needed",
                      "expected": "= 3907",
                      "found": "3907",
                      "verdict": "holds",
                      "why": null,
                      "note": null
                    },
                    {
                      "id": "sample.free",
                      "backend": "sim",
                      "section": "ch1 §7",
                      "statement": "the guard costs under 1%",
                      "expected": "< 0.01",
                      "found": "inf",
                      "verdict": "fails",
                      "why": null,
                      "note": "in instructions"
                    },
                    {
                      "id": "sample.same",
                      "backend": "sim",
                      "section": "ch1 §2",
                      "statement": "the results are the CPU's",
                      "expected": "holds that none differs",
                      "found": "yes",
                      "verdict": "holds",
                      "why": null,
                      "note": null
                    },
                    {
                      "id": "sample.speed",
                      "backend": "sim",
                      "section": "ch1 §9",
                      "statement": "the GPU reaches 90%",
                      "expected": "≥ 0.9",
                      "found": null,
                      "verdict": "not-run",
                      "why": "needs a GPU",
                      "note": null
                    }
                  ],
                  "tables": [
                    {
                      "title": "blocks by size",
                      "columns": [
                        "threads",
                        "occupancy",
                        "limiter"
                      ],
                      "rows": [
                        [
                          "256",
                          1.0,
                          "warps"
                        ],
                        [
                          "1024",
                          0.666666,
                          "warps"
                        ]
                      ]
                    }
                  ],
                  "plots": [
                    {
                      "title": "occupancy by registers",
                      "x": "registers",
                      "y": "occupancy (%)",
                      "series": [
                        {
                          "name": "256 threads",
                          "points": [
                            [
                              40.0,
                              100.0
                            ],
                            [
                              41.0,
                              83.0
                            ]
                          ]
                        }
                      ]
                    }
                  ],
                  "notes": [
                    "refused: 1,025 threads"
                  ]
                }
              ],
              "summary": {
                "holds": 2,
                "fails": 1,
                "not_run": 1
              }
            }
        "#]]
        .assert_eq(&schema::text(&schema::labs(&fixture::run())));
    }
}
