//! The inner form: decoded instructions over 32-bit lane slots, shared by every front end.
//!
//! A warp's general registers are [`Lanes`]: one 32-bit value for each of 32 lanes. A 64-bit value takes two consecutive
//! slots, low word first, 128 bits take four; narrower values sit zero-extended in the low bits of one slot. Predicates are
//! 32-bit lane masks in a file of their own. Values that are the same for the whole launch (literals, kernel parameters,
//! block and grid sizes, addresses of variables) are not in the warp but in a table of the launch ([`Constant`]), so that a
//! resident warp stays small; a source operand names either kind ([`Src`]).
//!
//! A front end makes a [`Program`]; it picks no functions and knows no machine. `exec` turns each [`Instr`] into a function
//! pointer plus operands when the program is loaded, and refuses, by name, an instruction that it has no function for.

mod alu;
mod control;
mod dump;
mod memory;
mod names;
mod program;

pub use alu::*;
pub use control::*;
pub use memory::*;
pub use program::*;

/// Lanes in a warp.
pub const WARP_SIZE: usize = 32;

/// One bit a lane, lane 0 lowest.
pub type Mask = u32;

/// Index of an instruction in [`Program::code`].
pub type Pc = u32;

/// One 32-bit value for each lane of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes(pub [u32; WARP_SIZE]);

impl Lanes {
    pub const ZERO: Self = Self([0; WARP_SIZE]);

    /// The same value in every lane.
    pub const fn splat(value: u32) -> Self {
        Self([value; WARP_SIZE])
    }
}

/// A register slot of the warp: an index below [`Program::slot_count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u16);

/// A source operand: the first of one, two or four consecutive 32-bit words, in the warp's slots or in the launch's constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Src(u16);

impl Src {
    const CONSTANT: u16 = 1 << 15;
    /// Placeholder of an operand that the operation does not have.
    pub const NONE: Self = Self(u16::MAX);

    /// # Panics
    /// If the index needs more than 15 bits; a front end refuses a kernel that large before it gets here.
    pub const fn slot(slot: Slot) -> Self {
        assert!(slot.0 < Self::CONSTANT);
        Self(slot.0)
    }

    /// Word `index` of [`Program::constants`].
    ///
    /// # Panics
    /// If the index is 32,767 or more.
    pub const fn constant(index: u16) -> Self {
        assert!(index < Self::CONSTANT - 1);
        Self(index | Self::CONSTANT)
    }

    pub const fn is_constant(self) -> bool {
        self.0 & Self::CONSTANT != 0
    }

    pub const fn is_none(self) -> bool {
        self.0 == u16::MAX
    }

    /// Index in the file that [`Src::is_constant`] tells.
    pub const fn index(self) -> usize {
        (self.0 & !Self::CONSTANT) as usize
    }

    /// The operand `words` 32-bit words further on (1 is the high word of a 64-bit operand).
    pub const fn word(self, words: u16) -> Self {
        Self(self.0 + words)
    }
}

impl std::fmt::Debug for Src {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.is_none(), self.is_constant()) {
            (true, _) => write!(f, "-"),
            (_, true) => write!(f, "c{}", self.index()),
            (_, false) => write!(f, "r{}", self.index()),
        }
    }
}

/// A predicate register of the warp: an index below [`Program::pred_count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pred(pub u16);

/// A predicate read, possibly negated. Predicate 0 of every program is constantly true (SASS's PT), so "no guard" is
/// [`PredSrc::TRUE`] and needs no case of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredSrc {
    pub pred: Pred,
    pub negate: bool,
}

impl PredSrc {
    pub const TRUE: Self = Self { pred: Pred::TRUE, negate: false };
    pub const FALSE: Self = Self { pred: Pred::TRUE, negate: true };

    pub const fn is(pred: Pred) -> Self {
        Self { pred, negate: false }
    }

    pub const fn not(pred: Pred) -> Self {
        Self { pred, negate: true }
    }
}

impl Pred {
    /// Constantly true; writes to it are dropped.
    pub const TRUE: Self = Self(0);
}

/// One decoded instruction.
///
/// **Overlap.** A result may have the very slots of a source (same first word, same width); it never overlaps a source in part,
/// and results never overlap each other.
///
/// **Narrow values.** An operation reads only the low bits that its type has, whatever the slot holds above them: a load of `s8`
/// fills a whole slot with its sign, also where the register has 16 bits.
///
/// Which fields an operation uses is said at its [`Op`] variant; the others hold their defaults ([`Instr::new`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Instr {
    pub op: Op,
    /// Lanes in which it takes effect: active and guard true.
    pub guard: PredSrc,
    /// First slots of the results. Elements of a vector load need not be consecutive; the words of one element are.
    pub dst: [Option<Slot>; 4],
    /// Result predicates: `setp` writes the second to the complement form, carries and `shfl` write one.
    pub pdst: [Option<Pred>; 2],
    pub src: [Src; 4],
    pub psrc: PredSrc,
    /// Address operand of memory instructions ([`Src::NONE`]: the address is `offset` alone).
    pub addr: Src,
    /// Byte offset added to `addr`.
    pub offset: i64,
    /// Second register of an address ([`Access::index`]).
    pub index: Src,
}

impl Instr {
    pub const fn new(op: Op) -> Self {
        Self {
            op,
            guard: PredSrc::TRUE,
            dst: [None; 4],
            pdst: [None; 2],
            src: [Src::NONE; 4],
            psrc: PredSrc::TRUE,
            addr: Src::NONE,
            offset: 0,
            index: Src::NONE,
        }
    }
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Nop,
    /// Lane by lane: `dst[0]` (or `pdst`) from `src[0..3]`. See [`AluKind`] for the operands of each.
    Alu(Alu),
    /// `dst[0]` = a special register.
    Special(Special),
    /// `dst[0..count]` = memory at `addr + offset`.
    Load(Access),
    /// Memory at `addr + offset` = `src[0..count]`.
    Store(Access),
    /// `dst[0]` (if any) = old value; memory = old ⊕ `src[0]`; `Cas` compares with `src[0]` and stores `src[1]`.
    Atomic(AtomicKind, Access),
    /// Jump of the guarded lanes. Lanes whose guard is false go on at the next instruction. `reconverge`: the immediate
    /// post-dominator, where the two sides meet again; `None` when they meet only at the end, or when there are no two sides.
    Branch {
        target: Pc,
        reconverge: Option<Pc>,
    },
    /// `brx.idx`: lane by lane to `Program::tables[table][src[0]]`; an index past the table is a fault.
    BranchIndexed {
        table: u16,
        reconverge: Option<Pc>,
    },
    /// A branch of the guarded lanes in which `psrc` is true as well.
    BranchIf {
        target: Pc,
    },
    /// Lane by lane to the instruction at byte `src[0] + base` of the code.
    BranchRegister {
        base: i64,
    },
    /// BRA.DIV and BRA.CONV: a branch where the active lanes in which `psrc` is true are not all, or are all, of the living ones that
    /// the mask `src[0]` names.
    BranchMembers {
        target: Pc,
        all: bool,
    },
    /// BREAK: the active lanes in which `psrc` is true take themselves out of the convergence barrier whose mask is `src[0]`, for all its members.
    Break,
    /// Call of the function that starts at `target`; arguments were moved to its slots before.
    Call {
        target: Pc,
    },
    Return,
    /// The guarded lanes are done.
    Exit,
    /// The guarded lanes fault.
    Trap,
    /// `bar`/`barrier`: see [`BarrierKind`]. `src[0]` the barrier's number, `src[1]` the thread count, or `Src::NONE` for the whole block.
    Barrier(BarrierKind),
    /// `bar.warp.sync`: waits until every lane of the mask `src[0]` is here.
    WarpSync,
    /// WARPSYNC.COLLECTIVE and .EXCLUSIVE: as `WarpSync`, and lanes that name different masks go on apart until they meet at a BSYNC.
    Separate,
    /// BSYNC: the lanes wait for the other living ones of the mask `src[0]`, and go on with them behind it. Unlike `WarpSync` it
    /// is executed by each group of lanes as it arrives, as the hardware counts it.
    Meet,
    /// `membar`/`fence`.
    Fence(Scope),
    /// `shfl.sync`: `dst[0]`, `pdst[0]` = value `src[0]` of another lane; lane or delta `src[1]`, clamp and segment mask `src[2]`, member mask `src[3]`.
    /// Without `.sync` (before Volta) `src[3]` is `Src::NONE`.
    Shuffle(ShuffleKind),
    /// `vote.sync`: over the predicate `psrc` and the member mask `src[0]`: `Ballot` writes `dst[0]`, the others `pdst[0]`.
    /// Without `.sync` (before Volta) `src[0]` is `Src::NONE`: over the active lanes.
    Vote(VoteKind),
    /// `match.sync`: `dst[0]` = mask of member lanes with the same value; `All` also writes `pdst[0]`, and its complement to `pdst[1]`. Value `src[0]` of the given bits, member mask `src[1]`.
    Match {
        all: bool,
        bits: u8,
    },
    /// `redux.sync`: `dst[0]` = reduction of `src[0]` over the member mask `src[1]`.
    Redux(AtomicKind, Ty),
    /// `activemask`: `dst[0]`.
    ActiveMask,
    /// `elect.sync`: `pdst[0]` true in the lowest member lane, `dst[0]` its number; member mask `src[0]`.
    Elect,
    /// `nanosleep`: `src[0]` nanoseconds at most.
    Sleep,
}

impl Op {
    /// Whether it may go on elsewhere than behind it.
    pub const fn is_branch(&self) -> bool {
        matches!(
            self,
            Op::Branch { .. }
                | Op::BranchIf { .. }
                | Op::BranchIndexed { .. }
                | Op::BranchRegister { .. }
                | Op::BranchMembers { .. }
                | Op::Call { .. }
                | Op::Return
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Arrive and wait.
    Sync,
    /// Arrive, do not wait.
    Arrive,
    /// Arrive, wait, and reduce the predicate `psrc`: `Popc` writes `dst[0]`, `And` and `Or` write `pdst[0]`.
    Reduce(BarrierReduce),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierReduce {
    Popc,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleKind {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteKind {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Special registers that differ within a launch. Those that do not (`%ntid`, `%nctaid`, `%smid`'s count …) are [`Constant`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid.x|y|z`, axis 0 to 2.
    ThreadIdx(u8),
    /// `%ctaid.x|y|z`, axis 0 to 2.
    BlockIdx(u8),
    LaneId,
    /// `%warpid`: index of the warp in its SM.
    WarpId,
    SmId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    /// `%clock`: low 32 bits of the SM's cycle counter.
    Clock,
    /// `%clock_hi`.
    ClockHi,
    /// `%clock64`: two slots.
    Clock64,
    /// `%globaltimer`: two slots, nanoseconds.
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
}
