//! Variables in global and constant memory, with their initial contents.

use std::collections::HashMap;

use super::ast::{Declaration, Home, Init, Linkage, Listing, Number, Statement, Symbol};
use super::error::{Outcome, Problem};
use super::lower::{alignment, bytes, element_bytes, literal_bits};
use super::source::{Source, Span};
use crate::isa::{Relocation, Space, Variable};

/// The address of a function, by its index in the listing: distinct and not null, but nothing is there, since calls by
/// address are not executed.
pub(super) fn function_address(index: usize) -> u64 {
    const FIRST: u64 = 0x0F00_0000_0000;
    const STEP: u64 = 16;
    FIRST + STEP * index as u64
}

/// All `.global` and `.const` variables of the module and of its functions' bodies.
pub(super) fn collect(source: &Source, listing: &Listing) -> Outcome<Vec<Variable>> {
    let functions = listing.functions.iter().enumerate();
    let code = functions.map(|(index, function)| (function.name.symbol, function_address(index))).collect();
    let bodies = listing.functions.iter().filter_map(|function| function.body.as_ref()).flatten();
    let local = bodies.filter_map(|statement| match statement {
        Statement::Declaration(declaration) => Some(declaration),
        _ => None,
    });
    let mut variables = Vec::new();
    for declaration in listing.declarations.iter().chain(local) {
        let Home::Memory(space @ (Space::Global | Space::Const)) = declaration.home else { continue };
        if declaration.linkage != Linkage::Extern {
            variables.push(variable(source, &code, declaration, space)?);
        }
    }
    Ok(variables)
}

fn variable(
    source: &Source,
    code: &HashMap<Symbol, u64>,
    declaration: &Declaration,
    space: Space,
) -> Outcome<Variable> {
    let mut contents = Contents { source, code, declaration, init: Vec::new(), relocations: Vec::new() };
    if let Some(init) = &declaration.init {
        contents.add(init, 0)?;
    }
    let mut size = bytes(declaration)?;
    if declaration.dims.first() == Some(&None) {
        // `x[] = {…}`: as many elements as there are values.
        size = contents.init.len() as u64;
    }
    if contents.init.len() as u64 > size {
        let message = format!("{} bytes of initial values for {size} bytes", contents.init.len());
        return Err(Problem::new(declaration.name.span, message));
    }
    let used = contents.init.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    contents.init.truncate(used);
    Ok(Variable {
        name: source.slice(declaration.name.span).to_owned(),
        space,
        bytes: size,
        align: alignment(declaration),
        init: contents.init,
        relocations: contents.relocations,
    })
}

/// Longest row that is filled up: initial values are bytes of the text, and zeros at the end need none.
const ROW_BYTES_MAX: u64 = 1 << 20;

struct Contents<'a> {
    source: &'a Source,
    code: &'a HashMap<Symbol, u64>,
    declaration: &'a Declaration,
    init: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Contents<'_> {
    /// Values follow one another; a row in braces of its own (`depth` 1 and more) is filled up with zeros.
    fn add(&mut self, init: &Init, depth: usize) -> Outcome<()> {
        match init {
            Init::List(items) => {
                let start = self.init.len() as u64;
                items.iter().try_for_each(|item| self.add(item, depth + 1))?;
                let row = if depth == 0 { 0 } else { self.row_bytes(depth) };
                // A row longer than its values would fill is found by the size of the whole.
                if row <= ROW_BYTES_MAX && self.init.len() as u64 <= start + row {
                    self.init.resize((start + row) as usize, 0);
                }
                Ok(())
            }
            Init::Number(number, span) => self.number(*number, *span),
            Init::Address { name, addend, generic } => self.address(name.symbol, name.span, *addend, *generic),
        }
    }

    /// Bytes of what one pair of braces at this depth holds: a row, or a vector.
    fn row_bytes(&self, depth: usize) -> u64 {
        let inner = self.declaration.dims.get(depth..).unwrap_or(&[]);
        inner.iter().fold(element_bytes(self.declaration), |bytes, size| bytes.saturating_mul(size.unwrap_or(0)))
    }

    fn number(&mut self, number: Number, span: Span) -> Outcome<()> {
        let ty = self.declaration.ty;
        let Some(bits) = literal_bits(number, ty) else {
            let message = format!("`{}` is not a value of type .{ty}", self.source.slice(span));
            return Err(Problem::new(span, message));
        };
        self.push(bits);
        Ok(())
    }

    fn push(&mut self, bits: u128) {
        let bytes = self.declaration.ty.bits().div_ceil(8) as usize;
        self.init.extend_from_slice(&bits.to_le_bytes()[..bytes.min(16)]);
    }

    fn address(&mut self, symbol: Symbol, span: Span, addend: i64, generic: bool) -> Outcome<()> {
        let bits = self.declaration.ty.bits();
        if let Some(&address) = self.code.get(&symbol) {
            self.push(u128::from(address.wrapping_add_signed(addend)));
            return Ok(());
        }
        if bits != 64 {
            let message = format!("an address as a value of type .{}", self.declaration.ty);
            return Err(Problem::new(span, message).help("addresses have 64 bits: .u64 or .b64"));
        }
        let symbol = self.source.slice(span).to_owned();
        self.relocations.push(Relocation { offset: self.init.len() as u64, symbol, addend, generic });
        self.push(0);
        Ok(())
    }
}
