//! The occupancy calculator: what each resource alone would allow, where the cliffs are, and where the labs' kernels stand.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_kernels::KERNELS;
use warpwise_simt::occupancy::{InvalidInput, Limiter, Request, calculate, curve};

use super::ask::{Ask, within};
use super::{Explorer, Parts, controls};
use crate::book::Site;
use crate::book::machines::device;
use crate::book::problem::Problem;
use crate::commands::occupancy::{reason, steps};
use crate::labs::LABS;

pub static EXPLORER: Explorer = Explorer {
    id: "occupancy",
    title: "Who gets to live on the SM?",
    promise: "Drag the registers over a cliff and see which of the limits decides.",
    section: "ch1 §9",
    lab: "occupancy",
    first: "device=RTX+5070&block=256&registers=40&shared=0&carveout=-1",
    parts,
};

/// More shared memory than any block may have.
const SHARED_BYTES_MAX: i64 = 256 << 10;

fn parts() -> Parts {
    let knobs = html! {
        (controls::device())
        (controls::slider("block", "Threads a block", (32, 1024, 32), 256))
        (controls::slider("registers", "Registers a thread", (16, 255, 1), 40))
        (controls::slider("shared", "Shared memory a block, bytes", (0, 101_376, 256), 0))
        (controls::slider("carveout", "Carve-out, percent (−1: the system's choice)", (-1, 100, 1), -1))
    };
    let figures = html! {
        div.figures {
            figure { figcaption { "Blocks that each resource alone would allow" } div #bars {} }
            figure { figcaption { "The SM's places for warps" } div #places {} }
            figure { figcaption { "Occupancy by registers a thread, with the labs' kernels" } div #by-registers {} }
            figure { figcaption { "Occupancy by threads a block" } div #by-block {} }
        }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    device: String,
    block: i64,
    registers: i64,
    #[serde(default)]
    shared: i64,
    #[serde(default = "systems_choice")]
    carveout: i32,
}

fn systems_choice() -> i32 {
    -1
}

pub async fn answer(Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let device = device(&asked.device).map_err(Problem::for_a_script)?;
    let request = Request {
        static_shared_bytes: within("shared memory", asked.shared, 0, SHARED_BYTES_MAX)?,
        carveout_percent: asked.carveout,
        ..Request::new(within("the block", asked.block, 1, 1024)?, within("registers", asked.registers, 1, 255)?)
    };
    let found = |request: &Request| calculate(&device.limits, request).map_err(refused);
    let occupancy = found(&request)?;
    let limits = Limiter::ALL.into_iter().filter_map(|limiter| {
        let blocks = occupancy.limits.get(limiter)?;
        let because = reason(limiter, &device.limits, &request, &occupancy);
        Some(json!({ "name": limiter.name(), "blocks": blocks, "decides": occupancy.decided_by(limiter), "because": because }))
    });
    let points = |points: Vec<curve::Point>| -> Vec<Value> {
        points.iter().map(|point| json!([point.x, 100.0 * point.occupancy.theoretical()])).collect()
    };
    Ok(Json(json!({
        "device": device.name,
        "blocks_per_sm": occupancy.blocks_per_sm, "warps_per_block": occupancy.warps_per_block,
        "warps_per_sm": occupancy.warps_per_sm(), "max_warps_per_sm": occupancy.max_warps_per_sm,
        "percent": 100.0 * occupancy.theoretical(),
        "limits": limits.collect::<Vec<_>>(),
        "steps": steps(&device.limits, &request, &occupancy).map_err(refused)?,
        "by_registers": points(curve::by_registers(&device.limits, &request).map_err(refused)?),
        "by_block": points(curve::by_block_threads(&device.limits, &request).map_err(refused)?),
    })))
}

fn refused(error: InvalidInput) -> Problem {
    Problem::input(error.to_string()).for_a_script()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfDevice {
    device: String,
}

/// The registers of the labs' kernels on the device's architecture.
pub async fn kernels(State(site): State<Arc<Site>>, Ask(asked): Ask<OfDevice>) -> Result<Json<Value>, Problem> {
    let device = device(&asked.device).map_err(Problem::for_a_script)?;
    let found = site.machines.work(device, |bench| {
        let used = |name: &str| LABS.iter().any(|lab| lab.kernels.contains(&name));
        let kernels = KERNELS.iter().filter(|kernel| used(kernel.name)).map(|kernel| {
            let resources = bench.resources(kernel.name, &bench.device.arch(), None).map_err(Problem::here)?;
            Ok(json!({
                "kernel": kernel.name, "registers": resources.registers.value(), "source": resources.registers.source(),
                "shared": resources.static_shared_bytes,
            }))
        });
        kernels.collect::<Result<Vec<Value>, Problem>>()
    });
    Ok(Json(json!({ "kernels": found.await.map_err(Problem::for_a_script)? })))
}
