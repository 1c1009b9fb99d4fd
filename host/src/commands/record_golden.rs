//! `record-golden`: runs the statements of golden tables on a GPU and writes the tables anew with its results. For the tests of
//! `simt`, which hold the machine to them; Warpwise's own driver would hold the machine to itself, and is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpwise_simt::golden::{THREADS, Table};

use super::{Outcome, read_text, write_text};
use crate::backend::gpus::{self, Image};
use crate::backend::{Gpu, GpuError, LaunchRequest, LaunchShape};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::Code;

#[derive(clap::Args, Debug)]
pub struct Options {
    /// The tables; each is overwritten
    #[arg(required = true, value_name = "FILE.tsv")]
    tables: Vec<PathBuf>,
}

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    for path in &options.tables {
        let mut table = Table::parse(&read_text(path)?).map_err(|error| usage(path, &error))?;
        let changed = record(&mut table, global)?;
        write_text(path, &table.to_string())?;
        println!("{}: {} statements, {changed} with results other than before", path.display(), table.cases.len());
    }
    Ok(Outcome::Good)
}

fn usage(path: &Path, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Usage(format!("`{}`: {error}", path.display()))
}

/// Runs every statement; how many gave something else than the table had.
fn record(table: &mut Table, global: &GlobalOptions) -> Result<usize, CommandError> {
    let name = |index: usize| format!("golden_{index}");
    let kernels = table.cases.iter().enumerate().map(|(index, case)| table.kernel(&name(index), case));
    let gpu = open(&std::iter::once(Table::HEADER.to_owned()).chain(kernels).collect::<String>(), global)?;
    let input = gpu.upload(&table.input())?;
    let output = gpu.zeros::<u64>(table.cases.len() * THREADS)?;
    let request = |index: usize| LaunchRequest {
        kernel: name(index),
        params: [input.ptr().address(), output.ptr().address() + (index * THREADS * 8) as u64]
            .map(u64::to_le_bytes)
            .concat(),
        ..one_block()
    };
    gpu.run_in_turn((0..table.cases.len()).map(request).collect())?;
    let results = output.download()?;
    let mut changed = 0;
    for (case, found) in table.cases.iter_mut().zip(results.chunks_exact(THREADS)) {
        changed += usize::from(case.expected != found);
        case.expected = found.to_vec();
    }
    Ok(changed)
}

fn one_block() -> LaunchRequest {
    let shape = LaunchShape::linear(THREADS as u32, THREADS as u32);
    LaunchRequest::packed("", shape, Vec::new())
}

/// A context on the GPU with these kernels, compiled by its driver.
fn open(ptx: &str, global: &GlobalOptions) -> Result<Gpu, CommandError> {
    let code = Arc::new(Code::parse("golden", ptx)?);
    let listed = gpus::gpus()?;
    let info = listed.get(global.gpu as usize).ok_or_else(|| CommandError::Usage(format!("no GPU {}", global.gpu)))?;
    if info.is_modelled() {
        return Err(CommandError::Usage(format!("{} is no GPU: golden results come from hardware", info.name)));
    }
    let model = info.model().ok_or_else(|| CommandError::Usage(format!("{}: no such device is known", info.name)))?;
    Ok(load(info, model, code, &Image::Ptx(ptx))?)
}

#[cfg(feature = "cuda")]
fn load(
    info: &gpus::GpuInfo,
    model: &'static warpwise_simt::device::Device,
    code: Arc<Code>,
    image: &Image<'_>,
) -> Result<Gpu, GpuError> {
    Ok(Gpu::new(Arc::new(crate::backend::cuda::Cuda::open(info.ordinal, model, code, image)?)))
}

#[cfg(not(feature = "cuda"))]
fn load(
    _: &gpus::GpuInfo,
    _: &'static warpwise_simt::device::Device,
    _: Arc<Code>,
    _: &Image<'_>,
) -> Result<Gpu, GpuError> {
    Err(GpuError::Stopped)
}
