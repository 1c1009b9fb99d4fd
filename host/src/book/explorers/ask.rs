//! Questions as they come in: the query of an address, with words of our own for one that does not fit.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::book::problem::Problem;

/// The query, as a `T`.
pub struct Ask<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Ask<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::<T>::try_from_uri(&parts.uri);
        query.map(|Query(asked)| Self(asked)).map_err(|error| {
            let text = error.body_text();
            Problem::input(text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text)).for_a_script()
        })
    }
}

/// `value`, if it lies within `least..=most`.
///
/// # Errors
/// It does not; `what` is named, with the limits.
pub fn within(what: &str, value: i64, least: i64, most: i64) -> Result<i64, Problem> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(Problem::input(format!("{what} is {value}; it goes from {least} to {most}")).for_a_script()),
    }
}
