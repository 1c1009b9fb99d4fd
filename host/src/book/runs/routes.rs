//! What pages ask of runs: start one (a plain form works too), look at it, cancel it.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::Value;
use warpwise_simt::device;

use super::{Job, Order};
use crate::book::Site;
use crate::book::problem::Problem;
use crate::labs;

pub fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/labs/{id}/run", post(by_form))
        .route("/labs/{id}/cancel", post(cancel_by_form))
        .route("/api/labs/{id}/run", post(start))
        .route("/api/runs/{id}", get(look).delete(cancel))
}

/// The fields of the form on a lab's page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    device: String,
    #[serde(default)]
    isa: Option<String>,
}

/// The code that the machine may run.
pub const ISAS: [&str; 3] = ["auto", "ptx", "sass"];

fn order(id: &str, wish: &Wish) -> Result<Order, Problem> {
    let lab = labs::find(id).map_err(|error| Problem::not_found(error.to_string()))?;
    let device = device::find(&wish.device).map_err(|error| Problem::input(error.to_string()))?;
    let asked = wish.isa.as_deref().unwrap_or(ISAS[0]);
    let isa = ISAS.into_iter().find(|isa| *isa == asked);
    let isa =
        isa.ok_or_else(|| Problem::input(format!("`{asked}` is no code to run; expected {}", ISAS.join(", "))))?;
    Ok(Order { lab, device: &device.name, isa })
}

fn begin(site: &Site, id: &str, wish: &Wish) -> Result<Arc<Job>, Problem> {
    let order = order(id, wish)?;
    site.runs.start(order).map_err(|text| Problem::new(StatusCode::TOO_MANY_REQUESTS, text))
}

async fn by_form(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Form(wish): Form<Wish>,
) -> Result<Redirect, Problem> {
    let job = begin(&site, &id, &wish)?;
    Ok(Redirect::to(&format!("/labs/{}?device={}", job.order.lab.id, job.order.device.replace(' ', "+"))))
}

async fn start(State(site): State<Arc<Site>>, Path(id): Path<String>, Form(wish): Form<Wish>) -> Response {
    match begin(&site, &id, &wish) {
        Ok(job) => (StatusCode::ACCEPTED, Json(job.json())).into_response(),
        Err(problem) => problem.for_a_script().into_response(),
    }
}

fn find(site: &Site, id: &str) -> Result<Arc<Job>, Problem> {
    let job = id.parse().ok().and_then(|id| site.runs.find(id));
    job.ok_or_else(|| Problem::not_found("no such run is known; the server may have been started again").for_a_script())
}

async fn look(State(site): State<Arc<Site>>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(find(&site, &id)?.json()))
}

async fn cancel(State(site): State<Arc<Site>>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let job = find(&site, &id)?;
    job.cancel();
    Ok(Json(job.json()))
}

/// Cancels the run of a lab that goes on.
async fn cancel_by_form(State(site): State<Arc<Site>>, Path(id): Path<String>) -> Result<Redirect, Problem> {
    let lab = labs::find(&id).map_err(|error| Problem::not_found(error.to_string()))?;
    if let Some(job) = site.runs.going_on(lab) {
        job.cancel();
    }
    Ok(Redirect::to(&format!("/labs/{}", lab.id)))
}
