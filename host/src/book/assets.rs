//! Styles and scripts, inside the program. A name is looked up in a table: no path of the disk is ever made from it.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// One file: its name under /assets/, its type, its text.
pub struct Asset {
    pub name: &'static str,
    pub kind: &'static str,
    pub text: &'static str,
}

macro_rules! asset {
    ($kind:expr, $name:literal) => {
        Asset { name: $name, kind: $kind, text: include_str!(concat!("assets/", $name)) }
    };
}

/// Everything that a page may ask for.
#[rustfmt::skip]
pub static ASSETS: &[Asset] = &[
    asset!(CSS, "base.css"),
    asset!(CSS, "results.css"),
    asset!(CSS, "explore.css"),
    asset!(CSS, "moving.css"),
    asset!(SVG, "icon.svg"),
    asset!(SCRIPT, "run.js"),
    asset!(SCRIPT, "explorer.js"),
    asset!(SCRIPT, "chart.js"),
    asset!(SCRIPT, "ids.js"),
    asset!(SCRIPT, "shapes.js"),
    asset!(SCRIPT, "occupancy.js"),
    asset!(SCRIPT, "memory.js"),
    asset!(SCRIPT, "player.js"),
    asset!(SCRIPT, "stepper.js"),
    asset!(SCRIPT, "schedulers.js"),
    asset!(SCRIPT, "film.js"),
    asset!(SCRIPT, "pipeline.js"),
    asset!(SCRIPT, "quiz.js"),
    asset!(SCRIPT, "walk.js"),
    asset!(SCRIPT, "uniform.js"),
    asset!(SCRIPT, "branches.js"),
    asset!(SCRIPT, "launch.js"),
];

pub async fn serve(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|asset| asset.name == name) {
        // Checked again at each load, since the next build may have another text under the same name.
        Some(asset) => {
            ([(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "no-cache")], asset.text).into_response()
        }
        None => Problem::not_found(format!("the book has no file `{name}`")).into_response(),
    }
}
