//! The PTX front end: text to [`Module`], and each of its entries to an [`isa::Program`].
//!
//! It takes what compilers and people write, PTX ISA 1.x to 9.x, and checks every instruction against one table
//! ([`opcode`]). Parsing reads the whole module and no instruction; lowering reads the functions that one entry reaches. So an
//! entry that uses what the machine does not have (`mma`, `cp.async` …) is refused with its name and line, and the other
//! entries of the module still run.
//!
//! One instruction of the text is one [`isa::Instr`], since counters count instructions. The exceptions:
//! - a call takes one move for each 32, 64 or 128 bits of arguments and results, besides the call itself;
//! - a load or conversion whose register is wider than its result takes a second instruction to extend it, where one does not do;
//! - a `mov` of a whole vector joins its elements and splits them again;
//! - a special register as an operand of anything but `mov` is first read into a register;
//! - a body that does not end in `ret` or `exit` gets one.
//!
//! The steps, each in a module of its own: [`lexer`], [`parser`] (to [`ast`]), [`lower`] (names to registers, instructions to
//! operations), [`flow`] (control flow, post-dominators, liveness, slots).

mod ast;
mod error;
mod flow;
mod lexer;
mod lower;
mod opcode;
mod parser;
mod source;
mod variables;

use std::collections::HashMap;

pub use ast::Bounds;
pub use error::PtxError;

use crate::isa;
use ast::{Declaration, Function, Listing, Name, Statement, Symbol};
use error::{Outcome, Problem};
use source::Source;

/// A parsed PTX module.
#[derive(Debug)]
pub struct Module {
    source: Source,
    listing: Listing,
    /// Functions and module-level variables by name.
    globals: HashMap<Symbol, Global>,
    /// Kernels by name: indices of the listing's functions.
    entries: HashMap<String, usize>,
    variables: Vec<isa::Variable>,
}

#[derive(Clone, Copy, Debug)]
enum Global {
    Declaration(usize),
    Function(usize),
}

impl Module {
    /// Parses `text`; `name` is what errors call it, usually a path.
    ///
    /// # Errors
    /// The first place where the text is not PTX, or declares what no machine could hold. Instructions are not looked at.
    pub fn parse(name: &str, text: &str) -> Result<Module, PtxError> {
        let source = Source::new(name, text);
        let problem = match Self::parts(&source) {
            Ok((listing, globals, variables)) => {
                let entries =
                    kernels(&listing).map(|(index, name)| (source.slice(name.span).to_owned(), index)).collect();
                return Ok(Module { source, listing, globals, entries, variables });
            }
            Err(problem) => problem,
        };
        Err(PtxError::new(&source, problem))
    }

    fn parts(source: &Source) -> Outcome<(Listing, HashMap<Symbol, Global>, Vec<isa::Variable>)> {
        let listing = parser::parse(source)?;
        let globals = Self::globals(source, &listing)?;
        let variables = variables::collect(source, &listing)?;
        Ok((listing, globals, variables))
    }

    fn globals(source: &Source, listing: &Listing) -> Outcome<HashMap<Symbol, Global>> {
        let mut globals = HashMap::new();
        for (index, declaration) in listing.declarations.iter().enumerate() {
            globals.entry(declaration.name.symbol).or_insert(Global::Declaration(index));
        }
        for (index, function) in listing.functions.iter().enumerate() {
            let known = globals.entry(function.name.symbol).or_insert(Global::Function(index));
            let Global::Function(first) = *known else { continue };
            if function.body.is_none() || first == index {
                continue;
            }
            if listing.functions[first].body.is_some() {
                let message = format!("`{}` is defined twice", source.slice(function.name.span));
                return Err(Problem::new(function.name.span, message));
            }
            *known = Global::Function(index);
        }
        Ok(globals)
    }

    /// Names of the kernels, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        kernels(&self.listing).map(|(_, name)| self.source.slice(name.span))
    }

    /// What an entry's header says of its launches and registers; the machine need not know the body. `None`: there is no such entry.
    pub fn bounds(&self, entry: &str) -> Option<Bounds> {
        self.function(*self.entries.get(entry)?).map(|function| function.bounds)
    }

    /// Lowers one kernel.
    ///
    /// # Errors
    /// There is no such entry; an instruction is not PTX; or the machine does not execute it.
    pub fn lower(&self, entry: &str) -> Result<isa::Program, PtxError> {
        lower::lower(self, entry).map_err(|problem| PtxError::new(&self.source, problem))
    }

    /// Module-level `.global` and `.const` variables, and those declared inside functions.
    pub fn variables(&self) -> &[isa::Variable] {
        &self.variables
    }

    /// `.version`: major and minor.
    pub fn version(&self) -> (u32, u32) {
        self.listing.version
    }

    /// `.target`: `sm_80`.
    pub fn target(&self) -> &str {
        &self.listing.target
    }

    fn symbol_text(&self, symbol: Symbol) -> &str {
        self.listing.symbols.get(symbol.0 as usize).map_or("", |span| self.source.slice(*span))
    }

    /// Index of the function of that name, or of what it is an alias of.
    fn function_index(&self, symbol: Symbol) -> Option<usize> {
        let alias = self.listing.aliases.iter().find(|(alias, _)| alias.symbol == symbol);
        let target = alias.map_or(symbol, |(_, function)| function.symbol);
        match self.globals.get(&target) {
            Some(Global::Function(index)) => Some(*index),
            _ => None,
        }
    }

    fn function_with_body(&self, symbol: Symbol) -> Option<usize> {
        self.function_index(symbol)
            .filter(|&index| self.function(index).is_some_and(|function| function.body.is_some()))
    }

    fn function(&self, index: usize) -> Option<&Function> {
        self.listing.functions.get(index)
    }

    fn global_declaration(&self, symbol: Symbol) -> Option<&Declaration> {
        match self.globals.get(&symbol) {
            Some(Global::Declaration(index)) => self.listing.declarations.get(*index),
            _ => None,
        }
    }

    fn statements(&self, function: usize) -> &[Statement] {
        self.function(function).and_then(|function| function.body.as_deref()).unwrap_or(&[])
    }
}

/// Kernels with a body, in the order of the text: index and name.
fn kernels(listing: &Listing) -> impl Iterator<Item = (usize, Name)> {
    let functions = listing.functions.iter().enumerate();
    functions
        .filter(|(_, function)| function.is_entry && function.body.is_some())
        .map(|(index, function)| (index, function.name))
}
