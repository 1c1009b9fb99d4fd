//! Reports for people: the terminal and one self-contained HTML file. What programs read is [`crate::schema`].

pub mod accuracy;
pub mod html;
pub mod svg;
pub mod terminal;
pub mod text_plot;
pub(crate) mod words;
