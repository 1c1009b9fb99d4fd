//! A kernel that takes a branch on a condition, as PTX.
//!
//! Each thread works the condition out, takes one of two arms of the same length, and writes the value down. `&&` and `||` need no
//! branch of their own: what stands behind them is worked out in any case, but reads `a` in those lanes alone that need it.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Binary, Name, Term, Unary};

/// Instructions of each arm.
pub const ARM: usize = 32;

/// The kernel's name.
pub const ENTRY: &str = "condition";

/// The kernel, with the parameters `out`, `a` (addresses) and `n`. `is_line`: blocks have one row, so that a thread's number in its block
/// is `threadIdx.x`.
pub fn kernel(condition: &Term, is_line: bool) -> String {
    let mut writer = Writer { is_line, ..Writer::default() };
    let value = writer.term(condition, None);
    let tid = writer.name(Name::Tid);
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    let _ = writeln!(text, ".visible .entry {ENTRY}(.param .u64 out, .param .u64 a, .param .u32 n) {{");
    let _ = writeln!(text, ".reg .b32 %r<{}>; .reg .b64 %d<{}>;", writer.words + 8, writer.longs + 4);
    let _ = writeln!(text, ".reg .pred %p<{}>; .reg .f32 %f<2>;", writer.predicates + 1);
    text.push_str(&writer.code);
    let arm = |operation: &str| format!("{operation}.rn.f32 %f0, %f0, %f1;\n").repeat(ARM - 1);
    let [word, long, predicate] = [writer.words, writer.longs, writer.predicates];
    let _ = writeln!(text, "mov.f32 %f0, 0f3F800000;\nmov.f32 %f1, 0f3F000000;");
    let _ = writeln!(text, "setp.ne.s32 %p{predicate}, {value}, 0;\n@!%p{predicate} bra OTHERWISE;");
    let _ = write!(text, "{}mul.rn.f32 %f0, %f0, %f1;\nbra JOIN;\nOTHERWISE:\n{}", arm("add"), arm("mul"));
    let _ = writeln!(text, "add.rn.f32 %f0, %f0, %f1;\nJOIN:");
    // The thread's number in the grid.
    let [x, y, z, grid] = [word, word + 1, word + 2, word + 3];
    let _ = writeln!(text, "mov.u32 %r{x}, %ntid.x;\nmov.u32 %r{y}, %ntid.y;\nmov.u32 %r{z}, %ntid.z;");
    let _ = writeln!(text, "mul.lo.u32 %r{x}, %r{x}, %r{y};\nmul.lo.u32 %r{x}, %r{x}, %r{z};");
    let _ = writeln!(text, "mov.u32 %r{y}, %ctaid.y;\nmov.u32 %r{z}, %nctaid.x;\nmov.u32 %r{grid}, %ctaid.x;");
    let _ =
        writeln!(text, "mad.lo.u32 %r{grid}, %r{y}, %r{z}, %r{grid};\nmad.lo.u32 %r{grid}, %r{grid}, %r{x}, {tid};");
    let (address, base) = (long, long + 1);
    let _ = writeln!(text, "mul.wide.u32 %d{address}, %r{grid}, 4;\nld.param.u64 %d{base}, [out];");
    let _ = writeln!(text, "add.u64 %d{address}, %d{address}, %d{base};");
    let _ = writeln!(text, "st.global.u32 [%d{address}], {value};\nret;\n}}");
    text
}

#[derive(Default)]
struct Writer {
    code: String,
    words: usize,
    longs: usize,
    predicates: usize,
    /// Registers of names that were asked for.
    names: HashMap<Name, String>,
    is_line: bool,
}

const AXES: [char; 3] = ['x', 'y', 'z'];

impl Writer {
    fn line(&mut self, text: &str) {
        self.code.push_str(text);
        self.code.push_str(";\n");
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("%r{}", self.words - 1)
    }

    fn predicate(&mut self) -> String {
        self.predicates += 1;
        format!("%p{}", self.predicates - 1)
    }

    fn long(&mut self) -> String {
        self.longs += 1;
        format!("%d{}", self.longs - 1)
    }

    /// The register of a term's value. Memory is read in those lanes alone in which the predicate holds.
    fn term(&mut self, term: &Term, only: Option<&str>) -> String {
        match term {
            Term::Number { value, .. } => {
                let word = self.word();
                self.line(&format!("mov.u32 {word}, {value}"));
                word
            }
            Term::Name(name) => self.name(*name),
            Term::Element(index) => self.element(index, only),
            Term::Unary(unary, of) => {
                let (value, word) = (self.term(of, only), self.word());
                match unary {
                    Unary::Minus => self.line(&format!("neg.s32 {word}, {value}")),
                    Unary::Complement => self.line(&format!("not.b32 {word}, {value}")),
                    Unary::Not => {
                        let predicate = self.predicate();
                        self.line(&format!("setp.eq.s32 {predicate}, {value}, 0"));
                        self.line(&format!("selp.b32 {word}, 1, 0, {predicate}"));
                    }
                }
                word
            }
            Term::Binary(binary @ (Binary::And | Binary::Or), left, right) => self.both(*binary, left, right, only),
            Term::Binary(binary, left, right) => {
                let is_signed = match binary {
                    Binary::ShiftRight => left.is_signed(),
                    _ => left.is_signed() && right.is_signed(),
                };
                let (value, right, word) = (self.term(left, only), self.operand(right, only), self.word());
                let (left, operation) = (value, operation(*binary, if is_signed { "s32" } else { "u32" }));
                if binary.is_comparison() {
                    let predicate = self.predicate();
                    self.line(&format!("{operation} {predicate}, {left}, {right}"));
                    self.line(&format!("selp.b32 {word}, 1, 0, {predicate}"));
                } else {
                    self.line(&format!("{operation} {word}, {left}, {right}"));
                }
                word
            }
        }
    }

    /// The second operand of an operation: a number as it is, so that what it does can be foreseen.
    fn operand(&mut self, term: &Term, only: Option<&str>) -> String {
        match term {
            Term::Number { value, .. } => value.to_string(),
            other => self.term(other, only),
        }
    }

    fn both(&mut self, binary: Binary, left: &Term, right: &Term, only: Option<&str>) -> String {
        let [first, second, needs] = [self.predicate(), self.predicate(), self.predicate()];
        let value = self.term(left, only);
        self.line(&format!("setp.ne.s32 {first}, {value}, 0"));
        match binary {
            Binary::And => self.line(&format!("mov.pred {needs}, {first}")),
            _ => self.line(&format!("not.pred {needs}, {first}")),
        }
        if let Some(only) = only {
            self.line(&format!("and.pred {needs}, {needs}, {only}"));
        }
        let value = self.term(right, Some(&needs));
        self.line(&format!("setp.ne.s32 {second}, {value}, 0"));
        let joined = if binary == Binary::And { "and" } else { "or" };
        self.line(&format!("{joined}.pred {first}, {first}, {second}"));
        let word = self.word();
        self.line(&format!("selp.b32 {word}, 1, 0, {first}"));
        word
    }

    fn element(&mut self, index: &Term, only: Option<&str>) -> String {
        let ty = if index.is_signed() { "s32" } else { "u32" };
        let (at, word) = (self.term(index, only), self.word());
        let (address, base) = (self.long(), self.long());
        self.line(&format!("mul.wide.{ty} {address}, {at}, 4"));
        self.line(&format!("ld.param.u64 {base}, [a]"));
        self.line(&format!("add.u64 {address}, {address}, {base}"));
        self.line(&format!("mov.u32 {word}, 0"));
        let guard = only.map(|only| format!("@{only} ")).unwrap_or_default();
        self.line(&format!("{guard}ld.global.s32 {word}, [{address}]"));
        word
    }

    fn name(&mut self, name: Name) -> String {
        if let Some(known) = self.names.get(&name) {
            return known.clone();
        }
        let special = |writer: &mut Self, register: String| {
            let word = writer.word();
            writer.line(&format!("mov.u32 {word}, {register}"));
            word
        };
        let word = match name {
            Name::ThreadIdx(axis) => special(self, format!("%tid.{}", AXES[axis])),
            Name::BlockIdx(axis) => special(self, format!("%ctaid.{}", AXES[axis])),
            Name::BlockDim(axis) => special(self, format!("%ntid.{}", AXES[axis])),
            Name::GridDim(axis) => special(self, format!("%nctaid.{}", AXES[axis])),
            Name::Lane => special(self, "%laneid".to_owned()),
            Name::WarpSize => special(self, "32".to_owned()),
            Name::N => {
                let word = self.word();
                self.line(&format!("ld.param.u32 {word}, [n]"));
                word
            }
            Name::Warp => {
                let (tid, word) = (self.name(Name::Tid), self.word());
                self.line(&format!("shr.u32 {word}, {tid}, 5"));
                word
            }
            Name::Index => {
                let [block, size, x] =
                    [Name::BlockIdx(0), Name::BlockDim(0), Name::ThreadIdx(0)].map(|name| self.name(name));
                let word = self.word();
                self.line(&format!("mad.lo.u32 {word}, {block}, {size}, {x}"));
                word
            }
            Name::Tid if self.is_line => self.name(Name::ThreadIdx(0)),
            Name::Tid => {
                let [x, y, z] = [0, 1, 2].map(|axis| self.name(Name::ThreadIdx(axis)));
                let [width, height] = [0, 1].map(|axis| self.name(Name::BlockDim(axis)));
                let word = self.word();
                self.line(&format!("mad.lo.u32 {word}, {z}, {height}, {y}"));
                self.line(&format!("mad.lo.u32 {word}, {word}, {width}, {x}"));
                word
            }
        };
        self.names.insert(name, word.clone());
        word
    }
}

/// `add.u32`; `ty` matters where signed and unsigned differ.
fn operation(binary: Binary, ty: &str) -> String {
    let name = match binary {
        Binary::Or | Binary::BitOr => return "or.b32".to_owned(),
        Binary::And | Binary::BitAnd => return "and.b32".to_owned(),
        Binary::BitXor => return "xor.b32".to_owned(),
        Binary::ShiftLeft => return "shl.b32".to_owned(),
        Binary::ShiftRight => "shr",
        Binary::Add => "add",
        Binary::Subtract => "sub",
        Binary::Multiply => "mul.lo",
        Binary::Divide => "div",
        Binary::Remainder => "rem",
        Binary::Equal => "setp.eq",
        Binary::NotEqual => "setp.ne",
        Binary::Less => "setp.lt",
        Binary::LessOrEqual => "setp.le",
        Binary::Greater => "setp.gt",
        Binary::GreaterOrEqual => "setp.ge",
    };
    format!("{name}.{ty}")
}
