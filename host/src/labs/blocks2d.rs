//! `blocks2d`: how does a 2-D block become warps and sectors?

use warpwise_kernels::blur::blur;
use warpwise_kernels::maths;
use warpwise_kernels::whoami::Identity;

use super::census::Census;
use super::counters::{INSTRUCTIONS, STORE_REQUESTS, STORE_SECTORS, WARPS, ratio, record};
use super::input::{differences, noise};
use crate::backend::{DeviceBuffer, Gpu, LaunchShape};
use crate::claim::{Claim, equal, greater_than, holds};
use crate::lab::{Lab, LabContext, LabError, Table};

pub static LAB: Lab = Lab {
    id: "blocks2d",
    chapter: 1,
    sections: "ch1 §4, §7",
    question: "how does a 2-D block become warps and sectors?",
    kernels: &["blur"],
    text: include_str!("../../../docs/labs/blocks2d.md"),
    claims,
    run,
};

/// The chapter's image.
const IMAGE: Image = Image { width: 1000, height: 700 };
const CHAPTER: Block = Block { x: 32, y: 8 };

/// An image that every block shape below divides, so that every warp is full: what a store costs without edges.
const ROUND: Image = Image { width: 256, height: 256 };

/// Block, offset of the output in elements, sectors of a warp's store.
const STORES: [(Block, u64, i64); 5] = [
    (CHAPTER, 0, 4),
    (Block { x: 16, y: 16 }, 0, 4),
    (Block { x: 8, y: 32 }, 0, 4),
    (Block { x: 4, y: 64 }, 0, 8),
    (CHAPTER, 1, 5),
];

#[derive(Clone, Copy)]
struct Image {
    width: u32,
    height: u32,
}

#[derive(Clone, Copy, PartialEq)]
struct Block {
    x: u32,
    y: u32,
}

fn claims() -> Vec<Claim> {
    let section = "ch1 §4";
    let mut claims = vec![
        Claim::new("grid", section, "1000×700 pixels in blocks of 32×8: the grid", equal("32×88")),
        Claim::new("warps", "ch1 §7", "its warps", equal(22_528)),
        Claim::new("full", "ch1 §7", "warps with 32 pixels", equal(21_700)),
        Claim::new("partial", "ch1 §7", "warps with some, in the last column of blocks", equal(700))
            .note("the chapter says 704: it counts the four warps of that column that lie below the image"),
        Claim::new("outside", "ch1 §7", "warps with none, below the image", equal(128)),
        Claim::new("outside_last_column", "ch1 §7", "those of them in the last column", equal(4)),
        Claim::new(
            "outside_cost",
            "ch1 §7",
            "a warp outside is not free: instructions until its exit",
            greater_than(0.0),
        )
        .note("the chapter: without costing anything")
        .on_machine(),
        Claim::new("one_row", section, "rows of the image that a warp of a 32×8 block is in", equal(1)),
        Claim::new("two_rows", section, "rows that a warp of a 16×16 block is in", equal(2)),
    ];
    for (block, offset, sectors) in STORES {
        let base = if offset == 0 { "rows 32-byte aligned" } else { "base off by 4 bytes" };
        let statement = format!("sectors of a warp's store with blocks of {}, {base}", block.name());
        claims.push(Claim::new(store_id(block, offset), section, statement, equal(sectors)).on_machine());
    }
    claims.push(Claim::new("results", section, "in every block shape, blur equals the CPU", holds("no pixel differs")));
    claims
}

impl Block {
    fn name(self) -> String {
        format!("{}×{}", self.x, self.y)
    }
}

impl Image {
    /// Just enough blocks for the image.
    fn shape(self, block: Block) -> LaunchShape {
        LaunchShape::new([self.width.div_ceil(block.x), self.height.div_ceil(block.y), 1], [block.x, block.y, 1])
    }
}

/// An image on the device, and what blur makes of it on the CPU.
struct Picture {
    input: DeviceBuffer<f32>,
    blurred: Vec<f32>,
}

impl Picture {
    fn of(gpu: &Gpu, image: Image) -> Result<Self, LabError> {
        let pixels = noise(image.width * image.height, 3);
        let read = |column: u32, row: u32| pixels[(row * image.width + column) as usize];
        let places = (0..image.height).flat_map(|row| (0..image.width).map(move |column| (column, row)));
        let blurred = places.map(|(column, row)| maths::blur(read, column, row, image.width, image.height)).collect();
        Ok(Self { input: gpu.upload(&pixels)?, blurred })
    }

    /// Where a result written from `offset` on differs from the CPU's, in words.
    fn wrong(&self, block: Block, output: &DeviceBuffer<f32>, offset: u64) -> Result<Option<String>, LabError> {
        let output = output.download()?;
        let differences = differences(&output[offset as usize..], self.blurred.iter().copied());
        Ok((!differences.none()).then(|| format!("{}: {differences}", block.name())))
    }
}

fn store_id(block: Block, offset: u64) -> String {
    let unaligned = if offset == 0 { "" } else { "_unaligned" };
    format!("sectors_{}x{}{unaligned}", block.x, block.y)
}

fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    edges(cx, &gpu)?;
    let wrong = chapters_image(&gpu)?.or(stores(cx, &gpu)?);
    cx.holds("results", wrong.is_none(), wrong.unwrap_or_default());
    outside(cx, &gpu)
}

/// Which warps have pixels, by the threads' own account.
fn edges(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let shape = IMAGE.shape(CHAPTER);
    cx.found("grid", format!("{}×{}", shape.grid[0], shape.grid[1]));
    let census = Census::take(gpu, shape)?;
    let column = |thread: &Identity| thread.block_idx[0] * CHAPTER.x + thread.thread_idx[0];
    let row = |thread: &Identity| thread.block_idx[1] * CHAPTER.y + thread.thread_idx[1];
    let inside = |thread: &Identity| column(thread) < IMAGE.width && row(thread) < IMAGE.height;
    let warps = census.count(inside);
    cx.found("warps", warps.all());
    cx.found("full", warps.full);
    cx.found("partial", warps.partial);
    cx.found("outside", warps.idle);
    let last_column = shape.grid[0] - 1;
    let idle = census.warps().filter(|warp| warp[0].block_idx[0] == last_column && !warp.iter().any(inside));
    cx.found("outside_last_column", idle.count());
    cx.found("one_row", rows_of_a_warp(&census));
    let square = Census::take(gpu, ROUND.shape(Block { x: 16, y: 16 }))?;
    cx.found("two_rows", rows_of_a_warp(&square));
    Ok(())
}

/// The most rows that the threads of one warp are in.
fn rows_of_a_warp(census: &Census) -> usize {
    let rows = |warp: &[Identity]| warp.chunk_by(|a, b| a.thread_idx[1] == b.thread_idx[1]).count();
    census.warps().map(rows).max().unwrap_or(0)
}

/// The chapter's image in each block shape: what is wrong with the first wrong result.
fn chapters_image(gpu: &Gpu) -> Result<Option<String>, LabError> {
    let picture = Picture::of(gpu, IMAGE)?;
    let mut wrong = None;
    for (block, _, _) in STORES.iter().filter(|(_, offset, _)| *offset == 0) {
        let output = gpu.zeros::<f32>(picture.blurred.len())?;
        let args = (picture.input.ptr(), output.ptr(), IMAGE.width, IMAGE.height);
        gpu.launch_shaped(&blur, IMAGE.shape(*block), args)?;
        wrong = wrong.or(picture.wrong(*block, &output, 0)?);
    }
    Ok(wrong)
}

/// Sectors of a store, where every warp is full; and the first wrong result, as above.
fn stores(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<Option<String>, LabError> {
    let picture = Picture::of(gpu, ROUND)?;
    let title = "a warp's store, every warp full";
    let mut table = Table::new(title, ["block", "base", "pieces of a row", "sectors", "useful bytes a sector"]);
    let mut wrong = None;
    for (block, offset, _) in STORES {
        let output = gpu.zeros::<f32>(picture.blurred.len() + offset as usize)?;
        let args = (picture.input.ptr(), output.ptr().add(offset), ROUND.width, ROUND.height);
        let base = if offset == 0 { "aligned" } else { "4 bytes off" };
        let report = cx.measure(gpu, &blur, &format!("{}, {base}", block.name()), ROUND.shape(block), args)?;
        let sectors = ratio(&report, STORE_SECTORS, STORE_REQUESTS);
        if let Ok(sectors) = sectors {
            let pieces = format!("{} of {} pixels", 32_u32.div_ceil(block.x), block.x.min(32));
            let useful_bytes = 32.0 * 4.0 / sectors;
            table.row([block.name().into(), base.into(), pieces.into(), sectors.into(), useful_bytes.into()]);
        }
        record(cx, &store_id(block, offset), sectors);
        wrong = wrong.or(picture.wrong(block, &output, offset)?);
    }
    cx.table(table);
    Ok(wrong)
}

/// One block wholly outside an image of no pixels.
fn outside(cx: &mut LabContext<'_>, gpu: &Gpu) -> Result<(), LabError> {
    let nothing = gpu.zeros::<f32>(1)?;
    let shape = LaunchShape::new([1, 1, 1], [CHAPTER.x, CHAPTER.y, 1]);
    let report = gpu.report(gpu.launch_shaped(&blur, shape, (nothing.ptr(), nothing.ptr(), 0, 0))?)?;
    record(cx, "outside_cost", ratio(&report, INSTRUCTIONS, WARPS));
    Ok(())
}
