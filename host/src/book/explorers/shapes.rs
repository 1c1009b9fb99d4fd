//! How a block becomes warps: any shape on any image, and the sectors that a warp's store touches.
//!
//! Which threads share a warp is read off a run of one block; sectors are counted by the function that the machine counts with.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_kernels::whoami::Identity;
use warpwise_simt::device::Device;
use warpwise_simt::isa::{Mask, WARP_SIZE};
use warpwise_simt::memory::sectors::{SECTOR_SHIFT, sectors};

use super::ask::{Ask, within};
use super::ids::block;
use super::{Explorer, Parts, controls};
use crate::backend::LaunchShape;
use crate::book::Site;
use crate::book::problem::Problem;
use crate::labs::census::Census;

pub static EXPLORER: Explorer = Explorer {
    id: "shapes",
    title: "How a block becomes warps",
    promise: "Pick a block shape, see which threads share a warp, and what its store costs in sectors.",
    section: "ch1 §4",
    lab: "blocks2d",
    first: "x=32&y=8&z=1&width=1000&height=700&pitch=1000&bytes=4&offset=0&thread=37",
    parts,
};

const SIDE_MAX: i64 = 1 << 20;

fn parts() -> Parts {
    let knobs = html! {
        (controls::examples("shape", "Shapes to begin with", &["32×8", "16×16", "8×32", "4×64", "128×1", "8×8×4"]))
        (controls::number("x", "Block x", (1, 1024), 32))
        (controls::number("y", "Block y", (1, 1024), 8))
        (controls::number("z", "Block z", (1, 64), 1))
        (controls::number("width", "Image width", (1, SIDE_MAX), 1000))
        (controls::number("height", "Image height", (1, SIDE_MAX), 700))
        (controls::number("pitch", "Row pitch, elements", (1, SIDE_MAX), 1000))
        (controls::choice("bytes", "Bytes an element", &[("1", "1"), ("2", "2"), ("4", "4"), ("8", "8"), ("16", "16")], "4"))
        (controls::number("offset", "Base off by, elements", (0, 31), 0))
        (controls::slider("thread", "Which thread (linear)", (0, 255, 1), 37))
    };
    let figures = html! {
        div.figures.stack {
            figure { figcaption { "The block as the image sees it; a colour is a warp. Click a thread." } div.map #shape {} }
            figure { figcaption { "Where the warp's store goes: each box a 32-byte sector" } div #sectors {} }
        }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    x: i64,
    y: i64,
    z: i64,
    width: i64,
    height: i64,
    pitch: i64,
    bytes: u32,
    #[serde(default)]
    offset: i64,
    thread: i64,
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let shape = block(asked.x, asked.y, asked.z)?;
    let threads: i64 = shape.iter().product();
    let image = [within("the width", asked.width, 1, SIDE_MAX)?, within("the height", asked.height, 1, SIDE_MAX)?];
    let pitch = within("the row pitch", asked.pitch, image[0], SIDE_MAX)?;
    let offset = within("the offset", asked.offset, 0, 31)?;
    let chosen = within("the thread", asked.thread, 0, threads - 1)? as usize;
    if ![1, 2, 4, 8, 16].contains(&asked.bytes) {
        return Err(Problem::input("an element has 1, 2, 4, 8 or 16 bytes").for_a_script());
    }
    let launch = LaunchShape::new([1; 3], shape.map(|size| size as u32));
    let told = site.machines.work(Device::default_device(), move |bench| {
        let gpu = bench.machine(bench.device, bench.options).map_err(Problem::here)?;
        Ok(Census::take(&gpu, launch).map_err(Problem::here)?.identities)
    });
    let told = told.await.map_err(Problem::for_a_script)?;
    let thread = told.get(chosen).copied();
    let thread = thread.ok_or_else(|| Problem::here("the launch left no word of that thread").for_a_script())?;
    let warp: Vec<&Identity> = told.iter().filter(|other| other.warp == thread.warp).collect();
    let place = |thread: &Identity| -> u64 {
        let [x, y, z] = thread.thread_idx.map(u64::from);
        (offset as u64 + x + (pitch as u64) * (y + image[1] as u64 * z)) * u64::from(asked.bytes)
    };
    let mut addresses = [0; WARP_SIZE];
    let mut mask: Mask = 0;
    for thread in &warp {
        let [x, y, _] = thread.thread_idx.map(i64::from);
        if x < image[0] && y < image[1] {
            addresses[thread.lane as usize] = place(thread);
            mask |= 1 << thread.lane;
        }
    }
    let touched = sectors(&addresses, mask, asked.bytes);
    let touched: Vec<Value> = touched
        .as_slice()
        .iter()
        .map(|sector| {
            let lanes = warp.iter().filter(|thread| {
                mask >> thread.lane & 1 != 0 && within_sector(addresses[thread.lane as usize], asked.bytes, *sector)
            });
            json!({ "sector": sector, "lanes": lanes.map(|thread| thread.lane).collect::<Vec<_>>() })
        })
        .collect();
    let least = (u64::from(mask.count_ones()) * u64::from(asked.bytes)).div_ceil(1 << SECTOR_SHIFT);
    let mut rows: Vec<[u32; 2]> = warp.iter().map(|thread| [thread.thread_idx[1], thread.thread_idx[2]]).collect();
    rows.dedup();
    Ok(Json(json!({
        "block": shape, "grid": [(image[0] + shape[0] - 1) / shape[0], (image[1] + shape[1] - 1) / shape[1]],
        "warps": told.last().map_or(0, |last| last.warp + 1),
        "threads": told.iter().map(|thread| json!([thread.warp, thread.lane])).collect::<Vec<_>>(),
        "thread": thread.thread_idx, "linear_tid": thread.linear_tid, "warp": thread.warp, "lane": thread.lane,
        "warp_lanes": warp.len(), "rows": rows.len(), "storing_lanes": mask.count_ones(),
        "sectors": touched, "least_sectors": least,
    })))
}

/// Whether an access of so many bytes touches the sector.
fn within_sector(address: u64, bytes: u32, sector: u64) -> bool {
    (address >> SECTOR_SHIFT..=(address + u64::from(bytes) - 1) >> SECTOR_SHIFT).contains(&sector)
}
