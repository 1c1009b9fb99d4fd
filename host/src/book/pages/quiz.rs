//! The quiz: questions whose right answer is what the machine finds when it is asked. A plain form; the script spares the new page.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use warpwise_simt::device::Device;

use super::chapter::{CHAPTERS, capital};
use super::layout;
use crate::book::Site;
use crate::book::explorers::Ask;
use crate::book::problem::Problem;
use crate::labs::quiz::{Machine, QUESTIONS, Question};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    question: String,
    answer: i64,
}

/// The page's own query: both fields or none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    question: Option<String>,
    answer: Option<i64>,
}

impl Asked {
    fn answered(self) -> Option<Answered> {
        Some(Answered { question: self.question?, answer: self.answer? })
    }
}

/// What the machine says of an answer.
struct Verdict {
    is_right: bool,
    text: String,
}

pub async fn page(State(site): State<Arc<Site>>, Ask(asked): Ask<Asked>) -> Result<Html<String>, Problem> {
    let answered = asked.answered();
    let verdict = match &answered {
        Some(answered) => Some((answered, judge(&site, answered).await?)),
        None => None,
    };
    let of = |question: &Question| verdict.as_ref().filter(|(answered, _)| answered.question == question.id);
    let body = html! {
        section.lead {
            h1 { "Check your understanding" }
            p.static-only { "The quiz needs the program: " code { "cargo xtask book" } " serves it." }
            p { "Choose an answer. The machine then runs the experiment and says what it found." }
        }
        @for chapter in &CHAPTERS {
            section aria-labelledby={ "chapter-" (chapter.number) } {
                h2 id={ "chapter-" (chapter.number) } { "Chapter " (chapter.number) }
                @for question in QUESTIONS.iter().filter(|question| question.chapter == chapter.number) {
                    (form(question, of(question).map(|(answered, verdict)| (answered.answer, verdict))))
                }
            }
        }
    };
    Ok(Html(layout::page_with("Check your understanding", "/quiz", &["quiz.js"], &body).into_string()))
}

fn form(question: &Question, verdict: Option<(i64, &Verdict)>) -> Markup {
    html! {
        form.panel.question.live-only id=(question.id) method="get" action={ "/quiz#" (question.id) } {
            input type="hidden" name="question" value=(question.id);
            fieldset {
                legend { (capital(question.text)) }
                div.buttons {
                    @for option in question.options {
                        button type="submit" name="answer" value=(option) aria-pressed=[verdict.map(|(chosen, _)| (chosen == *option).to_string())] { (option) }
                    }
                }
            }
            p.verdict-text role="status" data-right=[verdict.map(|(_, verdict)| verdict.is_right.to_string())] {
                @if let Some((_, verdict)) = verdict { (verdict.text) }
            }
        }
    }
}

pub async fn answer(State(site): State<Arc<Site>>, Ask(answered): Ask<Answered>) -> Result<Json<Value>, Problem> {
    let verdict = judge(&site, &answered).await.map_err(Problem::for_a_script)?;
    Ok(Json(json!({ "right": verdict.is_right, "text": verdict.text })))
}

/// Runs the question's experiment.
async fn judge(site: &Site, answered: &Answered) -> Result<Verdict, Problem> {
    let question = QUESTIONS.iter().find(|question| question.id == answered.question);
    let question =
        question.ok_or_else(|| Problem::not_found(format!("there is no question `{}`", answered.question)))?;
    let found = site.machines.work(Device::default_device(), |bench| {
        let machine = Machine::new(bench).map_err(Problem::here)?;
        question.answer(&machine).map_err(Problem::here)
    });
    let found = found.await?;
    let is_right = answered.answer as f64 == found;
    let verdict = if is_right { "Right" } else { "No" };
    Ok(Verdict { is_right, text: format!("{verdict}: the machine finds {found}; {}.", question.because) })
}
