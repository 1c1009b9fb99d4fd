//! Who may ask, and what a browser may do with the answer.
//!
//! The book is for the person at this computer. A page of another origin must not reach it: not by a name that it had resolved to the
//! loopback address (the host is checked), and not by a request of its own (the origin is). What is answered may load nothing from
//! elsewhere.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Site;
use super::problem::Problem;

/// Characters of an address: the longest that a page makes has a tenth of it.
const URI_CHARACTERS_MAX: usize = 2048;

/// Of every answer. Styles and scripts come from the book's own files alone, never from within a page.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Refuses what must not be asked, answers the rest, and sets [`HEADERS`]. A defect in a page ends as an answer, not as a server
/// that is gone.
pub async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let refused = refusal(request.method(), request.uri(), request.headers(), site.settings.port);
    let mut response = match refused {
        Some(problem) => problem.into_response(),
        None => tokio::spawn(next.run(request)).await.unwrap_or_else(|_| {
            let text = "this page met a defect of the book; please report it with the address";
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
        }),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if !response.headers().contains_key(header::CACHE_CONTROL) {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn refusal(method: &Method, uri: &Uri, headers: &HeaderMap, port: u16) -> Option<Problem> {
    let forbidden = |text: &str| Some(Problem::new(StatusCode::FORBIDDEN, text));
    if uri.to_string().len() > URI_CHARACTERS_MAX {
        let text = format!("the address is longer than {URI_CHARACTERS_MAX} characters");
        return Some(Problem::new(StatusCode::URI_TOO_LONG, text));
    }
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok())
    };
    let own = |host: &str| own_hosts(port).iter().any(|own| own == host);
    if !one(header::HOST).is_some_and(own) {
        return forbidden("the lab book answers to this computer's own addresses only, such as 127.0.0.1");
    }
    let is_own_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(own);
    if headers.contains_key(header::ORIGIN) && !one(header::ORIGIN).is_some_and(is_own_origin) {
        return forbidden("a page of another origin asked; the lab book answers to its own pages only");
    }
    // Browsers say where a request comes from even where they send no origin.
    let from = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_read = *method == Method::GET || *method == Method::HEAD;
    if !is_read && from.is_some_and(|from| from != b"same-origin" && from != b"none") {
        return forbidden("a page of another site asked; the lab book answers to its own pages only");
    }
    None
}

fn own_hosts(port: u16) -> [String; 3] {
    ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"))
}
