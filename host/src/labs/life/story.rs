//! The life of the warp of element 2,690, from its issues: a table with cycle stamps, and what the chapter says of it.

use warpwise_simt::isa::{Mask, Op, Program, Space};
use warpwise_simt::timing::{Issued, Placement};

use super::recording::Recording;
use super::{BLOCK, ELEMENT, SECTION};
use crate::claim::{Claim, at_least, equal, holds, less_than};
use crate::lab::{LabContext, LabError, Table};

/// Lanes of even and of odd elements, where a warp starts at an even one.
const EVEN: Mask = 0x5555_5555;
const ODD: Mask = 0xaaaa_aaaa;

pub fn claims() -> Vec<Claim> {
    let machine = |id, statement, relation| Claim::new(id, SECTION, statement, relation).on_machine();
    vec![
        machine("waits", "the thread waits most of its life for its loads: share of its cycles", at_least(0.5))
            .note("its longest pause, over the cycles from its block's start to its exit"),
        machine("waits_for_loads", "its longest pause ends when the last load has arrived", holds("it does")),
        machine("issues", "share of its cycles in which it issues", less_than(0.2)),
        machine("others_issue", "instructions that its scheduler issues for other warps in that pause", at_least(1.0)),
        machine("scheduler_idle", "share of the pause in which its scheduler is idle", less_than(1.0)),
        machine("arms", "odd and even lanes run one after the other", holds("the arms do not overlap")),
        machine("arm_lanes", "lanes in each arm", equal(16)),
        machine("meets", "lanes that have met again when it stores", equal(32)),
        machine("store", "it does not wait for the store: cycles to its exit over those of the pause", less_than(0.1)),
    ]
}

/// An event of the story: cycle, active lanes where it is an issue, what happens.
pub type Row = (u64, Option<u32>, String);

/// What the warp of an element did, with what is needed to put it into words.
pub struct Story<'a> {
    element: u32,
    recording: &'a Recording,
    program: &'a Program,
    /// Where the block lived.
    home: &'a Placement,
    loads: Vec<&'a Issued>,
    store: &'a Issued,
    exit: &'a Issued,
    /// The longest time without an issue: the issue before it and the one after it.
    pause: (&'a Issued, &'a Issued),
    /// First and last issue with the lanes of one kind alone.
    even: Option<(&'a Issued, &'a Issued)>,
    odd: Option<(&'a Issued, &'a Issued)>,
}

pub fn tell(cx: &mut LabContext<'_>, recording: &Recording, placements: &[Placement]) -> Result<(), LabError> {
    let program = cx.bench().executed("mix")?;
    let home = placements.iter().find(|placement| placement.block == u64::from(ELEMENT / BLOCK));
    let story = home.and_then(|home| Story::of(recording, &program, home, ELEMENT));
    let story =
        story.ok_or_else(|| LabError::Other("the run shows no life of the warp: no store, or no issue".to_owned()))?;
    story.find(cx);
    cx.table(story.table());
    Ok(())
}

impl<'a> Story<'a> {
    /// `None` where the recording shows no whole life: no store, or no issue.
    pub fn of(recording: &'a Recording, program: &'a Program, home: &'a Placement, element: u32) -> Option<Self> {
        let issued = &recording.issued;
        let op = |event: &Issued| program.code.get(event.pc as usize).map(|instr| instr.op);
        let is_load = |event: &&Issued| matches!(op(event), Some(Op::Load(access)) if access.space != Space::Param);
        let pause = issued.windows(2).max_by_key(|pair| pair[1].cycle - pair[0].cycle)?;
        let arm = |lanes: Mask| {
            let mut arm = issued.iter().filter(|event| event.active == lanes);
            let first = arm.next()?;
            Some((first, arm.next_back().unwrap_or(first)))
        };
        Some(Self {
            element,
            recording,
            program,
            home,
            loads: issued.iter().filter(is_load).collect(),
            store: issued.iter().find(|event| matches!(op(event), Some(Op::Store(_))))?,
            exit: issued.last()?,
            pause: (&pause[0], &pause[1]),
            even: arm(EVEN),
            odd: arm(ODD),
        })
    }

    fn pause_cycles(&self) -> u64 {
        self.pause.1.cycle - self.pause.0.cycle
    }

    /// Issues of the scheduler for other warps in the pause.
    fn others(&self) -> usize {
        let pause = self.pause.0.cycle..self.pause.1.cycle;
        self.recording.others.iter().filter(|cycle| pause.contains(cycle)).count()
    }

    fn find(&self, cx: &mut LabContext<'_>) {
        let cycles = (self.exit.cycle - self.home.start_cycle).max(1) as f64;
        let pause = self.pause_cycles().max(1) as f64;
        cx.found("waits", pause / cycles);
        cx.found("issues", self.recording.issued.len() as f64 / cycles);
        let arrived = self.recording.arrived.iter().map(|arrival| arrival.ready_cycle).max();
        let in_pause = arrived.is_some_and(|arrived| self.pause.0.cycle < arrived && arrived <= self.pause.1.cycle);
        let otherwise = format!("it ends at {}, the last load arrives at {arrived:?}", self.pause.1.cycle);
        cx.holds("waits_for_loads", in_pause, otherwise);
        cx.found("others_issue", self.others());
        cx.found("scheduler_idle", 1.0 - self.others() as f64 / pause);
        self.find_arms(cx);
        cx.found("meets", lanes(self.store));
        cx.found("store", (self.exit.cycle - self.store.cycle) as f64 / pause);
    }

    fn find_arms(&self, cx: &mut LabContext<'_>) {
        let Some((even, odd)) = self.even.zip(self.odd) else {
            cx.holds("arms", false, "no arm ran with the lanes of one kind alone");
            return;
        };
        let apart = even.1.cycle < odd.0.cycle || odd.1.cycle < even.0.cycle;
        let span = |arm: (&Issued, &Issued)| format!("{} to {}", arm.0.cycle, arm.1.cycle);
        let otherwise = format!("even lanes issue from {}, odd ones from {}", span(even), span(odd));
        cx.holds("arms", apart, otherwise);
        cx.found("arm_lanes", lanes(even.0));
    }

    /// Every event, by cycle.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = self.before_and_during_the_pause();
        let ours = |is_even| if self.element.is_multiple_of(2) == is_even { "ours among them" } else { "ours waits" };
        let arms =
            [(self.even, format!("even lanes, {}", ours(true))), (self.odd, format!("odd lanes, {}", ours(false)))];
        for ((first, last), who) in arms.into_iter().filter_map(|(arm, who)| Some((arm?, who))) {
            rows.push((first.cycle, Some(lanes(first)), format!("{who}, until cycle {}", last.cycle)));
        }
        rows.extend([
            (self.store.cycle, Some(lanes(self.store)), format!("issues {}", self.text(self.store))),
            (self.exit.cycle, Some(lanes(self.exit)), "exits; the store is still on its way".to_owned()),
            (self.home.end_cycle, None, "the block's last warp has exited, its place is free".to_owned()),
        ]);
        rows.sort_by_key(|(cycle, _, _)| *cycle);
        rows
    }

    /// A row an event, by cycle.
    fn table(&self) -> Table {
        let title = format!("the life of warp {} of block {}", self.recording.warp, self.recording.block);
        let mut table = Table::new(title, ["cycle", "lanes", "what happens"]);
        for (cycle, lanes, text) in self.rows() {
            let lanes = lanes.map_or_else(|| "".into(), Into::into);
            table.row([cycle.into(), lanes, text.into()]);
        }
        table
    }

    fn before_and_during_the_pause(&self) -> Vec<Row> {
        let mut rows = vec![(self.home.start_cycle, None, format!("its block is placed on SM {}", self.home.sm))];
        rows.extend(self.recording.issued.first().map(|first| {
            (first.cycle, Some(lanes(first)), format!("first issue, by scheduler {} of the SM", first.scheduler))
        }));
        for load in &self.loads {
            rows.push((load.cycle, Some(lanes(load)), format!("issues {}", self.text(load))));
        }
        let (pause, others) = (self.pause_cycles(), self.others());
        let waits = format!("waits {pause} cycles; its scheduler issues {others} times for other warps");
        rows.push((self.pause.0.cycle + 1, None, waits));
        for arrival in &self.recording.arrived {
            let text = format!("data of the load of cycle {} is there", arrival.issue_cycle);
            rows.push((arrival.ready_cycle, None, text));
        }
        let goes_on = self.pause.1;
        rows.push((goes_on.cycle, Some(lanes(goes_on)), format!("goes on with {}", self.text(goes_on))));
        rows
    }

    fn text(&self, event: &Issued) -> &str {
        self.program.info.get(event.pc as usize).map_or("", |info| &info.text)
    }
}

fn lanes(event: &Issued) -> u32 {
    event.active.count_ones()
}
