//! What an observer sees must agree with what the report says.

use std::collections::HashMap;

use warpwise_simt::timing::{Completed, Issued, Observer, Placement, Stall, StallCycles, Waited};

use crate::bench::Bench;
use crate::kernels::vecadd;

#[derive(Default)]
struct Log {
    issued: Vec<Issued>,
    completed: Vec<Completed>,
    ended: Vec<Placement>,
    waited: Vec<Waited>,
    waits_of: Option<u32>,
}

impl Observer for Log {
    fn issued(&mut self, event: &Issued) {
        self.issued.push(*event);
    }

    fn completed(&mut self, event: &Completed) {
        self.completed.push(*event);
    }

    fn ended(&mut self, block: &Placement) {
        self.ended.push(*block);
    }

    fn waits_of(&self) -> Option<u32> {
        self.waits_of
    }

    fn waited(&mut self, event: &Waited) {
        self.waited.push(*event);
    }
}

#[test]
fn every_issue_every_arrival_and_every_block_is_shown_once() {
    let mut bench = Bench::new("RTX 5070");
    let n = 100_u64 * 256 - 3;
    let [a, b, c] = [0; 3].map(|_| bench.alloc(4 * n));
    let mut log = Log::default();
    let (report, texts) = bench.trace(&vecadd(), 100, 256, &[a, b, c, n], &mut log);
    let timing = report.timing.unwrap();
    assert_eq!(log.issued.len() as u64, timing.schedulers.instructions);
    assert_eq!(log.completed.len(), 2 * 800, "two loads of 800 warps");
    assert_eq!(log.ended.len(), 100);
    assert!(log.issued.iter().all(|event| event.block < 100), "exits too are of a block");
    let mut last = HashMap::new();
    for event in &log.issued {
        let slot = last.insert((event.sm, event.scheduler), event.cycle);
        assert!(slot.is_none_or(|before| before < event.cycle), "one issue a cycle and scheduler");
        assert!(event.ready_cycle.is_none_or(|ready| ready > event.cycle));
    }
    // The addition waits for both loads, as the program counters of the program as written tell.
    let find = |text: &str| texts.iter().position(|line| line.starts_with(text)).unwrap() as u32;
    let add = find("add.f32");
    for event in log.issued.iter().filter(|event| event.pc == add) {
        let warp = (event.block, event.warp_in_block);
        let arrivals = log.completed.iter().filter(|done| (done.block, done.warp_in_block) == warp);
        let ready: Vec<u64> = arrivals.map(|done| done.ready_cycle).collect();
        assert!(ready.len() == 2 && ready.iter().all(|ready| *ready <= event.cycle), "{event:?} {ready:?}");
    }
    // Only the threads that the guard lets through load.
    let lanes =
        |pc: u32| log.issued.iter().filter(|event| event.pc == pc).map(|event| event.on.count_ones()).sum::<u32>();
    assert_eq!(u64::from(lanes(find("ld.global.f32 %f1"))), n);
}

#[test]
fn issues_and_waits_account_for_every_cycle_of_a_warp() {
    let mut bench = Bench::new("RTX 5070");
    let n = 16 * 256;
    let [a, b, c] = [0; 3].map(|_| bench.alloc(4 * n));
    let mut log = Log { waits_of: Some(3), ..Log::default() };
    // One block on each of 16 SMs, of which one is watched.
    let (report, _) = bench.trace(&vecadd(), 16, 256, &[a, b, c, n], &mut log);
    let placement = log.ended.iter().find(|placement| placement.sm == 3).expect("a block on SM 3");
    assert!(!log.waited.is_empty() && log.waited.iter().all(|wait| wait.sm == 3 && wait.block == placement.block));
    let mut total = StallCycles::default();
    for warp in 0..8 {
        let mut busy: Vec<(u64, u64)> = Vec::new();
        let issued = log.issued.iter().filter(|event| event.sm == 3 && event.warp_in_block == warp);
        busy.extend(issued.map(|event| (event.cycle, event.cycle + 1)));
        busy.extend(
            log.waited.iter().filter(|wait| wait.warp_in_block == warp).map(|wait| (wait.from_cycle, wait.until_cycle)),
        );
        busy.sort_unstable();
        // Warps of a block begin one after the other, the first with its block.
        let late = busy[0].0.checked_sub(placement.start_cycle);
        assert!(
            late.is_some_and(|late| if warp == 0 { late == 0 } else { late < 64 }),
            "warp {warp} begins at {}",
            busy[0].0
        );
        assert!(
            busy.windows(2).all(|pair| pair[0].1 == pair[1].0),
            "warp {warp} has a gap, or two things at once: {busy:?}"
        );
    }
    log.waited.iter().for_each(|wait| total.add(wait.stall, wait.until_cycle - wait.from_cycle));
    assert!(total.get(Stall::LongScoreboard) > total.total() / 2, "vecadd waits for memory: {total:?}");
    let all = report.timing.unwrap().stalls.get(Stall::LongScoreboard);
    let of_one = total.get(Stall::LongScoreboard);
    assert!((all / 32..all / 8).contains(&of_one), "one of 16 SMs waited {of_one} of {all} warp-cycles");
}

#[test]
fn watching_changes_nothing() {
    let run = |traced: bool| {
        let mut bench = Bench::new("RTX 5070");
        let [a, b, c] = [0; 3].map(|_| bench.alloc(4 * 5000));
        let params = [a, b, c, 5000];
        match traced {
            true => {
                let mut log = Log { waits_of: Some(0), ..Log::default() };
                bench.trace(&vecadd(), 20, 256, &params, &mut log).0.timing
            }
            false => bench.run(&vecadd(), 20, 256, &params).timing,
        }
    };
    assert_eq!(run(true), run(false));
}
