//! What every page has: the head with its own files, the way around, room for the page itself.

use maud::{DOCTYPE, Markup, html};

use super::chapter::CHAPTERS;

/// A page. `at` is the path of the entry in the navigation that it belongs to, or empty.
pub fn page(title: &str, at: &str, body: &Markup) -> Markup {
    page_with(title, at, &[], body)
}

/// A page with scripts of its own, by their names among the assets.
pub fn page_with(title: &str, at: &str, scripts: &[&str], body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Warpwise" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                @for style in ["base.css", "results.css", "explore.css", "moving.css"] {
                    link rel="stylesheet" href={ "/assets/" (style) };
                }
                @for script in scripts {
                    script type="module" src={ "/assets/" (script) } {}
                }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header.site {
                    a.brand href="/" { span.mark aria-hidden="true" {} "Warpwise" }
                    nav aria-label="Main" {
                        (entry("/explore", at, html! { "Explorers" }))
                        (entry("/quiz", at, html! { "Quiz" }))
                        @for chapter in &CHAPTERS {
                            (entry(&format!("/chapters/{}", chapter.number), at, html! { span.long { "Chapter " } (chapter.number) }))
                        }
                    }
                }
                main #content { (body) }
                footer.site {
                    p { "Modelled numbers come from Warpwise's own machine, and say so; measured ones come from a GPU." }
                }
            }
        }
    }
}

fn entry(path: &str, at: &str, text: Markup) -> Markup {
    let current = (path == at).then_some("page");
    html! { a href=(path) aria-current=[current] { (text) } }
}
