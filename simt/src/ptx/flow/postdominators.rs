//! Where the two sides of a branch meet again.
//!
//! That is the branch's immediate post-dominator: the first block that every path from it passes. Paths end in a virtual exit
//! node behind every `exit`, `ret` and `trap`; a loop that cannot end is given an edge to it from its last block.
//!
//! Where that is the exit itself, lanes may still meet earlier: in `if a { if b { return } … } rest`, those that do not return
//! meet at `rest`. Lanes that end are not waited for, so such branches are looked at again with fewer ends: with none, which
//! leaves the loops; then with only the last `ret` or `exit` of the text, then only the one before it, and so on.

use super::blocks::{Block, Blocks};
use super::sets::BitSet;
use crate::isa::Op;
use crate::ptx::lower::Code;

/// Most ends that are looked at alone, from the last one back.
const ENDS_MAX: usize = 8;

/// Each branch of the function (its step) with the step where its sides meet; branches that meet at the end only are left out.
pub(super) fn reconvergence(code: &Code, blocks: &Blocks) -> Vec<(u32, u32)> {
    let exit = blocks.len() as Block;
    let last_step = |block: usize| blocks.starts[block + 1] - 1;
    let is_branch = |step: u32| matches!(code.steps[step as usize].op, Op::Branch { .. } | Op::BranchIndexed { .. });
    let mut open: Vec<usize> = (0..blocks.len()).filter(|&block| is_branch(last_step(block))).collect();
    let mut found = Vec::new();
    let predecessors = blocks.predecessors();
    let mut look = |exits: &[bool]| {
        if open.is_empty() {
            return;
        }
        let tree = immediate(blocks, &predecessors, exits);
        open.retain(|&block| {
            // A side from which no end of this look can be reached has nobody to meet.
            let sides = blocks.successors(block).iter().filter(|&&side| tree[side as usize].is_some());
            let Some(meets) = tree[block].filter(|&meets| meets != exit && sides.count() > 1) else { return true };
            found.push((last_step(block), blocks.starts[meets as usize]));
            false
        });
    };
    look(&with_loops(blocks, &predecessors, &blocks.ends, |_| true));
    let lasting = lasting(blocks, &predecessors);
    look(&with_loops(blocks, &predecessors, &vec![false; blocks.len()], |block| lasting[block]));
    let returns = (0..blocks.len())
        .rev()
        .filter(|&block| blocks.successors(block).is_empty() && !is_trap(code, last_step(block)));
    for end in returns.take(ENDS_MAX) {
        let mut exits = vec![false; blocks.len()];
        exits[end] = true;
        look(&exits);
    }
    found
}

fn is_trap(code: &Code, step: u32) -> bool {
    matches!(code.steps[step as usize].op, Op::Trap)
}

/// `exits`, and one block of every loop (of blocks that `counts`) from which none of them can be reached: its last.
fn with_loops(
    blocks: &Blocks,
    predecessors: &[Vec<Block>],
    exits: &[bool],
    counts: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut exits = exits.to_vec();
    let mut reached = BitSet::new(blocks.len());
    let mut pending: Vec<Block> = (0..blocks.len()).filter(|&block| exits[block]).map(|block| block as Block).collect();
    for block in (0..blocks.len()).rev() {
        while let Some(block) = pending.pop() {
            if reached.insert(block as usize) {
                pending.extend(&predecessors[block as usize]);
            }
        }
        if !reached.contains(block) && counts(block) {
            exits[block] = true;
            pending.push(block as Block);
        }
    }
    exits
}

/// Blocks from which a path can go on for ever.
fn lasting(blocks: &Blocks, predecessors: &[Vec<Block>]) -> Vec<bool> {
    let mut ways: Vec<usize> = (0..blocks.len()).map(|block| blocks.successors(block).len()).collect();
    let mut ended: Vec<usize> = (0..blocks.len()).filter(|&block| ways[block] == 0).collect();
    while let Some(block) = ended.pop() {
        for &before in &predecessors[block] {
            let ways = &mut ways[before as usize];
            *ways -= 1;
            if *ways == 0 {
                ended.push(before as usize);
            }
        }
    }
    ways.into_iter().map(|ways| ways > 0).collect()
}

/// The immediate post-dominator of every block; the exit is block `len`. (Cooper, Harvey, Kennedy: A Simple, Fast Dominance
/// Algorithm, on the reversed graph.)
fn immediate(blocks: &Blocks, predecessors: &[Vec<Block>], exits: &[bool]) -> Vec<Option<Block>> {
    let count = blocks.len();
    let exit = count as Block;
    let order = reverse_order(predecessors, exits);
    let mut rank = vec![0u32; count + 1];
    for (at, &block) in order.iter().enumerate() {
        rank[block as usize] = at as u32;
    }
    let mut tree: Vec<Option<Block>> = vec![None; count + 1];
    tree[count] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let ends = exits[block as usize].then_some(exit);
            let next = blocks.successors(block as usize).iter().copied().chain(ends);
            let known = next.filter(|&next| tree[next as usize].is_some());
            let meets = known.reduce(|a, b| common(&tree, &rank, a, b));
            if tree[block as usize] != meets {
                tree[block as usize] = meets;
                changed = true;
            }
        }
    }
    tree
}

/// The nearest block that post-dominates both.
fn common(tree: &[Option<Block>], rank: &[u32], mut a: Block, mut b: Block) -> Block {
    while a != b {
        let later = if rank[a as usize] > rank[b as usize] { &mut a } else { &mut b };
        match tree[*later as usize] {
            Some(up) => *later = up,
            None => return tree.len() as Block - 1,
        }
    }
    a
}

/// Reverse postorder of the reversed graph, from the virtual exit.
fn reverse_order(predecessors: &[Vec<Block>], exits: &[bool]) -> Vec<Block> {
    let exit = predecessors.len();
    let roots: Vec<Block> = (0..exit).filter(|&block| exits[block]).map(|block| block as Block).collect();
    let of = |block: Block| if block as usize == exit { &roots } else { &predecessors[block as usize] };
    let mut seen = BitSet::new(exit + 1);
    seen.insert(exit);
    let mut order = Vec::with_capacity(exit + 1);
    let mut stack = vec![(exit as Block, 0)];
    while let Some((block, next)) = stack.last_mut() {
        match of(*block).get(*next) {
            Some(&up) => {
                *next += 1;
                if seen.insert(up as usize) {
                    stack.push((up, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
