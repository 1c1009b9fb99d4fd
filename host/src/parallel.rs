//! Work on all cores, in which each item takes as long as it takes.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Threads that work at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The answers for all items, in their order. Whoever is done takes the next one, so that a long item holds up nobody.
pub fn in_parallel<T: Sync, A: Send>(items: &[T], answer: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<(usize, A)>> = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let answer = answer(item);
            answers.lock().unwrap_or_else(PoisonError::into_inner).push((index, answer));
        }
    };
    // A panic in a worker goes on in the caller, when the scope ends.
    thread::scope(|scope| (0..cores().min(items.len())).for_each(|_| drop(scope.spawn(work))));
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_order_of_their_items_however_long_each_takes() {
        let items: Vec<u64> = (0..40).collect();
        let answer = |item: &u64| {
            thread::sleep(std::time::Duration::from_micros(50 * (item % 7)));
            item * 2
        };
        assert_eq!(in_parallel(&items, answer), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(in_parallel(&[], answer).is_empty());
    }
}
