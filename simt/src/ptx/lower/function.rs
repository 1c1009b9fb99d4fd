//! The statements of one function, in order.

use std::sync::Arc;

use super::Lowering;
use super::code::{Label, Predicate, Step};
use super::layout;
use super::scope::{Binding, Labels, Scopes, new_register};
use crate::isa::{Op, SourceLine, Space};
use crate::ptx::ast::{Declaration, Home, Name, Statement};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::source::Span;

/// The function being lowered.
pub(super) struct Function<'l, 'm> {
    pub lowering: &'l mut Lowering<'m>,
    /// Index in the code's functions; 0 is the entry.
    pub index: u32,
    pub scopes: Scopes,
    pub labels: Labels,
    /// Number of the innermost open scope, for labels.
    pub scope: u32,
    /// The carry flag, once something used it.
    pub carry: Option<Predicate>,
    /// Where the instructions from here on come from.
    pub place: Arc<[SourceLine]>,
    /// The instruction at hand.
    pub span: Span,
}

pub(super) fn lower(lowering: &mut Lowering<'_>, index: u32) -> Outcome<()> {
    let listing_index = lowering.order[index as usize];
    let statements = lowering.module.statements(listing_index);
    let mut function = Function {
        lowering,
        index,
        scopes: Scopes::default(),
        labels: Labels::default(),
        scope: 0,
        carry: None,
        place: Arc::default(),
        span: Span::default(),
    };
    function.declare_labels(statements)?;
    function.run(statements)
}

impl<'m> Function<'_, 'm> {
    pub fn is_entry(&self) -> bool {
        self.index == 0
    }

    /// Gives every label a number before the first branch to it, scope by scope.
    fn declare_labels(&mut self, statements: &[Statement]) -> Outcome<()> {
        let mut open = vec![self.labels.scope(0)];
        for statement in statements {
            let scope = open.last().copied().unwrap_or(0);
            match statement {
                Statement::Open => open.push(self.labels.scope(scope)),
                Statement::Close => _ = open.pop(),
                Statement::Label(name) => {
                    let label = self.lowering.code.label();
                    if self.labels.insert(scope, name.symbol, label).is_some() {
                        return Err(self.declared_twice(*name));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn run(&mut self, statements: &'m [Statement]) -> Outcome<()> {
        let start = self.lowering.code.steps.len() as u32;
        self.lowering.code.functions[self.index as usize].start = start;
        self.scopes.enter();
        if self.is_entry() {
            self.lowering.module.listing.registers.iter().try_for_each(|register| self.declaration(register))?;
        }
        self.scopes.enter();
        self.bind_params()?;
        // Scopes are numbered in the order in which they open, as in `declare_labels`.
        let (mut open, mut scopes) = (vec![0], 0);
        for statement in statements {
            match statement {
                Statement::Open => {
                    scopes += 1;
                    open.push(scopes);
                    self.scopes.enter();
                }
                Statement::Close => {
                    open.pop();
                    self.scopes.leave();
                }
                other => self.statement(other)?,
            }
            self.scope = open.last().copied().unwrap_or(0);
        }
        self.end();
        Ok(())
    }

    fn statement(&mut self, statement: &'m Statement) -> Outcome<()> {
        match statement {
            Statement::Instruction(instruction) => self.instruction(instruction)?,
            Statement::Label(name) => {
                if let Some(label) = self.labels.find(self.scope, name.symbol) {
                    self.place_label(label);
                }
            }
            Statement::Declaration(declaration) => self.declaration(declaration)?,
            Statement::BranchTargets { name, targets } => self.table(*name, targets)?,
            Statement::CallInfo(name) => self.bind(*name, Binding::CallInfo)?,
            Statement::Loc(loc) => self.place = self.lowering.debug.chain(&self.lowering.module.listing, loc),
            Statement::Open | Statement::Close => {}
        }
        Ok(())
    }

    fn place_label(&mut self, label: Label) {
        let here = self.lowering.code.steps.len() as u32;
        self.lowering.code.labels[label.0 as usize] = here;
    }

    fn table(&mut self, name: Name, targets: &[Name]) -> Outcome<()> {
        let labels = targets.iter().map(|target| self.label(*target)).collect::<Outcome<Vec<_>>>()?;
        let tables = &mut self.lowering.code.tables;
        let Ok(index) = u16::try_from(tables.len()) else {
            return Err(Problem::new(name.span, "more than 65,536 jump tables"));
        };
        tables.push(labels);
        self.bind(name, Binding::Table(index))
    }

    pub fn label(&self, name: Name) -> Outcome<Label> {
        self.labels.find(self.scope, name.symbol).ok_or_else(|| {
            let text = self.lowering.module.source.slice(name.span);
            Problem::new(name.span, format!("there is no label `{text}` here"))
        })
    }

    /// A body whose end can be reached returns there.
    fn end(&mut self) {
        let code = &self.lowering.code;
        let function = &code.functions[self.index as usize];
        let here = code.steps.len() as u32;
        let last = code.steps[function.start as usize..].last();
        let ends = last.is_some_and(|step| step.is_unguarded() && is_end(&step.op));
        if !ends || self.jumps_to(here) {
            let op = if self.is_entry() { Op::Exit } else { Op::Return };
            let end = Span { start: self.span.end, end: self.span.end };
            let step = Step::new(op, end, self.place.clone());
            self.lowering.code.steps.push(step);
        }
        let end = self.lowering.code.steps.len() as u32;
        self.lowering.code.functions[self.index as usize].end = end;
    }

    /// Does this function branch to that step? Labels alone do not count: compilers mark a function's end with one.
    fn jumps_to(&self, at: u32) -> bool {
        let code = &self.lowering.code;
        let start = code.functions[self.index as usize].start as usize;
        let branches = code.steps[start..].iter().filter_map(|step| step.label);
        let mut targets = branches.chain(code.tables.iter().flatten().copied());
        targets.any(|label| code.target(label) == at)
    }

    fn declaration(&mut self, declaration: &Declaration) -> Outcome<()> {
        match declaration.home {
            Home::Register => self.register_declaration(declaration),
            Home::Memory(space) => self.memory_declaration(declaration, space),
        }
    }

    fn register_declaration(&mut self, declaration: &Declaration) -> Outcome<()> {
        let &Declaration { ty, name, lanes, range, .. } = declaration;
        if !declaration.dims.is_empty() {
            return Err(Problem::new(name.span, "an array of registers").help("expected a range such as %r<10>"));
        }
        let text = self.lowering.module.source.slice(name.span);
        if let Some(count) = range {
            self.scopes.bind_range(text, count, ty, lanes);
            return Ok(());
        }
        let binding = new_register(ty, lanes, &mut self.lowering.code, self.index);
        self.bind(name, binding)
    }

    fn memory_declaration(&mut self, declaration: &Declaration, space: Space) -> Outcome<()> {
        let name = declaration.name;
        let binding = match space {
            Space::Shared => {
                let offset = self.lowering.shared.offset(name.span).unwrap_or(0);
                Binding::Offset { space, offset, bytes: layout::bytes(declaration)? }
            }
            Space::Local => {
                let base = self.lowering.local_bases[self.index as usize];
                let mut end = base + self.lowering.code.functions[self.index as usize].local_bytes;
                let offset = layout::place(&mut end, declaration, "local")?;
                self.lowering.code.functions[self.index as usize].local_bytes = end - base;
                Binding::Offset { space, offset, bytes: layout::bytes(declaration)? }
            }
            Space::Param => self.param_register(declaration)?,
            _ => Binding::Variable { space, name: name.span },
        };
        self.bind(name, binding)
    }

    pub fn bind(&mut self, name: Name, binding: Binding) -> Outcome<()> {
        match self.scopes.bind(name.symbol, binding) {
            None => Ok(()),
            Some(_) => Err(self.declared_twice(name)),
        }
    }

    fn declared_twice(&self, name: Name) -> Problem {
        let text = self.lowering.module.source.slice(name.span);
        Problem::new(name.span, format!("`{text}` is declared twice in one scope"))
    }
}

/// Does nothing come after this operation?
fn is_end(op: &Op) -> bool {
    matches!(op, Op::Exit | Op::Return | Op::Trap | Op::Branch { .. } | Op::BranchIndexed { .. })
}
