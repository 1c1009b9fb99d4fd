//! The end of a quantum: what all SMs did takes effect, ordered by cycle, SM, sequence.
//!
//! This runs on one thread and depends on nothing but the SMs' outboxes, so how many threads ran the SMs does not matter.

use crate::isa::{Lanes, WARP_SIZE};
use crate::memory::{AtomicRequest, DirectPort, Memory, Port, Request, Words};

use super::memory::uncore::{Origin, Uncore};
use super::sm::{AtomicWrite, RequestKind, Sm, Write};

/// An item of an SM's outbox: SM, index in its list.
type Item = (u32, u32);

/// Working space of the boundary, kept from quantum to quantum.
#[derive(Debug, Default)]
pub(crate) struct Boundary {
    counts: Vec<u32>,
    order: Vec<Item>,
    operand: Box<Operands>,
    /// Changes of memory so far.
    changes: u64,
}

#[derive(Debug)]
struct Operands {
    operand: Words,
    swap: Words,
}

impl Default for Operands {
    fn default() -> Self {
        Self { operand: [Lanes::ZERO; 8], swap: [Lanes::ZERO; 8] }
    }
}

/// The cycles of a quantum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantum {
    pub begin: u64,
    pub end: u64,
}

impl Boundary {
    /// Changes of memory so far, as [`Port::changes`] counts them.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes in changes that were made to memory outside of the quanta.
    pub fn count_changes(&mut self, changes: u64) {
        self.changes += changes;
    }

    /// Times every request of the quantum and leaves the answers in the outboxes.
    pub fn answer_requests(&mut self, quantum: Quantum, sms: &mut [&mut Sm], uncore: &mut Uncore) {
        self.sort(quantum, sms, |sm| &sm.outbox.requests, |request| request.cycle);
        for sm in sms.iter_mut() {
            sm.outbox.answers.resize(sm.outbox.requests.len(), 0);
        }
        for (sm, index) in &self.order {
            let sm = &mut sms[*sm as usize];
            let request = sm.outbox.requests[*index as usize];
            let origin = Origin { sm: sm.index, line: request.line, cycle: request.start };
            let answer = match request.kind {
                RequestKind::Read { sectors, .. } => uncore.read(origin, sectors),
                RequestKind::Write { granules } => uncore.write(origin, granules),
                RequestKind::Atomic { sectors, cycles } => uncore.atomic(origin, sectors, cycles),
            };
            sm.outbox.answers[*index as usize] = answer.ceil() as u64;
        }
    }

    /// Applies every store and atomic of the quantum to memory and leaves old values of atomics in the outboxes.
    pub fn apply_writes(&mut self, quantum: Quantum, sms: &mut [&mut Sm], memory: &mut Memory) {
        self.sort(quantum, sms, |sm| sm.outbox.writes.records(), |write| write.cycle);
        let mut port = DirectPort::new(memory);
        for (sm, index) in &self.order {
            let outbox = &mut sms[*sm as usize].outbox;
            let write = &outbox.writes.records()[*index as usize];
            let data = outbox.writes.data(write);
            match write.atomic {
                None => port.store(&request(write), data),
                Some(atomic) => outbox.old_values.push(self.operand.perform(write, &atomic, data, &mut port)),
            }
        }
        self.changes += port.changes();
    }

    /// Fills `self.order` with the items of all SMs by cycle, SM, place in the SM's list: a counting sort, since each list is
    /// in the order of its cycles already.
    fn sort<T>(&mut self, quantum: Quantum, sms: &[&mut Sm], items: fn(&Sm) -> &[T], cycle: fn(&T) -> u64) {
        let span = (quantum.end - quantum.begin) as usize;
        let offset = |item: &T| (cycle(item) - quantum.begin) as usize;
        self.counts.clear();
        self.counts.resize(span + 1, 0);
        for item in sms.iter().flat_map(|sm| items(sm)) {
            self.counts[offset(item) + 1] += 1;
        }
        for place in 1..self.counts.len() {
            self.counts[place] += self.counts[place - 1];
        }
        self.order.clear();
        self.order.resize(self.counts.last().copied().unwrap_or(0) as usize, (0, 0));
        for (number, sm) in sms.iter().enumerate() {
            for (index, item) in items(sm).iter().enumerate() {
                let place = &mut self.counts[offset(item)];
                self.order[*place as usize] = (number as u32, index as u32);
                *place += 1;
            }
        }
    }
}

impl Operands {
    fn perform(&mut self, write: &Write, atomic: &AtomicWrite, data: &[Lanes], port: &mut DirectPort<'_>) -> Words {
        let words = write.access.bytes().div_ceil(4) as usize;
        let (operand, swap) = data.split_at(words.min(data.len()));
        self.operand[..operand.len()].copy_from_slice(operand);
        self.swap[..swap.len()].copy_from_slice(swap);
        let mut old = [Lanes::ZERO; 8];
        port.atomic(
            &AtomicRequest {
                request: request(write),
                kind: atomic.kind,
                operand: &self.operand,
                swap: &self.swap,
                returns: atomic.returns,
            },
            &mut old,
        );
        old
    }
}

fn request(write: &Write) -> Request<'_> {
    let addresses: &[u64; WARP_SIZE] = &write.addresses;
    Request {
        pc: write.atomic.map_or(0, |atomic| atomic.pc),
        access: &write.access,
        mask: write.mask,
        addresses,
        bytes: write.access.bytes(),
        shape: write.shape,
    }
}
