//! A condition, run: its kernel on the machine, what each thread found, and at which warps the lanes parted.

use warpwise_simt::device::Device;
use warpwise_simt::exec::{Effect, Event, Probe};
use warpwise_simt::isa::{Mask, Op, Program, WARP_SIZE};
use warpwise_simt::machine::{Launch, Machine};
use warpwise_simt::ptx::Module;
use warpwise_simt::uniformity::{BlockShape, Class, analyse};

use super::{Term, ptx};

/// What a run found.
pub struct Found {
    /// Whether the branch is known to be uniform before it runs, in any launch of blocks of this shape.
    pub is_known_uniform: bool,
    /// The condition's value for each thread, by its number in the grid.
    pub values: Vec<u32>,
    /// By their numbers in the grid.
    pub warps: Vec<Warp>,
    /// Why the launch was ended, if it was.
    pub fault: Option<String>,
}

/// What a warp did.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    /// Lanes that came to the branch, and those of them for which the condition holds.
    pub lanes: Mask,
    pub holds: Mask,
    /// Instructions that it issued.
    pub issued: u64,
    /// Instructions in which each lane was active.
    by_lane: [u64; WARP_SIZE],
}

impl Warp {
    pub fn parted(&self) -> bool {
        self.holds != 0 && self.holds != self.lanes
    }

    /// What it would issue if all lanes went the longest way that one of them goes.
    pub fn alone(&self) -> u64 {
        self.by_lane.iter().copied().max().unwrap_or(0)
    }
}

/// Elements of `a`: every third is negative, so that conditions on a sign part the lanes.
pub fn element(i: u32) -> i32 {
    let size = (i % 16 + 1) as i32;
    if i.is_multiple_of(3) { -size } else { size }
}

/// Runs a condition in a launch; `a` has `n` elements.
///
/// # Errors
/// The launch is refused.
pub fn run(condition: &Term, grid: [u32; 3], block: [u32; 3], n: u32) -> Result<Found, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let shape = match block {
        [_, 1, 1] => BlockShape::OneDimensional,
        [x, ..] if x.is_multiple_of(32) => BlockShape::RowsOfWarps,
        _ => BlockShape::Any,
    };
    let text = ptx::kernel(condition, shape == BlockShape::OneDimensional);
    let module = Module::parse("condition.ptx", &text).map_err(|error| words(&error))?;
    let program = module.lower(ptx::ENTRY).map_err(|error| words(&error))?;
    let threads: u32 = grid.iter().chain(&block).product();
    let mut machine = Machine::new(Device::default_device());
    let out = machine.alloc(u64::from(threads) * 4).map_err(|error| words(&error))?;
    let elements: Vec<i32> = (0..n).map(element).collect();
    let a = machine.alloc(u64::from(n) * 4).map_err(|error| words(&error))?;
    machine.write(a, bytemuck::cast_slice(&elements)).map_err(|error| words(&error))?;
    let loaded = machine.load(module.variables()).map_err(|error| words(&error))?;
    let kernel = machine.prepare(loaded, &program).map_err(|error| words(&error))?;
    let params = [&out.to_le_bytes()[..], &a.to_le_bytes(), &n.to_le_bytes()].concat();
    let warps_per_block = (block.iter().product::<u32>() as usize).div_ceil(WARP_SIZE);
    let blocks = grid.iter().product::<u32>() as usize;
    let branch = branch(&program);
    let mut watch = Watch { branch, warps: vec![Warp::default(); blocks * warps_per_block], warps_per_block };
    let launched = machine.launch_observed(&kernel, &Launch::new(grid, block, params), &mut watch);
    let report = launched.map_err(|error| words(&error))?;
    let mut values = vec![0_u32; threads as usize];
    machine.read(out, bytemuck::cast_slice_mut(&mut values)).map_err(|error| words(&error))?;
    let is_known_uniform = branch.is_some_and(|pc| analyse(&program, shape).guard(pc) == Class::Uniform);
    Ok(Found { is_known_uniform, values, warps: watch.warps, fault: report.fault.map(|fault| fault.to_string()) })
}

/// The branch on the condition: the program's first.
fn branch(program: &Program) -> Option<u32> {
    program.code.iter().position(|instr| matches!(instr.op, Op::Branch { .. })).map(|pc| pc as u32)
}

struct Watch {
    branch: Option<u32>,
    warps: Vec<Warp>,
    warps_per_block: usize,
}

impl Probe for Watch {
    fn instruction(&mut self, event: &Event<'_>) {
        let [x, y, _] = event.block.index().map(|index| index as usize);
        let number = (x + event.grid.dim[0] as usize * y) * self.warps_per_block + event.warp;
        let Some(warp) = self.warps.get_mut(number).filter(|_| event.step.effect != Effect::Waiting) else { return };
        warp.issued += 1;
        for (lane, count) in warp.by_lane.iter_mut().enumerate() {
            *count += u64::from(event.step.active >> lane & 1);
        }
        if Some(event.step.pc) == self.branch {
            // Those for which it does not hold jump.
            let jumped = if let Effect::Branch { taken } = event.step.effect { taken } else { 0 };
            (warp.lanes, warp.holds) = (event.step.active, event.step.active & !jumped);
        }
    }
}
