//! A program as text: for tests, for people, for questions about a front end.
//!
//! One line an instruction, `result = operation sources`. `r` numbers slots (the first word of a value), `c` words of the
//! constants, `p` predicates.

use std::fmt::{Display, Formatter, Result, Write};

use super::{
    Access, Alu, AluKind, BoolOp, Cache, Constant, Half, Instr, Mods, Op, Order, PredSrc, Program, Round, Scope, Space,
};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "entry {}", self.name)?;
        for param in &self.params {
            writeln!(f, "  param {}: {} bytes at {}, {}", param.name, param.bytes, param.offset, param.ty)?;
        }
        let (slots, predicates) = (self.slot_count, self.pred_count.saturating_sub(1));
        write!(f, "  {slots} slots, {predicates} predicates, {} registers estimated", self.estimated_registers)?;
        if self.shared_static_bytes > 0 || self.shared_dynamic_offset > 0 {
            write!(f, ", {} bytes shared, dynamic from {}", self.shared_static_bytes, self.shared_dynamic_offset)?;
        }
        if self.local_bytes > 0 {
            write!(f, ", {} bytes local", self.local_bytes)?;
        }
        if self.barrier_count > 0 {
            write!(f, ", {} barriers", self.barrier_count)?;
        }
        writeln!(f)?;
        for (name, threads) in [("max", self.max_threads), ("required", self.required_threads)] {
            if let Some([x, y, z]) = threads {
                writeln!(f, "  {name} threads {x}, {y}, {z}")?;
            }
        }
        for (index, constant) in self.constants.iter().enumerate() {
            writeln!(f, "  c{index} = {constant}")?;
        }
        for (index, table) in self.tables.iter().enumerate() {
            writeln!(f, "  table {index}: {table:?}")?;
        }
        self.code.iter().enumerate().try_for_each(|(pc, instr)| writeln!(f, "{pc:4}  {instr}"))
    }
}

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        const AXES: [char; 4] = ['x', 'y', 'z', 'w'];
        let axis = |axis: u8| AXES[usize::from(axis & 3)];
        match self {
            Constant::Literal(value) if *value < 1024 => write!(f, "{value}"),
            Constant::Literal(value) => write!(f, "{value:#x}"),
            Constant::Param { offset, bytes, signed } => {
                let sign = if *signed { "signed " } else { "" };
                write!(f, "{sign}param[{offset}..{}]", offset + u32::from(*bytes))
            }
            Constant::BlockDim(a) => write!(f, "ntid.{}", axis(*a)),
            Constant::GridDim(a) => write!(f, "nctaid.{}", axis(*a)),
            Constant::Variable { name, addend: 0, word } => write!(f, "word {word} of {name}"),
            Constant::Variable { name, addend, word } => write!(f, "word {word} of {name}{addend:+}"),
            Constant::Function { name, word } => write!(f, "word {word} of function {name}"),
            other => write!(f, "{}", format!("{other:?}").to_lowercase()),
        }
    }
}

impl Display for Instr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.guard != PredSrc::TRUE {
            write!(f, "@{} ", self.guard)?;
        }
        let slots = self.dst.iter().map(|slot| slot.map(|slot| format!("r{}", slot.0)));
        let predicates = self.pdst.iter().map(|pred| pred.map(|pred| format!("p{}", pred.0)));
        let mut results: Vec<_> = slots.map(|slot| slot.unwrap_or_else(|| "_".to_owned())).collect();
        trim(&mut results, "_");
        let mut pairs: Vec<_> = predicates.map(|pred| pred.unwrap_or_else(|| "_".to_owned())).collect();
        trim(&mut pairs, "_");
        results.extend(pairs);
        if !results.is_empty() {
            write!(f, "{} = ", results.join(", "))?;
        }
        write!(f, "{}", self.op)?;
        let sources = self.sources();
        if sources.is_empty() { Ok(()) } else { write!(f, " {}", sources.join(", ")) }
    }
}

impl Instr {
    fn sources(&self) -> Vec<String> {
        let mut sources = Vec::new();
        if matches!(self.op, Op::Load(_) | Op::Store(_) | Op::Atomic(..)) {
            sources.push(match (self.addr.is_none(), self.offset) {
                (true, offset) => format!("[{offset}]"),
                (false, 0) => format!("[{:?}]", self.addr),
                (false, offset) => format!("[{:?}{offset:+}]", self.addr),
            });
        }
        let mut operands: Vec<_> = self.src.iter().map(|source| format!("{source:?}")).collect();
        trim(&mut operands, "-");
        sources.extend(operands);
        let pa = match self.op {
            Op::Alu(alu) => alu.mods.pa.0,
            _ => PredSrc::TRUE,
        };
        if is_logic(&self.op) {
            sources.push(pa.to_string());
        }
        if self.psrc != PredSrc::TRUE || reads_predicate(&self.op) {
            sources.push(self.psrc.to_string());
        }
        sources
    }
}

/// Removes what follows the last entry that is not `empty`.
fn trim(items: &mut Vec<String>, empty: &str) {
    let kept = items.iter().rposition(|item| item != empty).map_or(0, |last| last + 1);
    items.truncate(kept);
}

fn is_logic(op: &Op) -> bool {
    use AluKind::{PredAnd, PredMov, PredNot, PredOr, PredXor};
    matches!(op, Op::Alu(Alu { kind: PredAnd | PredOr | PredXor | PredNot | PredMov, .. }))
}

fn reads_predicate(op: &Op) -> bool {
    use AluKind::{PredAnd, PredOr, PredXor, Selp};
    matches!(op, Op::Alu(Alu { kind: PredAnd | PredOr | PredXor | Selp, .. }) | Op::Vote(_))
}

impl Display for PredSrc {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match (self.pred.0, self.negate) {
            (0, false) => f.write_str("true"),
            (0, true) => f.write_str("false"),
            (pred, false) => write!(f, "p{pred}"),
            (pred, true) => write!(f, "!p{pred}"),
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Op::Alu(alu) => alu.fmt(f),
            Op::Load(access) => write!(f, "load{access}"),
            Op::Store(access) => write!(f, "store{access}"),
            Op::Atomic(kind, access) => write!(f, "atomic{}{access}", word(kind)),
            Op::Branch { target, reconverge } => {
                write!(f, "branch {target}")?;
                reconverge.map_or(Ok(()), |meets| write!(f, " meets {meets}"))
            }
            Op::BranchIndexed { table, reconverge } => {
                write!(f, "branch table {table}")?;
                reconverge.map_or(Ok(()), |meets| write!(f, " meets {meets}"))
            }
            Op::Call { target } => write!(f, "call {target}"),
            Op::Special(special) => write!(f, "{}", format!("{special:?}").to_lowercase()),
            Op::Barrier(kind) => write!(f, "barrier{}", word(kind)),
            Op::Shuffle(kind) => write!(f, "shuffle{}", word(kind)),
            Op::Vote(kind) => write!(f, "vote{}", word(kind)),
            Op::Match { all, bits } => write!(f, "match.{}.b{bits}", if *all { "all" } else { "any" }),
            Op::Redux(kind, ty) => write!(f, "redux{}.{ty}", word(kind)),
            Op::Fence(scope) => write!(f, "fence{}", word(scope)),
            other => write!(f, "{}", format!("{other:?}").to_lowercase()),
        }
    }
}

/// `.add` for `Add`; `.reduce.popc` for `Reduce(Popc)`.
fn word(value: &impl std::fmt::Debug) -> String {
    format!(".{}", format!("{value:?}").to_lowercase().replace('(', ".").replace(')', ""))
}

impl Display for Alu {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let kind = match self.kind {
            AluKind::CvtaFrom => "cvta".to_owned(),
            AluKind::CvtaTo => "cvta.to".to_owned(),
            AluKind::Setp | AluKind::Set => format!("{:?}{}", self.kind, word(&self.mods.cmp)).to_lowercase(),
            kind => format!("{kind:?}").to_lowercase(),
        };
        write!(f, "{kind}{}.{}", Suffix(&self.mods), self.ty)?;
        if self.from != self.ty { write!(f, ".{}", self.from) } else { Ok(()) }
    }
}

/// The modifiers that are not the default.
struct Suffix<'a>(&'a Mods);

impl Display for Suffix<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mods = self.0;
        let standard = Mods::default();
        if mods.bool_op != BoolOp::None {
            f.write_str(&word(&mods.bool_op))?;
        }
        if mods.half != Half::Lo {
            f.write_str(&word(&mods.half))?;
        }
        if mods.round != Round::Default {
            f.write_str(&word(&mods.round))?;
        }
        if mods.prmt != standard.prmt {
            f.write_str(&word(&mods.prmt))?;
        }
        if mods.testp != standard.testp {
            f.write_str(&word(&mods.testp))?;
        }
        if mods.space != Space::Generic {
            f.write_str(&word(&mods.space))?;
        }
        let flags = [
            (mods.ftz, ".ftz"),
            (mods.sat, ".sat"),
            (mods.satfinite, ".satfinite"),
            (mods.relu, ".relu"),
            (mods.nan, ".NaN"),
            (mods.xorsign_abs, ".xorsign.abs"),
            (mods.approx, ".approx"),
            (mods.full, ".full"),
            (mods.carry_in, ".carry_in"),
            (mods.carry_out, ".carry_out"),
            (mods.wrap, ".wrap"),
            (mods.shiftamt, ".shiftamt"),
        ];
        flags.iter().filter(|(set, _)| *set).try_for_each(|(_, name)| f.write_str(name))?;
        if mods.lut != 0 { write!(f, ".{:#04x}", mods.lut) } else { Ok(()) }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.order != Order::Weak {
            f.write_str(&word(&self.order))?;
        }
        if self.scope != Scope::Gpu {
            f.write_str(&word(&self.scope))?;
        }
        f.write_str(&word(&self.space))?;
        if self.cache != Cache::All {
            f.write_str(&word(&self.cache))?;
        }
        if self.count > 1 {
            write!(f, ".v{}", self.count)?;
        }
        f.write_char('.')?;
        self.ty.fmt(f)
    }
}
