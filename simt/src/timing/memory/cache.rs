//! Tags of a set-associative cache, least recently used out first.
//!
//! A place is the number of a way in a set. What else a cache knows of a line (which sectors are valid, when they arrive) its owner
//! keeps in arrays of its own, indexed by place.

/// The tags. Line numbers are addresses ÷ 128.
#[derive(Clone, Debug)]
pub struct Tags {
    /// Line number + 1; 0 for an empty place.
    tags: Vec<u64>,
    /// When each place was last used.
    stamps: Vec<u32>,
    sets: u64,
    ways: usize,
    clock: u32,
    is_by_page: bool,
}

/// Lines of a page of memory: 2 MiB.
const PAGE_LINES_SHIFT: u32 = 14;

/// What became of a line that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It was there.
    Hit(usize),
    /// It was given this place; the line that had it before, if any, is gone.
    Filled { place: usize, evicted: Option<u64> },
}

impl Tags {
    /// A cache of about `lines` lines, at least one set of `ways`.
    pub fn new(lines: u64, ways: u32) -> Self {
        let ways = ways.max(1) as usize;
        let sets = (lines / ways as u64).max(1);
        let places = sets as usize * ways;
        Self { tags: vec![0; places], stamps: vec![0; places], sets, ways, clock: 0, is_by_page: false }
    }

    /// One in which each page of memory begins at a set of its own, by chance, as pages lie in memory. An array nearly as long as the
    /// cache finds some sets too small for it, one a little longer still finds room in some.
    pub fn by_page(lines: u64, ways: u32) -> Self {
        Self { is_by_page: true, ..Self::new(lines, ways) }
    }

    /// Number of places.
    pub fn places(&self) -> usize {
        self.tags.len()
    }

    /// Where a line is, without using it.
    pub fn find(&self, line: u64) -> Option<usize> {
        let first = self.first_place(line);
        let ways = &self.tags[first..first + self.ways];
        ways.iter().position(|tag| *tag == line + 1).map(|way| first + way)
    }

    /// Finds a line or gives it the place of the one unused longest.
    pub fn find_or_fill(&mut self, line: u64) -> Lookup {
        self.clock = self.clock.wrapping_add(1);
        if let Some(place) = self.find(line) {
            self.stamps[place] = self.clock;
            return Lookup::Hit(place);
        }
        let place = self.victim(line);
        let evicted = self.tags[place].checked_sub(1);
        self.tags[place] = line + 1;
        self.stamps[place] = self.clock;
        Lookup::Filled { place, evicted }
    }

    /// Forgets every line.
    pub fn clear(&mut self) {
        self.tags.fill(0);
        self.stamps.fill(0);
    }

    fn victim(&self, line: u64) -> usize {
        let first = self.first_place(line);
        let age = |place: &usize| match self.tags[*place] {
            0 => u32::MAX,
            _ => self.clock.wrapping_sub(self.stamps[*place]),
        };
        // The first of the oldest: `max_by_key` would give the last.
        (first..first + self.ways).rev().max_by_key(age).unwrap_or(first)
    }

    /// Higher address bits are folded in, so that lines a power of two apart do not all meet in one set.
    fn first_place(&self, line: u64) -> usize {
        if self.is_by_page {
            let first = (line >> PAGE_LINES_SHIFT).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let first = (first ^ first >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
            return ((line % (1 << PAGE_LINES_SHIFT) + first) % self.sets) as usize * self.ways;
        }
        let folded = line ^ (line >> 9 & 0x1f) ^ (line >> 14 & 0x1f) ^ (line >> 19 & 0x1f);
        (folded % self.sets) as usize * self.ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_hit(tags: &mut Tags, line: u64) -> bool {
        matches!(tags.find_or_fill(line), Lookup::Hit(_))
    }

    #[test]
    fn a_run_of_lines_as_long_as_the_cache_stays_in_it() {
        for first in [0, 1 << 20, 12_345 * 1024] {
            let mut tags = Tags::new(1024, 4);
            assert!((first..first + 1024).all(|line| !is_hit(&mut tags, line)));
            assert!((first..first + 1024).all(|line| is_hit(&mut tags, line)), "from {first}");
        }
    }

    /// Share of the lines of an array that are there the second time.
    fn hits_again(tags: &mut Tags, lines: u64) -> f64 {
        (0..lines).for_each(|line| _ = tags.find_or_fill(line));
        (0..lines).filter(|line| is_hit(tags, *line)).count() as f64 / lines as f64
    }

    #[test]
    fn an_array_outgrows_a_cache_by_pages_little_by_little() {
        let lines = 30 << 13;
        let share = |mib: u64| hits_again(&mut Tags::by_page(lines, 16), mib << 13);
        assert!(share(24) > 0.97, "24 of 30 MiB: {}", share(24));
        assert!((0.2..0.8).contains(&share(32)), "32 of 30 MiB: {}", share(32));
        assert!(share(40) < 0.05, "40 of 30 MiB: {}", share(40));
    }

    #[test]
    fn the_line_unused_longest_goes_first() {
        let mut tags = Tags::new(4, 4);
        for line in [10, 20, 30, 40, 10] {
            tags.find_or_fill(line);
        }
        let Lookup::Filled { evicted, .. } = tags.find_or_fill(50) else { panic!("50 was never there") };
        assert_eq!(evicted, Some(20));
        assert_eq!(tags.find(20), None);
        assert!([10, 30, 40, 50].iter().all(|line| tags.find(*line).is_some()));
    }

    #[test]
    fn empty_places_are_filled_before_anything_is_evicted() {
        let mut tags = Tags::new(8, 8);
        for line in 0..8 {
            assert!(matches!(tags.find_or_fill(line * 1000), Lookup::Filled { evicted: None, .. }));
        }
        tags.clear();
        assert!(!is_hit(&mut tags, 1000));
    }

    #[test]
    fn strides_of_powers_of_two_use_many_sets() {
        let mut tags = Tags::new(1024, 4);
        let lines: Vec<u64> = (0..64).map(|row| row * 256).collect();
        lines.iter().for_each(|line| _ = tags.find_or_fill(*line));
        let kept = lines.iter().filter(|line| tags.find(**line).is_some()).count();
        assert!(kept > 16, "only {kept} of 64 lines kept");
    }
}
