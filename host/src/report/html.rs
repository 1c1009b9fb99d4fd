//! The report as one HTML file that needs nothing else: styles and plots are inside, light and dark, wide and narrow.

use std::fmt::Write;

use super::svg::svg;
use super::words::{KERNEL_COLUMNS, ceilings_line, claim_numbers, kernel_cells, unvalidated_devices};
use crate::ceilings::Ceilings;
use crate::claim::{Judged, Value, Verdict};
use crate::lab::{LabOutcome, RunOutcome, Summary, Table};

/// The page of a run.
pub fn page(run: &RunOutcome) -> String {
    let Summary { holds, fails, not_run } = run.summary();
    let mut body = String::new();
    for outcome in &run.labs {
        body.push_str(&lab(outcome, &run.ceilings));
    }
    let links: Vec<String> =
        run.labs.iter().map(|outcome| format!("<a href=\"#{0}\">{0}</a>", escape(outcome.lab.id))).collect();
    let mut caveats = String::new();
    for ceilings in &run.ceilings {
        let _ = write!(caveats, "<p>{}.</p>", escape(&ceilings_line(ceilings)));
    }
    for device in unvalidated_devices(run.labs.iter().flat_map(|lab| &lab.kernels)) {
        let device = escape(device);
        let _ = write!(
            caveats,
            "<p>Times of the {device} are modelled; the model was not held against one: good for ratios.</p>"
        );
    }
    let header = format!(
        "<p><b>{holds}</b> claims hold, <b class=\"{}\">{fails}</b> fail, <b>{not_run}</b> not run here. Compiled by {}.</p>\n\
         {caveats}<nav>{}</nav>",
        if fails > 0 { "fails" } else { "holds" },
        escape(&run.toolchain.to_string()),
        links.join(" ")
    );
    page_of("labs", &header, &body)
}

/// A page with the style inside: what stands under its heading, and what it is about.
pub fn page_of(title: &str, header: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Warpwise: {title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>Warpwise</h1>\n\
         {header}\n</header>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

const STYLE: &str = include_str!("report.css");

fn lab(outcome: &LabOutcome, ceilings: &[Ceilings]) -> String {
    let lab = outcome.lab;
    let mut html = format!(
        "<section id=\"{id}\">\n<h2>{id}: {}</h2>\n<p class=\"from\">{}, {} backend, {:.1} s</p>\n",
        escape(lab.question),
        escape(lab.sections),
        outcome.backend.word(),
        outcome.seconds,
        id = escape(lab.id),
    );
    if !outcome.kernels.is_empty() {
        let rows = outcome.kernels.iter().map(|row| kernel_cells(row, ceilings).to_vec());
        html.push_str(&rows_html(&KERNEL_COLUMNS, rows));
    }
    for table in &outcome.tables {
        html.push_str(&table_html(table));
    }
    for plot in &outcome.plots {
        let _ = writeln!(html, "<figure>{}<figcaption>{}</figcaption></figure>", svg(plot), escape(&plot.title));
    }
    for note in &outcome.notes {
        let _ = writeln!(html, "<p>{}</p>", escape(note));
    }
    html.push_str("<ul class=\"claims\">\n");
    for judged in &outcome.claims {
        html.push_str(&claim(judged));
    }
    html.push_str("</ul>\n</section>\n");
    html
}

fn table_html(table: &Table) -> String {
    let rows = table.rows.iter().map(|row| row.iter().map(Value::to_string).collect());
    format!("<h3>{}</h3>\n{}", escape(&table.title), rows_html(&table.columns, rows))
}

/// Rows under columns, as a table that scrolls where the page is narrow.
pub fn rows_html<S: AsRef<str>>(columns: &[S], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut html = String::from("<div class=\"wide\"><table>\n<thead><tr>");
    for column in columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escape(column.as_ref()));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let _ = write!(html, "<td>{}</td>", escape(&cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}

fn claim(judged: &Judged) -> String {
    let word = match judged.verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::NotRun => "not run",
    };
    let claim = &judged.claim;
    let mut html = format!(
        "<li class=\"{}\"><b>{word}</b> {} <span class=\"from\">{}</span>",
        judged.verdict.word(),
        escape(&claim.statement),
        escape(claim.section),
    );
    let why = judged.why.clone();
    let below: Vec<String> = [claim_numbers(judged), why, claim.note.clone()].into_iter().flatten().collect();
    if !below.is_empty() {
        let _ = write!(html, "<br><small>{}</small>", escape(&below.join("; ")));
    }
    html.push_str("</li>\n");
    html
}

/// Text that may stand in an element or in a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fixture;

    #[test]
    fn the_page_needs_nothing_else_and_shows_all_of_the_run() {
        let page = page(&fixture::run());
        for outside in ["src=", "@import", "url(", "<script", "<link"] {
            assert!(!page.contains(outside), "the page refers to something outside: {outside}");
        }
        for shown in [
            "what is &lt; 1 &amp; &gt; 0?",
            "148 B out, 160 B in",
            "needs SASS",
            "16.32 µs modelled",
            "blocks by size",
            "<svg role=\"img\"",
            "<li class=\"holds\">",
            "<li class=\"fails\">",
            "<li class=\"not-run\">",
            "in instructions",
            "needs a GPU",
            "the RTX 5070 at most, modelled: a copy 618.2 GB/s",
        ] {
            assert!(page.contains(shown), "the page lacks {shown}");
        }
    }

    #[test]
    fn text_is_escaped_for_elements_and_attributes() {
        assert_eq!(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
