//! The life of a launch: the film of `mix`, drawn from a run of the machine that is recorded once a device; any element can be followed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::State;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{Ask, within};
use super::controls::{self, Move, Transport};
use super::{Explorer, Parts};
use crate::book::Site;
use crate::book::machines::device;
use crate::book::problem::Problem;
use crate::commands::trace::slots;
use crate::labs::life::film::{self, Film};
use crate::workbench::Workbench;

pub static EXPLORER: Explorer = Explorer {
    id: "film",
    title: "The life of a launch",
    promise: "1,024 blocks pass through the chip in waves, and one thread tells its story; follow any element you like.",
    section: "ch1 §10",
    lab: "life",
    first: "device=RTX+5070&element=2690",
    parts,
};

const TRANSPORT: Transport = Transport {
    what: "The film",
    place: "Cycle",
    moves: &[
        Move::new("first", "«", "To the beginning (Home)"),
        Move::new("back", "◀", "To the event before (←)"),
        Move::new("play", "Play", "Play or pause (space)").main(),
        Move::new("forward", "▶", "To the next event (→)"),
    ],
    speeds: &[("200", "200 cycles a second"), ("1000", "1,000 cycles a second"), ("4000", "4,000 cycles a second")],
};

fn parts() -> Parts {
    let knobs = html! {
        (controls::device())
        (controls::slider("element", "Follow element", (0, i64::from(film::N) - 1, 1), i64::from(film::ELEMENT)))
    };
    let figures = html! {
        p.clock { b #cycle {} " " span #slower {} }
        dl.counters { @for (id, what) in [("waiting", "blocks wait"), ("resident", "live on an SM"), ("done", "have ended")] { div { dd id=(id) {} dt { (what) } } } }
        div.film {
            figure { figcaption { "Every box an SM, every mark in it a place for a block; brighter is younger, the outlined one is followed. Point at an SM." } canvas #chip width="960" height="640" role="img" aria-label="The SMs and the blocks that live on them" {} p.hint #sm aria-live="polite" {} }
            figure { figcaption { "The followed thread" } div.lanes.small #lanes role="img" aria-label="The lanes of its warp" {} ol.story #story {} }
        }
        figure { figcaption { "Blocks that live on the chip, by cycle" } div #curve {} }
    };
    Parts { knobs, transport: Some(TRANSPORT), figures }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    device: String,
    element: i64,
}

/// Films that were recorded, by device.
#[derive(Default)]
pub struct Films(Mutex<HashMap<&'static str, Arc<Film>>>);

impl Films {
    /// The film on the workbench's device: recorded now if nobody has asked for it yet.
    fn of(&self, bench: &Workbench) -> Result<Arc<Film>, Problem> {
        // Held while one is recorded, so that two who ask at once do not both record it.
        let mut films = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(film) = films.get(bench.device.name.as_str()) {
            return Ok(Arc::clone(film));
        }
        let film = Arc::new(Film::record(bench).map_err(Problem::here)?);
        films.insert(&bench.device.name, Arc::clone(&film));
        Ok(film)
    }
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Json<Value>, Problem> {
    let device = device(&asked.device).map_err(Problem::for_a_script)?;
    let element = within("the element", asked.element, 0, i64::from(film::N) - 1)? as u32;
    let films = Arc::clone(&site.films);
    let done = site.machines.work(device, move |bench| Ok(json(&*films.of(bench)?, element)));
    Ok(Json(done.await.map_err(Problem::for_a_script)?))
}

fn json(film: &Film, element: u32) -> Value {
    let (block, warp) = film::home(element);
    let recording = film.recording(block, warp);
    let blocks = slots(&film.placements);
    let blocks = blocks.iter().map(|(placement, slot)| {
        json!([placement.block, placement.sm, slot, placement.start_cycle, placement.end_cycle])
    });
    let story = film
        .story(&recording, element)
        .into_iter()
        .map(|(cycle, lanes, text)| json!({ "cycle": cycle, "lanes": lanes, "text": text }));
    json!({
        "sm_count": film.device.sm_count, "blocks_per_sm": film.blocks_per_sm, "slots": film.slots(), "waves": film.waves(),
        "cycles": film.cycles(), "launch_us": film.us, "clock_mhz": film.device.boost_clock_mhz, "at_once": film.at_once(),
        "blocks": blocks.collect::<Vec<_>>(), "story": story.collect::<Vec<_>>(),
        "element": element, "block": block, "warp": warp, "lane": element % 32, "thread": element % film::BLOCK,
        "issues": recording.issued.iter().map(|event| json!([event.cycle, event.active])).collect::<Vec<_>>(),
        "loads": recording.arrived.iter().map(|load| [load.issue_cycle, load.ready_cycle]).collect::<Vec<_>>(),
        "residents": film.residents(),
    })
}
