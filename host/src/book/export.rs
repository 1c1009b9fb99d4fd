//! A static copy: every page as a file, with the runs that are recorded and each explorer's first answer.
//!
//! Pages are asked of the service itself and their addresses made relative, so the copy can lie in any folder of any web server.
//! What only the program can do (runs, turning knobs) is left out of it by the style sheet.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use tower::ServiceExt;

use super::explorers::EXPLORERS;
use super::{Settings, router};

/// Bytes of the largest answer: the film has some hundred thousand.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Writes the copy into `folder`; how many files it has.
///
/// # Errors
/// A page cannot be made (no kernels), or a file cannot be written.
pub fn export(settings: Settings, folder: &Path) -> io::Result<usize> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let host = format!("127.0.0.1:{}", settings.port);
    let copy = Copy { router: router(settings), host, folder: folder.to_owned() };
    runtime.block_on(copy.write())
}

struct Copy {
    router: Router,
    host: String,
    folder: PathBuf,
}

impl Copy {
    async fn write(&self) -> io::Result<usize> {
        let mut written = BTreeSet::new();
        let mut to_write = vec!["/".to_owned()];
        while let Some(path) = to_write.pop() {
            if !written.insert(path.clone()) {
                continue;
            }
            let (kind, text) = self.ask(&path).await?;
            let is_page = kind.starts_with("text/html");
            if is_page {
                to_write.extend(addresses(&text).map(str::to_owned));
            }
            self.put(&file(&path), if is_page { relative(&text, depth(&path)) } else { text })?;
        }
        for explorer in EXPLORERS {
            let (_, answer) = self.ask(&format!("/api/explore/{}?{}", explorer.id, explorer.first)).await?;
            self.put(&format!("answers/{}.json", explorer.id), answer)?;
        }
        Ok(written.len() + EXPLORERS.len())
    }

    /// Type and text of what the service answers.
    async fn ask(&self, path: &str) -> io::Result<(String, String)> {
        let request = Request::builder().uri(path).header(header::HOST, &self.host).body(Body::empty());
        let answer = self.router.clone().oneshot(request.map_err(io::Error::other)?).await.map_err(io::Error::other)?;
        let status = answer.status();
        let kind = answer
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await.map_err(io::Error::other)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match status.is_success() {
            true => Ok((kind, text)),
            false => Err(io::Error::other(format!("{path} answers {status}: {text}"))),
        }
    }

    fn put(&self, file: &str, text: String) -> io::Result<()> {
        let path = self.folder.join(file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)
    }
}

/// Pages and files of the book that a page refers to.
fn addresses(page: &str) -> impl Iterator<Item = &str> {
    let after = |mark: &'static str| page.split(mark).skip(1).filter_map(|rest| rest.split(['"', '#', '?']).next());
    after("href=\"/").chain(after("src=\"/")).filter_map(move |rest| {
        // With the slash that the marks took.
        let start = rest.as_ptr() as usize - page.as_ptr() as usize;
        page.get(start - 1..start + rest.len())
    })
}

/// `/labs/guard` is `labs/guard/index.html`; a name with an ending is a file as it is.
fn file(path: &str) -> String {
    let path = path.trim_matches('/');
    match (path.is_empty(), path.contains('.')) {
        (true, _) => "index.html".to_owned(),
        (false, true) => path.to_owned(),
        (false, false) => format!("{path}/index.html"),
    }
}

/// Folders between a page's file and the copy's root.
fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !part.is_empty()).count()
}

/// The page with relative addresses, marked as a copy.
fn relative(page: &str, depth: usize) -> String {
    let up = "../".repeat(depth);
    let mut text = page.replacen("<html lang=\"en\">", "<html lang=\"en\" class=\"static\">", 1);
    let found: BTreeSet<&str> = addresses(page).collect();
    for mark in ["href", "src"] {
        for address in &found {
            for end in ['"', '#', '?'] {
                let to = format!("{mark}=\"{up}{}{end}", file(address));
                text = text.replace(&format!("{mark}=\"{address}{end}"), &to);
            }
        }
    }
    text.replace("data-api=\"/api/explore/", &format!("data-recorded=\"{up}answers/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_and_made_relative() {
        let page = "<html lang=\"en\"><a href=\"/\">x</a><a href=\"/labs/guard#claims\">x</a><script src=\"/assets/run.js\">\
                    <a href=\"#here\"><a href=\"/explore\"><a href=\"/explore/ids?block=1\"><form data-api=\"/api/explore/ids\">";
        assert_eq!(
            addresses(page).collect::<Vec<_>>(),
            ["/", "/labs/guard", "/explore", "/explore/ids", "/assets/run.js"]
        );
        let copy = relative(page, depth("/labs/ids"));
        for part in [
            "class=\"static\"",
            "href=\"../../index.html\"",
            "href=\"../../labs/guard/index.html#claims\"",
            "src=\"../../assets/run.js\"",
            "href=\"#here\"",
            "href=\"../../explore/index.html\"",
            "href=\"../../explore/ids/index.html?block=1\"",
            "data-recorded=\"../../answers/ids\"",
        ] {
            assert!(copy.contains(part), "{copy} lacks {part}");
        }
        assert_eq!((file("/"), depth("/")), ("index.html".to_owned(), 0));
    }
}
