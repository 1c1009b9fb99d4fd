//! What the model must not change: results. And what must not change it: threads.

use warpwise_simt::machine::{Mode, Report};

use crate::bench::Bench;
use crate::kernels::{block_sum, tickets, vecadd};

/// A launch with everything that it leaves: report and memory.
fn run(
    mode: Mode,
    threads: usize,
    ptx: &str,
    blocks: u32,
    block: u32,
    arrays: &[Vec<u32>],
    more: &[(usize, u64)],
) -> (Report, Vec<Vec<u32>>) {
    let mut bench = Bench::new("RTX 5070");
    bench.mode = mode;
    bench.machine.system_mut().set_threads(threads);
    let mut params: Vec<u64> = arrays.iter().map(|array| bench.upload(array)).collect();
    let addresses = params.clone();
    more.iter().for_each(|(place, value)| params.insert(*place, *value));
    let report = bench.run(ptx, blocks, block, &params);
    assert_eq!(report.fault, None);
    let contents = arrays.iter().zip(addresses).map(|(array, address)| bench.download(address, array.len())).collect();
    (report, contents)
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|index| index.wrapping_mul(2_654_435_761) >> 8).collect()
}

#[test]
fn timed_and_functional_runs_leave_the_same_memory() {
    let n = 10_007;
    let floats: Vec<u32> = (0..n).map(|index| (index as f32).to_bits()).collect();
    let arrays = [floats.clone(), floats, vec![0; n]];
    let vectors = |mode| run(mode, 1, &vecadd(), 40, 256, &arrays, &[(3, n as u64)]).1;
    assert_eq!(vectors(Mode::Timed), vectors(Mode::Functional));
    let arrays = [numbers(256 * 100), vec![0; 100]];
    let sums = |mode| run(mode, 1, &block_sum(), 100, 256, &arrays, &[]).1;
    assert_eq!(sums(Mode::Timed), sums(Mode::Functional));
}

#[test]
fn counters_do_not_depend_on_whether_time_is_modelled() {
    let n = 10_007;
    let arrays = [numbers(n), numbers(n), vec![0; n]];
    let report = |mode| run(mode, 1, &vecadd(), 40, 256, &arrays, &[(3, n as u64)]).0;
    let (timed, functional) = (report(Mode::Timed), report(Mode::Functional));
    assert_eq!(timed.counters, functional.counters);
    assert_eq!(timed.instructions.len(), functional.instructions.len());
    let executed = |report: &Report| report.instructions.iter().map(|count| count.executed).collect::<Vec<_>>();
    assert_eq!(executed(&timed), executed(&functional));
}

#[test]
fn every_thread_draws_a_ticket_of_its_own() {
    let (_, contents) = run(Mode::Timed, 1, &tickets(), 50, 96, &[vec![0; 7], vec![0; 4800]], &[(1, 7)]);
    for counter in 0..7 {
        let mut drawn: Vec<u32> = contents[1].iter().copied().skip(counter).step_by(7).collect();
        drawn.sort_unstable();
        assert!(drawn.iter().copied().eq(0..drawn.len() as u32), "counter {counter}");
        assert_eq!(contents[0][counter] as usize, drawn.len());
    }
}

#[test]
fn one_thread_and_more_give_the_same_result_to_the_cycle() {
    let n = 100_003;
    let arrays = [numbers(n), numbers(n), vec![0; n]];
    let vectors = |threads| run(Mode::Timed, threads, &vecadd(), 391, 256, &arrays, &[(3, n as u64)]);
    let draw = |threads| run(Mode::Timed, threads, &tickets(), 200, 160, &[vec![0; 13], vec![0; 32_000]], &[(1, 13)]);
    let (one, drawn) = (vectors(1), draw(1));
    for threads in [2, 3, 7] {
        let (more, drawn_by_more) = (vectors(threads), draw(threads));
        assert_eq!(one.0.timing, more.0.timing, "{threads} threads");
        assert_eq!(one.0.counters, more.0.counters, "{threads} threads");
        assert_eq!(drawn.0.timing, drawn_by_more.0.timing, "{threads} threads");
        assert_eq!(drawn.1, drawn_by_more.1, "who draws which ticket, with {threads} threads");
    }
}
