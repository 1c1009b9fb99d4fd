//! Uniformity: which values are the same in all lanes of a warp that execute an instruction together, known before it runs and
//! seen while it does.
//!
//! [`analyse`] follows values through a program in the inner form and gives each result a [`Class`]. It errs on one side only:
//! what it calls uniform is uniform in every launch of the assumed [`BlockShape`]; what it calls varying may be uniform all the same.
//! [`Watcher`] is a probe that notes which results were ever seen to differ between lanes.
//!
//! The idea: a value varies because it was made from one that does, or because lanes that took different ways come together
//! again. So everything that is written between a branch on a varying condition and the place where its two sides meet varies from
//! there on, however uniform it was on either side: the counter of a loop that lanes leave one by one, for example.
//!
//! It is made for PTX, whose branches say where their sides meet.

use crate::exec::{Event, Probe, operand_words};
use crate::isa::{
    Alu, AluKind, Constant, Instr, Lanes, Mask, Op, Pc, Pred, PredSrc, Program, Space, Special, Src, WARP_SIZE,
};

/// What may be assumed of the blocks of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockShape {
    /// Nothing.
    Any,
    /// `blockDim.y` and `blockDim.z` are 1.
    OneDimensional,
    /// `blockDim.x` is a multiple of 32: a warp lies within one row.
    RowsOfWarps,
}

/// Whether the lanes of a warp have one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The same in all lanes that execute the instruction together.
    Uniform,
    /// A multiple of 32 that is uniform, plus the lane's number: what `threadIdx.x` is in a block of suitable shape.
    LaneOf32,
    Varying,
}

impl Class {
    pub fn is_uniform(self) -> bool {
        self == Self::Uniform
    }

    /// What is known of a value that may be either.
    fn or(self, other: Self) -> Self {
        if self == other { self } else { self.of_made().max(other.of_made()) }
    }

    /// Class of a value that is computed from this one in some way.
    fn of_made(self) -> Self {
        if self == Self::Uniform { Self::Uniform } else { Self::Varying }
    }
}

/// Classes of a program's instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniformity {
    results: Vec<Option<Class>>,
    guards: Vec<Class>,
}

impl Uniformity {
    /// Class of what the instruction writes to registers and predicates; `None` if it writes none, or is never reached.
    pub fn result(&self, pc: Pc) -> Option<Class> {
        self.results.get(pc as usize).copied().flatten()
    }

    /// Class of the condition under which the instruction is executed.
    pub fn guard(&self, pc: Pc) -> Class {
        self.guards.get(pc as usize).copied().unwrap_or(Class::Varying)
    }
}

/// Classes of all registers and predicates at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    slots: Vec<Class>,
    preds: Vec<Class>,
}

impl State {
    /// What holds whichever of the two did; whether that is news.
    fn join(&mut self, other: &Self) -> bool {
        let own = self.slots.iter_mut().chain(&mut self.preds);
        let mut is_new = false;
        for (own, other) in own.zip(other.slots.iter().chain(&other.preds)) {
            let both = own.or(*other);
            is_new |= both != *own;
            *own = both;
        }
        is_new
    }
}

/// Follows values through the program. Calls and jumps through tables are not followed: behind them all varies.
pub fn analyse(program: &Program, shape: BlockShape) -> Uniformity {
    Analysis::new(program, shape).run()
}

struct Analysis<'a> {
    program: &'a Program,
    shape: BlockShape,
    /// Before each instruction; `None`: not reached yet.
    before: Vec<Option<State>>,
    /// Places where lanes that parted meet, and from where they parted.
    parted: Vec<Pc>,
    results: Vec<Option<Class>>,
    guards: Vec<Class>,
}

impl<'a> Analysis<'a> {
    fn new(program: &'a Program, shape: BlockShape) -> Self {
        let length = program.code.len();
        Self {
            program,
            shape,
            before: vec![None; length],
            parted: Vec::new(),
            results: vec![None; length],
            guards: vec![Class::Uniform; length],
        }
    }

    fn run(mut self) -> Uniformity {
        let slots = vec![Class::Uniform; self.program.slot_count.into()];
        let preds = vec![Class::Uniform; self.program.pred_count.into()];
        let mut waiting = vec![0];
        if let Some(first) = self.before.first_mut() {
            *first = Some(State { slots, preds });
        } else {
            waiting.clear();
        }
        // Classes only ever go up, and there are three, so this ends.
        while let Some(pc) = waiting.pop() {
            let Some(mut state) = self.before[pc as usize].clone() else { continue };
            let instr = &self.program.code[pc as usize];
            self.step(pc, instr, &mut state);
            let parts = instr.op.is_branch() && self.guards[pc as usize] != Class::Uniform;
            if parts && !self.parted.contains(&pc) {
                self.parted.push(pc);
            }
            for next in self.successors(pc, instr) {
                let mut arriving = state.clone();
                self.meet(next, &mut arriving);
                let place = &mut self.before[next as usize];
                let is_new = match place {
                    Some(known) => known.join(&arriving),
                    None => {
                        *place = Some(arriving);
                        true
                    }
                };
                if is_new {
                    waiting.push(next);
                }
            }
            if parts {
                // Places that were reached before it was known that lanes part here.
                waiting.extend(self.spoil(pc));
            }
        }
        Uniformity { results: self.results, guards: self.guards }
    }

    fn successors(&self, pc: Pc, instr: &Instr) -> Vec<Pc> {
        let next = pc + 1;
        let is_always = instr.guard == PredSrc::TRUE;
        let mut all = match instr.op {
            Op::Branch { target, .. } if is_always => vec![target],
            Op::Branch { target, .. } | Op::BranchIf { target } | Op::BranchMembers { target, .. } => {
                vec![target, next]
            }
            Op::BranchIndexed { table, .. } => {
                let mut targets = self.program.tables.get(usize::from(table)).cloned().unwrap_or_default();
                targets.push(next);
                targets
            }
            Op::Exit | Op::Return | Op::Trap if is_always => Vec::new(),
            _ => vec![next],
        };
        all.retain(|pc| (*pc as usize) < self.program.code.len());
        all
    }

    /// Where the sides of a branch meet again; nothing known: at the end.
    fn reconverges_at(&self, pc: Pc) -> Option<Pc> {
        match self.program.code[pc as usize].op {
            Op::Branch { reconverge, .. } | Op::BranchIndexed { reconverge, .. } => reconverge,
            _ => None,
        }
    }

    /// Instructions on the ways from a branch to where its sides meet.
    fn between(&self, branch: Pc) -> Vec<Pc> {
        let end = self.reconverges_at(branch);
        let mut seen = vec![false; self.program.code.len()];
        let mut waiting = self.successors(branch, &self.program.code[branch as usize]);
        let mut found = Vec::new();
        while let Some(pc) = waiting.pop() {
            if Some(pc) == end || std::mem::replace(&mut seen[pc as usize], true) {
                continue;
            }
            found.push(pc);
            waiting.extend(self.successors(pc, &self.program.code[pc as usize]));
        }
        found
    }

    /// What arrives at a place where lanes that parted meet: everything written in between varies.
    fn meet(&self, at: Pc, state: &mut State) {
        for &branch in &self.parted {
            if self.reconverges_at(branch) == Some(at) {
                self.written_between(branch, state);
            }
        }
    }

    fn written_between(&self, branch: Pc, state: &mut State) {
        for pc in self.between(branch) {
            let instr = &self.program.code[pc as usize];
            for_each_result(instr, |slot| {
                if let Some(slot) = state.slots.get_mut(slot) {
                    *slot = Class::Varying;
                }
            });
            for pred in instr.pdst.iter().flatten() {
                vary(state, *pred);
            }
        }
    }

    /// Makes it known at the meeting place of a branch that lanes part there; the place, if that is news.
    fn spoil(&mut self, branch: Pc) -> Option<Pc> {
        let at = self.reconverges_at(branch)?;
        let known = self.before[at as usize].take()?;
        let mut spoilt = known.clone();
        self.written_between(branch, &mut spoilt);
        let is_new = spoilt != known;
        self.before[at as usize] = Some(spoilt);
        is_new.then_some(at)
    }

    fn step(&mut self, pc: Pc, instr: &Instr, state: &mut State) {
        let guard = pred_class(state, instr.guard);
        let condition = match instr.op {
            Op::BranchIf { .. } => guard.or(pred_class(state, instr.psrc)),
            Op::BranchIndexed { .. } | Op::BranchRegister { .. } => guard.or(self.words(state, instr.src[0], 1)),
            Op::BranchMembers { .. } => Class::Varying,
            _ => guard,
        };
        self.guards[pc as usize] = condition.of_made();
        let made = self.made(instr, state);
        // Lanes in which it does not take effect keep what they had.
        let class = if guard == Class::Uniform { made } else { made.or(Class::Varying) };
        let mut writes = false;
        let is_guarded = instr.guard != PredSrc::TRUE;
        for_each_result(instr, |slot| {
            writes = true;
            if let Some(known) = state.slots.get_mut(slot) {
                *known = if is_guarded { known.or(class) } else { class };
            }
        });
        for pred in instr.pdst.iter().flatten() {
            writes = true;
            if let Some(known) = state.preds.get_mut(usize::from(pred.0)).filter(|_| *pred != Pred::TRUE) {
                *known = if is_guarded { known.or(class.of_made()) } else { class.of_made() };
            }
        }
        self.results[pc as usize] = writes.then_some(class);
    }

    /// Class of what an instruction makes where its guard is true.
    fn made(&self, instr: &Instr, state: &State) -> Class {
        match instr.op {
            Op::Special(special) => self.special(special),
            Op::Alu(alu) => self.computed(alu, instr, state),
            // All lanes read one place at one time.
            Op::Load(access) if !matches!(access.space, Space::Local | Space::Generic) => {
                let words = if access.wide_address { 2 } else { 1 };
                self.words(state, instr.addr, words).or(self.words(state, instr.index, 1)).of_made()
            }
            Op::Vote(_) => self.words(state, instr.src[0], 1).of_made(),
            Op::Redux(..) => self.words(state, instr.src[1], 1).of_made(),
            Op::ActiveMask => Class::Uniform,
            _ => Class::Varying,
        }
    }

    fn special(&self, special: Special) -> Class {
        match (special, self.shape) {
            (Special::BlockIdx(_) | Special::WarpId | Special::SmId, _) => Class::Uniform,
            (Special::LaneId, _) => Class::LaneOf32,
            (Special::ThreadIdx(0), BlockShape::OneDimensional | BlockShape::RowsOfWarps) => Class::LaneOf32,
            (Special::ThreadIdx(1 | 2), BlockShape::OneDimensional | BlockShape::RowsOfWarps) => Class::Uniform,
            _ => Class::Varying,
        }
    }

    fn computed(&self, alu: Alu, instr: &Instr, state: &State) -> Class {
        let words = operand_words(&instr.op).map_or([4; 4], |words| words.src);
        let sources = instr.src.iter().zip(words).map(|(&src, words)| self.words(state, src, words.max(1)));
        let preds = [instr.psrc, alu.mods.pa.0, alu.mods.pb.0].map(|src| pred_class(state, src));
        let all = sources.chain(preds).map(Class::of_made);
        let all = all.max().unwrap_or(Class::Uniform);
        let lane_of_32 = self.words(state, instr.src[0], 1) == Class::LaneOf32;
        let literal = self.literal(instr.src[1]);
        match alu.kind {
            // Whole files of predicates, of which each may vary.
            AluKind::PredsToReg | AluKind::RegToPreds => Class::Varying,
            AluKind::Mov => self.words(state, instr.src[0], words[0].max(1)),
            // What is left of it is the multiple of 32.
            AluKind::Shr if lane_of_32 && literal.is_some_and(|by| (5..32).contains(&by)) => Class::Uniform,
            AluKind::Div if lane_of_32 && literal.is_some_and(|by| by != 0 && by % 32 == 0) => Class::Uniform,
            AluKind::And if lane_of_32 && literal.is_some_and(|mask| mask & 31 == 0) => Class::Uniform,
            _ => all,
        }
    }

    fn literal(&self, src: Src) -> Option<u32> {
        match self.program.constants.get(src.index()).filter(|_| src.is_constant() && !src.is_none())? {
            Constant::Literal(value) => Some(*value),
            _ => None,
        }
    }

    /// Class of an operand of so many words: where it is known to be narrower, of those that it has.
    fn words(&self, state: &State, src: Src, words: u16) -> Class {
        if src.is_none() || src.is_constant() {
            return Class::Uniform;
        }
        let slots = &state.slots[src.index().min(state.slots.len())..];
        let own = slots.iter().take(words.into()).copied();
        own.reduce(Class::or).unwrap_or(Class::Varying)
    }
}

/// Calls `visit` with the index of each slot that an instruction writes. Of one that the machine does not know, the most words.
fn for_each_result(instr: &Instr, mut visit: impl FnMut(usize)) {
    let words = operand_words(&instr.op).map_or([4; 4], |words| words.dst);
    for (slot, words) in instr.dst.iter().zip(words) {
        if let Some(slot) = slot {
            (0..usize::from(words.max(1))).for_each(|word| visit(usize::from(slot.0) + word));
        }
    }
}

fn pred_class(state: &State, src: PredSrc) -> Class {
    if src.pred == Pred::TRUE {
        return Class::Uniform;
    }
    state.preds.get(usize::from(src.pred.0)).copied().unwrap_or(Class::Varying)
}

fn vary(state: &mut State, pred: Pred) {
    if let Some(class) = state.preds.get_mut(usize::from(pred.0)).filter(|_| pred != Pred::TRUE) {
        *class = Class::Varying;
    }
}

/// A probe that notes which instructions' results were seen to differ between the lanes that made them together.
#[derive(Clone, Debug)]
pub struct Watcher {
    results: Vec<Instr>,
    executed: Vec<bool>,
    differed: Vec<bool>,
    parted: Vec<bool>,
}

impl Watcher {
    pub fn new(program: &Program) -> Self {
        let length = program.code.len();
        Self {
            results: program.code.clone(),
            executed: vec![false; length],
            differed: vec![false; length],
            parted: vec![false; length],
        }
    }

    /// Whether the instruction took effect in some lane.
    pub fn was_executed(&self, pc: Pc) -> bool {
        self.executed.get(pc as usize).copied().unwrap_or(false)
    }

    /// Whether the instruction took effect in some of the lanes that came to it together and not in others.
    pub fn parted(&self, pc: Pc) -> bool {
        self.parted.get(pc as usize).copied().unwrap_or(false)
    }

    /// Whether two lanes had different results at one time.
    pub fn differed(&self, pc: Pc) -> bool {
        self.differed.get(pc as usize).copied().unwrap_or(false)
    }
}

impl Probe for Watcher {
    fn instruction(&mut self, event: &Event<'_>) {
        let (pc, on) = (event.step.pc as usize, event.step.on);
        if let Some(parted) = self.parted.get_mut(pc) {
            *parted |= on != 0 && on != event.step.active;
        }
        let Some(instr) = self.results.get(pc).filter(|_| on != 0) else { return };
        self.executed[pc] = true;
        let (slots, preds) = event.block.registers(event.warp);
        let mut differs = false;
        for_each_result(instr, |slot| differs |= slots.get(slot).is_some_and(|lanes| !is_one_value(lanes, on)));
        for pred in instr.pdst.iter().flatten() {
            let mask = preds.get(usize::from(pred.0)).copied().unwrap_or(0) & on;
            differs |= mask != 0 && mask != on;
        }
        self.differed[pc] |= differs;
    }
}

/// Whether the lanes of the mask, of which there is one at least, have one value.
fn is_one_value(lanes: &Lanes, on: Mask) -> bool {
    let first = lanes.0[on.trailing_zeros() as usize];
    (0..WARP_SIZE).all(|lane| on >> lane & 1 == 0 || lanes.0[lane] == first)
}
