//! `codegen`: Rust or CUDA C++?

mod cases;
mod launches;

pub use cases::names;

use launches::{Compared, Pair};

use crate::backend::BackendKind;
use crate::claim::format::percent;
use crate::claim::{Claim, Value, at_least, at_most, equal, holds};
use crate::lab::{Lab, LabContext, LabError, Table};
use crate::numbers::Time;
use crate::peers;

pub static LAB: Lab = Lab {
    id: "codegen",
    chapter: 0,
    sections: "beyond",
    question: "Rust or CUDA C++?",
    kernels: &[
        "vecadd",
        "vecadd4",
        "blur",
        "by_lane",
        "leaky_relu",
        "heavy",
        "light",
        "stencil_1d",
        "stencil4",
        "reduce_shared",
        "reduce_shuffle",
        "reduce_atomic",
        "block_scan",
        "relu",
        "matmul_naive",
        "matmul_tiled_16",
        "matmul_tiled",
        "matmul_register",
        "gemv",
        "softmax",
        "transpose_naive",
        "transpose_padded",
        "copy_stride",
        "gather",
        "binary_search",
        "shared_stride",
        "nbody",
        "copy_vec4",
        "mandelbrot",
        "histogram",
        "msda_point",
        "msda_tile",
    ],
    text: include_str!("../../../../docs/labs/codegen.md"),
    claims,
    run,
};

const SECTION: &str = "beyond";
/// How much longer a kernel in Rust may take.
const SLOWER_MAX: f64 = 1.02;

fn claims() -> Vec<Claim> {
    let claim = |id: &str, statement: &str, relation| Claim::new(id, SECTION, statement, relation);
    let mut claims = vec![
        claim("results", "each pair writes the same bytes", holds("no byte differs")),
        claim("nvvm_results", "what rust-cuda made of the kernels writes the same bytes", holds("no byte differs")),
        claim("registers", "share of the kernels that take no more registers in Rust than in C++", at_least(0.8))
            .recorded(),
        claim("spills", "bytes that kernels in Rust spill", equal(0)).recorded(),
        claim("instructions", "instructions executed, Rust over C++: the median of the kernels", at_most(1.02))
            .on_machine()
            .needs_sass(),
        claim("modelled", "time, Rust over C++: the median of the kernels", at_most(SLOWER_MAX))
            .on_machine()
            .needs_sass(),
    ];
    claims.extend(names().into_iter().map(|kernel| {
        let statement = format!("{kernel}: time, Rust over C++, less what samples scatter");
        Claim::new(format!("time_{kernel}"), SECTION, statement, at_most(SLOWER_MAX)).on_gpu()
    }));
    claims
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let outer = cx.bench();
    let made = match peers::open(&outer.kernels, &outer.tools, &names()) {
        Ok(made) => made,
        Err(error) => {
            for claim in claims() {
                cx.not_run(&claim.id, error.to_string());
            }
            return Ok(());
        }
    };
    let nvcc = made.facts.nvcc.clone().unwrap_or_else(|| "of unknown version".to_owned());
    let facts = made.facts.clone();
    let bench = outer.beside(made)?;
    let pairs = launches::all(cx, &bench)?;
    let wrong = pairs.iter().find_map(|pair| pair.difference.clone());
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    if pairs.iter().any(|pair| pair.nvvm.is_some()) {
        let wrong = pairs.iter().find_map(|pair| pair.nvvm_difference.clone());
        cx.holds("nvvm_results", wrong.is_none(), wrong.unwrap_or_default());
    } else {
        cx.not_run("nvvm_results", "there is no text by rust-cuda of these kernels beside them");
    }
    let fewer = pairs.iter().filter(|pair| pair.rust.registers() <= pair.cplusplus.registers()).count();
    cx.found("registers", fewer as f64 / pairs.len() as f64);
    cx.found("spills", pairs.iter().map(|pair| pair.rust.spill_bytes()).sum::<u32>());
    if cx.backend() == BackendKind::Sim {
        median(cx, "instructions", &pairs, Compared::executed);
        median(cx, "modelled", &pairs, Compared::us);
    }
    for pair in &pairs {
        measured(cx, pair);
    }
    for table in [code(cx, &pairs), runs(cx, &pairs)] {
        cx.table(table);
    }
    cx.note(format!("C++ by nvcc {nvcc} at its usual settings; all texts through the same ptxas, in one cubin."));
    if facts.are_by_rust_cuda() {
        cx.note(format!("Rust is by rust-cuda here: {}.", facts.rustc.as_deref().unwrap_or_default()));
    }
    if let Some(nvvm) = &facts.nvvm {
        cx.note(format!("NVVM is by {nvvm}; docs/rust-cuda.md tells how it was made."));
    }
    if cx.backend() != BackendKind::Sim && facts.nvvm.is_some() {
        cx.note("Of NVVM, only kernels without barriers, shuffles and votes are launched on a GPU: rust-cuda moves these under conditions that not all lanes of a warp meet, and a GPU can wait for ever.");
    }
    if !facts.nvvm_changed.is_empty() {
        let list = facts.nvvm_changed.iter().map(|(kernel, reason)| format!("{kernel} ({reason})"));
        let list = list.collect::<Vec<_>>().join(", ");
        cx.note(format!("Without NVVM, since their sources have changed or rust-cuda compiles them wrongly: {list}."));
    }
    Ok(())
}

/// Finds what Rust costs over C++ in the middle one of the pairs.
fn median(cx: &mut LabContext<'_>, claim: &str, pairs: &[Pair], of: impl Fn(&Compared) -> Option<f64>) {
    let ratio = |pair: &Pair| Some(of(&pair.rust)? / of(&pair.cplusplus)?);
    let mut ratios: Vec<f64> = pairs.iter().filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    match ratios.get(ratios.len() / 2) {
        Some(&median) => cx.found(claim, median),
        None => cx.not_run(claim, "nothing was counted"),
    }
}

/// The ratio of the medians, less the standard error of both: samples are taken in turn, so that what drifts is in both.
fn measured(cx: &mut LabContext<'_>, pair: &Pair) {
    let claim = format!("time_{}", pair.kernel);
    match (pair.rust.measured(), pair.cplusplus.measured()) {
        (Some(rust), Some(cplusplus)) => {
            let ratio = rust.us() / cplusplus.us();
            cx.found(&claim, (ratio - scatter(rust).hypot(scatter(cplusplus))).max(0.0));
        }
        _ => cx.not_run(&claim, "needs a GPU"),
    }
}

/// Standard error of a median as a share of it, were the samples normally distributed: 1.253 standard deviations over the root of their
/// number, and 1.349 deviations between the quartiles.
fn scatter(time: &Time) -> f64 {
    match time {
        Time::Measured { spread, samples, .. } => 1.253 * spread / 1.349 / f64::from((*samples).max(1)).sqrt(),
        Time::Modelled { .. } => 0.0,
    }
}

/// What became of the texts.
fn code(cx: &LabContext<'_>, pairs: &[Pair]) -> Table {
    let title = format!("Rust and C++ on {}: the code", cx.device().arch());
    let columns = ["kernel", "registers", "C++", "NVVM", "in the SASS", "C++", "NVVM", "occupancy", "C++", "NVVM"];
    let mut table = Table::new(title, columns);
    for pair in pairs {
        let mut row = vec![Value::from(pair.kernel)];
        row.extend(three(pair, |one| Some(one.registers().into())));
        row.extend(three(pair, |one| one.instructions.map(Value::from)));
        row.extend(three(pair, |one| Some(percent(one.row.occupancy.theoretical).into())));
        table.row(row);
    }
    table
}

/// What they took.
fn runs(cx: &LabContext<'_>, pairs: &[Pair]) -> Table {
    let source = if cx.bench().measures() { "measured" } else { "modelled" };
    let title = format!("Rust and C++ on {}: instructions and time", cx.device().name);
    let time = format!("µs, {source}");
    let columns = ["kernel", "executed, a warp", "C++", "NVVM", &time, "C++", "NVVM", "Rust over C++", "over NVVM"];
    let mut table = Table::new(title, columns);
    for pair in pairs {
        let over = |other: Option<&Compared>| {
            let ratio = pair.rust.us().zip(other.and_then(Compared::us)).map(|(rust, other)| rust / other);
            ratio.map_or_else(|| Value::from("–"), Value::from)
        };
        let mut row = vec![Value::from(pair.kernel)];
        row.extend(three(pair, |one| one.executed_a_warp().map(Value::from)));
        row.extend(three(pair, |one| one.us().map(Value::from)));
        row.extend([over(Some(&pair.cplusplus)), over(pair.nvvm.as_ref())]);
        table.row(row);
    }
    table
}

/// A figure of all three; a dash where there is none.
fn three(pair: &Pair, figure: impl Fn(&Compared) -> Option<Value>) -> [Value; 3] {
    let all = [Some(&pair.rust), Some(&pair.cplusplus), pair.nvvm.as_ref()];
    all.map(|one| one.and_then(&figure).unwrap_or_else(|| Value::from("–")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lab_lists_what_it_compares() {
        assert_eq!(LAB.kernels, names());
    }

    #[test]
    fn more_samples_scatter_less_and_a_model_not_at_all() {
        let measured = |samples: &mut [f64]| scatter(&Time::measured(samples, "a GPU".to_owned()));
        // Quartiles 10% apart, of 5 samples and of 60.
        let few = measured(&mut [9.0, 9.5, 10.0, 10.5, 11.0]);
        let many = measured(&mut [9.0, 9.5, 10.0, 10.5, 11.0].repeat(12));
        assert!(few > 0.04 && few < 0.05 && many < few / 3.0, "{few} {many}");
        assert_eq!(measured(&mut [10.0; 30]), 0.0);
    }
}
