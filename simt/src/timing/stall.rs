//! Why a warp does not issue in a cycle, under Nsight Compute's names.

/// The state of a resident warp in one cycle of its scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Stall {
    /// It issues.
    #[default]
    Selected,
    /// It could issue; another warp does.
    NotSelected,
    /// A result of fixed latency is not there yet.
    Wait,
    /// A value from global or local memory is not there yet.
    LongScoreboard,
    /// A value from shared memory, a special function or a shuffle is not there yet.
    ShortScoreboard,
    /// The queue for global and local memory is full.
    LgThrottle,
    /// The queue for shared memory, shuffles and special registers is full.
    MioThrottle,
    /// The pipe is busy with another warp's instruction.
    MathPipeThrottle,
    /// The other warps of the block are not at the barrier yet.
    Barrier,
    /// A fence is not done.
    Membar,
    /// The target of a branch is being worked out.
    BranchResolving,
    /// `nanosleep`.
    Sleeping,
    /// The last instruction is out, results of stores or atomics are still on their way.
    Drain,
    /// The next instruction has not been fetched yet.
    NoInstruction,
    /// The register file has no port free for the sources.
    Dispatch,
}

impl Stall {
    pub const COUNT: usize = 15;

    pub const ALL: [Self; Self::COUNT] = [
        Self::Selected,
        Self::NotSelected,
        Self::Wait,
        Self::LongScoreboard,
        Self::ShortScoreboard,
        Self::LgThrottle,
        Self::MioThrottle,
        Self::MathPipeThrottle,
        Self::Barrier,
        Self::Membar,
        Self::BranchResolving,
        Self::Sleeping,
        Self::Drain,
        Self::NoInstruction,
        Self::Dispatch,
    ];

    /// The reason as Nsight Compute writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::NotSelected => "not_selected",
            Self::Wait => "wait",
            Self::LongScoreboard => "long_scoreboard",
            Self::ShortScoreboard => "short_scoreboard",
            Self::LgThrottle => "lg_throttle",
            Self::MioThrottle => "mio_throttle",
            Self::MathPipeThrottle => "math_pipe_throttle",
            Self::Barrier => "barrier",
            Self::Membar => "membar",
            Self::BranchResolving => "branch_resolving",
            Self::Sleeping => "sleeping",
            Self::Drain => "drain",
            Self::NoInstruction => "no_instruction",
            Self::Dispatch => "dispatch_stall",
        }
    }

    /// The counter of warps in this state, summed over cycles.
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Selected => "smsp__warps_issue_stalled_selected.sum",
            Self::NotSelected => "smsp__warps_issue_stalled_not_selected.sum",
            Self::Wait => "smsp__warps_issue_stalled_wait.sum",
            Self::LongScoreboard => "smsp__warps_issue_stalled_long_scoreboard.sum",
            Self::ShortScoreboard => "smsp__warps_issue_stalled_short_scoreboard.sum",
            Self::LgThrottle => "smsp__warps_issue_stalled_lg_throttle.sum",
            Self::MioThrottle => "smsp__warps_issue_stalled_mio_throttle.sum",
            Self::MathPipeThrottle => "smsp__warps_issue_stalled_math_pipe_throttle.sum",
            Self::Barrier => "smsp__warps_issue_stalled_barrier.sum",
            Self::Membar => "smsp__warps_issue_stalled_membar.sum",
            Self::BranchResolving => "smsp__warps_issue_stalled_branch_resolving.sum",
            Self::Sleeping => "smsp__warps_issue_stalled_sleeping.sum",
            Self::Drain => "smsp__warps_issue_stalled_drain.sum",
            Self::NoInstruction => "smsp__warps_issue_stalled_no_instruction.sum",
            Self::Dispatch => "smsp__warps_issue_stalled_dispatch_stall.sum",
        }
    }

    #[inline]
    const fn from_bits(bits: u64) -> Self {
        Self::BY_BITS[bits as usize % Self::BY_BITS.len()]
    }

    /// As [`Stall::ALL`], for all numbers of four bits.
    const BY_BITS: [Self; 16] = {
        let mut stalls = [Self::Selected; 16];
        let mut index = 0;
        while index < Self::COUNT {
            stalls[index] = Self::ALL[index];
            index += 1;
        }
        stalls
    };
}

/// Warp-cycles in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCycles([u64; Stall::COUNT]);

impl StallCycles {
    pub fn add(&mut self, stall: Stall, cycles: u64) {
        self.0[stall as usize] += cycles;
    }

    pub const fn get(&self, stall: Stall) -> u64 {
        self.0[stall as usize]
    }

    pub fn merge(&mut self, other: &Self) {
        for (sum, cycles) in self.0.iter_mut().zip(other.0) {
            *sum += cycles;
        }
    }

    /// State by state, what `f` makes of both.
    pub(crate) fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|state| f(self.0[state], other.0[state])))
    }

    /// So much of each.
    pub(crate) fn times(&self, factor: f64) -> Self {
        self.zip(self, |cycles, _| (cycles as f64 * factor).round() as u64)
    }

    /// Warp-cycles in all states: the time that warps were resident.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Stall, u64)> + '_ {
        Stall::ALL.into_iter().map(|stall| (stall, self.get(stall)))
    }
}

/// A moment from which something is there, and what a warp that waits for it is said to be doing.
///
/// Moments compare by cycle. One that is not known yet, because the end of the quantum decides it, comes after all that are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// Set in tokens of atomics, whose value comes only with the boundary.
pub const ATOMIC_TOKEN: u32 = 1 << 30;
const STALL_BITS: u32 = 4;
const UNKNOWN: u64 = 1 << 63;

impl Moment {
    pub const START: Self = Self(0);

    pub const fn at(cycle: u64, stall: Stall) -> Self {
        Self(cycle << STALL_BITS | stall as u64)
    }

    /// The moment when what `token` stands for is decided.
    pub const fn unknown(token: u32, stall: Stall) -> Self {
        Self(UNKNOWN | (token as u64) << STALL_BITS | stall as u64)
    }

    /// Whether not only the moment but the value itself is decided later.
    pub const fn is_undecided_value(self) -> bool {
        self.0 & UNKNOWN != 0 && (self.0 >> STALL_BITS) as u32 & ATOMIC_TOKEN != 0
    }

    /// The first moment that is after a cycle.
    #[inline]
    pub const fn after(cycle: u64) -> Self {
        Self((cycle + 1) << STALL_BITS)
    }

    /// How much later than another it is, so that distances compare as moments do; those before the other come last.
    #[inline]
    pub const fn distance_from(self, other: Self) -> u64 {
        self.0.wrapping_sub(other.0)
    }

    /// The moment at a distance.
    #[inline]
    pub const fn at_distance(self, distance: u64) -> Self {
        Self(self.0.wrapping_add(distance))
    }

    /// Whether it is known and not after `cycle`.
    #[inline]
    pub const fn is_by(self, cycle: u64) -> bool {
        self.0 >> STALL_BITS <= cycle
    }

    /// The cycle; `None` while it is not known.
    pub const fn cycle(self) -> Option<u64> {
        if self.0 & UNKNOWN == 0 { Some(self.0 >> STALL_BITS) } else { None }
    }

    pub const fn stall(self) -> Stall {
        Stall::from_bits(self.0 & ((1 << STALL_BITS) - 1))
    }

    /// So many cycles later, if it is known.
    pub const fn later(self, cycles: u64) -> Self {
        if self.0 & UNKNOWN == 0 { Self(self.0 + (cycles << STALL_BITS)) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_compare_by_cycle_and_unknown_ones_come_last() {
        let early = Moment::at(99, Stall::Drain);
        let late = Moment::at(100, Stall::Selected);
        let unknown = Moment::unknown(0, Stall::LongScoreboard);
        assert!(Moment::START < early && early < late && late < unknown);
        assert_eq!((late.cycle(), unknown.cycle()), (Some(100), None));
        assert_eq!((early.stall(), unknown.stall()), (Stall::Drain, Stall::LongScoreboard));
        assert_eq!((late.later(5).cycle(), unknown.later(5)), (Some(105), unknown));
        assert_ne!(Moment::unknown(1, Stall::Wait), Moment::unknown(2, Stall::Wait));
    }

    #[test]
    fn states_have_names_of_their_own_and_add_up() {
        let mut cycles = StallCycles::default();
        for (index, stall) in Stall::ALL.into_iter().enumerate() {
            assert_eq!(stall as usize, index);
            assert_eq!(Stall::from_bits(index as u64), stall);
            assert_eq!(stall.metric(), format!("smsp__warps_issue_stalled_{}.sum", stall.name()));
            cycles.add(stall, index as u64);
        }
        let mut twice = cycles;
        twice.merge(&cycles);
        assert_eq!((cycles.total(), twice.total()), (105, 210));
        assert_eq!(twice.iter().nth(3), Some((Stall::LongScoreboard, 6)));
    }
}
