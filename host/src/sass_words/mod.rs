//! What SASS opcodes and their modifiers mean, in a line or two each, offline.
//!
//! Two tables beside this file, `opcodes.toml` and `modifiers.toml`, hold the words; this file looks them up. `explain-sass` prints
//! them.
//! A test in `tests/` demands an entry for each opcode and modifier that any kernel of ours is compiled to.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::suggest;

/// An opcode, without its modifiers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opcode {
    pub name: String,
    /// `float`, `integer`, `memory`, …, or `uniform`.
    pub group: String,
    /// What it does for each lane; none where [`Opcode::like`] says it.
    #[serde(default)]
    text: Option<String>,
    /// For a uniform opcode, the one that does the same for each lane.
    #[serde(default, rename = "as")]
    like: Option<String>,
}

/// A modifier, or several of one meaning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modifier {
    pub names: Vec<String>,
    /// The opcodes that it means this behind; all others where empty.
    #[serde(default)]
    pub of: Vec<String>,
    pub text: String,
}

#[derive(Deserialize)]
struct Opcodes {
    opcode: Vec<Opcode>,
}

#[derive(Deserialize)]
struct Modifiers {
    modifier: Vec<Modifier>,
}

static OPCODES: LazyLock<Vec<Opcode>> = LazyLock::new(|| {
    let table: Opcodes = toml::from_str(include_str!("opcodes.toml")).expect("the table in this folder is well-formed");
    table.opcode
});

static MODIFIERS: LazyLock<Vec<Modifier>> = LazyLock::new(|| {
    let table: Modifiers =
        toml::from_str(include_str!("modifiers.toml")).expect("the table in this folder is well-formed");
    table.modifier
});

/// What is known of an instruction as a listing prints it, such as `LDG.E.128`.
#[derive(Debug)]
pub struct Explained {
    pub opcode: &'static Opcode,
    /// Each modifier in the order given, and its meaning if there is an entry.
    pub modifiers: Vec<(String, Option<&'static str>)>,
}

/// An opcode that is not in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no SASS opcode `{given}` here{}\n`explain-sass` without a name lists all", .near.first().map_or_else(String::new, |_| format!("; near are {}", .near.join(", "))))]
pub struct UnknownOpcode {
    pub given: String,
    /// Nearest first.
    pub near: Vec<&'static str>,
}

/// Most opcodes that an error names.
const NEAR_MAX: usize = 5;

impl UnknownOpcode {
    fn new(given: &str) -> Self {
        let near = suggest::nearest_first(given, OPCODES.iter().map(|opcode| opcode.name.as_str()));
        Self { given: given.to_owned(), near: near.into_iter().take(NEAR_MAX).collect() }
    }
}

impl Opcode {
    /// What it does, in words.
    pub fn text(&self) -> String {
        let own = self.text.clone().unwrap_or_default();
        match self.like.as_deref().and_then(find) {
            Some(like) => format!(
                "Once for the whole warp, in uniform registers, what {} does for each lane. {}",
                like.name,
                like.text()
            ),
            None => own,
        }
    }
}

/// All opcodes, in the order of the table.
pub fn opcodes() -> &'static [Opcode] {
    &OPCODES
}

fn find(name: &str) -> Option<&'static Opcode> {
    OPCODES.iter().find(|opcode| opcode.name == name)
}

/// What a modifier means behind an opcode. An entry for that opcode goes before one for all.
pub fn modifier(opcode: &str, name: &str) -> Option<&'static str> {
    // A uniform opcode takes its lane-wise form's modifiers.
    let like = find(opcode).and_then(|opcode| opcode.like.as_deref());
    let is_of = |entry: &&Modifier| entry.of.iter().any(|of| of == opcode || Some(of.as_str()) == like);
    let named = || MODIFIERS.iter().filter(|entry| entry.names.iter().any(|known| known == name));
    let found = named().find(is_of).or_else(|| named().find(|entry| entry.of.is_empty()));
    found.map(|entry| entry.text.as_str())
}

/// Explains an opcode with or without modifiers, in any case of letters: `ffma`, `LDG.E.128`.
///
/// # Errors
/// Names the nearest opcodes if there is no entry.
pub fn explain(instruction: &str) -> Result<Explained, UnknownOpcode> {
    let upper = instruction.trim().to_uppercase();
    let mut parts = upper.split('.');
    let name = parts.next().unwrap_or_default();
    let opcode = find(name).ok_or_else(|| UnknownOpcode::new(name))?;
    let modifiers = parts.map(|part| (part.to_owned(), modifier(name, part))).collect();
    Ok(Explained { opcode, modifiers })
}

/// The entries that list modifiers an opcode may have: those for it alone.
pub fn modifiers_of(opcode: &Opcode) -> impl Iterator<Item = &'static Modifier> {
    let like = opcode.like.clone();
    let name = opcode.name.clone();
    MODIFIERS.iter().filter(move |entry| entry.of.iter().any(|of| *of == name || Some(of) == like.as_ref()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_opcode_is_listed_once_and_says_something() {
        let mut seen = HashSet::new();
        for opcode in opcodes() {
            assert!(seen.insert(&opcode.name), "{} stands twice", opcode.name);
            assert!(opcode.text().len() > 12, "{}: {:?}", opcode.name, opcode.text());
            assert!(
                opcode.text.is_some() != opcode.like.is_some(),
                "{}: a text, or the opcode that it is like",
                opcode.name
            );
            if let Some(like) = &opcode.like {
                assert!(find(like).is_some_and(|like| like.like.is_none()), "{} is like {like}", opcode.name);
            }
        }
    }

    #[test]
    fn every_modifier_names_opcodes_that_there_are_and_no_pair_stands_twice() {
        let mut seen = HashSet::new();
        for entry in MODIFIERS.iter() {
            for of in &entry.of {
                assert!(find(of).is_some(), "{:?} of {of}", entry.names);
            }
            let any = [String::new()];
            for of in if entry.of.is_empty() { &any[..] } else { &entry.of[..] } {
                for name in &entry.names {
                    assert!(seen.insert((name, of.clone())), "{name} of {of:?} stands twice");
                }
            }
        }
    }

    #[test]
    fn a_modifier_means_what_its_opcode_makes_of_it() {
        assert!(modifier("IMAD", "MOV").is_some_and(|text| text.contains("FMA pipe")));
        assert!(modifier("UIMAD", "MOV").is_some_and(|text| text.contains("FMA pipe")), "as IMAD's");
        assert_ne!(modifier("SHF", "HI"), modifier("IMAD", "HI"));
        assert_eq!(modifier("LDG", "NONSENSE"), None);
    }

    #[test]
    fn an_unknown_opcode_names_the_nearest() {
        let error = explain("FFMB.SAT").expect_err("there is none");
        assert_eq!(error.near.first(), Some(&"FFMA"));
        assert!(error.to_string().starts_with("there is no SASS opcode `FFMB` here; near are FFMA, "), "{error}");
        let like_none = explain("9").expect_err("there is none").to_string();
        assert!(like_none.starts_with("there is no SASS opcode `9` here\n"), "{like_none}");
        let explained = explain("ldg.e.128.what").expect("LDG is known");
        let known: Vec<bool> = explained.modifiers.iter().map(|(_, text)| text.is_some()).collect();
        assert_eq!((explained.opcode.name.as_str(), &known[..]), ("LDG", &[true, true, false][..]));
    }
}
