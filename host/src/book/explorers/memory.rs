//! A warp's addresses: the sectors they touch in global memory, and the banks they meet in shared memory.
//!
//! Counted by the functions that the machine counts with.

use axum::Json;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::isa::{Mask, WARP_SIZE};
use warpwise_simt::memory::sectors::{BANKS, SECTOR_SHIFT, sectors, wavefronts};

use super::ask::{Ask, within};
use super::{Explorer, Parts, controls};
use crate::book::problem::Problem;

pub static EXPLORER: Explorer = Explorer {
    id: "memory",
    title: "Addresses to sectors and banks",
    promise: "Turn stride, offset, element size and padding, and see what a warp's access costs in either memory.",
    section: "ch3, ch4",
    lab: "coalescing",
    first: "stride=1&offset=0&bytes=4&padding=0&lanes=32",
    parts,
};

/// Elements between padding: a row of the tile.
const ROW: i64 = 32;

fn parts() -> Parts {
    let knobs = html! {
        (controls::slider("stride", "Stride between lanes, elements", (0, 64, 1), 1))
        (controls::slider("offset", "First address off by, bytes", (0, 128, 1), 0))
        (controls::choice("bytes", "Bytes an element", &[("1", "1"), ("2", "2"), ("4", "4"), ("8", "8"), ("16", "16")], "4"))
        (controls::slider("padding", "Padding after each 32 elements", (0, 8, 1), 0))
        (controls::slider("lanes", "Active lanes", (1, 32, 1), 32))
    };
    let figures = html! {
        div.figures.stack {
            figure { figcaption { "Global memory: the 32-byte sectors that the warp touches, and what of them it uses" } div #sectors {} }
            figure { figcaption { "Shared memory: 32 banks, a word each a pass; lanes that want different words of one bank queue" } div #banks {} }
        }
        div.wide { table #lane-table {
            thead { tr { @for column in ["lane", "address", "sector", "bank"] { th scope="col" { (column) } } } }
            tbody {}
        } }
    };
    Parts { knobs, transport: None, figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    stride: i64,
    offset: i64,
    bytes: u32,
    padding: i64,
    lanes: i64,
}

pub async fn answer(Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let stride = within("the stride", asked.stride, 0, 64)?;
    let padding = within("the padding", asked.padding, 0, 8)?;
    let lanes = within("the number of lanes", asked.lanes, 1, 32)?;
    let bytes = asked.bytes;
    if ![1, 2, 4, 8, 16].contains(&bytes) {
        return Err(Problem::input("an element has 1, 2, 4, 8 or 16 bytes").for_a_script());
    }
    let offset = within("the offset", asked.offset, 0, 128)?;
    if offset % i64::from(bytes) != 0 {
        let text =
            format!("an access of {bytes} bytes {offset} bytes off faults: its address must be a multiple of {bytes}");
        return Err(Problem::input(text).for_a_script());
    }
    let mask: Mask = u32::MAX >> (32 - lanes);
    let addresses: [u64; WARP_SIZE] = std::array::from_fn(|lane| {
        let element = lane as i64 * stride;
        ((element + element / ROW * padding) * i64::from(bytes) + offset) as u64
    });
    let touched = sectors(&addresses, mask, bytes);
    let passes = wavefronts(&addresses, mask, bytes);
    let mut used: Vec<u64> =
        active(&addresses, lanes).flat_map(|address| *address..*address + u64::from(bytes)).collect();
    used.sort_unstable();
    used.dedup();
    let sectors = touched.as_slice().iter().map(|sector| {
        let bytes: Vec<u64> =
            used.iter().filter(|byte| *byte >> SECTOR_SHIFT == *sector).map(|byte| byte % 32).collect();
        json!({ "sector": sector, "bytes": bytes })
    });
    let mut words: Vec<u64> = used.iter().map(|byte| byte / 4).collect();
    words.dedup();
    let banks = (0..BANKS as u64)
        .map(|bank| words.iter().filter(|word| *word % BANKS as u64 == bank).copied().collect::<Vec<_>>());
    let lanes = active(&addresses, lanes);
    Ok(Json(json!({
        "sectors": sectors.collect::<Vec<_>>(), "sector_count": touched.count(),
        "bytes_used": used.len(), "bytes_fetched": touched.count() << SECTOR_SHIFT,
        "passes": passes.actual, "passes_ideal": passes.ideal, "banks": banks.collect::<Vec<_>>(),
        "lanes": lanes.map(|address| json!([address, address >> SECTOR_SHIFT, address / 4 % BANKS as u64])).collect::<Vec<_>>(),
    })))
}

/// The addresses of the active lanes, which are the first ones.
fn active(addresses: &[u64; WARP_SIZE], lanes: i64) -> impl Iterator<Item = &u64> {
    addresses.iter().take(lanes as usize)
}
