//! What the words of an opcode mean.

use super::pattern::{Arity, Assigned, Pattern};
use super::{Action, Form};
use crate::isa::{
    Access, AtomicKind, BarrierReduce, BoolOp, Cache, Cmp, Half, Mods, Order, Prmt, Round, Scope, ShuffleKind, Space,
    Testp, Ty, VoteKind,
};

/// An opcode that its form accepts, read.
#[derive(Clone, Debug)]
pub(in crate::ptx) struct Opcode {
    pub form: &'static Form,
    pub arity: Arity,
    /// Types in the order written; instructions have at most three that matter.
    pub types: Vec<Ty>,
    pub mods: Mods,
    pub memory: MemoryWords,
    pub atomic: AtomicKind,
    pub shuffle: ShuffleKind,
    pub vote: VoteKind,
    pub reduce: BarrierReduce,
    /// All of them, by class, for what is rare.
    words: Vec<Assigned>,
}

/// The words of memory instructions.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx) struct MemoryWords {
    pub space: Space,
    pub cache: Cache,
    pub order: Order,
    pub scope: Scope,
    pub lanes: u8,
}

impl Opcode {
    pub(super) fn new(pattern: &Pattern, assigned: &[Assigned]) -> Self {
        let memory =
            MemoryWords { space: Space::Generic, cache: Cache::All, order: Order::Weak, scope: Scope::Gpu, lanes: 1 };
        let mut opcode = Self {
            form: pattern.form,
            arity: pattern.arity.clone(),
            types: Vec::new(),
            mods: Mods::default(),
            memory,
            atomic: AtomicKind::Add,
            shuffle: ShuffleKind::Index,
            vote: VoteKind::All,
            reduce: BarrierReduce::Popc,
            words: assigned.to_vec(),
        };
        for &(class, word) in assigned {
            opcode.read(class, word);
        }
        opcode.older_meaning();
        opcode
    }

    pub fn action(&self) -> Action {
        self.form.action
    }

    /// First type; B32 where the instruction has none.
    pub fn ty(&self) -> Ty {
        self.types.first().copied().unwrap_or(Ty::B32)
    }

    /// Second type; the first where there is no second.
    pub fn second(&self) -> Ty {
        self.types.get(1).copied().unwrap_or(self.ty())
    }

    /// Was a word of this class written?
    pub fn has(&self, class: &str) -> bool {
        self.words.iter().any(|(known, _)| *known == class)
    }

    pub fn access(&self, wide_address: bool) -> Access {
        let MemoryWords { space, cache, order, scope, lanes } = self.memory;
        Access { space, ty: self.ty(), count: lanes, wide_address, cache, order, scope, index: None }
    }

    fn read(&mut self, class: &'static str, word: &'static str) {
        match class {
            "t" => self.types.extend(Ty::named(word)),
            "rnd" => self.mods.round = pick(ROUNDS, word),
            "half" => self.mods.half = pick(HALVES, word),
            "cmp" => self.mods.cmp = pick(COMPARISONS, word),
            "bool" => self.mods.bool_op = pick(BOOL_OPS, word),
            "prmt" => self.mods.prmt = pick(PRMT, word),
            "testp" => self.mods.testp = pick(TESTP, word),
            "space" => (self.memory.space, self.mods.space) = (pick(SPACES, word), pick(SPACES, word)),
            "cache" => self.memory.cache = pick(CACHES, word),
            "sem" => self.memory.order = pick(ORDERS, word),
            "scope" => self.memory.scope = pick(SCOPES, word),
            "vec" => self.memory.lanes = pick(VECTORS, word),
            "op" => self.atomic = find(ATOMICS, word).unwrap_or(AtomicKind::Add),
            "shuffle" => self.shuffle = find(SHUFFLES, word).unwrap_or(ShuffleKind::Index),
            "vote" => self.vote = find(VOTES, word).unwrap_or(VoteKind::All),
            "reduce" => self.reduce = find(REDUCTIONS, word).unwrap_or(BarrierReduce::Popc),
            _ => self.flag(class, word),
        }
    }

    /// `div.f32` and the like without a rounding are from PTX 1.0 to 1.3, where they mean `.approx.ftz`.
    fn older_meaning(&mut self) {
        let mods = &mut self.mods;
        let bare = match self.form.base {
            "div" | "rcp" | "sqrt" => mods.round == Round::Default && !mods.full,
            "rsqrt" | "sin" | "cos" | "lg2" | "ex2" => true,
            _ => false,
        };
        if bare && !mods.approx && self.types.first() == Some(&Ty::F32) {
            (mods.approx, mods.ftz) = (true, true);
        }
    }

    fn flag(&mut self, class: &'static str, word: &'static str) {
        let mods = &mut self.mods;
        match class {
            "ftz" => mods.ftz = true,
            "sat" => mods.sat = true,
            "satfinite" => mods.satfinite = true,
            "relu" => mods.relu = true,
            "NaN" => mods.nan = true,
            "xorsign" => mods.xorsign_abs = true,
            "approx" => mods.approx = true,
            "full" => mods.full = true,
            "cc" => mods.carry_out = true,
            "shiftamt" => mods.shiftamt = true,
            "wrap" => mods.wrap = word == "wrap",
            _ => {}
        }
    }
}

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

fn pick<T: Copy + Default>(table: &[(&str, T)], word: &str) -> T {
    find(table, word).unwrap_or_default()
}

const ROUNDS: &[(&str, Round)] = &[
    ("rn", Round::Rn),
    ("rna", Round::Rna),
    ("rz", Round::Rz),
    ("rm", Round::Rm),
    ("rp", Round::Rp),
    ("rni", Round::Rni),
    ("rzi", Round::Rzi),
    ("rmi", Round::Rmi),
    ("rpi", Round::Rpi),
];

const HALVES: &[(&str, Half)] = &[("lo", Half::Lo), ("hi", Half::Hi), ("wide", Half::Wide)];

const COMPARISONS: &[(&str, Cmp)] = &[
    ("eq", Cmp::Eq),
    ("ne", Cmp::Ne),
    ("lt", Cmp::Lt),
    ("le", Cmp::Le),
    ("gt", Cmp::Gt),
    ("ge", Cmp::Ge),
    ("lo", Cmp::Lo),
    ("ls", Cmp::Ls),
    ("hi", Cmp::Hi),
    ("hs", Cmp::Hs),
    ("equ", Cmp::Equ),
    ("neu", Cmp::Neu),
    ("ltu", Cmp::Ltu),
    ("leu", Cmp::Leu),
    ("gtu", Cmp::Gtu),
    ("geu", Cmp::Geu),
    ("num", Cmp::Num),
    ("nan", Cmp::Nan),
];

const BOOL_OPS: &[(&str, BoolOp)] = &[("and", BoolOp::And), ("or", BoolOp::Or), ("xor", BoolOp::Xor)];

const PRMT: &[(&str, Prmt)] = &[
    ("f4e", Prmt::F4e),
    ("b4e", Prmt::B4e),
    ("rc8", Prmt::Rc8),
    ("ecl", Prmt::Ecl),
    ("ecr", Prmt::Ecr),
    ("rc16", Prmt::Rc16),
];

const TESTP: &[(&str, Testp)] = &[
    ("finite", Testp::Finite),
    ("infinite", Testp::Infinite),
    ("number", Testp::Number),
    ("notanumber", Testp::NotANumber),
    ("normal", Testp::Normal),
    ("subnormal", Testp::Subnormal),
];

const SPACES: &[(&str, Space)] = &[
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
];

const CACHES: &[(&str, Cache)] = &[
    ("ca", Cache::All),
    ("wb", Cache::All),
    ("cg", Cache::L2),
    ("cs", Cache::Streaming),
    ("lu", Cache::LastUse),
    ("cv", Cache::Volatile),
    ("wt", Cache::Volatile),
    ("nc", Cache::ReadOnly),
];

const ORDERS: &[(&str, Order)] = &[
    ("weak", Order::Weak),
    ("volatile", Order::Volatile),
    ("relaxed", Order::Relaxed),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcquireRelease),
    ("sc", Order::SequentiallyConsistent),
    ("mmio", Order::Mmio),
];

const SCOPES: &[(&str, Scope)] = &[
    ("cta", Scope::Block),
    ("cluster", Scope::Cluster),
    ("gpu", Scope::Gpu),
    ("gl", Scope::Gpu),
    ("sys", Scope::System),
];

const VECTORS: &[(&str, u8)] = &[("v2", 2), ("v4", 4), ("v8", 8)];

const ATOMICS: &[(&str, AtomicKind)] = &[
    ("add", AtomicKind::Add),
    ("and", AtomicKind::And),
    ("or", AtomicKind::Or),
    ("xor", AtomicKind::Xor),
    ("min", AtomicKind::Min),
    ("max", AtomicKind::Max),
    ("inc", AtomicKind::Inc),
    ("dec", AtomicKind::Dec),
    ("exch", AtomicKind::Exch),
    ("cas", AtomicKind::Cas),
];

const SHUFFLES: &[(&str, ShuffleKind)] = &[
    ("up", ShuffleKind::Up),
    ("down", ShuffleKind::Down),
    ("bfly", ShuffleKind::Butterfly),
    ("idx", ShuffleKind::Index),
];

const VOTES: &[(&str, VoteKind)] =
    &[("all", VoteKind::All), ("any", VoteKind::Any), ("uni", VoteKind::Uniform), ("ballot", VoteKind::Ballot)];

const REDUCTIONS: &[(&str, BarrierReduce)] =
    &[("popc", BarrierReduce::Popc), ("and", BarrierReduce::And), ("or", BarrierReduce::Or)];
