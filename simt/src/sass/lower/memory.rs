//! Loads, stores and atomics.

use super::{Lowered, Lowering, Operand, Parts, first, operand, predicates_from};
use crate::isa::{
    Access, Alu, AluKind, AtomicKind, BANKS_AT, Cache, Constant, Index, Instr, Mods, Op, Order, Scope, Slot, Space,
    Src, Ty,
};
use crate::sass::operand::{Address, AddressRegister, Register};

impl Lowering<'_> {
    pub(super) fn memory(&mut self, parts: &Parts<'_>) -> Option<Lowered> {
        let space = match parts.base {
            "LDG" | "STG" | "ATOMG" | "REDG" => Space::Global,
            "LD" | "ST" | "ATOM" | "RED" => Space::Generic,
            "LDS" | "STS" | "ATOMS" => Space::Shared,
            "LDL" | "STL" => Space::Local,
            "LDC" | "ULDC" | "LDCU" => return Some(self.constant_load(parts)),
            _ => return None,
        };
        Some(match parts.base {
            "LDG" | "LD" | "LDS" | "LDL" => self.load(parts, space),
            "STG" | "ST" | "STS" | "STL" => self.store(parts, space),
            "ATOMG" | "ATOM" | "ATOMS" => self.atomic(parts, space),
            _ => self.reduction(parts, space),
        })
    }

    /// `R, [address]`.
    fn load(&mut self, parts: &Parts<'_>, space: Space) -> Lowered {
        super::expect_count(parts, 2)?;
        let (ty, count) = width(parts);
        let mut instr = self.access(parts, 1, Access { ty, count, ..plain(parts, space) }, Op::Load)?;
        if let Some(slot) = self.result(first(parts)?)? {
            for element in 0..u16::from(count) {
                instr.dst[usize::from(element)] = Some(Slot(slot.0 + element));
            }
        }
        Ok(instr)
    }

    /// `[address], R`.
    fn store(&mut self, parts: &Parts<'_>, space: Space) -> Lowered {
        super::expect_count(parts, 2)?;
        let (ty, count) = width(parts);
        let mut instr = self.access(parts, 0, Access { ty, count, ..plain(parts, space) }, Op::Store)?;
        let (data, _) = self.source(parts, 1, u16::from(count) * ty.slots())?;
        for element in 0..u16::from(count) {
            instr.src[usize::from(element)] = data.word(element);
        }
        Ok(instr)
    }

    /// `[P,] R, [address], a [, b]`: CAS compares with `a` and writes `b`.
    fn atomic(&mut self, parts: &Parts<'_>, space: Space) -> Lowered {
        let outs = predicates_from(parts, 0);
        let (kind, access) = atomic_of(parts, space)?;
        let words = access.ty.slots();
        let mut instr = self.access(parts, outs + 1, access, |access| Op::Atomic(kind, access))?;
        instr.dst[0] = self.result(operand(parts, outs)?)?;
        instr.src[0] = match parts.modifiers.has("POPC") {
            // ATOMS.POPC.INC: every lane adds 1, the hardware all at once.
            true => self.literal(1, words)?,
            false => self.source(parts, outs + 2, words)?.0,
        };
        if kind == AtomicKind::Cas {
            instr.src[1] = self.source(parts, outs + 3, words)?.0;
        }
        Ok(instr)
    }

    /// `[address], a`.
    fn reduction(&mut self, parts: &Parts<'_>, space: Space) -> Lowered {
        let (kind, access) = atomic_of(parts, space)?;
        let mut instr = self.access(parts, 0, access, |access| Op::Atomic(kind, access))?;
        instr.src[0] = self.source(parts, 1, access.ty.slots())?.0;
        Ok(instr)
    }

    /// The operation with the address that operand `at` names.
    fn access(&mut self, parts: &Parts<'_>, at: usize, access: Access, op: impl Fn(Access) -> Op) -> Lowered {
        let Operand::Address(address) = operand(parts, at)? else {
            return Err(format!("an address was expected as operand {at}"));
        };
        let Address { base, index, offset } = *address;
        // A compare-and-swap has no descriptor, and its pair of registers is printed as `[R2]`; `.E` says that it is one.
        let extended = parts.modifiers.has("CAS") && parts.modifiers.has("E");
        let wide_address = base.is_some_and(|base| base.wide || extended);
        let form = Index { shift: base.map_or(0, |base| base.shift), wide: index.is_some_and(|index| index.wide) };
        if index.is_some_and(|index| index.shift > 0) {
            return Err("a scaled index".to_owned());
        }
        // A uniform pair beside a 32-bit register is the 64-bit base of the address.
        let plain = wide_address && index.is_none() && form.shift == 0;
        let access = Access { wide_address, index: (!plain).then_some(form), ..access };
        let mut instr = Instr::new(op(access));
        instr.addr = self.address_register(base)?;
        instr.index = self.address_register(index)?;
        instr.offset = offset;
        Ok(instr)
    }

    fn address_register(&mut self, part: Option<AddressRegister>) -> Result<Src, String> {
        let Some(part) = part else { return self.literal(0, 1) };
        match self.slot(part.register)? {
            Some(slot) => Ok(Src::slot(slot)),
            None => self.literal(0, 2),
        }
    }

    /// `R, c[bank][offset]`: a move of words that the launch knows, or a load of parameters where a register chooses.
    fn constant_load(&mut self, parts: &Parts<'_>) -> Lowered {
        let Operand::Constant { bank, register, offset, .. } = operand(parts, 1)?.clone() else {
            return Err("a constant was expected".to_owned());
        };
        let (ty, count) = width(parts);
        let words = ty.slots() * u16::from(count);
        if register.is_some() || (bank != 0 && ty.bits() < 32) {
            return self.chosen_constant(parts, bank, offset, register);
        }
        let src = if ty.bits() < 32 { self.narrow(offset, ty)? } else { self.bank_words(bank, offset, words)? };
        let ty = [Ty::B32, Ty::B32, Ty::B64, Ty::B128, Ty::B128][usize::from(words.min(4))];
        let mut instr = Instr::new(Op::Alu(Alu { kind: AluKind::Mov, ty, from: ty, mods: Mods::default() }));
        instr.src[0] = src;
        self.with_result(parts, instr)
    }

    /// Words of a bank from where a register says, or a part of a word: a load from what the launch keeps of the bank.
    fn chosen_constant(&mut self, parts: &Parts<'_>, bank: u32, offset: i64, register: Option<Register>) -> Lowered {
        let (ty, count) = width(parts);
        let access = Access { ty, count, index: Some(Index { shift: 0, wide: false }), ..plain(parts, Space::Param) };
        let mut instr = Instr::new(Op::Load(access));
        let index = register.map(|register| self.slot(register)).transpose()?.flatten();
        instr.addr = match index {
            Some(slot) => Src::slot(slot),
            None => self.literal(0, 1)?,
        };
        instr.offset = match bank {
            0 => offset.wrapping_sub(self.entry.params_at.0.into()),
            _ => offset.wrapping_add(self.place_bank(bank)?.into()),
        };
        instr.index = self.literal(0, 1)?;
        let result = self.result(first(parts)?)?;
        for element in 0..u16::from(count) {
            instr.dst[usize::from(element)] = result.map(|slot| Slot(slot.0 + element));
        }
        Ok(instr)
    }

    /// Keeps a whole bank for the launch, and says where it starts in [`Space::Param`].
    fn place_bank(&mut self, bank: u32) -> Result<u32, String> {
        if let Some((_, start)) = self.placed.iter().find(|(known, _)| *known == bank) {
            return Ok(*start);
        }
        let words: Option<Vec<Constant>> = self.entry.bank(bank).iter().cloned().collect();
        let words = words.filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("the machine does not know all of constant bank {bank}"))?;
        // As aligned as the widest load asks.
        self.banks.resize(self.banks.len().next_multiple_of(4), Constant::Literal(0));
        let start = BANKS_AT + 4 * self.banks.len() as u32;
        self.banks.extend(words);
        self.placed.push((bank, start));
        Ok(start)
    }

    /// A byte or half of the parameters.
    fn narrow(&mut self, offset: i64, ty: Ty) -> Result<Src, String> {
        let offset = u32::try_from(offset).ok().and_then(|byte| byte.checked_sub(self.entry.params_at.0));
        let offset = offset.ok_or("part of a word below the parameters")?;
        let bytes = (ty.bits() / 8) as u8;
        self.constant(&[Constant::Param { offset, bytes, signed: ty.is_signed() }])
    }
}

/// Type and number of what a lane moves.
fn width(parts: &Parts<'_>) -> (Ty, u8) {
    let widths = [
        ("U8", (Ty::U8, 1)),
        ("S8", (Ty::S8, 1)),
        ("U16", (Ty::U16, 1)),
        ("S16", (Ty::S16, 1)),
        ("64", (Ty::B64, 1)),
        ("128", (Ty::B32, 4)),
    ];
    parts.modifiers.pick(&widths).unwrap_or((Ty::B32, 1))
}

/// An access with what the modifiers say of caches and order.
fn plain(parts: &Parts<'_>, space: Space) -> Access {
    let modifiers = &parts.modifiers;
    // Hints: how addresses are counted, what L1 and L2 keep.
    modifiers.ignore(&["E", "WEAK", "PRIVATE", "LU", "NA", "LTC64B", "LTC128B", "LTC256B", "U"]);
    let scopes = [("CTA", Scope::Block), ("SM", Scope::Block), ("GPU", Scope::Gpu), ("SYS", Scope::System)];
    let scope = modifiers.pick(&scopes).unwrap_or_default();
    let order = if modifiers.has("STRONG") { Order::Relaxed } else { Order::Weak };
    let cache = modifiers
        .pick(&[("CONSTANT", Cache::ReadOnly), ("EF", Cache::Streaming), ("EL", Cache::All)])
        .unwrap_or_default();
    Access { space, ty: Ty::B32, count: 1, wide_address: false, cache, order, scope, index: None }
}

fn atomic_of(parts: &Parts<'_>, space: Space) -> Result<(AtomicKind, Access), String> {
    use AtomicKind::*;
    let modifiers = &parts.modifiers;
    let kinds = [
        ("ADD", Add),
        ("POPC", Add),
        ("MIN", Min),
        ("MAX", Max),
        ("INC", Inc),
        ("DEC", Dec),
        ("AND", And),
        ("OR", Or),
        ("XOR", Xor),
        ("EXCH", Exch),
        ("CAS", Cas),
    ];
    let popc = modifiers.has("POPC");
    if popc {
        modifiers.ignore(&["INC", "32"]);
    }
    let kind = if popc { Add } else { modifiers.pick(&kinds).ok_or("an atomic that the machine does not know")? };
    modifiers.ignore(&["FTZ", "RN"]);
    let types = [
        ("F16x2", Ty::F16x2),
        ("BF16x2", Ty::BF16x2),
        ("BF16_V2", Ty::BF16x2),
        ("F32", Ty::F32),
        ("F64", Ty::F64),
        ("S32", Ty::S32),
        ("U32", Ty::U32),
        ("S64", Ty::S64),
        ("U64", Ty::U64),
        ("64", Ty::U64),
    ];
    let ty = modifiers.pick(&types).unwrap_or(Ty::U32);
    modifiers.ignore(&["64"]);
    Ok((kind, Access { ty, ..plain(parts, space) }))
}
