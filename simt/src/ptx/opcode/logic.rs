//! Logic, shifts, comparisons and selections.

use super::Action::{Alu, Logic, Lop3, Mov, Set};
use super::{Form, form};
use crate::isa::AluKind::Prmt;
use crate::isa::AluKind::{
    And, Cnot, Not, Or, PredAnd, PredNot, PredOr, PredXor, Selp, Setp, ShfL, ShfR, Shl, Shr, Slct, Xor,
};

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("mov",  "t:pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64", "...", Mov),
    form("mov",  "t:b8|u8|s8",                          "...",          Mov),
    form("and",  "t:b16|b32|b64",                       "d a a",        Alu(And)),
    form("and",  "t:pred",                              "p P P",        Logic(PredAnd)),
    form("or",   "t:b16|b32|b64",                       "d a a",        Alu(Or)),
    form("or",   "t:pred",                              "p P P",        Logic(PredOr)),
    form("xor",  "t:b16|b32|b64",                       "d a a",        Alu(Xor)),
    form("xor",  "t:pred",                              "p P P",        Logic(PredXor)),
    form("not",  "t:b16|b32|b64",                       "d a",          Alu(Not)),
    form("not",  "t:pred",                              "p P",          Logic(PredNot)),
    form("cnot", "t:b16|b32|b64",                       "d a",          Alu(Cnot)),
    form("lop3", "t:b32",                               "d a a a i",    Lop3),
    form("lop3", "bool:and|or t:b32",                   "d|p a a a i P", Lop3),
    form("shl",  "t:b16|b32|b64",                       "d a a=u32",    Alu(Shl)),
    form("shr",  "t:b16|b32|b64|$int",                  "d a a=u32",    Alu(Shr)),
    form("shf",  "shf:l wrap:clamp|wrap t:b32",         "d a a a=u32",  Alu(ShfL)),
    form("shf",  "shf:r wrap:clamp|wrap t:b32",         "d a a a=u32",  Alu(ShfR)),
    form("prmt", "t:b32 ?prmt:f4e|b4e|rc8|ecl|ecr|rc16", "d a a a",     Alu(Prmt)),
    form("selp", "t:$any16|f16|f16x2|bf16|bf16x2",      "d a a P",      Alu(Selp)),
    form("slct", "?ftz t:$any16 t:s32|f32",             "d a a a=U",    Alu(Slct)),
    form("setp", "cmp:$icmp t:b16|b32|b64|$int",        "p|q a a",      Alu(Setp)),
    form("setp", "cmp:$icmp bool:$bool t:b16|b32|b64|$int", "p|q a a P", Alu(Setp)),
    form("setp", "cmp:$fcmp ?ftz t:f32|f64|f16|f16x2|bf16|bf16x2", "p|q a a", Alu(Setp)),
    form("setp", "cmp:$fcmp bool:$bool ?ftz t:f32|f64|f16|f16x2|bf16|bf16x2", "p|q a a P", Alu(Setp)),
    form("set",  "cmp:$icmp t:u32|s32|f32|f16|bf16|u16|s16 t:b16|b32|b64|$int", "d a=U a=U", Set),
    form("set",  "cmp:$icmp bool:$bool t:u32|s32|f32|f16|bf16|u16|s16 t:b16|b32|b64|$int", "d a=U a=U P", Set),
    form("set",  "cmp:$fcmp ?ftz t:u32|s32|f32|f16|f16x2|bf16|bf16x2|u16|s16 t:f32|f64|f16|f16x2|bf16|bf16x2", "d a=U a=U", Set),
    form("set",  "cmp:$fcmp bool:$bool ?ftz t:u32|s32|f32|f16|f16x2|bf16|bf16x2|u16|s16 t:f32|f64|f16|f16x2|bf16|bf16x2",
         "d a=U a=U P", Set),
];
