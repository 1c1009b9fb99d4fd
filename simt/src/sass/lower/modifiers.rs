//! The modifiers of one opcode: whoever lowers it takes those that it knows, and what is left over is unknown.

use std::cell::Cell;

use super::super::error::Problem;
use crate::isa::{Cmp, Round, Ty};

pub(super) struct Modifiers<'a> {
    names: Vec<(&'a str, Cell<bool>)>,
}

impl<'a> Modifiers<'a> {
    pub fn new(names: Vec<&'a str>) -> Self {
        Self { names: names.into_iter().map(|name| (name, Cell::new(false))).collect() }
    }

    /// Whether it is there; it counts as known then.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().filter(|(known, _)| *known == name).map(|(_, seen)| seen.set(true)).count() > 0
    }

    /// The first of these that is there.
    pub fn pick<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|(name, _)| self.has(name)).map(|(_, value)| *value)
    }

    /// Those of the choices that are there, as they are written.
    pub fn in_order<T: Copy>(&self, choices: &[(&str, T)]) -> Vec<T> {
        let chosen = |(name, seen): &(&str, Cell<bool>)| {
            let choice = choices.iter().find(|(known, _)| known == name)?;
            seen.set(true);
            Some(choice.1)
        };
        self.names.iter().filter_map(chosen).collect()
    }

    /// Whether there are none but these.
    pub fn is_plain(&self, allowed: &[&str]) -> bool {
        self.names.iter().all(|(name, _)| allowed.contains(name))
    }

    /// Marks modifiers as known that change nothing the machine does.
    pub fn ignore(&self, names: &[&str]) {
        for name in names {
            self.has(name);
        }
    }

    pub fn all_known(&self) -> Result<(), Problem> {
        match self.names.iter().find(|(_, seen)| !seen.get()) {
            Some((name, _)) => Err(format!("the machine does not know the modifier .{name}")),
            None => Ok(()),
        }
    }

    /// How a float result is rounded.
    pub fn round(&self) -> Round {
        self.pick(&[("RN", Round::Rn), ("RZ", Round::Rz), ("RM", Round::Rm), ("RP", Round::Rp)]).unwrap_or_default()
    }

    pub fn cmp(&self) -> Option<Cmp> {
        self.pick(&[
            ("EQ", Cmp::Eq),
            ("NE", Cmp::Ne),
            ("LT", Cmp::Lt),
            ("LE", Cmp::Le),
            ("GT", Cmp::Gt),
            ("GE", Cmp::Ge),
            ("EQU", Cmp::Equ),
            ("NEU", Cmp::Neu),
            ("LTU", Cmp::Ltu),
            ("LEU", Cmp::Leu),
            ("GTU", Cmp::Gtu),
            ("GEU", Cmp::Geu),
            ("NUM", Cmp::Num),
            ("NAN", Cmp::Nan),
        ])
    }

    /// `U32` where it is there, else signed.
    pub fn word(&self) -> Ty {
        self.pick(&[("U32", Ty::U32), ("S32", Ty::S32)]).unwrap_or(Ty::S32)
    }
}
