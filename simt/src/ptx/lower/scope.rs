//! What names mean inside a function.

use std::collections::HashMap;

use super::code::{Code, Label, Predicate, Register};
use crate::isa::{Space, Ty};
use crate::ptx::ast::{Name, Symbol};
use crate::ptx::source::Span;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Binding {
    Register(Register, Ty),
    Predicate(Predicate),
    /// A vector register: its elements are consecutive words of one register.
    Vector {
        register: Register,
        ty: Ty,
        lanes: u8,
    },
    /// A variable with a known offset in shared, local or (a kernel's) parameter memory.
    Offset {
        space: Space,
        offset: u64,
        bytes: u64,
    },
    /// A module's variable, in global or constant memory; its name is where it was declared.
    Variable {
        space: Space,
        name: Span,
    },
    /// A parameter of a function or of a call: a register of as many words as it needs.
    Param {
        register: Register,
        bytes: u32,
    },
    Function(usize),
    /// A table of `brx.idx`.
    Table(u16),
    /// A prototype or a list of targets for indirect calls.
    CallInfo,
}

/// `.reg .b32 %r<10>`.
#[derive(Debug)]
struct Range {
    prefix: String,
    count: u32,
    ty: Ty,
    lanes: u8,
}

#[derive(Debug, Default)]
struct Scope {
    names: HashMap<Symbol, Binding>,
    ranges: Vec<Range>,
}

/// The scopes that are open, outermost first.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    open: Vec<Scope>,
}

impl Scopes {
    pub fn enter(&mut self) {
        self.open.push(Scope::default());
    }

    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// Binds a name in the innermost scope; the old binding if it had one there.
    pub fn bind(&mut self, symbol: Symbol, binding: Binding) -> Option<Binding> {
        self.open.last_mut()?.names.insert(symbol, binding)
    }

    pub fn bind_range(&mut self, prefix: &str, count: u32, ty: Ty, lanes: u8) {
        if let Some(scope) = self.open.last_mut() {
            scope.ranges.push(Range { prefix: prefix.to_owned(), count, ty, lanes });
        }
    }

    /// The meaning of a name, innermost scope first. A register of a range comes into being when it is first named.
    pub fn find(&mut self, name: Name, text: &str, code: &mut Code, function: u32) -> Option<Binding> {
        for scope in self.open.iter_mut().rev() {
            if let Some(&binding) = scope.names.get(&name.symbol) {
                return Some(binding);
            }
            if let Some(range) = scope.ranges.iter().find(|range| range.holds(text)) {
                let binding = new_register(range.ty, range.lanes, code, function);
                scope.names.insert(name.symbol, binding);
                return Some(binding);
            }
        }
        None
    }
}

impl Range {
    /// Has this range a register of that name?
    fn holds(&self, text: &str) -> bool {
        let Some(digits) = text.strip_prefix(&self.prefix) else { return false };
        let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        plain && digits.parse().is_ok_and(|index: u32| index < self.count)
    }
}

pub(super) fn new_register(ty: Ty, lanes: u8, code: &mut Code, function: u32) -> Binding {
    match (ty, lanes) {
        (Ty::Pred, _) => Binding::Predicate(code.predicate(function)),
        (_, 1) => Binding::Register(code.register(ty.slots(), function), ty),
        _ => Binding::Vector { register: code.register(ty.slots() * u16::from(lanes), function), ty, lanes },
    }
}

/// Labels of a function, by scope: a branch sees those of its own scope and of the ones around it.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// Enclosing scope of each scope; the first is its own.
    parents: Vec<u32>,
    labels: HashMap<(u32, Symbol), Label>,
}

impl Labels {
    /// A new scope inside `parent`.
    pub fn scope(&mut self, parent: u32) -> u32 {
        self.parents.push(parent);
        self.parents.len() as u32 - 1
    }

    pub fn insert(&mut self, scope: u32, symbol: Symbol, label: Label) -> Option<Label> {
        self.labels.insert((scope, symbol), label)
    }

    pub fn find(&self, mut scope: u32, symbol: Symbol) -> Option<Label> {
        loop {
            if let Some(&label) = self.labels.get(&(scope, symbol)) {
                return Some(label);
            }
            let parent = *self.parents.get(scope as usize)?;
            if parent == scope {
                return None;
            }
            scope = parent;
        }
    }
}
