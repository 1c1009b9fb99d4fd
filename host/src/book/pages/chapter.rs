//! A chapter: its text, and its labs as cards.

use axum::extract::Path;
use axum::response::Html;
use maud::{Markup, html};

use super::layout;
use crate::book::explorers;
use crate::book::markdown;
use crate::book::problem::Problem;
use crate::lab::Lab;
use crate::labs::LABS;

/// A chapter's text, from docs/.
pub struct Chapter {
    pub number: u8,
    pub text: &'static str,
}

pub static CHAPTERS: [Chapter; 4] = [
    Chapter { number: 1, text: include_str!("../../../../docs/chapters/1.md") },
    Chapter { number: 2, text: include_str!("../../../../docs/chapters/2.md") },
    Chapter { number: 3, text: include_str!("../../../../docs/chapters/3.md") },
    Chapter { number: 4, text: include_str!("../../../../docs/chapters/4.md") },
];

impl Chapter {
    /// `the execution model`.
    pub fn subject(&self) -> String {
        let title = markdown::title(self.text);
        title.split_once(": ").map_or(title.clone(), |(_, subject)| subject.to_owned())
    }

    pub fn labs(&self) -> impl Iterator<Item = &'static Lab> {
        let number = self.number;
        LABS.iter().copied().filter(move |lab| lab.chapter == number)
    }
}

pub async fn page(Path(number): Path<String>) -> Result<Html<String>, Problem> {
    let chapter = number.parse().ok().and_then(|number: u8| CHAPTERS.iter().find(|chapter| chapter.number == number));
    let chapter = chapter.ok_or_else(|| Problem::not_found("there are the chapters 1 to 4"))?;
    let subject = chapter.subject();
    let body = html! {
        section.lead {
            p.eyebrow { "Chapter " (chapter.number) }
            h1 { (capital(&subject)) }
        }
        article.text { (markdown::render(chapter.text)) }
        section aria-labelledby="explorers" { h2 #explorers { "Explorers" } (explorers::cards(explorers::of_chapter(chapter.number))) }
        section aria-labelledby="labs" {
            h2 #labs { "Labs" }
            (cards(chapter.labs()))
        }
    };
    let title = format!("Chapter {}: {subject}", chapter.number);
    Ok(Html(layout::page(&title, &format!("/chapters/{}", chapter.number), &body).into_string()))
}

/// Labs as cards with their questions.
pub fn cards(labs: impl Iterator<Item = &'static Lab>) -> Markup {
    html! {
        ul.cards {
            @for lab in labs {
                li { a.card href={ "/labs/" (lab.id) } {
                    span.card-title { (lab.id) }
                    span.card-text { (capital(lab.question)) }
                    span.card-note { (lab.sections) " · " ((lab.claims)().len()) " claims" }
                } }
            }
        }
    }
}

/// With a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
