//! The lab book: the chapters and labs as pages that one looks at and works with, served on the loopback address.
//!
//! Pages are written on the server ([`pages`]) and can be read without JavaScript; everything a page needs is in the program
//! ([`assets`]). Explorers ask the library itself, never a second implementation in the browser. A run of a lab is a process of its
//! own ([`runs`]), so that it can be cancelled and cannot take the server down. Who may ask for what is [`guard`]'s business.

mod assets;
pub mod condition;
mod explorers;
mod export;
pub mod first_launch;
mod guard;
mod machines;
mod markdown;
pub mod measured;
mod pages;
mod problem;
mod recorded;
mod runs;
mod server;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::get;

pub use export::export;
pub use runs::Limits;
pub use server::serve;

use crate::cli::GlobalOptions;
use machines::Machines;
use recorded::Recorded;
use runs::Runs;

/// Bytes that a request may carry: forms of a few fields.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// What the book is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port that requests must name; the server's own.
    pub port: u16,
    /// The program that runs a lab: `PROGRAM labs ID …`.
    pub program: PathBuf,
    /// Where the results of runs are kept.
    pub folder: PathBuf,
    pub limits: Limits,
    /// How the machine runs for explorers.
    pub global: GlobalOptions,
}

/// What all requests share.
pub(crate) struct Site {
    settings: Settings,
    runs: Arc<Runs>,
    recorded: Recorded,
    machines: Arc<Machines>,
    films: Arc<explorers::Films>,
}

/// The book as a service, for a server or a test.
pub fn router(settings: Settings) -> Router {
    let recorded = Recorded::new(settings.folder.clone());
    let runs = Runs::new(settings.program.clone(), recorded.clone(), settings.limits);
    let machines = Arc::new(Machines::new(settings.global.clone()));
    let site = Arc::new(Site { runs: Arc::new(runs), recorded, machines, films: Arc::default(), settings });
    Router::new()
        .route("/", get(pages::index::page))
        .route("/chapters/{number}", get(pages::chapter::page))
        .route("/labs/{id}", get(pages::lab::page))
        .route("/walk", get(pages::walk::page))
        .route("/roofline", get(pages::roofline::page))
        .route("/hierarchy", get(pages::hierarchy::page))
        .route("/quiz", get(pages::quiz::page))
        .route("/api/quiz", get(pages::quiz::answer))
        .route("/assets/{name}", get(assets::serve))
        .merge(runs::routes())
        .merge(explorers::routes())
        .fallback(problem::no_such_page)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guard::guard))
        .with_state(site)
}
