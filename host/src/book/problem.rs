//! What a request is told that cannot be answered: a page for people, JSON for the book's own scripts.

use axum::Json;
use axum::extract::OriginalUri;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use maud::html;
use serde_json::json;

use super::pages::layout;

/// Why, in words for a person.
#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub text: String,
    /// Whether a script asked.
    pub as_json: bool,
}

impl Problem {
    pub fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), as_json: false }
    }

    /// Input that is not what was expected: 422.
    pub fn input(text: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    }

    pub fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Something is amiss on this computer: 500.
    pub fn here(text: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, text.to_string())
    }

    /// As JSON.
    pub fn for_a_script(mut self) -> Self {
        self.as_json = true;
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if self.as_json {
            return (self.status, Json(json!({ "error": self.text }))).into_response();
        }
        let heading = match self.status {
            StatusCode::NOT_FOUND => "There is no such page",
            StatusCode::INTERNAL_SERVER_ERROR => "That did not work",
            _ => "That cannot be asked",
        };
        let body = html! {
            section.lead { h1 { (heading) } p { (self.text) } p { a href="/" { "To the first page" } } }
        };
        (self.status, Html(layout::page(heading, "", &body).into_string())).into_response()
    }
}

fn is_of_a_script(uri: &Uri) -> bool {
    uri.path().starts_with("/api/")
}

pub async fn no_such_page(OriginalUri(uri): OriginalUri) -> Problem {
    Problem { as_json: is_of_a_script(&uri), ..Problem::not_found("nothing is served under this address") }
}

pub async fn no_such_method(OriginalUri(uri): OriginalUri) -> Problem {
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not take such a request");
    Problem { as_json: is_of_a_script(&uri), ..problem }
}
