//! The order in which blocks start.

use super::BlockOrder;

/// The linear index of the block that starts as number `position` of `count`.
pub(super) fn block_at(order: BlockOrder, position: u64, count: u64) -> u64 {
    match order {
        BlockOrder::Forward => position,
        BlockOrder::Reverse => count - 1 - position,
        BlockOrder::Random(seed) => shuffled(position, count, seed),
    }
}

/// A permutation of `0..count` without a table: a Feistel network over the next power of four, walked until it lands inside.
fn shuffled(position: u64, count: u64, seed: u64) -> u64 {
    let half_bits = (u64::BITS - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1 << half_bits) - 1;
    let mut value = position;
    loop {
        let (mut left, mut right) = (value >> half_bits, value & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(seed ^ right << 8 ^ round) & mask));
        }
        value = left << half_bits | right;
        if value < count {
            return value;
        }
    }
}

/// A hash of 64 bits (the finaliser of SplitMix64).
pub(super) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_starts_every_block_once() {
        for count in [1, 2, 3, 5, 64, 1000, 4097] {
            for order in [BlockOrder::Forward, BlockOrder::Reverse, BlockOrder::Random(0), BlockOrder::Random(7)] {
                let mut blocks: Vec<u64> = (0..count).map(|position| block_at(order, position, count)).collect();
                blocks.sort();
                assert!(blocks.into_iter().eq(0..count), "{order:?} of {count}");
            }
        }
    }

    #[test]
    fn seeds_give_different_orders() {
        let order =
            |seed| (0..100).map(|position| block_at(BlockOrder::Random(seed), position, 100)).collect::<Vec<_>>();
        assert_ne!(order(1), order(2));
        assert_ne!(order(1), (0..100).collect::<Vec<_>>());
    }
}
