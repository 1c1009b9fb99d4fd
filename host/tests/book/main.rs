//! The book as a browser, and as someone who means harm, would use it: requests go to the service itself, without a socket.

mod conditions;
mod explorers;
mod export;
mod machine;
mod malicious;
mod pages;
#[cfg(unix)]
mod runs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt;

use warpwise::book::{Limits, Settings, router};

const PORT: u16 = 7000;
const HOST: &str = "127.0.0.1:7000";
/// Bytes of an answer that a test reads.
const BODY_MAX: usize = 64 << 20;

/// A book of its own for each test.
struct Book {
    router: Router,
    folder: PathBuf,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

impl Book {
    /// With a program that the tests put in place of `warpwise`, given the book's folder, and limits.
    fn with(name: &str, program: impl FnOnce(&Path) -> PathBuf, limits: Limits) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the book");
        let program = program(&folder);
        let cli = warpwise::cli::parse(["warpwise", "list"].map(Into::into)).expect("words that are understood");
        let settings = Settings { port: PORT, program, folder: folder.clone(), limits, global: cli.global };
        Self { router: router(settings), folder }
    }

    fn new(name: &str) -> Self {
        let limits = Limits { at_once: 1, waiting: 1, time: Duration::from_secs(30), memory_bytes: 1 << 30 };
        Self::with(name, |_| PathBuf::from("/no/such/program"), limits)
    }

    async fn ask(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.expect("the service answers");
        let (status, headers) = (response.status(), response.headers().clone());
        let body = to_bytes(response.into_body(), BODY_MAX).await.expect("the answer can be read");
        Answer { status, headers, text: String::from_utf8_lossy(&body).into_owned() }
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask(request(Method::GET, path, "")).await
    }

    /// What an explorer answers.
    async fn explore(&self, question: &str) -> Value {
        let answer = self.get(&format!("/api/explore/{question}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{question}: {}", answer.text);
        answer.json()
    }

    /// An explorer does not answer this, and says what is wrong with it.
    async fn refuses(&self, question: &str, says: &str) {
        let answer = self.get(&format!("/api/explore/{question}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{question}: {}", answer.text);
        let why = answer.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(why.contains(says), "{question}: {why} does not say {says}");
    }

    async fn post(&self, path: &str, form: &str) -> Answer {
        self.ask(request(Method::POST, path, form)).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.ask(request(Method::DELETE, path, "")).await
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        // A run that is being ended may still write: then once more.
        for _ in 0..2 {
            if std::fs::remove_dir_all(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// A request of the book's own page.
fn request(method: Method, path: &str, form: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header(header::HOST, HOST);
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    request.body(Body::from(form.to_owned())).expect("a request")
}
