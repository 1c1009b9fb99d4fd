//! A device's parameters as the SM model uses them: whole cycles, rates turned into intervals.

use super::sm::{FetchRates, LsuRates};
use crate::device::{Device, Pipe};
use crate::isa::WARP_SIZE;

/// What an SM's model needs to know of its device.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub schedulers: usize,
    pub warps_per_scheduler: usize,
    /// Cycles that one machine instruction keeps each pipe of a scheduler busy.
    pub pipe_interval: [u64; Pipe::COUNT],
    pub lsu: LsuRates,
    pub fetch: FetchRates,
    /// Cycles that an instruction has to read its sources.
    pub read_cycles: u64,
    /// Lines (or bank passes of 128 bytes) that the shared stage passes in a cycle.
    pub lines_per_cycle: u64,
    pub l1_hit_cycles: u64,
    pub shared_cycles: u64,
    pub shared_pass_cycles: u64,
    pub shared_atomic_cycles: u64,
    pub constant_cycles: u64,
    pub wide_load_cycles: u64,
    /// What a guard waits for a predicate beyond what other users of it wait.
    pub guard_cycles: u64,
    pub branch_cycles: u64,
    /// Of SASS, from the issue of a branch that is taken; one that is not costs its stall count.
    pub taken_branch_cycles: u64,
    pub barrier_cycles: u64,
    pub barrier_interval: u64,
    pub warp_sync_cycles: u64,
    /// Fences of block, GPU and system scope.
    pub fence_cycles: [u64; 3],
    /// Cycles that 32 bytes take on the way to L2.
    pub write_flit_cycles: f64,
    pub store_sectors_max: u64,
    pub l1_ways: u32,
    /// What L1 and shared memory divide.
    pub l1_and_shared_bytes: u64,
    /// A turn of an atomic at L2: of a whole sector, of a part of one, of a part with values to compare.
    pub atomic_sector_cycles: f64,
    pub atomic_part_cycles: f64,
    pub atomic_compare_cycles: f64,
    /// From one floating-point turn of a sector to the next.
    pub atomic_float_cycles: f64,
    pub warp_launch_interval: u64,
    pub clock_mhz: u64,
}

impl Config {
    pub fn new(device: &Device) -> Self {
        let (limits, p) = (&device.limits, &device.parameters);
        let schedulers = limits.schedulers.max(1);
        let whole = |cycles: f64| cycles.round() as u64;
        let select = device.costs.of(crate::device::Class::Select).latency_cycles;
        Self {
            schedulers: schedulers as usize,
            warps_per_scheduler: limits.max_warps_per_sm.div_ceil(schedulers) as usize,
            pipe_interval: pipe_intervals(device),
            lsu: LsuRates {
                entries: p.memory_queue_entries as usize,
                address_interval: whole(p.address_generation_interval_cycles),
                hold: whole(p.memory_queue_hold_cycles),
                stage_interval: u64::from(WARP_SIZE as u32 / limits.lsu_lanes.clamp(1, WARP_SIZE as u32)),
            },
            fetch: FetchRates {
                l0_lines: (p.instruction_l0_bytes / 128.0) as usize,
                l1_lines: (p.instruction_l1_bytes / 128.0) as usize,
                l0_line_cycles: p.instruction_l0_line_cycles,
                l1_line_cycles: p.instruction_l1_line_cycles,
                ahead: p.instruction_prefetch_lines as u32,
            },
            read_cycles: whole(p.register_read_cycles),
            lines_per_cycle: whole(p.l1_lines_per_cycle).max(1),
            l1_hit_cycles: whole(p.l1_hit_latency_cycles),
            shared_cycles: whole(p.shared_latency_cycles),
            shared_pass_cycles: whole(p.shared_pass_latency_cycles),
            shared_atomic_cycles: whole(p.shared_atomic_latency_cycles),
            constant_cycles: whole(p.constant_latency_cycles),
            wide_load_cycles: whole(p.wide_load_latency_cycles),
            guard_cycles: whole(p.predicate_guard_latency_cycles).saturating_sub(select.into()),
            branch_cycles: whole(p.branch_latency_cycles),
            taken_branch_cycles: whole(p.taken_branch_latency_cycles),
            barrier_cycles: whole(p.barrier_latency_cycles),
            barrier_interval: whole(p.barrier_interval_cycles),
            warp_sync_cycles: whole(p.warp_sync_latency_cycles),
            fence_cycles: [
                whole(p.fence_block_latency_cycles),
                whole(p.fence_gpu_latency_cycles),
                whole(p.fence_system_latency_cycles),
            ],
            write_flit_cycles: f64::from(super::memory::SECTOR_BYTES) / p.sm_write_bytes_per_cycle,
            store_sectors_max: whole(p.sm_store_sectors),
            l1_ways: p.l1_ways as u32,
            l1_and_shared_bytes: limits.l1_and_shared_bytes.into(),
            atomic_sector_cycles: p.atomic_sector_cycles,
            atomic_part_cycles: p.atomic_part_cycles,
            atomic_compare_cycles: p.atomic_compare_cycles,
            atomic_float_cycles: p.atomic_float_cycles,
            warp_launch_interval: whole(p.warp_launch_interval_cycles),
            clock_mhz: device.boost_clock_mhz.into(),
        }
    }
}

/// How long one instruction of a warp keeps each pipe busy.
fn pipe_intervals(device: &Device) -> [u64; Pipe::COUNT] {
    let limits = &device.limits;
    let interval = |lanes: u32| interval_of(limits.schedulers, lanes);
    let mut intervals = [1; Pipe::COUNT];
    intervals[Pipe::None as usize] = 0;
    intervals[Pipe::Fma as usize] = interval(limits.fp32_lanes);
    intervals[Pipe::Alu as usize] = interval(limits.int32_lanes);
    intervals[Pipe::Imad as usize] = interval(limits.imad_lanes);
    intervals[Pipe::Fp64 as usize] = interval(limits.fp64_lanes);
    intervals[Pipe::Xu as usize] = interval(limits.sfu_lanes);
    // Two votes a cycle and SM: Burtscher, 16 cycles for 32 warps.
    intervals[Pipe::Half as usize] = interval(limits.fp32_lanes);
    intervals[Pipe::Vote as usize] = u64::from(limits.schedulers / 2).max(1);
    intervals
}

/// Cycles for which a warp of each scheduler occupies `lanes` lanes of the SM.
pub(crate) fn interval_of(schedulers: u32, lanes: u32) -> u64 {
    u64::from((WARP_SIZE as u32 * schedulers.max(1)).div_ceil(lanes.max(1)))
}

/// Cycles of a quantum: SMs run this long without hearing of each other.
///
/// A request needs at least half of the way from L1 to L2 and back to reach L2, so whatever an SM asks for in a quantum can be
/// decided at its end: no answer is due before. Blocks that end in a quantum are replaced after it for the same reason.
pub(crate) fn quantum_cycles(device: &Device) -> u64 {
    let p = &device.parameters;
    let to_l2 = (p.l2_near_latency_cycles - p.l1_hit_latency_cycles) / 2.0;
    (to_l2.min(p.block_launch_latency_cycles) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{devices, find};

    #[test]
    fn pipes_take_a_warp_as_often_as_their_lanes_allow() {
        let intervals = |name: &str| Config::new(find(name).unwrap()).pipe_interval;
        let of = |name: &str, pipe: Pipe| intervals(name)[pipe as usize];
        assert_eq!((of("A100", Pipe::Fma), of("H200", Pipe::Fma)), (2, 1));
        assert_eq!((of("H200", Pipe::Alu), of("RTX 5070", Pipe::Alu), of("RTX 5070", Pipe::Imad)), (2, 1, 2));
        assert_eq!((of("A100", Pipe::Fp64), of("RTX 5070", Pipe::Fp64)), (4, 64));
        assert_eq!((of("H200", Pipe::Xu), of("H200", Pipe::None)), (8, 0));
    }

    #[test]
    fn no_answer_from_l2_is_due_inside_a_quantum() {
        for device in devices() {
            let quantum = quantum_cycles(device) as f64;
            let p = &device.parameters;
            assert!(quantum >= 1.0 && quantum <= (p.l2_near_latency_cycles - p.l1_hit_latency_cycles) / 2.0);
            assert!(quantum <= p.block_launch_latency_cycles, "{}", device.name);
        }
    }
}
