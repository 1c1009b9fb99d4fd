//! Parameters: of kernels, in the launch's parameter buffer; of functions and calls, in registers.
//!
//! A kernel's parameter read by name is a move from a launch constant. A parameter of a function, and the `.param` variable
//! that a caller fills for it, is one register of as many 32-bit words as it has bytes: `st.param` and `ld.param` are moves
//! of some of its words.

use super::Lowering;
use super::address::AddressOf;
use super::code::{Read, Register, Step, Write};
use super::function::Function;
use super::instruction::mov_op;
use super::layout;
use super::moves::pack_op;
use super::operand::Fit;
use super::scope::Binding;
use crate::isa::{Alu, AluKind, Constant, Mods, Op, Param, Space, Ty};
use crate::ptx::ast::{Declaration, Home, Operand};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::opcode::Opcode;

/// Most bytes of a kernel's parameters (PTX ISA 8.1, sm_70 and later).
const ENTRY_BYTES_MAX: u64 = 32_764;
/// Most bytes of one parameter of a function.
const FORMAL_BYTES_MAX: u64 = 1024;

impl Lowering<'_> {
    /// The kernel's parameters in CUDA's layout: each at the next multiple of its alignment.
    pub(super) fn entry_params(&mut self) -> Outcome<()> {
        let module = self.module;
        let Some(function) = self.order.first().and_then(|&entry| module.function(entry)) else { return Ok(()) };
        let mut end = 0;
        for declaration in &function.params {
            let name = module.source.slice(declaration.name.span);
            if declaration.home == Home::Register {
                let message = format!("the kernel parameter `{name}` is a register");
                return Err(Problem::new(declaration.name.span, message).help("expected `.param`"));
            }
            let offset = u64::next_multiple_of(end, layout::alignment(declaration));
            let bytes = layout::bytes(declaration)?;
            end = offset.saturating_add(bytes);
            if end > ENTRY_BYTES_MAX {
                let message =
                    format!("the kernel's parameters need {end} bytes; at most {ENTRY_BYTES_MAX} are possible");
                return Err(Problem::new(declaration.name.span, message));
            }
            let param = Param { name: name.to_owned(), ty: declaration.ty, bytes: bytes as u32, offset: offset as u32 };
            self.params.push(param);
        }
        Ok(())
    }

    /// Registers for the parameters and results of a function.
    pub(super) fn formals(&mut self, index: u32) -> Outcome<()> {
        let Some(function) = self.module.function(self.order[index as usize]) else { return Ok(()) };
        let mut registers = |declarations: &[Declaration]| {
            declarations.iter().map(|declaration| self.formal(declaration, index)).collect::<Outcome<Vec<_>>>()
        };
        let (params, returns) = (registers(&function.params)?, registers(&function.returns)?);
        let code = &mut self.code.functions[index as usize];
        (code.params, code.returns) = (params, returns);
        Ok(())
    }

    fn formal(&mut self, declaration: &Declaration, index: u32) -> Outcome<Register> {
        match declaration.home {
            Home::Register if declaration.ty == Ty::Pred => {
                let message = "a parameter that is a predicate";
                Err(Problem::new(declaration.name.span, message).help("expected a register of 16, 32 or 64 bits"))
            }
            Home::Register => Ok(self.code.register(declaration.ty.slots() * u16::from(declaration.lanes), index)),
            Home::Memory(_) => Ok(self.code.register(param_words(declaration)?, index)),
        }
    }
}

/// 32-bit words of a parameter held in registers.
fn param_words(declaration: &Declaration) -> Outcome<u16> {
    let bytes = layout::bytes(declaration)?;
    if bytes > FORMAL_BYTES_MAX {
        let message = format!("a function parameter of {bytes} bytes");
        return Err(
            Problem::new(declaration.name.span, message).help(format!("at most {FORMAL_BYTES_MAX} are supported"))
        );
    }
    Ok(bytes.div_ceil(4).max(1) as u16)
}

/// A place in a parameter that is held in a register.
#[derive(Clone, Copy)]
struct InRegister {
    register: Register,
    /// Bytes of the whole parameter.
    bytes: u32,
    /// First byte accessed.
    at: u32,
}

impl InRegister {
    fn word(self) -> u16 {
        (self.at / 4) as u16
    }

    fn read(self) -> Read {
        Read::Register { register: self.register, word: self.word() }
    }

    fn write(self, bits: u32) -> Write {
        Write { register: self.register, word: self.word(), words: bits.div_ceil(32) as u16 }
    }

    fn bit(self) -> u32 {
        self.at % 4 * 8
    }
}

impl Function<'_, '_> {
    pub fn bind_params(&mut self) -> Outcome<()> {
        let module = self.lowering.module;
        let Some(function) = module.function(self.lowering.order[self.index as usize]) else { return Ok(()) };
        if self.is_entry() {
            for (at, declaration) in function.params.iter().enumerate() {
                let Param { bytes, offset, .. } = self.lowering.params[at];
                let (offset, bytes) = (u64::from(offset), u64::from(bytes));
                self.bind(declaration.name, Binding::Offset { space: Space::Param, offset, bytes })?;
            }
            return Ok(());
        }
        let code = &self.lowering.code.functions[self.index as usize];
        let registers: Vec<_> = code.params.iter().chain(&code.returns).copied().collect();
        let declarations = function.params.iter().chain(&function.returns);
        for (declaration, register) in declarations.zip(registers) {
            if module.source.slice(declaration.name.span) == "_" {
                continue;
            }
            let binding = match declaration.home {
                Home::Register if declaration.lanes > 1 => {
                    Binding::Vector { register, ty: declaration.ty, lanes: declaration.lanes }
                }
                Home::Register => Binding::Register(register, declaration.ty),
                Home::Memory(_) => Binding::Param { register, bytes: layout::bytes(declaration)? as u32 },
            };
            self.bind(declaration.name, binding)?;
        }
        Ok(())
    }

    /// A `.param` variable in a body: arguments or results of a call.
    pub fn param_register(&mut self, declaration: &Declaration) -> Outcome<Binding> {
        let words = param_words(declaration)?;
        let register = self.lowering.code.register(words, self.index);
        Ok(Binding::Param { register, bytes: layout::bytes(declaration)? as u32 })
    }

    pub fn load_param(&mut self, opcode: &Opcode, to: &Operand, binding: Binding, of: AddressOf) -> Outcome<()> {
        match binding {
            Binding::Offset { space: Space::Param, offset, bytes } => {
                let at = self.check_range(opcode, of, bytes)? + offset as u32;
                match opcode.memory.lanes {
                    1 => self.load_constant(opcode.ty(), to, at),
                    _ => self.load_vector(opcode, to, at),
                }
            }
            Binding::Param { register, bytes } => {
                let at = self.check_range(opcode, of, u64::from(bytes))?;
                let place = InRegister { register, bytes, at };
                match opcode.memory.lanes {
                    1 => self.load_from_register(opcode.ty(), to, place),
                    _ => self.unpack_param(opcode, to, place),
                }
            }
            _ => Err(self.not_a_parameter(of)),
        }
    }

    /// A kernel's scalar parameter: a move from the launch's constants.
    fn load_constant(&mut self, ty: Ty, to: &Operand, at: u32) -> Outcome<()> {
        let bytes = (ty.bits() / 8).min(4) as u8;
        let constant =
            |word: u32| Constant::Param { offset: at + 4 * word, bytes, signed: ty.is_signed() && bytes < 4 };
        let words: Vec<_> = (0..u32::from(ty.slots())).map(constant).collect();
        let from = Read::Constant(self.lowering.code.constants.index(&words, self.span)?);
        let Some((write, to_ty)) = self.destination(to, ty, Fit::AtLeast)? else { return Ok(()) };
        let op = match to_ty.slots() > ty.slots() {
            // The constant is extended to 32 bits already.
            true => extension(to_ty, if ty.is_signed() { Ty::S32 } else { Ty::U32 }),
            false => mov_op(super::code::bits_type(to_ty.bits())),
        };
        self.push_param(op, from, write);
        Ok(())
    }

    fn load_vector(&mut self, opcode: &Opcode, to: &Operand, at: u32) -> Outcome<()> {
        let mut step = self.step(Op::Load(opcode.access(false)));
        for (place, element) in step.dst.iter_mut().zip(self.elements(opcode, to)?) {
            *place = self.destination(&element, opcode.ty(), Fit::Exact)?.map(|(write, _)| write);
        }
        step.offset = i64::from(at);
        self.push(step);
        Ok(())
    }

    fn load_from_register(&mut self, ty: Ty, to: &Operand, place: InRegister) -> Outcome<()> {
        let Some((write, to_ty)) = self.destination(to, ty, Fit::AtLeast)? else { return Ok(()) };
        if place.bit() == 0 {
            let op = match to_ty.bits() == ty.bits() {
                true => mov_op(super::code::bits_type(ty.bits())),
                false => extension(to_ty, ty),
            };
            self.push_param(op, place.read(), write);
            return Ok(());
        }
        let field = if ty.is_signed() { Ty::S32 } else { Ty::U32 };
        let register = self.lowering.code.register(1, self.index);
        let wide = to_ty.slots() > 1;
        let mut step = self.step(Op::Alu(Alu { kind: AluKind::Bfe, ty: field, from: field, mods: Mods::default() }));
        step.src = [place.read(), self.small(place.bit())?, self.small(ty.bits())?, Read::None];
        step.dst[0] = Some(if wide { self.lowering.code.whole(register) } else { write });
        self.push(step);
        if wide {
            self.push_param(extension(to_ty, field), Read::register(register), write);
        }
        Ok(())
    }

    fn unpack_param(&mut self, opcode: &Opcode, to: &Operand, place: InRegister) -> Outcome<()> {
        let bits = self.check_vector(opcode, place)?;
        let mut step = self.step(pack_op(AluKind::Unpack, bits, super::code::bits_type(opcode.ty().bits())));
        step.src[0] = place.read();
        for (written, element) in step.dst.iter_mut().zip(self.elements(opcode, to)?) {
            *written = self.destination(&element, opcode.ty(), Fit::Exact)?.map(|(write, _)| write);
        }
        self.push(step);
        Ok(())
    }

    pub fn store_param(&mut self, opcode: &Opcode, from: &Operand, binding: Binding, of: AddressOf) -> Outcome<()> {
        let Binding::Param { register, bytes } = binding else { return Err(self.not_a_parameter(of)) };
        let at = self.check_range(opcode, of, u64::from(bytes))?;
        let place = InRegister { register, bytes, at };
        let ty = opcode.ty();
        if opcode.memory.lanes > 1 {
            let bits = self.check_vector(opcode, place)?;
            let mut step = self.step(pack_op(AluKind::Pack, bits, super::code::bits_type(ty.bits())));
            for (read, element) in step.src.iter_mut().zip(self.elements(opcode, from)?) {
                *read = self.source(&element, ty, Fit::AtLeast)?;
            }
            step.dst[0] = Some(place.write(bits));
            self.push(step);
            return Ok(());
        }
        let value = self.source(from, ty, Fit::AtLeast)?;
        if ty.bits() >= 32 {
            self.push_param(mov_op(super::code::bits_type(ty.bits())), value, place.write(ty.bits()));
            return Ok(());
        }
        if 8 * place.bytes <= ty.bits() {
            self.push_param(extension(Ty::B32, ty), value, place.write(32));
            return Ok(());
        }
        let mut step =
            self.step(Op::Alu(Alu { kind: AluKind::Bfi, ty: Ty::B32, from: Ty::B32, mods: Mods::default() }));
        step.src = [value, place.read(), self.small(place.bit())?, self.small(ty.bits())?];
        step.dst[0] = Some(place.write(32));
        self.push(step);
        Ok(())
    }

    fn push_param(&mut self, op: Op, from: Read, to: Write) {
        let mut step = Step { op, ..self.step(op) };
        step.src[0] = from;
        step.dst[0] = Some(to);
        self.push(step);
    }

    /// The byte of the parameter that is accessed, if the access lies within it and is aligned.
    fn check_range(&self, opcode: &Opcode, of: AddressOf, bytes: u64) -> Outcome<u32> {
        let size = i64::from(opcode.access(false).bytes());
        let text = self.text(of.name.span);
        if of.addend < 0 || of.addend.saturating_add(size) > bytes as i64 {
            let message = format!("{size} bytes at byte {} of the parameter `{text}`, which has {bytes}", of.addend);
            return Err(Problem::new(of.name.span, message));
        }
        if of.addend % i64::from(opcode.ty().bits() / 8) != 0 {
            let message = format!("byte {} of `{text}` is not aligned for .{}", of.addend, opcode.ty());
            return Err(Problem::new(of.name.span, message));
        }
        Ok(of.addend as u32)
    }

    /// Bits of a vector in a register, which must begin at a word.
    fn check_vector(&self, opcode: &Opcode, place: InRegister) -> Outcome<u32> {
        let bits = 8 * opcode.access(false).bytes();
        if place.bit() == 0 && (bits >= 32 || 8 * place.bytes == bits) && bits <= 128 {
            return Ok(bits);
        }
        let message = format!("a vector of {bits} bits at byte {} of a function parameter", place.at);
        Err(Problem::new(self.span, message).help("expected 32 to 128 bits at a multiple of 4 bytes"))
    }

    fn not_a_parameter(&self, of: AddressOf) -> Problem {
        let text = self.text(of.name.span);
        Problem::new(of.name.span, format!("`{text}` is not a parameter"))
    }
}

/// An integer conversion that extends a value of type `from` to a register of type `to`.
fn extension(to: Ty, from: Ty) -> Op {
    let ty = super::convert::integer(to.bits(), from.is_signed());
    Op::Alu(Alu { kind: AluKind::Cvt, ty, from: super::convert::as_integer(from), mods: Mods::default() })
}
