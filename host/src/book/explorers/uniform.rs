//! The uniformity check: a condition, what it is for every thread of a launch, and which warps part on it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::device::Device;

use super::ask::{Ask, within};
use super::ids::block;
use super::{Explorer, Parts, controls};
use crate::book::Site;
use crate::book::condition::{self, ARM, Found, LETTERS_MAX, parse};
use crate::book::problem::Problem;

pub static EXPLORER: Explorer = Explorer {
    id: "uniform",
    title: "Does a condition part a warp?",
    promise: "Type a condition or pick one: whether a warp, a block, the whole grid agrees on it, and what disagreement costs.",
    section: "ch1 §6–7",
    lab: "uniform",
    first: "condition=threadIdx.x+%25+2+%3D%3D+0&grid_x=4&grid_y=1&block_x=256&block_y=1&block_z=1&n=1003",
    parts,
};

const THREADS_MAX: i64 = 65_536;
const N_MAX: i64 = 131_072;
/// Warps that are shown.
const WARPS_SHOWN: usize = 256;

const EXAMPLES: [&str; 8] = [
    "threadIdx.x % 2 == 0",
    "lane < 16",
    "(tid / 32) % 2",
    "blockIdx.x % 2 == 0",
    "n > 500",
    "i < n",
    "i < n && a[i] > 0",
    "threadIdx.x / 32 == 1",
];

fn parts() -> Parts {
    let knobs = html! {
        (controls::text("condition", "Condition", LETTERS_MAX, EXAMPLES[0]))
        (controls::examples("condition", "Conditions to begin with", &EXAMPLES))
        (controls::number("block_x", "Block x", (1, 1024), 256))
        (controls::number("block_y", "Block y", (1, 1024), 1))
        (controls::number("block_z", "Block z", (1, 64), 1))
        (controls::number("grid_x", "Grid x", (1, 4096), 4))
        (controls::number("grid_y", "Grid y", (1, 512), 1))
        (controls::number("n", "n, elements of a", (1, N_MAX), 1003))
    };
    let figures = html! {
        div.wide { table #levels {
            thead { tr { @for column in ["do all agree?", "on the condition", "on the value itself"] { th scope="col" { (column) } } } }
            tbody {}
        } }
        figure {
            figcaption { "Each row a warp, each square a lane that comes to the branch" }
            p.key { span.on { "the condition holds" } span.other { "it does not" } span.gone { "no such thread" } }
            ol.warps #warps {}
            p.hint #more {}
        }
        details.aside.typed {
            summary { "What can be typed" }
            p { code { "threadIdx" } ", " code { "blockIdx" } ", " code { "blockDim" } ", " code { "gridDim" } " with " code { ".x .y .z" } "; "
                code { "tid" } " (the thread's number in its block), " code { "lane" } ", " code { "warp" } ", " code { "i" }
                " (blockIdx.x * blockDim.x + threadIdx.x), " code { "n" } ", " code { "warpSize" } ", numbers, and "
                code { "a[…]" } ", an array of n numbers of which every third is negative." }
            p { "Operators are those of C++ and Rust: " code { "+ - * / % << >> & | ^ ~ < <= > >= == != ! && ||" }
                ". Numbers have 32 bits; what has to do with threads has no sign, so " code { "threadIdx.x - 1" } " is a large number in thread 0." }
            p { "The machine runs a kernel with a branch on the condition and " (ARM) " instructions in either arm. What is known beforehand is "
                "worked out from its PTX, as a compiler would: it errs on the side of varying." }
        }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    condition: String,
    grid_x: i64,
    grid_y: i64,
    block_x: i64,
    block_y: i64,
    block_z: i64,
    n: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let condition = parse(&asked.condition).map_err(|wrong| Problem::input(wrong.to_string()).for_a_script())?;
    let grid = [within("grid x", asked.grid_x, 1, 4096)?, within("grid y", asked.grid_y, 1, 512)?, 1];
    let block = block(asked.block_x, asked.block_y, asked.block_z)?;
    let (blocks, threads) = (grid.iter().product::<i64>(), block.iter().product::<i64>());
    within("the number of threads, blocks times block size,", blocks * threads, 1, THREADS_MAX)?;
    let n = within("n", asked.n, 1, N_MAX)? as u32;
    let [grid, block] = [grid, block].map(|shape| shape.map(|size| size as u32));
    let done = site.machines.work(Device::default_device(), move |_| {
        let found = condition::run(&condition, grid, block, n).map_err(Problem::input)?;
        Ok(json(&found, threads as usize))
    });
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

fn json(found: &Found, block: usize) -> Value {
    let parted = found.warps.iter().filter(|warp| warp.parted()).count();
    let warps_per_block = block.div_ceil(32);
    let (issued, alone) =
        found.warps.iter().fold((0, 0), |(issued, alone), warp| (issued + warp.issued, alone + warp.alone()));
    let shown = found.warps.iter().enumerate().take(WARPS_SHOWN);
    let shown = shown.map(|(number, warp)| {
        json!({ "block": number / warps_per_block, "warp": number % warps_per_block, "lanes": warp.lanes, "holds": warp.holds,
                "issued": warp.issued })
    });
    let is_warp = |slice: &[u32]| slice.chunks(32).map(<[u32]>::to_vec).collect::<Vec<_>>();
    let warps: Vec<Vec<u32>> = found.values.chunks(block).flat_map(is_warp).collect();
    let blocks: Vec<Vec<u32>> = found.values.chunks(block).map(<[u32]>::to_vec).collect();
    let grid = [found.values.clone()];
    let level = |name: &str, units: &[Vec<u32>]| {
        let agree = |unit: &&Vec<u32>| unit.iter().all(|value| (*value != 0) == (unit[0] != 0));
        let same = |unit: &&Vec<u32>| unit.iter().all(|value| *value == unit[0]);
        let [agree, same] = [units.iter().filter(agree).count(), units.iter().filter(same).count()];
        json!({ "level": name, "of": units.len(), "agree": agree, "same": same })
    };
    let holding = found.values.iter().filter(|value| **value != 0).count();
    json!({
        "known": if found.is_known_uniform { "uniform" } else { "varying" },
        "threads": found.values.len(), "holding": holding, "warps": found.warps.len(), "parted": parted,
        "issued": issued, "alone": alone, "arm": ARM,
        "levels": [level("warp", &warps), level("block", &blocks), level("grid", &grid)],
        "shown": shown.collect::<Vec<_>>(), "fault": found.fault,
    })
}
