//! Who is who: a launch of `whoami` in any shape, and what one thread of it knows, by its own account.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_kernels::whoami::Identity;

use super::ask::{Ask, within};
use super::{Explorer, Parts, controls};
use crate::backend::LaunchShape;
use crate::book::Site;
use crate::book::machines::device;
use crate::book::problem::Problem;
use crate::labs::census::Census;

pub static EXPLORER: Explorer = Explorer {
    id: "ids",
    title: "Threads, warps, blocks, grid: who is who",
    promise: "Choose a launch, point at a thread, and read what it knows: the machine runs it and each thread writes it down.",
    section: "ch1 §3",
    lab: "ids",
    first: "device=RTX+5070&grid_x=4&grid_y=1&block_x=250&block_y=1&block_z=1&block=1&thread=5",
    parts,
};

/// Threads of a launch, which writes 48 bytes for each.
const THREADS_MAX: i64 = 262_144;

fn parts() -> Parts {
    let knobs = html! {
        (controls::device())
        (controls::number("grid_x", "Grid x", (1, 4096), 4))
        (controls::number("grid_y", "Grid y", (1, 512), 1))
        (controls::number("block_x", "Block x", (1, 1024), 250))
        (controls::number("block_y", "Block y", (1, 1024), 1))
        (controls::number("block_z", "Block z", (1, 64), 1))
        (controls::slider("block", "Which block (linear)", (0, 3, 1), 1))
        (controls::slider("thread", "Which thread of it (linear)", (0, 249, 1), 5))
    };
    let figures = html! {
        div.figures.stack {
            figure { figcaption { "The grid: each square a block" } div.map #grid {} }
            figure { figcaption { "The block: each square a thread, each row a warp of it" } div.map #block-map {} }
        }
        div.wide { table #facts {
            thead { tr { th scope="col" { "what" } th scope="col" { "value" } th scope="col" { "the same for" } } }
            tbody {}
        } }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    device: String,
    grid_x: i64,
    grid_y: i64,
    block_x: i64,
    block_y: i64,
    block_z: i64,
    block: i64,
    thread: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let device = device(&asked.device).map_err(Problem::for_a_script)?;
    let grid = [within("grid x", asked.grid_x, 1, 4096)?, within("grid y", asked.grid_y, 1, 512)?, 1];
    let block = block(asked.block_x, asked.block_y, asked.block_z)?;
    let (blocks, threads) = (grid.iter().product::<i64>(), block.iter().product::<i64>());
    within("the number of threads, blocks times block size,", blocks * threads, 1, THREADS_MAX)?;
    let chosen_block = within("the block", asked.block, 0, blocks - 1)?;
    let chosen = within("the thread", asked.thread, 0, threads - 1)? as usize;
    let shape = LaunchShape::new(grid.map(|size| size as u32), block.map(|size| size as u32));
    let told = site.machines.work(device, move |bench| {
        let gpu = bench.machine(bench.device, bench.options).map_err(Problem::here)?;
        let census = Census::take(&gpu, shape).map_err(Problem::here)?;
        let sms: Vec<u32> = census.blocks().map(|block| block.first().map_or(0, |thread| thread.sm)).collect();
        let of_block = census.blocks().nth(chosen_block as usize).map(<[Identity]>::to_vec).unwrap_or_default();
        Ok((sms, of_block, census.sms()))
    });
    let (sms, of_block, sms_used) = told.await.map_err(Problem::for_a_script)?;
    let thread = of_block.get(chosen).copied();
    let thread = thread.ok_or_else(|| Problem::here("the launch left no word of that thread").for_a_script())?;
    let same_x = of_block.iter().filter(|other| other.thread_idx[0] == thread.thread_idx[0]).count() as i64;
    Ok(Json(json!({
        "grid": grid, "blocks": blocks, "threads": threads, "warps_per_block": of_block.last().map_or(0, |last| last.warp + 1),
        "sms_used": sms_used, "sm_count": device.sm_count, "sms": sms,
        "lanes": of_block.iter().map(|thread| json!([thread.warp, thread.lane])).collect::<Vec<_>>(),
        "block": thread.block_idx, "thread": thread.thread_idx, "linear_tid": thread.linear_tid, "warp": thread.warp, "lane": thread.lane,
        "sm": thread.sm, "ticket": thread.ticket, "index_1d": thread.index_1d, "is_line": grid[1] == 1 && block[1] == 1 && block[2] == 1,
        "same_thread_x": same_x * blocks, "lane_is_x_mod_32": thread.lane == thread.thread_idx[0] % 32, "block_dim": block,
    })))
}

/// A block's shape within what every device allows.
pub fn block(x: i64, y: i64, z: i64) -> Result<[i64; 3], Problem> {
    let block = [within("block x", x, 1, 1024)?, within("block y", y, 1, 1024)?, within("block z", z, 1, 64)?];
    within("the number of threads a block", block.iter().product(), 1, 1024)?;
    Ok(block)
}
