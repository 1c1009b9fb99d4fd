//! What one register more would cost and one less would save, up to the next step of the occupancy, in numbers and in words.

use warpwise_simt::device::Limits;
use warpwise_simt::occupancy::curve::{self, Cliff, next_cliff, next_gain};
use warpwise_simt::occupancy::{InvalidInput, Occupancy, Request};

use crate::claim::format::percent;

/// The steps on both sides of a kernel's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The next number of registers at which fewer blocks fit.
    pub more: Option<Cliff>,
    /// The nearest number below at which more do.
    pub less: Option<Cliff>,
}

impl Steps {
    /// # Errors
    /// As the calculator.
    pub fn of(limits: &Limits, request: &Request) -> Result<Self, InvalidInput> {
        Ok(Self { more: next_cliff(limits, request)?, less: next_gain(limits, request)? })
    }

    /// Two or three lines: where the kernel stands, the next register, the last one.
    pub fn words(&self, request: &Request, occupancy: &Occupancy) -> [String; 3] {
        let here = Here { registers: request.registers, occupancy };
        [
            here.stands(request),
            self.more.map_or_else(|| here.no_more(), |cliff| here.costs(cliff)),
            here.saves(self.less),
        ]
    }
}

/// A number of registers a thread at which one more costs blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The last number with which so many blocks fit.
    pub registers: i64,
    pub blocks: i64,
    /// Blocks that fit with one register more.
    pub blocks_beyond: i64,
}

/// All edges of a launch, whatever a kernel's own registers are, in ascending order.
///
/// # Errors
/// As the calculator.
pub fn edges(limits: &Limits, request: &Request) -> Result<Vec<Edge>, InvalidInput> {
    let curve = curve::by_registers(limits, request)?;
    let edge = |pair: &[curve::Point]| {
        let [blocks, blocks_beyond] = [0, 1].map(|at| pair[at].occupancy.blocks_per_sm);
        (blocks_beyond < blocks).then_some(Edge { registers: pair[0].x, blocks, blocks_beyond })
    };
    Ok(curve.windows(2).filter_map(edge).collect())
}

struct Here<'a> {
    registers: i64,
    occupancy: &'a Occupancy,
}

impl Here<'_> {
    fn stands(&self, request: &Request) -> String {
        let Self { registers, occupancy } = self;
        let limiters: Vec<&str> = occupancy.limiters.iter().map(|limiter| limiter.name()).collect();
        format!(
            "{registers} registers, blocks of {}: {} an SM, {}, limited by {}",
            request.block_threads,
            blocks(occupancy.blocks_per_sm),
            self.share(occupancy.warps_per_sm()),
            limiters.join(" and ")
        )
    }

    fn costs(&self, cliff: Cliff) -> String {
        let free = cliff.registers - self.registers - 1;
        let loss = format!(
            "{} of {} ({} warps) and leaves {}",
            blocks(self.occupancy.blocks_per_sm - cliff.blocks_per_sm),
            self.occupancy.blocks_per_sm,
            self.occupancy.warps_per_sm() - cliff.warps_per_sm,
            self.share(cliff.warps_per_sm)
        );
        match free {
            0 => format!("one register more, {}, costs {loss}", cliff.registers),
            1 => format!("one more is free; a second, {}, costs {loss}", cliff.registers),
            _ => format!("up to {free} more are free; {} costs {loss}", cliff.registers),
        }
    }

    fn no_more(&self) -> String {
        "no number of registers that a thread may have costs a block".to_owned()
    }

    fn saves(&self, gain: Option<Cliff>) -> String {
        let Some(gain) = gain else {
            return "fewer registers let no further block in".to_owned();
        };
        let fewer = self.registers - gain.registers;
        let won = format!(
            "{} more ({} warps): {}",
            blocks(gain.blocks_per_sm - self.occupancy.blocks_per_sm),
            gain.warps_per_sm - self.occupancy.warps_per_sm(),
            self.share(gain.warps_per_sm)
        );
        match fewer {
            1 => format!("one register less, {}, lets in {won}", gain.registers),
            _ => format!("one less saves nothing; {fewer} less, {}, let in {won}", gain.registers),
        }
    }

    fn share(&self, warps: i64) -> String {
        let most = self.occupancy.max_warps_per_sm;
        format!("{warps} of {most} warps ({})", percent(warps as f64 / most as f64))
    }
}

fn blocks(count: i64) -> String {
    if count == 1 { "1 block".to_owned() } else { format!("{count} blocks") }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use warpwise_simt::device::Device;
    use warpwise_simt::occupancy::calculate;

    use super::*;

    fn words(registers: i64) -> String {
        let limits = &Device::default_device().limits;
        let request = Request::new(256, registers);
        let occupancy = calculate(limits, &request).expect("a launch that can be meant");
        Steps::of(limits, &request).expect("as before").words(&request, &occupancy).join("\n")
    }

    #[test]
    fn the_edges_of_a_block_of_256_are_the_chapters() {
        let edges = edges(&Device::default_device().limits, &Request::new(256, 1)).expect("a launch that can be meant");
        let found: Vec<_> = edges.iter().map(|edge| (edge.registers, edge.blocks, edge.blocks_beyond)).collect();
        assert_eq!(found, [(40, 6, 5), (48, 5, 4), (64, 4, 3), (80, 3, 2), (128, 2, 1)]);
    }

    #[test]
    fn the_edges_of_the_chapter_say_what_lies_beyond_them() {
        expect![[r#"
            40 registers, blocks of 256: 6 blocks an SM, 48 of 48 warps (100%), limited by warps and registers
            one register more, 41, costs 1 block of 6 (8 warps) and leaves 40 of 48 warps (83%)
            fewer registers let no further block in
            41 registers, blocks of 256: 5 blocks an SM, 40 of 48 warps (83%), limited by registers
            up to 7 more are free; 49 costs 1 block of 5 (8 warps) and leaves 32 of 48 warps (67%)
            one register less, 40, lets in 1 block more (8 warps): 48 of 48 warps (100%)
            127 registers, blocks of 256: 2 blocks an SM, 16 of 48 warps (33%), limited by registers
            one more is free; a second, 129, costs 1 block of 2 (8 warps) and leaves 8 of 48 warps (17%)
            one less saves nothing; 47 less, 80, let in 1 block more (8 warps): 24 of 48 warps (50%)
            200 registers, blocks of 256: 1 block an SM, 8 of 48 warps (17%), limited by registers
            no number of registers that a thread may have costs a block
            one less saves nothing; 72 less, 128, let in 1 block more (8 warps): 16 of 48 warps (33%)"#]]
        .assert_eq(&[40, 41, 127, 200].map(words).join("\n"));
    }
}
