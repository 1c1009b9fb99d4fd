//! Integer arithmetic.

use super::Action::Alu;
use super::{Form, form};
use crate::isa::AluKind::*;

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("add",   "t:u16|u32|u64|s16|s32|s64|u16x2|s16x2", "d a a",              Alu(Add)),
    form("add",   "sat t:s32|u16x2|s16x2",                 "d a a",              Alu(Add)),
    form("add",   "cc t:u32|s32|u64|s64",                  "d a a",              Alu(Add)),
    form("addc",  "?cc t:u32|s32|u64|s64",                 "d a a",              Alu(Add)),
    form("sub",   "t:$int|u16x2|s16x2",                    "d a a",              Alu(Sub)),
    form("sub",   "sat t:s32",                             "d a a",              Alu(Sub)),
    form("sub",   "cc t:u32|s32|u64|s64",                  "d a a",              Alu(Sub)),
    form("subc",  "?cc t:u32|s32|u64|s64",                 "d a a",              Alu(Sub)),
    form("mul",   "half:lo|hi t:$int",                     "d a a",              Alu(Mul)),
    form("mul",   "half:wide t:u16|s16|u32|s32",           "d=W a a",            Alu(Mul)),
    form("mad",   "half:lo|hi t:$int",                     "d a a a",            Alu(Mad)),
    form("mad",   "half:wide t:u16|s16|u32|s32",           "d=W a a a=W",        Alu(Mad)),
    form("mad",   "half:hi sat t:s32",                     "d a a a",            Alu(Mad)),
    form("mad",   "half:lo|hi cc t:u32|s32|u64|s64",       "d a a a",            Alu(Mad)),
    form("madc",  "half:lo|hi ?cc t:u32|s32|u64|s64",      "d a a a",            Alu(Mad)),
    form("mul24", "half:lo|hi t:u32|s32",                  "d a a",              Alu(Mul24)),
    form("mad24", "half:lo|hi t:u32|s32",                  "d a a a",            Alu(Mad24)),
    form("mad24", "half:hi sat t:s32",                     "d a a a",            Alu(Mad24)),
    form("sad",   "t:$int",                                "d a a a",            Alu(Sad)),
    form("div",   "t:$int",                                "d a a",              Alu(Div)),
    form("rem",   "t:$int",                                "d a a",              Alu(Rem)),
    form("abs",   "t:s16|s32|s64",                         "d a",                Alu(Abs)),
    form("neg",   "t:s16|s32|s64",                         "d a",                Alu(Neg)),
    form("min",   "t:$int|u16x2|s16x2",                    "d a a",              Alu(Min)),
    form("min",   "relu t:s32|s16x2",                      "d a a",              Alu(Min)),
    form("max",   "t:$int|u16x2|s16x2",                    "d a a",              Alu(Max)),
    form("max",   "relu t:s32|s16x2",                      "d a a",              Alu(Max)),
    form("popc",  "t:b32|b64",                             "d=u32 a",            Alu(Popc)),
    form("clz",   "t:b32|b64",                             "d=u32 a",            Alu(Clz)),
    form("brev",  "t:b32|b64",                             "d a",                Alu(Brev)),
    form("bfind", "?shiftamt t:u32|u64|s32|s64",           "d=u32 a",            Alu(Bfind)),
    form("fns",   "t:b32",                                 "d a a a",            Alu(Fns)),
    form("bfe",   "t:u32|u64|s32|s64",                     "d a a=u32 a=u32",    Alu(Bfe)),
    form("bfi",   "t:b32|b64",                             "d a a a=u32 a=u32",  Alu(Bfi)),
    form("szext", "wrap:clamp|wrap t:u32|s32",             "d a a=u32",          Alu(Szext)),
    form("bmsk",  "wrap:clamp|wrap t:b32",                 "d a a",              Alu(Bmsk)),
    form("dp4a",  "t:u32|s32 t:u32|s32",                   "d=b32 a=b32 a=b32 a=b32", Alu(Dp4a)),
    form("dp2a",  "half:lo|hi t:u32|s32 t:u32|s32",        "d=b32 a=b32 a=b32 a=b32", Alu(Dp2a)),
];
