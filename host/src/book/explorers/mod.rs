//! Explorers: figures that answer while one turns their knobs. One file each, with its controls and the answers to its questions;
//! its script, of the same name among the assets, draws the answer.
//!
//! An answer comes from the library that the labs stand on, or from a run of the machine. Every question has limits, and words for
//! what lies outside them.

mod ask;
mod controls;
mod film;
mod ids;
mod memory;
mod occupancy;
mod pipeline;
mod schedulers;
mod shapes;
mod small;
mod stepper;

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
    /// Controls and the places for figures.
    pub page: fn() -> Markup,
}

pub static EXPLORERS: [&Explorer; 8] = [
    &film::EXPLORER,
    &ids::EXPLORER,
    &shapes::EXPLORER,
    &pipeline::EXPLORER,
    &stepper::EXPLORER,
    &schedulers::EXPLORER,
    &occupancy::EXPLORER,
    &memory::EXPLORER,
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
}

/// The explorer of a lab, if it has one.
pub fn of_lab(lab: &str) -> impl Iterator<Item = &'static Explorer> {
    EXPLORERS.into_iter().filter(move |explorer| explorer.lab == lab)
}

impl Explorer {
    /// Whether the chapter treats it.
    pub fn is_of(&self, chapter: u8) -> bool {
        self.section.contains(&format!("ch{chapter}"))
    }
}

async fn all() -> Html<String> {
    let body = html! {
        section.lead {
            h1 { "Explorers" }
            p { "Figures that answer while you turn their knobs. What they show is what the machine and its calculators say." }
        }
        section aria-label="All explorers" { (cards(EXPLORERS.into_iter())) }
        section aria-labelledby="reading" {
            h2 #reading { "Without knobs" }
            ul.cards { li { a.card.explore href="/walk" {
                span.card-title { "A launch, line by line" }
                span.card-text { "A host program and its kernel: what the CPU does, what the GPU does meanwhile, where the traps are." }
                span.card-note { "ch1 §1–2" }
            } } }
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
        section.explorer data-explorer=(explorer.id) { ((explorer.page)()) }
    };
    let script = format!("{}.js", explorer.id);
    Ok(Html(layout::page_with(explorer.title, "/explore", &[&script], &body).into_string()))
}

/// Explorers as cards.
pub fn cards<'a>(explorers: impl Iterator<Item = &'a Explorer>) -> Markup {
    html! {
        ul.cards {
            @for explorer in explorers {
                li { a.card.explore href={ "/explore/" (explorer.id) } {
                    span.card-title { (explorer.title) }
                    span.card-text { (explorer.promise) }
                    span.card-note { (explorer.section) }
                } }
            }
        }
    }
}
