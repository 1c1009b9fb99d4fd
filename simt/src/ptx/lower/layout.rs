//! Addresses of shared variables, and sizes of variables.
//!
//! An entry's shared memory holds what is declared in the functions it reaches, and those module-level variables that they
//! name; first come, first placed. All `extern` arrays begin at the same place, behind them: dynamic shared memory.

use std::collections::{HashMap, HashSet};

use crate::isa::{Space, WINDOW_BYTES};
use crate::ptx::Module;
use crate::ptx::ast::{Base, Declaration, Home, Linkage, Operand, OperandKind, Statement, Symbol};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::source::Span;

/// Where the shared variables of an entry are.
#[derive(Debug, Default)]
pub(super) struct SharedLayout {
    /// By the place where the name is declared.
    offsets: HashMap<Span, u64>,
    pub static_bytes: u64,
    pub dynamic_offset: u64,
}

impl SharedLayout {
    pub fn new(module: &Module, functions: &[usize]) -> Outcome<Self> {
        let mut layout = Self::default();
        let mut dynamic = Vec::new();
        let mut dynamic_align = 1;
        let named = named_symbols(module, functions);
        let global = module.listing.declarations.iter().filter(|declaration| named.contains(&declaration.name.symbol));
        let local =
            functions.iter().flat_map(|&index| module.statements(index)).filter_map(|statement| match statement {
                Statement::Declaration(declaration) => Some(declaration),
                _ => None,
            });
        for declaration in global.chain(local).filter(|declaration| declaration.home == Home::Memory(Space::Shared)) {
            let align = alignment(declaration);
            if declaration.linkage == Linkage::Extern || declaration.dims.contains(&None) {
                dynamic.push(declaration.name.span);
                dynamic_align = align.max(dynamic_align);
                continue;
            }
            let offset = place(&mut layout.static_bytes, declaration, "shared")?;
            layout.offsets.insert(declaration.name.span, offset);
        }
        layout.dynamic_offset = layout.static_bytes.next_multiple_of(dynamic_align);
        layout.offsets.extend(dynamic.into_iter().map(|span| (span, layout.dynamic_offset)));
        Ok(layout)
    }

    pub fn offset(&self, declared_at: Span) -> Option<u64> {
        self.offsets.get(&declared_at).copied()
    }
}

/// Places a variable behind what there is, within the window that generic addresses have for its space; says where.
pub(super) fn place(end: &mut u64, declaration: &Declaration, space: &str) -> Outcome<u64> {
    let offset = end.next_multiple_of(alignment(declaration));
    let bytes = bytes(declaration)?;
    *end = offset.saturating_add(bytes);
    if *end > WINDOW_BYTES {
        let message = format!("{} bytes of {space} memory; at most {WINDOW_BYTES} are possible", *end);
        return Err(Problem::new(declaration.name.span, message));
    }
    Ok(offset)
}

/// Size of a variable, bytes; 0 for `[]`.
pub(in crate::ptx) fn bytes(declaration: &Declaration) -> Outcome<u64> {
    let element = element_bytes(declaration);
    let total = declaration.dims.iter().try_fold(element, |total, size| total.checked_mul(size.unwrap_or(0)));
    total.filter(|&total| total < 1 << 48).ok_or_else(|| {
        Problem::new(declaration.name.span, "this array is larger than any memory").help("expected less than 2⁴⁸ bytes")
    })
}

/// Bytes of one element, a vector counting as one.
pub(in crate::ptx) fn element_bytes(declaration: &Declaration) -> u64 {
    u64::from(declaration.ty.bits().div_ceil(8)) * u64::from(declaration.lanes)
}

/// Alignment of a variable, bytes: as declared, else that of its element.
pub(in crate::ptx) fn alignment(declaration: &Declaration) -> u64 {
    let natural = element_bytes(declaration).next_power_of_two();
    declaration.align.map_or(natural, u64::from)
}

/// Every name that these functions use.
fn named_symbols(module: &Module, functions: &[usize]) -> HashSet<Symbol> {
    let mut symbols = HashSet::new();
    for statement in functions.iter().flat_map(|&index| module.statements(index)) {
        if let Statement::Instruction(instruction) = statement {
            collect(&instruction.operands, &mut symbols);
        }
    }
    symbols
}

fn collect(operands: &[Operand], symbols: &mut HashSet<Symbol>) {
    for operand in operands {
        match &operand.kind {
            OperandKind::Name { name, .. } | OperandKind::Not(name) => _ = symbols.insert(name.symbol),
            OperandKind::Pair(pair) => collect(&pair[..], symbols),
            OperandKind::Vector(items) | OperandKind::List(items) => collect(items, symbols),
            OperandKind::Address { base, more, .. } => {
                if let Base::Name(name) = base {
                    symbols.insert(name.symbol);
                }
                collect(more, symbols);
            }
            OperandKind::Number(_) | OperandKind::Sink => {}
        }
    }
}
