//! Text from docs/ as HTML: headings under the page's own, a lab's name in backticks as a link to it, and no HTML of the text's own.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::labs::LABS;
use crate::report::html::escape;

/// The text without its first heading, which is the page's title.
pub fn render(text: &str) -> Markup {
    let mut in_title = false;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {
            in_title = true;
            None
        }
        Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
            in_title = false;
            None
        }
        _ if in_title => None,
        Event::Html(raw) | Event::InlineHtml(raw) => Some(Event::Text(raw)),
        Event::Code(code) => Some(lab_link(&code).unwrap_or(Event::Code(code))),
        Event::Start(Tag::Table(_)) => Some(Event::Html("<div class=\"wide\"><table>".into())),
        Event::End(TagEnd::Table) => Some(Event::Html("</tbody></table></div>".into())),
        other => Some(other),
    });
    let mut page = String::new();
    html::push_html(&mut page, events);
    PreEscaped(page)
}

fn lab_link<'a>(code: &CowStr<'_>) -> Option<Event<'a>> {
    let lab = LABS.iter().find(|lab| lab.id == &**code)?;
    let id = escape(lab.id);
    Some(Event::InlineHtml(format!("<a class=\"lab\" href=\"/labs/{id}\"><code>{id}</code></a>").into()))
}

/// The first heading's text, without its markup.
pub fn title(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('#').trim().replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labs_become_links_and_html_in_the_text_stays_text() {
        let page = render("# A title\n\nSee `guard` and `x`. <script>alert(1)</script>\n\n| a |\n|---|\n| 1 |\n")
            .into_string();
        assert!(page.contains("href=\"/labs/guard\"") && page.contains("<code>x</code>"), "{page}");
        assert!(!page.contains("<script>") && !page.contains("A title"), "{page}");
        assert!(page.contains("<div class=\"wide\"><table>") && page.contains("<td>1</td>"), "{page}");
        assert_eq!(title("# Chapter 1: `the` model\n"), "Chapter 1: the model");
    }
}
