//! Instructions that change a warp's control state, or need more than its own lanes.

use super::access::violation;
use super::barrier::Arrival;
use super::block::{BARRIERS, Block};
use super::executor::{Cursor, Effect, Executor};
use super::frame::{Decoded, Flow};
use super::warp::Divergence;
use crate::fault::{Detail, FaultKind, Violation};
use crate::isa::{Isa, Lanes, Mask, Op, Pc, Special, WARP_SIZE};
use crate::memory::{Port, sectors::lanes};

/// Branches in the instruction sense: up to as many parts as lanes.
type Parts = Vec<(Pc, Mask)>;

impl Executor<'_> {
    /// Carries out what the instruction under the cursor asks for. [`Effect::Waiting`]: it was not executed, and will be again.
    pub(super) fn perform<P: Port>(
        &mut self,
        flow: Flow,
        on: Mask,
        at: &Cursor,
        block: &mut Block,
        index: usize,
        port: &mut P,
    ) -> Result<Effect, Violation> {
        let grid = self.grid;
        let d = &grid.kernel().code[at.pc as usize];
        let next = at.pc + 1;
        let warp = &mut block.warps[index];
        warp.go_to_quietly(at.pc);
        let whole = on == at.mask;
        let sass = grid.kernel().program().isa == Isa::Sass;
        let fault = |kind| violation(kind, at.pc, index, on, Detail::None);
        match flow {
            Flow::Branch => {
                self.tally.diverged(at.pc);
                if let Op::Branch { target, reconverge } = d.op {
                    let backward = target <= at.pc;
                    let mut parts = [(next, at.mask & !on), (target, on)];
                    if sass {
                        warp.part_as_chip(&mut parts);
                    } else {
                        warp.diverge(&parts, reconverge);
                    }
                    if backward {
                        warp.spin.count();
                    }
                }
                Ok(Effect::Branch { taken: on })
            }
            Flow::BranchIndexed => self.branch_indexed(d, on, at, block, index),
            Flow::BranchByValue => self.branch_by_value(d, on, at, block, index),
            // A call or a barrier takes effect in a split of its own.
            Flow::Call | Flow::Barrier if !whole => {
                warp.diverge(&[(at.pc, on), (next, at.mask & !on)], Some(next));
                Ok(Effect::Waiting)
            }
            Flow::Call => match d.op {
                Op::Call { target } if !warp.call(target, next) => Err(fault(FaultKind::CallDepth)),
                _ => Ok(Effect::Branch { taken: on }),
            },
            Flow::Return if !whole && warp.is_in_call() => {
                warp.diverge_at_return(on, next);
                Ok(Effect::Waiting)
            }
            Flow::Return if warp.is_in_call() => {
                warp.return_from_call();
                Ok(Effect::Branch { taken: on })
            }
            Flow::Return | Flow::Exit => {
                warp.exit(on, next);
                if block.has_arrivals() {
                    block.complete_all(grid.kernel());
                }
                Ok(Effect::Exit { lanes: on })
            }
            Flow::Trap => Err(fault(FaultKind::Trap)),
            Flow::Barrier => self.barrier(d, on, at.pc, block, index),
            Flow::Collective => self.collective(d, on, next, block, index),
            Flow::Fence => {
                warp.go_to(next);
                let Op::Fence(scope) = d.op else { return Ok(Effect::None) };
                port.fence(scope);
                Ok(Effect::Fence(scope))
            }
            Flow::Sleep => {
                warp.go_to(next);
                // SAFETY: the frame was entered for this warp; the operand was checked.
                let time = unsafe { &*self.frame.source(d.src[0]) };
                Ok(Effect::Sleep { nanoseconds: lanes(on).map(|lane| time.0[lane]).max().unwrap_or(0) })
            }
            Flow::Clock => {
                self.read_clock(d, on, port);
                block.warps[index].go_to(next);
                Ok(Effect::None)
            }
            Flow::Next | Flow::Memory => {
                warp.go_to(next);
                Ok(Effect::None)
            }
        }
    }

    /// Jumps lane by lane through a table.
    fn branch_indexed(
        &mut self,
        d: &Decoded,
        on: Mask,
        at: &Cursor,
        block: &mut Block,
        index: usize,
    ) -> Result<Effect, Violation> {
        let Op::BranchIndexed { table, reconverge } = d.op else { return Ok(Effect::None) };
        let targets = &self.grid.kernel().program().tables[usize::from(table)];
        // SAFETY: the frame was entered for this warp; the operand was checked.
        let chosen = unsafe { &*self.frame.source(d.src[0]) };
        let mut parts: Parts = Vec::new();
        if on != at.mask {
            parts.push((at.pc + 1, at.mask & !on));
        }
        for lane in lanes(on) {
            let given = u64::from(chosen.0[lane]);
            let Some(target) = targets.get(chosen.0[lane] as usize) else {
                let detail = Detail::Value { given, limit: targets.len() as u64 };
                return Err(violation(FaultKind::BranchIndex, at.pc, index, 1 << lane, detail));
            };
            match parts.iter_mut().find(|(pc, _)| pc == target) {
                Some((_, mask)) => *mask |= 1 << lane,
                None => parts.push((*target, 1 << lane)),
            }
        }
        let warp = &mut block.warps[index];
        match parts[..] {
            [(only, _)] => warp.go_to(only),
            _ => {
                self.tally.diverged(at.pc);
                warp.diverge(&parts, reconverge);
            }
        }
        Ok(Effect::Branch { taken: on })
    }

    /// Jumps where a predicate, a mask or an address in a register says. Such lanes meet again at a convergence barrier, if at all.
    fn branch_by_value(
        &mut self,
        d: &Decoded,
        on: Mask,
        at: &Cursor,
        block: &mut Block,
        index: usize,
    ) -> Result<Effect, Violation> {
        let next = at.pc + 1;
        let end = self.grid.kernel().code.len() as Pc;
        let mut parts: Parts = vec![(next, at.mask)];
        let mut taken = 0;
        let mut send = |lanes: Mask, target: Pc| {
            parts[0].1 &= !lanes;
            taken |= lanes;
            match parts[1..].iter_mut().find(|(pc, _)| *pc == target) {
                Some((_, mask)) => *mask |= lanes,
                None => parts.push((target, lanes)),
            }
        };
        // SAFETY: the frame was entered for this warp; operands were checked.
        let value = unsafe { &*self.frame.source(d.src[0]) };
        match d.op {
            Op::BranchIf { target } => {
                // SAFETY: as above.
                let lanes = on & unsafe { self.frame.pred(d.psrc) };
                if lanes != 0 {
                    send(lanes, target);
                }
            }
            Op::BranchMembers { target, all } => {
                let members = value.0[(on.trailing_zeros() & 31) as usize];
                // SAFETY: as above.
                let here = at.mask & unsafe { self.frame.pred(d.psrc) };
                if all == (here == members & block.warps[index].live()) {
                    send(on, target);
                }
            }
            Op::BranchRegister { base } => {
                for lane in lanes(on) {
                    let byte = base.wrapping_add(i64::from(value.0[lane] as i32));
                    let target = byte.checked_div(16).filter(|pc| byte % 16 == 0 && (0..i64::from(end)).contains(pc));
                    let Some(target) = target else {
                        let detail = Detail::Value { given: byte as u64, limit: u64::from(end) * 16 };
                        return Err(violation(FaultKind::BranchIndex, at.pc, index, 1 << lane, detail));
                    };
                    send(1 << lane, target as Pc);
                }
            }
            _ => {}
        }
        if let (Op::BranchRegister { .. }, [_, first, others @ ..]) = (d.op, &mut parts[..]) {
            // The fewest lanes with one target jump; the others execute it again, as seen on an H200.
            for other in others.iter_mut() {
                if other.1.count_ones() < first.1.count_ones() {
                    std::mem::swap(first, other);
                }
            }
            let again = others.iter().fold(0, |again, (_, lanes)| again | lanes);
            parts.truncate(2);
            parts.push((at.pc, again));
        }
        parts.retain(|(_, mask)| *mask != 0);
        let warp = &mut block.warps[index];
        if let [(only, _)] = parts[..] {
            warp.go_to(only);
        } else {
            self.tally.diverged(at.pc);
            warp.part_as_chip(&mut parts);
        }
        if parts.iter().any(|(pc, _)| *pc <= at.pc) {
            block.warps[index].spin.count();
        }
        Ok(Effect::Branch { taken })
    }

    /// Takes the lanes `on` out of the convergence barrier whose mask they hold. All members' copies of the mask change.
    fn break_out(&mut self, d: &Decoded, on: Mask, next: Pc, block: &mut Block, index: usize) -> Effect {
        if on == 0 {
            block.warps[index].go_to(next);
            return Effect::None;
        }
        let slot = d.src[0].index();
        let (slots, _) = block.registers.of(index);
        let members = slots[slot].0[(on.trailing_zeros() & 31) as usize];
        slots[slot].0.iter_mut().filter(|mask| **mask == members).for_each(|mask| *mask &= !on);
        block.warps[index].leave(members, on);
        block.warps[index].go_to(next);
        Effect::None
    }

    fn barrier(&mut self, d: &Decoded, on: Mask, pc: Pc, block: &mut Block, index: usize) -> Result<Effect, Violation> {
        let lane = (on.trailing_zeros() & 31) as usize;
        // SAFETY: the frame was entered for this warp; absent operands were replaced by a zero.
        let operand = |source: usize| unsafe { (*self.frame.source(d.src[source])).0[lane] };
        // SASS has both in one register, where a count of 0 is none.
        let is_sass = self.grid.kernel().program().isa == Isa::Sass;
        let packed = is_sass && d.given.src[1] && d.src[0] == d.src[1];
        let (number, threads) =
            if packed { (operand(0) & 0xf, operand(0) >> 16 & 0xfff) } else { (operand(0), operand(1)) };
        let is_counted = d.given.src[1] && !(packed && threads == 0);
        let misuse = |given: u32, limit: u32| {
            let detail = Detail::Value { given: given.into(), limit: limit.into() };
            violation(FaultKind::BarrierMisuse, pc, index, on, detail)
        };
        if number as usize >= BARRIERS {
            return Err(misuse(number, BARRIERS as u32));
        }
        let most = self.grid.warps_per_block() * WARP_SIZE as u32;
        if is_counted && (threads == 0 || threads % WARP_SIZE as u32 != 0 || threads > most) {
            return Err(misuse(threads, most + 1));
        }
        let arrival = Arrival { number: number as u8, expected: threads };
        let completed = block.arrive(self.grid.kernel(), index, arrival, self.grid.divergence);
        Ok(Effect::Barrier { number: number as u8, completed })
    }

    /// A warp-wide operation: waits for its members, then exchanges values. Lanes may name different members, each its own
    /// group; groups that are not all here part, so that each can wait for its own.
    fn collective(
        &mut self,
        d: &Decoded,
        on: Mask,
        next: Pc,
        block: &mut Block,
        index: usize,
    ) -> Result<Effect, Violation> {
        if d.op == Op::Break {
            // SAFETY: the frame was entered for this warp.
            let leaving = on & unsafe { self.frame.pred(d.psrc) };
            return Ok(self.break_out(d, leaving, next, block, index));
        }
        let warp = &mut block.warps[index];
        let (pc, mask) = warp.next().unwrap_or((next, on));
        // SAFETY: the frame was entered for this warp.
        let groups = unsafe { self.groups(d, on) };
        if d.op == Op::Meet && mask == on && groups.others.is_empty() {
            warp.meet(groups.first.1, next);
            return Ok(Effect::None);
        }
        let absent = |(_, members): (Mask, Mask)| members & warp.live() & !mask;
        if self.grid.divergence != Divergence::Lockstep && groups.iter().any(|group| absent(group) != 0) {
            if !groups.others.is_empty() {
                let off = (mask != on).then_some((next, mask & !on));
                let parts: Parts = groups.iter().map(|(lanes, _)| (pc, lanes)).chain(off).collect();
                warp.diverge(&parts, Some(next));
                return Ok(Effect::Waiting);
            }
            if !warp.gather(groups.first.1) {
                return Ok(Effect::Waiting);
            }
        }
        if d.op == Op::Separate && !groups.others.is_empty() {
            let off = (mask != on).then_some((next, mask & !on));
            let mut parts: Parts = groups.iter().map(|(lanes, _)| (next, lanes)).chain(off).collect();
            block.warps[index].part_alone(&mut parts);
            return Ok(Effect::None);
        }
        let live = block.warps[index].live();
        for (lanes, members) in groups.iter() {
            let participants = (members & live & (on | !mask)) | lanes;
            // SAFETY: as above.
            unsafe { self.exchange(d, lanes, participants) };
        }
        block.warps[index].end_collective(next);
        Ok(Effect::None)
    }

    fn read_clock<P: Port>(&mut self, d: &Decoded, on: Mask, port: &P) {
        let Op::Special(register) = d.op else { return };
        let (value, words) = match register {
            Special::Clock => (port.clock(), 1),
            Special::ClockHi => (port.clock() >> 32, 1),
            Special::Clock64 => (port.clock(), 2),
            Special::GlobalTimer => (port.nanoseconds(), 2),
            Special::GlobalTimerHi => (port.nanoseconds() >> 32, 1),
            _ => (port.nanoseconds(), 1),
        };
        for word in 0..words {
            let slot = crate::isa::Slot(d.dst[0].0 + word);
            // SAFETY: the frame was entered for this warp; a 64-bit clock was checked for two words.
            unsafe { self.frame.write(slot, &Lanes::splat((value >> (32 * word)) as u32), on) };
        }
    }
}
