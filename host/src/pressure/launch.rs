//! How a kernel is launched to be timed: its launch in the table of counters, or one that the user describes.

use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::Xxh3Default;

use crate::arguments::{Argument, ArgumentError};
use crate::backend::{Gpu, LaunchShape};
use crate::counters::{cases, contents, prepare};
use crate::error::CommandError;
use crate::kernels::Code;
use crate::numbers::Time;

/// A launch as data.
#[derive(Clone, Debug)]
pub struct Launch {
    pub shape: LaunchShape,
    arguments: Vec<Argument>,
    /// What the buffers hold, made when first needed: all launches of a sweep start from the same.
    contents: Arc<OnceLock<Vec<Option<Vec<u8>>>>>,
}

/// What a timed launch came to.
#[derive(Clone, Debug)]
pub struct Ran {
    pub time: Time,
    /// A hash of everything in its buffers afterwards.
    pub results: u64,
}

impl Launch {
    pub fn new(shape: LaunchShape, arguments: Vec<Argument>) -> Self {
        Self { shape, arguments, contents: Arc::default() }
    }

    /// The same arguments in another shape.
    #[must_use]
    pub fn shaped(&self, shape: LaunchShape) -> Self {
        Self { shape, ..self.clone() }
    }

    /// The launch that every kernel of ours has; none for others.
    ///
    /// # Errors
    /// None that a test would not have found: the table's words are arguments.
    pub fn standard(kernel: &str) -> Result<Option<Self>, ArgumentError> {
        let Ok(found) = cases::chosen(&[kernel.to_owned()]) else { return Ok(None) };
        let Some(case) = found.first() else { return Ok(None) };
        Ok(Some(Self::new(LaunchShape::new(case.grid, case.block), case.arguments()?)))
    }

    /// The same threads in blocks of another size; none for a launch that is not one-dimensional, of which the size is not all.
    pub fn with_block(&self, block: u32) -> Option<Self> {
        let LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], .. } = self.shape else { return None };
        let total = u64::from(blocks) * u64::from(threads);
        let grid = u32::try_from(total.div_ceil(block.into())).ok()?;
        let shape = LaunchShape { grid: [grid, 1, 1], block: [block, 1, 1], ..self.shape };
        Some(self.shaped(shape))
    }

    /// Runs the kernel under the cycle model or on the GPU, whichever the context is of.
    ///
    /// # Errors
    /// A launch that the device refuses, a fault in the kernel.
    pub fn run(&self, code: &Code, gpu: &Gpu, kernel: &str, registers: u32) -> Result<Ran, CommandError> {
        let (time, results) = self.launched(code, gpu, kernel, Some(registers))?;
        let time = time.ok_or_else(|| CommandError::Usage(format!("{kernel} left no time")))?;
        Ok(Ran { time, results })
    }

    /// Runs the kernel for its results alone, which takes a fraction of the time: a hash of everything in its buffers afterwards.
    ///
    /// # Errors
    /// As [`Launch::run`].
    pub fn results(&self, code: &Code, gpu: &Gpu, kernel: &str) -> Result<u64, CommandError> {
        Ok(self.launched(code, gpu, kernel, None)?.1)
    }

    fn launched(
        &self,
        code: &Code,
        gpu: &Gpu,
        kernel: &str,
        timed_with: Option<u32>,
    ) -> Result<(Option<Time>, u64), CommandError> {
        let contents = match self.contents.get() {
            Some(known) => known,
            None => {
                let made = contents(&self.arguments)?;
                self.contents.get_or_init(|| made)
            }
        };
        let prepared = prepare(code, gpu, kernel, self.shape, &self.arguments, contents)?;
        let request = match timed_with {
            Some(registers) => prepared.request.timed(Some(registers)),
            None => prepared.request,
        };
        let report = gpu.run_in_turn(vec![request])?.pop();
        let time = report.as_ref().and_then(|report| report.time()).cloned();
        let mut results = Xxh3Default::new();
        for buffer in &prepared.buffers {
            results.write(&buffer.download()?);
        }
        Ok((time, results.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_blocks_hold_at_least_as_many_threads_and_less_than_a_block_more() {
        let launch = Launch::standard("heavy").expect("its words are read").expect("it has a launch");
        let threads = launch.shape.blocks() * launch.shape.block_threads();
        for block in [32, 96, 128, 1000] {
            let other = launch.with_block(block).expect("it is one-dimensional").shape;
            let more = other.blocks() * other.block_threads() - threads;
            assert!(other.block == [block, 1, 1] && more < u64::from(block), "{block}: {more} more");
        }
        let blur = Launch::standard("blur").expect("its words are read").expect("it has a launch");
        assert!(blur.with_block(64).is_none(), "it is two-dimensional");
        assert!(Launch::standard("mine").expect("no words").is_none());
    }
}
