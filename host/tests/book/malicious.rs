//! Requests that must not be answered, and what stands in every answer.

use super::*;

fn with(headers: &[(&str, &str)], method: Method, path: &str) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).expect("a request")
}

#[tokio::test]
async fn other_hosts_are_refused() {
    let book = Book::new("hosts");
    let hosts =
        ["evil.example", "127.0.0.1", "127.0.0.1:7001", "127.0.0.1:7000.evil.example", "localhost:7000@evil", ""];
    for host in hosts {
        let answer = book.ask(with(&[("host", host)], Method::GET, "/")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{host}");
    }
    assert_eq!(book.ask(with(&[], Method::GET, "/")).await.status, StatusCode::FORBIDDEN, "no host at all");
    let twice = with(&[("host", HOST), ("host", "evil.example")], Method::GET, "/");
    assert_eq!(book.ask(twice).await.status, StatusCode::FORBIDDEN, "two hosts");
    for host in ["127.0.0.1:7000", "localhost:7000", "[::1]:7000"] {
        assert_eq!(book.ask(with(&[("host", host)], Method::GET, "/")).await.status, StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn other_origins_are_refused() {
    let book = Book::new("origins");
    for origin in ["http://evil.example", "null", "https://127.0.0.1:7000", "http://127.0.0.1:7001"] {
        for method in [Method::GET, Method::POST] {
            let answer = book.ask(with(&[("host", HOST), ("origin", origin)], method, "/labs/guard/run")).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin}");
        }
    }
    let from = |site| with(&[("host", HOST), ("sec-fetch-site", site)], Method::POST, "/labs/guard/cancel");
    assert_eq!(book.ask(from("cross-site")).await.status, StatusCode::FORBIDDEN);
    assert_eq!(book.ask(from("same-site")).await.status, StatusCode::FORBIDDEN, "another port of this computer");
    assert_eq!(book.ask(from("same-origin")).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn no_path_outside_the_assets_is_served() {
    let book = Book::new("paths");
    std::fs::write(book.folder.join("secret.css"), "secret").expect("a file beside the book's");
    for path in [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e%2fbase.css",
        "/assets/%2fetc%2fpasswd",
        "/assets//etc/passwd",
        "/assets/base.css%00",
        "/assets/secret.css",
        "/assets/",
        "/assets",
        "/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/labs/..%2f..%2fetc%2fpasswd",
        "/chapters/..%2f1",
        "/chapters/1.md",
        "/labs/%ff%fe",
    ] {
        let answer = book.get(path).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        assert!(
            !answer.text.contains("[workspace]") && !answer.text.contains("root:") && answer.text != "secret",
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_is_too_much_or_no_input_is_refused_with_words() {
    let book = Book::new("inputs");
    let long = format!("/labs/{}", "a".repeat(4000));
    assert_eq!(book.get(&long).await.status, StatusCode::URI_TOO_LONG);
    let big = format!("device={}", "a".repeat(64 << 10));
    assert_eq!(book.post("/labs/guard/run", &big).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    for form in
        ["", "device=Voodoo", "device=H200&isa=arm", "device=H200&isa=ptx&n=999", "device=H200&device=A100", "%ff=%00"]
    {
        let answer = book.post("/labs/guard/run", form).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}: {}", answer.text);
    }
    assert_eq!(book.post("/labs/nosuch/run", "device=H200").await.status, StatusCode::NOT_FOUND);
    for (method, path) in [(Method::POST, "/"), (Method::PUT, "/labs/guard"), (Method::DELETE, "/assets/base.css")] {
        let answer = book.ask(request(method, path, "")).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
}

#[tokio::test]
async fn what_a_request_says_stays_text_in_the_answer() {
    let book = Book::new("text");
    for path in ["/labs/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/labs/guard?device=%3Cscript%3Ealert(1)%3C%2Fscript%3E"]
    {
        let answer = book.get(path).await;
        assert!(!answer.text.contains("<script>alert"), "{path}: {}", answer.text);
        assert!(answer.text.contains("&lt;script&gt;"), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn every_answer_forbids_what_comes_from_elsewhere() {
    let book = Book::new("headers");
    for path in ["/", "/labs/guard", "/assets/base.css", "/nothing", "/api/runs/1"] {
        let headers = book.get(path).await.headers;
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().expect("a policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff", "{path}");
        assert_eq!(headers[header::X_FRAME_OPTIONS], "DENY", "{path}");
    }
}
