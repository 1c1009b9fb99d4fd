//! Inputs of the labs and the comparison of results.

use crate::parallel::in_parallel;
use crate::random::{Random, generator};

/// `n` numbers from -1 to 1, none of them special.
pub fn noise(n: u32, seed: u64) -> Vec<f32> {
    let mut random = generator(seed);
    (0..n).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// What each number of `x` becomes, given its index, too: by all of the host's processors, since a GPU's share of work is a
/// long one for a CPU.
pub fn references(x: &[f32], reference: impl Fn(u32, f32) -> f32 + Sync) -> Vec<f32> {
    let parts: Vec<(u32, &[f32])> = (0..).step_by(PART).zip(x.chunks(PART)).collect();
    let of_part = |(first, x): &(u32, &[f32])| (*first..).zip(*x).map(|(index, x)| reference(index, *x)).collect();
    in_parallel::<_, Vec<f32>>(&parts, of_part).concat()
}

/// Numbers that a thread takes at a time.
const PART: usize = 1 << 14;

/// Results that differ from what was expected, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Differences {
    pub count: usize,
    /// Index, value found, value expected.
    pub first: Option<(usize, f32, f32)>,
}

/// Compares as many results as are expected; those that are missing differ.
pub fn differences(found: &[f32], expected: impl IntoIterator<Item = f32>) -> Differences {
    let mut differences = Differences { count: 0, first: None };
    for (index, expected) in expected.into_iter().enumerate() {
        let found = found.get(index).copied().unwrap_or(f32::NAN);
        if found.to_bits() != expected.to_bits() {
            differences.count += 1;
            differences.first.get_or_insert((index, found, expected));
        }
    }
    differences
}

impl Differences {
    pub fn none(&self) -> bool {
        self.count == 0
    }
}

/// For a claim that says that there are none.
impl std::fmt::Display for Differences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.first {
            None => write!(f, "no difference"),
            Some((index, found, expected)) => {
                write!(f, "{} differ, first element {index}: {found:e} instead of {expected:e}", self.count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_both_signs_and_stays_within_one() {
        let numbers = noise(1_003, 7);
        assert!(numbers.iter().any(|x| *x < -0.5) && numbers.iter().any(|x| *x > 0.5));
        assert!(numbers.iter().all(|x| x.abs() <= 1.0));
    }

    #[test]
    fn differences_are_of_bits_so_that_zeros_of_two_signs_differ() {
        assert!(differences(&[1.0, f32::NAN], [1.0, f32::NAN]).none());
        let found = differences(&[1.0, 0.0, 3.0], [1.0, -0.0, 4.0]);
        assert_eq!((found.count, found.first), (2, Some((1, 0.0, -0.0))));
        assert_eq!(found.to_string(), "2 differ, first element 1: 0e0 instead of -0e0");
    }

    #[test]
    fn references_stand_in_the_order_of_their_numbers() {
        let x: Vec<f32> = (0..1_003).map(|i| i as f32).collect();
        assert!(references(&x, |i, x| x - i as f32 + 2.0).iter().all(|y| *y == 2.0));
        assert_eq!(references(&x, |_, x| 2.0 * x)[1_002], 2_004.0);
        assert!(references(&[], |_, x| x).is_empty());
    }

    #[test]
    fn results_that_are_missing_differ() {
        assert_eq!(differences(&[1.0], [1.0, 2.0]).count, 1);
    }
}
