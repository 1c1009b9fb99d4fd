//! Sets of small numbers.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    pub fn new(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)] }
    }

    pub fn contains(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Adds a number; was it new?
    pub fn insert(&mut self, index: usize) -> bool {
        let Some(word) = self.words.get_mut(index / 64) else { return false };
        let bit = 1 << (index % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Adds all of `other`; did that change anything?
    pub fn union(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }

    /// Adds all of `from` that is not in `except`; did that change anything?
    pub fn union_except(&mut self, from: &Self, except: &Self) -> bool {
        let mut changed = false;
        for ((word, more), not) in self.words.iter_mut().zip(&from.words).zip(&except.words) {
            let more = more & !not;
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }

    /// Numbers in both, in order.
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        self.words.iter().zip(&other.words).enumerate().flat_map(|(at, (a, b))| {
            let mut bits = a & b;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                (bits != 0).then(|| {
                    bits &= bits - 1;
                    at * 64 + bit
                })
            })
        })
    }
}
