//! Basic blocks of a function and the edges between them.

use crate::isa::Op;
use crate::ptx::lower::{Code, FunctionCode, Step};

/// Index of a block.
pub(super) type Block = u32;

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// First step of each block, in order; the last entry is the end of the function.
    pub starts: Vec<u32>,
    /// Successors of block `b`: `edges[first_edge[b]..first_edge[b + 1]]`.
    first_edge: Vec<u32>,
    edges: Vec<Block>,
    /// Does the function end here, for some lane?
    pub ends: Vec<bool>,
}

impl Blocks {
    pub fn new(code: &Code, function: &FunctionCode) -> Self {
        let starts = leaders(code, function);
        let mut blocks = Self { starts, first_edge: vec![0], ..Self::default() };
        for block in 0..blocks.len() {
            blocks.add_edges(code, block);
        }
        blocks
    }

    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn steps(&self, block: usize) -> std::ops::Range<u32> {
        self.starts[block]..self.starts[block + 1]
    }

    pub fn successors(&self, block: usize) -> &[Block] {
        &self.edges[self.first_edge[block] as usize..self.first_edge[block + 1] as usize]
    }

    /// Predecessors of every block, in the form of the successors.
    pub fn predecessors(&self) -> Vec<Vec<Block>> {
        let mut predecessors = vec![Vec::new(); self.len()];
        for block in 0..self.len() {
            for &next in self.successors(block) {
                predecessors[next as usize].push(block as Block);
            }
        }
        predecessors
    }

    fn add_edges(&mut self, code: &Code, block: usize) {
        let range = self.steps(block);
        let last = range.end.checked_sub(1).map(|last| &code.steps[last as usize]);
        let first = self.edges.len();
        let mut falls_through = true;
        let mut ends = false;
        if let Some(step) = last {
            falls_through = !step.is_unguarded() || !leaves(&step.op);
            ends = matches!(step.op, Op::Exit | Op::Return | Op::Trap);
            let targets = targets(code, step);
            self.edges.extend(targets.map(|target| self.starts.partition_point(|&start| start <= target) as u32 - 1));
        }
        if falls_through && block + 1 < self.len() {
            self.edges.push(block as Block + 1);
        }
        // A block that is both target and next has one edge.
        let edges = &mut self.edges[first..];
        edges.sort_unstable();
        let mut kept = first;
        for at in first..self.edges.len() {
            if at == first || self.edges[at] != self.edges[at - 1] {
                self.edges[kept] = self.edges[at];
                kept += 1;
            }
        }
        self.edges.truncate(kept);
        self.first_edge.push(kept as u32);
        self.ends.push(ends);
    }
}

/// Where a step may jump.
fn targets<'a>(code: &'a Code, step: &'a Step) -> impl Iterator<Item = u32> + 'a {
    let table = match step.op {
        Op::BranchIndexed { table, .. } => code.tables.get(usize::from(table)),
        _ => None,
    };
    step.label.iter().chain(table.into_iter().flatten()).map(|label| code.target(*label))
}

/// Does an unguarded step of this kind never go on to the next?
fn leaves(op: &Op) -> bool {
    matches!(op, Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Exit | Op::Return | Op::Trap)
}

/// Starts of blocks: the function's, targets, and what follows a jump or an end; then the function's end.
fn leaders(code: &Code, function: &FunctionCode) -> Vec<u32> {
    let mut starts = vec![function.start, function.end];
    for at in function.start..function.end {
        let step = &code.steps[at as usize];
        if leaves(&step.op) {
            starts.push(at + 1);
        }
        starts.extend(targets(code, step));
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}
