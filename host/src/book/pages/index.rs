//! The first page: what this is, and the way to everything.

use axum::response::Html;
use maud::html;

use super::chapter::{CHAPTERS, capital, cards};
use super::layout;
use crate::book::explorers;
use crate::labs::LABS;

pub async fn page() -> Html<String> {
    let beyond = || LABS.iter().copied().filter(|lab| lab.chapter == 0);
    let claims: usize = LABS.iter().map(|lab| (lab.claims)().len()).sum();
    let body = html! {
        section.lead {
            h1 { "How a GPU runs code, seen at work" }
            p { "Every page here runs the real thing: kernels in Rust, compiled to PTX and SASS, carried out warp by warp by a machine "
                "that counts and times what they do. " (LABS.len()) " labs check " (claims) " statements of four chapters." }
        }
        section aria-labelledby="explorers" {
            h2 #explorers { a href="/explore" { "Explorers" } }
            (explorers::cards(explorers::with_knobs().chain(explorers::to_read())))
        }
        @for chapter in &CHAPTERS {
            section aria-labelledby={ "chapter-" (chapter.number) } {
                h2 id={ "chapter-" (chapter.number) } {
                    a href={ "/chapters/" (chapter.number) } {
                        span.eyebrow { "Chapter " (chapter.number) } " " (capital(&chapter.subject()))
                    }
                }
                (cards(chapter.labs()))
            }
        }
        @if beyond().next().is_some() {
            section aria-labelledby="beyond" { h2 #beyond { "Beyond the chapters" } (cards(beyond())) }
        }
    };
    Html(layout::page("The lab book", "", &body).into_string())
}
