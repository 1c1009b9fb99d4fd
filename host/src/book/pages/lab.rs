//! A lab: its text, a panel to run it, and what the last run on a device found.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde::Deserialize;
use warpwise_kernels as kernels;
use warpwise_simt::device::{self, Device};

use super::chapter::capital;
use super::{layout, results, run_panel};
use crate::book::problem::Problem;
use crate::book::{Site, explorers, markdown};
use crate::exercises;
use crate::lab::Lab;
use crate::labs::{self, LABS};

/// The query of a page about a device.
#[derive(Debug, Deserialize)]
pub struct Options {
    device: Option<String>,
}

impl Options {
    /// The device that is asked for, or the usual one.
    pub fn device(&self) -> Result<&'static Device, Problem> {
        match &self.device {
            Some(name) => device::find(name).map_err(|error| Problem::input(error.to_string())),
            None => Ok(Device::default_device()),
        }
    }
}

pub async fn page(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Query(options): Query<Options>,
) -> Result<Html<String>, Problem> {
    let lab = labs::find(&id).map_err(|error| Problem::not_found(error.to_string()))?;
    let device = options.device()?;
    let run = site.recorded.load(lab, &device.name);
    let launches = explorers::launch::of_lab(lab);
    let scripts: &[&str] = if launches.is_some() { &["run.js", "launch.js"] } else { &["run.js"] };
    let body = html! {
        section.lead {
            p.eyebrow { @if lab.chapter > 0 { a href={ "/chapters/" (lab.chapter) } { "Chapter " (lab.chapter) } " · " }
                (lab.sections) }
            h1 { (lab.id) }
            p.question { (capital(lab.question)) }
        }
        @if explorers::of_lab(lab.id).next().is_some() {
            section aria-label="Explorers" { (explorers::cards(explorers::of_lab(lab.id))) }
        }
        article.text { (markdown::render(lab.text)) (exercise(lab)) }
        section.live-only aria-labelledby="run" {
            h2 #run { "Run it" }
            p.from { "All of the lab: every claim, at the sizes that it names." }
            (run_panel::panel(lab, device, site.runs.going_on(lab).as_deref()))
        }
        @if let Some(panel) = &launches {
            section.live-only aria-labelledby="own-launch" {
                h2 #own-launch { "A launch of your own" }
                p.from { "One of its kernels, with the device, block size and n that you choose." }
                (panel)
            }
        }
        div #results {
            @match &run {
                Some(run) => (results::found(run)),
                None => (results::listed(lab)),
            }
        }
        (kernels_of(lab))
        (neighbours(lab))
    };
    let at = format!("/chapters/{}", lab.chapter);
    Ok(Html(layout::page_with(&format!("{}: {}", lab.id, lab.question), &at, scripts, &body).into_string()))
}

fn exercise(lab: &Lab) -> Markup {
    html! {
        @if let Some(exercise) = exercises::of_lab(lab.id) {
            p.aside { "Exercise: " (exercise.title) ". " code { "cargo xtask exercise " (lab.id) } " starts it." }
        }
    }
}

fn kernels_of(lab: &Lab) -> Markup {
    let known = || lab.kernels.iter().filter_map(|name| kernels::find(name));
    html! {
        @if known().next().is_some() {
            section aria-labelledby="kernels" {
                h2 #kernels { "Kernels" }
                dl.kernels {
                    @for kernel in known() {
                        dt { code { (kernel.name) } " "
                            a.live-only href={ "/explore/pipeline?kernel=" (kernel.name) } { "its Rust, PTX and SASS" } }
                        dd { (kernel.doc.trim()) }
                    }
                }
            }
        }
    }
}

/// The labs before and after this one.
fn neighbours(lab: &Lab) -> Markup {
    let place = LABS.iter().position(|other| other.id == lab.id).unwrap_or(0);
    let before = place.checked_sub(1).and_then(|place| LABS.get(place));
    html! {
        nav.neighbours aria-label="Neighbouring labs" {
            @if let Some(lab) = before { a rel="prev" href={ "/labs/" (lab.id) } { "← " (lab.id) } } @else { span {} }
            @if let Some(lab) = LABS.get(place + 1) { a rel="next" href={ "/labs/" (lab.id) } { (lab.id) " →" } }
        }
    }
}
