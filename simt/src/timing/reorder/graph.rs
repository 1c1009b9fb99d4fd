//! What must stay in order inside a run, and the list schedule that keeps it.

use std::ops::Range;

use crate::isa::{Access, Cache, Instr, Op, Order, Program, Space, Src};
use crate::timing::operands::{Operand, reads, writes};

/// Cycles between the issues of an instruction and of its user.
type Latency<'a> = &'a dyn Fn(&Instr) -> u32;

/// An order of the run's instructions, as indices in it: by critical path, the original order among equals.
pub(super) fn order(program: &Program, run: Range<usize>, latency: Latency<'_>) -> Vec<usize> {
    let code = &program.code[run.clone()];
    let mut graph = Graph {
        successors: vec![Vec::new(); code.len()],
        predecessors: vec![0; code.len()],
        height: vec![0; code.len()],
    };
    graph.registers(program, code, latency);
    graph.memory(&bases(program, code));
    graph.collectives(code);
    graph.heights(program, run, latency);
    graph.schedule()
}

/// Edges from each instruction to later ones that depend on it, with the cycles between their issues.
struct Graph {
    successors: Vec<Vec<(usize, u32)>>,
    predecessors: Vec<u32>,
    /// Cycles from an instruction's issue to the end of the longest chain that it starts.
    height: Vec<u32>,
}

impl Graph {
    fn edge(&mut self, from: usize, to: usize, cycles: u32) {
        if from == to {
            return;
        }
        match self.successors[from].iter_mut().find(|(successor, _)| *successor == to) {
            Some((_, longest)) => *longest = cycles.max(*longest),
            None => {
                self.successors[from].push((to, cycles));
                self.predecessors[to] += 1;
            }
        }
    }

    /// A reader comes after the writer it reads; a writer after those who wrote or read before.
    fn registers(&mut self, program: &Program, code: &[Instr], latency: Latency<'_>) {
        let places = places_of(program);
        let mut writer: Vec<Option<usize>> = vec![None; places];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); places];
        for (index, instr) in code.iter().enumerate() {
            for place in reads(program, instr).flat_map(|(_, places)| places.iter()).map(usize::from) {
                if let Some(from) = writer[place] {
                    self.edge(from, index, latency(&code[from]));
                }
                readers[place].push(index);
            }
            for place in writes(program, instr).flat_map(|(_, places)| places.iter()).map(usize::from) {
                readers[place].drain(..).for_each(|reader| self.edge(reader, index, 0));
                if let Some(from) = writer[place].replace(index) {
                    self.edge(from, index, 1);
                }
            }
        }
    }

    /// Accesses keep their order unless both are loads or they cannot touch the same bytes.
    fn memory(&mut self, accesses: &[Reference]) {
        for (index, later) in accesses.iter().enumerate() {
            for earlier in accesses[..index].iter().filter(|earlier| earlier.must_precede(later)) {
                self.edge(earlier.instr, later.instr, 0);
            }
        }
    }

    /// Operations that lanes do together keep their order.
    fn collectives(&mut self, code: &[Instr]) {
        let together = |op: &Op| matches!(op, Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::Redux(..));
        let all: Vec<usize> = (0..code.len()).filter(|index| together(&code[*index].op)).collect();
        all.windows(2).for_each(|pair| self.edge(pair[0], pair[1], 0));
    }

    /// Longest chains, from the end. What the instruction after the run waits for counts too: it is often the branch.
    fn heights(&mut self, program: &Program, run: Range<usize>, latency: Latency<'_>) {
        let code = &program.code[run.clone()];
        let waited_for: Vec<u16> = match program.code.get(run.end) {
            Some(next) => reads(program, next).flat_map(|(_, places)| places.iter()).collect(),
            None => Vec::new(),
        };
        for index in (0..code.len()).rev() {
            let own = latency(&code[index]);
            let leaves = writes(program, &code[index]).flat_map(|(_, places)| places.iter());
            let last = leaves.into_iter().any(|place| waited_for.contains(&place));
            let after = self.successors[index].iter().map(|(next, cycles)| cycles + self.height[*next]);
            self.height[index] = after.chain(last.then_some(own)).max().unwrap_or(0);
        }
    }

    /// One instruction a cycle: of those that could issue the one with the longest chain; if none could, the one that can first.
    fn schedule(mut self) -> Vec<usize> {
        let count = self.height.len();
        let mut ready: Vec<(usize, u32)> =
            (0..count).filter(|index| self.predecessors[*index] == 0).map(|index| (index, 0)).collect();
        let mut earliest = vec![0; count];
        let mut order = Vec::with_capacity(count);
        let mut cycle = 0;
        while let Some(choice) = self.choose(&ready, cycle) {
            let (index, start) = ready.swap_remove(choice);
            cycle = cycle.max(start) + 1;
            order.push(index);
            for (next, cycles) in std::mem::take(&mut self.successors[index]) {
                earliest[next] = earliest[next].max(cycle - 1 + cycles);
                self.predecessors[next] -= 1;
                if self.predecessors[next] == 0 {
                    ready.push((next, earliest[next]));
                }
            }
        }
        order
    }

    fn choose(&self, ready: &[(usize, u32)], cycle: u32) -> Option<usize> {
        let rank = |place: &usize| {
            let (index, start) = ready[*place];
            (start.saturating_sub(cycle), std::cmp::Reverse(self.height[index]), index)
        };
        (0..ready.len()).min_by_key(rank)
    }
}

fn places_of(program: &Program) -> usize {
    usize::from(program.slot_count) + usize::from(program.pred_count)
}

/// A memory access of the run, with its base as a value: the register and who wrote it last.
struct Reference {
    instr: usize,
    access: Access,
    is_load: bool,
    base: (Src, Option<usize>),
    offset: i64,
}

fn bases(program: &Program, code: &[Instr]) -> Vec<Reference> {
    let mut writer: Vec<Option<usize>> = vec![None; places_of(program)];
    let mut found = Vec::new();
    for (index, instr) in code.iter().enumerate() {
        if let Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) = instr.op {
            let written = reads(program, instr)
                .filter(|(operand, _)| *operand == Operand::Address)
                .flat_map(|(_, places)| places.iter())
                .filter_map(|place| writer[usize::from(place)])
                .max();
            found.push(Reference {
                instr: index,
                access,
                is_load: matches!(instr.op, Op::Load(_)),
                base: (instr.addr, written),
                offset: instr.offset,
            });
        }
        for place in writes(program, instr).flat_map(|(_, places)| places.iter()) {
            writer[usize::from(place)] = Some(index);
        }
    }
    found
}

impl Reference {
    fn must_precede(&self, later: &Self) -> bool {
        let ordered = |reference: &Self| reference.access.order != Order::Weak;
        if ordered(self) || ordered(later) {
            return true;
        }
        let constant = |reference: &Self| {
            matches!(reference.access.space, Space::Const | Space::Param) || reference.access.cache == Cache::ReadOnly
        };
        if (self.is_load && later.is_load) || constant(self) || constant(later) {
            return false;
        }
        !self.is_apart_from(later)
    }

    /// Different spaces, or the same base and other bytes.
    fn is_apart_from(&self, other: &Self) -> bool {
        let (a, b) = (self.access.space, other.access.space);
        if a != b {
            return a != Space::Generic && b != Space::Generic;
        }
        let end = |reference: &Self| reference.offset.saturating_add(reference.access.bytes().into());
        self.base == other.base && (end(self) <= other.offset || end(other) <= self.offset)
    }
}
