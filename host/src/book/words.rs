//! Words for SASS: the opcode of an instruction as a listing has it, and what it and its modifiers mean. They stand in a page as a
//! title, which a mouse shows over the opcode, and the style sheet while it has the focus.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::sass_words::{Explained, explain};

/// The opcode with its modifiers, behind address and guard if they are there: `LDG.E` of `00a0 @!P0 LDG.E R2, …`. `None` for what is
/// no instruction of SASS.
pub fn opcode(text: &str) -> Option<&str> {
    let is_address = |word: &&str| word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let word = text.split_whitespace().find(|word| !is_address(word) && !word.starts_with('@'))?;
    let word = word.trim_end_matches([';', ',']);
    let is_sass =
        word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.contains(|c: char| c.is_ascii_lowercase());
    is_sass.then_some(word)
}

/// What an opcode means, with each modifier that there are words for; `None` where the opcode is not known.
pub fn meaning(opcode: &str) -> Option<String> {
    let Explained { opcode, modifiers } = explain(opcode).ok()?;
    let known = modifiers.into_iter().filter_map(|(name, text)| Some(format!(" .{name}: {}", text?)));
    Some(format!("{}: {}{}", opcode.name, opcode.text(), known.collect::<String>()))
}

/// An instruction whose opcode has its words about it.
pub fn instruction(text: &str) -> Markup {
    let found = opcode(text).and_then(|opcode| Some((opcode, meaning(opcode)?)));
    let Some((opcode, meaning)) = found else { return html! { (text) } };
    let (before, after) = text.split_once(opcode).unwrap_or((text, ""));
    html! { (before) abbr.word tabindex="0" title=(meaning) { (opcode) } (after) }
}

/// Meanings by opcode, of all that occur.
pub fn of_all<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    let mut known = Map::new();
    for opcode in texts.filter_map(opcode) {
        if !known.contains_key(opcode)
            && let Some(meaning) = meaning(opcode)
        {
            known.insert(opcode.to_owned(), meaning.into());
        }
    }
    Value::Object(known)
}
