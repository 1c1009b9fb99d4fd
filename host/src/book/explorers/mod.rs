//! Explorers: figures that answer while one turns their knobs. One file each, with its controls and the answers to its questions;
//! its script, of the same name among the assets, draws the answer.
//!
//! An answer comes from the library that the labs stand on, or from a run of the machine. Every question has limits, and words for
//! what lies outside them.

mod ask;
mod branches;
mod controls;
mod film;
mod ids;
pub mod launch;
mod memory;
mod occupancy;
mod pipeline;
mod schedulers;
mod shapes;
mod small;
mod stepper;
mod uniform;

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};

use super::Site;
use super::pages::layout;
use super::problem::Problem;

/// One explorer.
pub struct Explorer {
    /// Names its page, its script and, below /api/explore/, its answers.
    pub id: &'static str,
    pub title: &'static str,
    /// What one can do there, in a sentence.
    pub promise: &'static str,
    /// Where the chapters treat it.
    pub section: &'static str,
    /// The lab that it belongs to.
    pub lab: &'static str,
    /// The question that the knobs ask where they stand at first.
    pub first: &'static str,
    pub parts: fn() -> Parts,
}

/// What an explorer's page has besides the place for its answer in words.
pub struct Parts {
    pub knobs: Markup,
    /// Where the figure has a place in time.
    pub transport: Option<controls::Transport>,
    /// Places that the script draws in.
    pub figures: Markup,
}

pub static EXPLORERS: [&Explorer; 11] = [
    &film::EXPLORER,
    &ids::EXPLORER,
    &shapes::EXPLORER,
    &pipeline::EXPLORER,
    &uniform::EXPLORER,
    &stepper::EXPLORER,
    &branches::EXPLORER,
    &schedulers::EXPLORER,
    &occupancy::EXPLORER,
    &memory::EXPLORER,
    &launch::EXPLORER,
];

pub use ask::Ask;
pub use film::Films;

pub fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/explore", get(all))
        .route("/explore/{id}", get(page))
        .route("/api/explore/ids", get(ids::answer))
        .route("/api/explore/shapes", get(shapes::answer))
        .route("/api/explore/occupancy", get(occupancy::answer))
        .route("/api/explore/occupancy/kernels", get(occupancy::kernels))
        .route("/api/explore/memory", get(memory::answer))
        .route("/api/explore/stepper", get(stepper::answer))
        .route("/api/explore/schedulers", get(schedulers::answer))
        .route("/api/explore/film", get(film::answer))
        .route("/api/explore/pipeline", get(pipeline::answer))
        .route("/api/explore/launch", get(launch::answer))
        .route("/api/explore/uniform", get(uniform::answer))
        .route("/api/explore/branches", get(branches::answer))
}

/// A page with a figure: an explorer, or one that is read.
pub struct Card {
    pub path: String,
    pub title: &'static str,
    pub promise: &'static str,
    pub section: &'static str,
    pub lab: &'static str,
}

/// Figures that are read: no knobs, no script needed.
static READ: [(&str, &str, &str, &str, &str); 3] = [
    (
        "/walk",
        "A launch, line by line",
        "A host program and its kernel: what the CPU does, what the GPU does meanwhile, where the traps are.",
        "ch1 §1–2",
        "launch",
    ),
    (
        "/roofline",
        "Every kernel under the roof",
        "Memory or compute: where each kernel stands, modelled on any device, measured on an H200.",
        "ch3 §6, ch4 §2",
        "roofline",
    ),
    (
        "/hierarchy",
        "What each level of memory costs",
        "Cycles and rates from registers to memory: the model's, a run's, and an H200's as measured.",
        "ch3, ch4",
        "hierarchy",
    ),
];

/// Figures with knobs.
pub fn with_knobs() -> impl Iterator<Item = Card> {
    EXPLORERS.into_iter().map(|explorer| {
        let Explorer { id, title, promise, section, lab, .. } = explorer;
        Card { path: format!("/explore/{id}"), title, promise, section, lab }
    })
}

/// Figures without.
pub fn to_read() -> impl Iterator<Item = Card> {
    READ.into_iter().map(|(path, title, promise, section, lab)| Card {
        path: path.to_owned(),
        title,
        promise,
        section,
        lab,
    })
}

/// The figures of a lab.
pub fn of_lab(lab: &str) -> impl Iterator<Item = Card> {
    with_knobs().chain(to_read()).filter(move |card| card.lab == lab)
}

/// The figures of a chapter.
pub fn of_chapter(chapter: u8) -> impl Iterator<Item = Card> {
    let chapter = format!("ch{chapter}");
    with_knobs().chain(to_read()).filter(move |card| card.section.contains(&chapter))
}

async fn all() -> Html<String> {
    let body = html! {
        section.lead {
            h1 { "Explorers" }
            p { "Figures that answer while you turn their knobs. What they show is what the machine and its calculators say." }
        }
        section aria-label="All explorers" { (cards(with_knobs())) }
        section aria-labelledby="reading" {
            h2 #reading { "To look at" }
            (cards(to_read()))
        }
    };
    Html(layout::page("Explorers", "/explore", &body).into_string())
}

async fn page(Path(id): Path<String>) -> Result<Html<String>, Problem> {
    let explorer = EXPLORERS.into_iter().find(|explorer| explorer.id == id);
    let explorer = explorer.ok_or_else(|| {
        let all: Vec<&str> = EXPLORERS.iter().map(|explorer| explorer.id).collect();
        Problem::not_found(format!("there is no explorer `{id}`; there are {}", all.join(", ")))
    })?;
    let body = html! {
        section.lead {
            p.eyebrow { "Explorer · " (explorer.section) }
            h1 { (explorer.title) }
            p { (explorer.promise) " The lab behind it: " a href={ "/labs/" (explorer.lab) } { (explorer.lab) } "." }
        }
        noscript { p.aside { "An explorer needs JavaScript; the lab's page says the same in text." } }
        section.explorer data-explorer=(explorer.id) { (figure(explorer, &(explorer.parts)())) }
    };
    let script = format!("{}.js", explorer.id);
    Ok(Html(layout::page_with(explorer.title, "/explore", &[&script], &body).into_string()))
}

/// Knobs, the answer in words, what moves it, figures.
fn figure(explorer: &Explorer, parts: &Parts) -> Markup {
    // What changes with every step is not read out each time.
    let live = if parts.transport.is_some() { "off" } else { "polite" };
    html! {
        (controls::form(explorer.id, &parts.knobs))
        div.answer aria-live=(live) { p.headline #headline {} p.hint #hint {} }
        @if let Some(transport) = &parts.transport { (controls::transport(transport)) }
        (parts.figures)
    }
}

/// Figures as cards.
pub fn cards(cards: impl Iterator<Item = Card>) -> Markup {
    html! {
        ul.cards {
            @for card in cards {
                li { a.card.explore href=(card.path) {
                    span.card-title { (card.title) }
                    span.card-text { (card.promise) }
                    span.card-note { (card.section) }
                } }
            }
        }
    }
}
