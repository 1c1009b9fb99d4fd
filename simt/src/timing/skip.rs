//! Blocks that are executed for their results only: the middle of a launch that is sampled.

use std::collections::VecDeque;

use crate::exec::{Block, End, Executor, Grid};
use crate::fault::Violation;
use crate::memory::{DirectPort, Memory, Port};

/// Instructions a warp runs before the next one of its block has a turn.
const TURN_INSTRUCTIONS: u64 = 1 << 16;
/// How far the instructions of a stretch of blocks may be from those of the blocks before, as a share.
const DIFFERENCE_MAX: f64 = 0.02;

/// A block that did not come to its end: it waits for others, or is long. It is to go on where it stands, timed.
#[derive(Debug)]
pub(super) struct Begun {
    pub block: Block,
    pub linear: u64,
}

/// What became of the blocks.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// Blocks that ended.
    pub ended: u64,
    /// What those executed.
    pub instructions: u64,
    /// Blocks that were begun and did not end, oldest first.
    pub begun: VecDeque<Begun>,
    /// Changes that they made to memory.
    pub changes: u64,
}

/// What is asked for.
pub(super) struct Skip<'a> {
    pub grid: &'a Grid,
    /// Positions in the order of the launch.
    pub positions: std::ops::Range<u64>,
    pub block_at: &'a (dyn Fn(u64) -> u64 + Sync),
    /// More begun blocks than this, and no more are begun.
    pub begun_max: usize,
    pub sm_count: u32,
    /// Of the blocks before. A stretch of blocks that differs from it is the last one.
    pub instructions_per_block: f64,
    /// Blocks that are compared with it at a time.
    pub stretch: u64,
    /// Instructions after which a block that has not ended counts as begun.
    pub block_instructions_max: u64,
    /// What the clock stands at.
    pub cycle: u64,
}

impl Skip<'_> {
    /// Executes the blocks in their order, each to its end.
    ///
    /// # Errors
    /// The first fault, with the index of its block.
    pub fn run(self, executor: &mut Executor<'_>, memory: &mut Memory) -> Result<Skipped, ([u32; 3], Violation)> {
        let grid = self.grid;
        let mut port = DirectPort::new(memory);
        port.set_clock(self.cycle);
        let mut skipped = Skipped::default();
        let mut block = Block::new(grid);
        // Of the stretch: blocks that ended, and what they executed.
        let (mut ended, mut executed) = (0_u64, 0_u64);
        for position in self.positions.clone() {
            let done = position - self.positions.start;
            if done > 0 && done.is_multiple_of(self.stretch.max(1)) {
                let expected = self.instructions_per_block * ended as f64;
                if (executed as f64 - expected).abs() > DIFFERENCE_MAX * expected {
                    break;
                }
                (ended, executed) = (0, 0);
            }
            if skipped.begun.len() >= self.begun_max {
                break;
            }
            let linear = (self.block_at)(position);
            block.start(grid, linear, (position % u64::from(self.sm_count.max(1))) as u32, 0);
            executor.tally_mut().launched(grid.warps_per_block(), grid.threads_per_block());
            let before = executor.tally().instructions();
            let is_done = self.run_block(&mut block, executor, &mut port);
            if is_done.map_err(|violation| (block.index(), violation))? {
                let instructions = executor.tally().instructions() - before;
                (ended, executed) = (ended + 1, executed + instructions);
                skipped.ended += 1;
                skipped.instructions += instructions;
            } else {
                skipped.begun.push_back(Begun { block: std::mem::replace(&mut block, Block::new(grid)), linear });
            }
        }
        skipped.changes = port.changes();
        Ok(skipped)
    }

    /// Whether the block came to its end.
    fn run_block(
        &self,
        block: &mut Block,
        executor: &mut Executor<'_>,
        port: &mut DirectPort<'_>,
    ) -> Result<bool, Violation> {
        let before = executor.tally().instructions();
        while executor.tally().instructions() - before <= self.block_instructions_max {
            let mut goes_on = false;
            for warp in 0..block.warps().len() {
                if block.warps()[warp].next().is_some() {
                    goes_on |= executor.run(block, warp, port, TURN_INSTRUCTIONS)? != End::Stuck;
                }
            }
            if block.is_done() {
                return Ok(true);
            }
            if !goes_on && !block.release_waiting(self.grid) {
                return Ok(false);
            }
        }
        Ok(false)
    }
}
