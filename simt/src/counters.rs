//! What a launch did, in numbers, under the names of Nsight Compute.
//!
//! Execution keeps a [`Tally`]: one row an instruction, cheap to update because a stretch of instructions that a split runs
//! through is entered as a difference at its two ends. [`Counters`] and [`InstructionCount`]s are made of it in the end. Every
//! number here is exact; instruction counts are of the instruction set that ran (a PTX instruction is not a SASS one).

use crate::exec::{AccessNote, Kernel};
use crate::isa::{AluKind, Mask, Op, Pc, Space, Ty};

/// Running counts of one executor.
#[derive(Clone, Debug)]
pub struct Tally {
    rows: Vec<Row>,
    /// Executed instructions by number of active lanes.
    lanes: [u64; 33],
    pub blocks_launched: u64,
    pub warps_launched: u64,
    pub threads_launched: u64,
}

/// Counts of one instruction. `executed` and `active_lanes` are differences to the row before (wrapping).
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    executed: u64,
    active_lanes: u64,
    off_lanes: u64,
    divergent: u64,
    access: AccessCount,
}

/// Memory traffic of one instruction or a group of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCount {
    /// Executions with at least one lane in global (or constant) memory, and the sectors they touched.
    pub global_requests: u64,
    pub global_sectors: u64,
    /// Fewest sectors that hold as many bytes.
    pub global_sectors_ideal: u64,
    pub shared_requests: u64,
    pub shared_wavefronts: u64,
    pub shared_wavefronts_ideal: u64,
    pub local_requests: u64,
    pub local_sectors: u64,
    /// Bytes that lanes moved, in all spaces.
    pub bytes: u64,
}

impl AccessCount {
    fn add(&mut self, other: &Self) {
        self.global_requests += other.global_requests;
        self.global_sectors += other.global_sectors;
        self.global_sectors_ideal += other.global_sectors_ideal;
        self.shared_requests += other.shared_requests;
        self.shared_wavefronts += other.shared_wavefronts;
        self.shared_wavefronts_ideal += other.shared_wavefronts_ideal;
        self.local_requests += other.local_requests;
        self.local_sectors += other.local_sectors;
        self.bytes += other.bytes;
    }
}

impl Tally {
    /// A tally for code of so many instructions.
    pub(crate) fn new(instructions: usize) -> Self {
        Self {
            rows: vec![Row::default(); instructions + 1],
            lanes: [0; 33],
            blocks_launched: 0,
            warps_launched: 0,
            threads_launched: 0,
        }
    }

    /// Instructions `first..end` were executed by a split of these lanes.
    #[inline]
    pub(crate) fn executed(&mut self, first: Pc, end: Pc, active: Mask) {
        let lanes = active.count_ones();
        self.lanes[lanes as usize] += u64::from(end - first);
        let lanes = u64::from(lanes);
        let row = &mut self.rows[first as usize];
        row.executed = row.executed.wrapping_add(1);
        row.active_lanes = row.active_lanes.wrapping_add(lanes);
        let row = &mut self.rows[end as usize];
        row.executed = row.executed.wrapping_sub(1);
        row.active_lanes = row.active_lanes.wrapping_sub(lanes);
    }

    /// An instruction's guard was false in these active lanes.
    #[inline]
    pub(crate) fn predicated_off(&mut self, pc: Pc, lanes: Mask) {
        self.rows[pc as usize].off_lanes += u64::from(lanes.count_ones());
    }

    /// A branch went two ways.
    pub(crate) fn diverged(&mut self, pc: Pc) {
        self.rows[pc as usize].divergent += 1;
    }

    #[inline]
    pub(crate) fn accessed(&mut self, pc: Pc, note: &AccessNote) {
        let access = &mut self.rows[pc as usize].access;
        let bytes = |lanes: Mask| u64::from(lanes.count_ones() * note.bytes);
        access.bytes += bytes(note.global | note.shared | note.local | note.param);
        if note.global != 0 {
            access.global_requests += 1;
            access.global_sectors += u64::from(note.sectors);
            access.global_sectors_ideal += bytes(note.global).div_ceil(32);
        }
        if note.shared != 0 {
            access.shared_requests += 1;
            access.shared_wavefronts += u64::from(note.wavefronts.actual);
            access.shared_wavefronts_ideal += u64::from(note.wavefronts.ideal);
        }
        if note.local != 0 {
            access.local_requests += 1;
            access.local_sectors += u64::from(note.sectors);
        }
    }

    /// A block was put on an SM.
    pub fn launched(&mut self, warps: u32, threads: u32) {
        self.blocks_launched += 1;
        self.warps_launched += u64::from(warps);
        self.threads_launched += u64::from(threads);
    }

    /// Adds what another executor of the same code counted.
    pub fn merge(&mut self, other: &Self) {
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.executed = row.executed.wrapping_add(other.executed);
            row.active_lanes = row.active_lanes.wrapping_add(other.active_lanes);
            row.off_lanes += other.off_lanes;
            row.divergent += other.divergent;
            row.access.add(&other.access);
        }
        self.lanes.iter_mut().zip(other.lanes).for_each(|(mine, other)| *mine += other);
        self.blocks_launched += other.blocks_launched;
        self.warps_launched += other.warps_launched;
        self.threads_launched += other.threads_launched;
    }

    /// Warp instructions executed so far.
    pub fn instructions(&self) -> u64 {
        self.lanes.iter().sum()
    }

    /// Counts by instruction, in the order of the code.
    pub fn by_instruction(&self) -> Vec<InstructionCount> {
        let (mut executed, mut active) = (0u64, 0u64);
        let counts = self.rows.iter().map(|row| {
            executed = executed.wrapping_add(row.executed);
            active = active.wrapping_add(row.active_lanes);
            InstructionCount {
                executed,
                active_lanes: active,
                on_lanes: active - row.off_lanes.min(active),
                divergent: row.divergent,
                access: row.access,
            }
        });
        counts.take(self.rows.len() - 1).collect()
    }

    /// The launch's counters.
    pub fn counters(&self, kernel: &Kernel) -> Counters {
        let mut counters = Counters {
            lanes: self.lanes,
            blocks_launched: self.blocks_launched,
            warps_launched: self.warps_launched,
            threads_launched: self.threads_launched,
            ..Counters::default()
        };
        for (count, d) in self.by_instruction().iter().zip(&kernel.code) {
            counters.add(&d.op, d.given.dst[0], count);
        }
        counters
    }
}

/// What one instruction did in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// Executions by warps.
    pub executed: u64,
    /// Lanes active, and of these the ones with a true guard, summed over the executions.
    pub active_lanes: u64,
    pub on_lanes: u64,
    /// Executions of a branch whose lanes went different ways.
    pub divergent: u64,
    pub access: AccessCount,
}

/// Groups that Nsight Compute counts thread instructions in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Fadd,
    Fmul,
    Ffma,
    Dadd,
    Dmul,
    Dfma,
    Hadd,
    Hmul,
    Hfma,
    Integer,
    Bit,
    Conversion,
    Control,
    Memory,
    Communication,
    Other,
}

const CLASSES: usize = Class::Other as usize + 1;

/// Memory instructions that Nsight Compute tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Atomic,
    Reduction,
}

const KINDS: usize = Kind::Reduction as usize + 1;

/// Totals of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Executed warp instructions by number of active lanes.
    lanes: [u64; 33],
    on_lanes: u64,
    branches: u64,
    divergent_branches: u64,
    /// Thread instructions by class, guard true.
    classes: [u64; CLASSES],
    accesses: [AccessCount; KINDS],
    pub blocks_launched: u64,
    pub warps_launched: u64,
    pub threads_launched: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            lanes: [0; 33],
            on_lanes: 0,
            branches: 0,
            divergent_branches: 0,
            classes: [0; CLASSES],
            accesses: [AccessCount::default(); KINDS],
            blocks_launched: 0,
            warps_launched: 0,
            threads_launched: 0,
        }
    }
}

/// A counter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Count(u64),
    /// NaN where nothing was there to divide by.
    Ratio(f64),
}

impl Value {
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Ratio(ratio) => ratio,
        }
    }
}

impl Counters {
    /// Executed warp instructions by number of active lanes, 0 to 32.
    pub fn lanes_histogram(&self) -> &[u64; 33] {
        &self.lanes
    }

    /// Warp instructions executed.
    pub fn instructions(&self) -> u64 {
        self.lanes.iter().sum()
    }

    /// Every counter with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        TABLE.iter().map(|(name, value)| (*name, value(self)))
    }

    /// The counter of this name.
    pub fn get(&self, name: &str) -> Option<Value> {
        TABLE.iter().find(|(known, _)| *known == name).map(|(_, value)| value(self))
    }

    fn add(&mut self, op: &Op, returns: bool, count: &InstructionCount) {
        self.on_lanes += count.on_lanes;
        self.classes[class(op) as usize] += count.on_lanes;
        if matches!(op, Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Call { .. } | Op::Return) {
            self.branches += count.executed;
            self.divergent_branches += count.divergent;
        }
        let kind = match op {
            Op::Load(_) => Kind::Load,
            Op::Store(_) => Kind::Store,
            Op::Atomic(..) if returns => Kind::Atomic,
            Op::Atomic(..) => Kind::Reduction,
            _ => return,
        };
        // Constant memory has a cache of its own and is no L1TEX traffic.
        if !matches!(op, Op::Load(access) if access.space == Space::Const) {
            self.accesses[kind as usize].add(&count.access);
        }
    }

    fn thread_instructions(&self) -> u64 {
        self.lanes.iter().zip(0..).map(|(count, lanes)| count * lanes).sum()
    }

    fn access(&self, kind: Kind) -> &AccessCount {
        &self.accesses[kind as usize]
    }

    fn all(&self, field: fn(&AccessCount) -> u64) -> u64 {
        self.accesses.iter().map(field).sum()
    }
}

fn class(op: &Op) -> Class {
    match op {
        Op::Alu(alu) => match (alu.kind, alu.ty) {
            (AluKind::Add | AluKind::Sub, Ty::F32 | Ty::F32x2) => Class::Fadd,
            (AluKind::Mul, Ty::F32 | Ty::F32x2) => Class::Fmul,
            (AluKind::Fma | AluKind::Mad, Ty::F32 | Ty::F32x2) => Class::Ffma,
            (AluKind::Add | AluKind::Sub, Ty::F64) => Class::Dadd,
            (AluKind::Mul, Ty::F64) => Class::Dmul,
            (AluKind::Fma | AluKind::Mad, Ty::F64) => Class::Dfma,
            (AluKind::Add | AluKind::Sub, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) => Class::Hadd,
            (AluKind::Mul, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) => Class::Hmul,
            (AluKind::Fma, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2) => Class::Hfma,
            (AluKind::Cvt | AluKind::CvtPack, _) => Class::Conversion,
            (AluKind::And | AluKind::Or | AluKind::Xor | AluKind::Not | AluKind::Lop3, _) => Class::Bit,
            (AluKind::Shl | AluKind::Shr | AluKind::ShfL | AluKind::ShfR | AluKind::Prmt, _) => Class::Bit,
            (AluKind::Popc | AluKind::Clz | AluKind::Brev | AluKind::Bfind | AluKind::Bfe | AluKind::Bfi, _) => {
                Class::Bit
            }
            (AluKind::Mov | AluKind::Pack | AluKind::Unpack | AluKind::Selp, _) => Class::Other,
            (_, ty) if !ty.is_float() && ty != Ty::Pred => Class::Integer,
            _ => Class::Other,
        },
        Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Call { .. } | Op::Return | Op::Exit | Op::Trap => {
            Class::Control
        }
        Op::Load(_) | Op::Store(_) | Op::Atomic(..) => Class::Memory,
        Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::Redux(..) | Op::Elect => Class::Communication,
        _ => Class::Other,
    }
}

fn ratio(top: u64, bottom: u64) -> Value {
    Value::Ratio(top as f64 / bottom as f64)
}

/// A counter's name and formula.
type Named = (&'static str, fn(&Counters) -> Value);

/// Global traffic of one kind, under Nsight Compute's three names.
macro_rules! global {
    ($op:literal, $kind:ident) => {
        [
            (concat!("l1tex__t_requests_pipe_lsu_mem_global_op_", $op, ".sum"), |c: &Counters| {
                Value::Count(c.access(Kind::$kind).global_requests)
            }),
            (concat!("l1tex__t_sectors_pipe_lsu_mem_global_op_", $op, ".sum"), |c: &Counters| {
                Value::Count(c.access(Kind::$kind).global_sectors)
            }),
        ]
    };
}
const GLOBAL: [[Named; 2]; 4] =
    [global!("ld", Load), global!("st", Store), global!("atom", Atomic), global!("red", Reduction)];

/// Name and formula of each counter.
const TABLE: &[Named] = &[
    ("smsp__inst_executed.sum", |c| Value::Count(c.instructions())),
    ("smsp__thread_inst_executed.sum", |c| Value::Count(c.thread_instructions())),
    ("smsp__thread_inst_executed_pred_on.sum", |c| Value::Count(c.on_lanes)),
    ("smsp__thread_inst_executed_pred_off.sum", |c| Value::Count(c.thread_instructions() - c.on_lanes)),
    ("smsp__average_thread_inst_executed_per_inst_executed.ratio", |c| {
        ratio(c.thread_instructions(), c.instructions())
    }),
    ("smsp__thread_inst_executed_per_inst_executed.ratio", |c| ratio(c.thread_instructions(), c.instructions())),
    ("smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio", |c| ratio(c.on_lanes, c.instructions())),
    ("smsp__sass_inst_executed_op_branch.sum", |c| Value::Count(c.branches)),
    ("smsp__sass_branch_targets_threads_divergent.sum", |c| Value::Count(c.divergent_branches)),
    ("smsp__sass_branch_targets_threads_uniform.sum", |c| Value::Count(c.branches - c.divergent_branches)),
    ("smsp__sass_average_branch_targets_threads_uniform.pct", |c| match c.branches {
        0 => Value::Ratio(f64::NAN),
        branches => Value::Ratio(100.0 * (branches - c.divergent_branches) as f64 / branches as f64),
    }),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", |c| Value::Count(c.classes[Class::Fadd as usize])),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", |c| Value::Count(c.classes[Class::Fmul as usize])),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", |c| Value::Count(c.classes[Class::Ffma as usize])),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", |c| Value::Count(c.classes[Class::Dadd as usize])),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", |c| Value::Count(c.classes[Class::Dmul as usize])),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", |c| Value::Count(c.classes[Class::Dfma as usize])),
    ("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", |c| Value::Count(c.classes[Class::Hadd as usize])),
    ("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", |c| Value::Count(c.classes[Class::Hmul as usize])),
    ("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", |c| Value::Count(c.classes[Class::Hfma as usize])),
    ("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", |c| Value::Count(c.classes[Class::Integer as usize])),
    ("smsp__sass_thread_inst_executed_op_bit_pred_on.sum", |c| Value::Count(c.classes[Class::Bit as usize])),
    ("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", |c| {
        Value::Count(c.classes[Class::Conversion as usize])
    }),
    ("smsp__sass_thread_inst_executed_op_control_pred_on.sum", |c| Value::Count(c.classes[Class::Control as usize])),
    ("smsp__sass_thread_inst_executed_op_memory_pred_on.sum", |c| Value::Count(c.classes[Class::Memory as usize])),
    ("smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum", |c| {
        Value::Count(c.classes[Class::Communication as usize])
    }),
    GLOBAL[0][0],
    GLOBAL[0][1],
    GLOBAL[1][0],
    GLOBAL[1][1],
    GLOBAL[2][0],
    GLOBAL[2][1],
    GLOBAL[3][0],
    GLOBAL[3][1],
    ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", |c| {
        ratio(c.access(Kind::Load).global_sectors, c.access(Kind::Load).global_requests)
    }),
    ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", |c| {
        ratio(c.access(Kind::Store).global_sectors, c.access(Kind::Store).global_requests)
    }),
    ("memory_l2_theoretical_sectors_global", |c| Value::Count(c.all(|a| a.global_sectors))),
    ("memory_l2_theoretical_sectors_global_ideal", |c| Value::Count(c.all(|a| a.global_sectors_ideal))),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", |c| Value::Count(c.access(Kind::Load).local_sectors)),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", |c| Value::Count(c.access(Kind::Store).local_sectors)),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", |c| Value::Count(c.all(|a| a.shared_wavefronts))),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", |c| Value::Count(c.access(Kind::Load).shared_wavefronts)),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", |c| Value::Count(c.access(Kind::Store).shared_wavefronts)),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", |c| {
        Value::Count(c.all(|a| a.shared_wavefronts - a.shared_wavefronts_ideal))
    }),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", |c| {
        let load = c.access(Kind::Load);
        Value::Count(load.shared_wavefronts - load.shared_wavefronts_ideal)
    }),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", |c| {
        let store = c.access(Kind::Store);
        Value::Count(store.shared_wavefronts - store.shared_wavefronts_ideal)
    }),
    ("memory_l1_wavefronts_shared_ideal", |c| Value::Count(c.all(|a| a.shared_wavefronts_ideal))),
    ("sm__ctas_launched.sum", |c| Value::Count(c.blocks_launched)),
    ("sm__warps_launched.sum", |c| Value::Count(c.warps_launched)),
    ("sm__threads_launched.sum", |c| Value::Count(c.threads_launched)),
    ("smsp__average_threads_launched_per_warp.ratio", |c| ratio(c.threads_launched, c.warps_launched)),
];
