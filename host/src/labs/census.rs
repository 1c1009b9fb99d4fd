//! A census of a launch's threads: the kernel `whoami` run in some shape, and the warps it shows.
//!
//! Which threads share a warp, and how many of them have work, is read off a run, not worked out.

use warpwise_kernels::whoami::{Identity, whoami};

use crate::backend::{Gpu, GpuError, LaunchShape};

/// Every thread of one launch, block by block, within a block by linear index.
pub struct Census {
    pub identities: Vec<Identity>,
    /// The counter that handed out the tickets, after the launch.
    pub tickets_drawn: u32,
    block_threads: usize,
}

/// Warps by how many of their threads have work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warps {
    /// All 32.
    pub full: usize,
    /// Some.
    pub partial: usize,
    /// None.
    pub idle: usize,
}

impl Warps {
    pub fn all(&self) -> usize {
        self.full + self.partial + self.idle
    }
}

impl Census {
    pub fn take(gpu: &Gpu, shape: LaunchShape) -> Result<Self, GpuError> {
        let threads = (shape.blocks() * shape.block_threads()) as usize;
        let words = gpu.zeros::<u32>(threads * Identity::WORDS)?;
        let counter = gpu.zeros::<u32>(1)?;
        gpu.launch_shaped(&whoami, shape, (words.ptr().cast(), counter.ptr()))?;
        let words = words.download()?;
        let (identities, _) = words.as_chunks::<{ Identity::WORDS }>();
        Ok(Self {
            identities: identities.iter().map(Identity::from_words).collect(),
            tickets_drawn: counter.download()?.first().copied().unwrap_or(0),
            block_threads: shape.block_threads() as usize,
        })
    }

    /// The threads of each block.
    pub fn blocks(&self) -> impl Iterator<Item = &[Identity]> {
        self.identities.chunks(self.block_threads)
    }

    /// The threads of each warp, which the hardware's lane numbers mark off: a new warp starts at lane 0.
    pub fn warps(&self) -> impl Iterator<Item = &[Identity]> {
        self.blocks().flat_map(|block| block.chunk_by(|_, next| next.lane != 0))
    }

    /// Counts the warps by how many of their threads have work.
    pub fn count(&self, has_work: impl Fn(&Identity) -> bool) -> Warps {
        let mut warps = Warps::default();
        for warp in self.warps() {
            match warp.iter().filter(|identity| has_work(identity)).count() {
                0 => warps.idle += 1,
                32 => warps.full += 1,
                _ => warps.partial += 1,
            }
        }
        warps
    }

    /// How many SMs ran a block.
    pub fn sms(&self) -> usize {
        let mut sms: Vec<u32> = self.identities.iter().map(|identity| identity.sm).collect();
        sms.sort_unstable();
        sms.dedup();
        sms.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(block_threads: usize, lanes: &[u32]) -> Census {
        let identity = |(index, &lane): (usize, &u32)| {
            let mut words = [0; Identity::WORDS];
            words[6] = (index % block_threads) as u32;
            words[7] = lane;
            words[9] = index as u32 / 3;
            Identity::from_words(&words)
        };
        Census { identities: lanes.iter().enumerate().map(identity).collect(), tickets_drawn: 0, block_threads }
    }

    #[test]
    fn a_warp_ends_where_lanes_start_again_and_where_a_block_ends() {
        let lanes: Vec<u32> = (0..40).map(|tid| tid % 32).chain((0..40).map(|tid| tid % 32)).collect();
        let census = census(40, &lanes);
        assert_eq!(census.warps().map(<[Identity]>::len).collect::<Vec<_>>(), [32, 8, 32, 8]);
        let warps = census.count(|identity| identity.linear_tid < 35);
        assert_eq!(warps, Warps { full: 2, partial: 2, idle: 0 });
        assert_eq!(census.count(|identity| identity.linear_tid < 32), Warps { full: 2, partial: 0, idle: 2 });
        assert_eq!(warps.all(), 4);
    }

    #[test]
    fn sms_are_counted_once_however_many_threads_they_ran() {
        assert_eq!(census(7, &[0, 1, 2, 3, 4, 5, 6]).sms(), 3);
    }
}
