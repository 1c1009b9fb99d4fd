//! Conversions of values and addresses.

use super::Action::{Alu, Cvt, Cvta, IsSpace, Unsupported};
use super::{Form, form};
use crate::isa::AluKind::CvtPack;

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("cvt", "?sat t:$small t:$small",                                "...",             Cvt),
    form("cvt", "rnd:$irnd ?ftz ?sat t:$small t:f16|bf16|f32|f64",       "...",             Cvt),
    form("cvt", "rnd:$frnd ?ftz ?sat t:f16|bf16|f32|f64 t:$small",       "...",             Cvt),
    form("cvt", "?ftz ?sat t:f32|f64 t:f16|bf16|f32",                    "...",             Cvt),
    form("cvt", "?rnd:$irnd ?ftz ?sat t:f32 t:f32",                      "...",             Cvt),
    form("cvt", "?rnd:$irnd ?sat t:f64 t:f64",                           "...",             Cvt),
    form("cvt", "?rnd:$irnd ?ftz ?sat t:f16 t:f16",                      "...",             Cvt),
    form("cvt", "?rnd:$irnd ?sat t:bf16 t:bf16",                         "...",             Cvt),
    form("cvt", "rnd:$frnd ?ftz ?sat t:f32 t:f64",                       "...",             Cvt),
    form("cvt", "rnd:$frnd ?ftz ?sat t:f16 t:bf16|f32|f64",              "...",             Cvt),
    form("cvt", "rnd:$frnd ?ftz ?sat t:bf16 t:f16|f32|f64",              "...",             Cvt),
    form("cvt", "rnd:rn|rz ?relu ?satfinite t:f16|bf16 t:f32",           "...",             Cvt),
    form("cvt", "rnd:rn|rz ?relu ?satfinite t:f16x2|bf16x2 t:f32",       "d a=U a=U",       Cvt),
    form("cvt", "rnd:rn|rz|rna ?relu ?satfinite t:tf32 t:f32",           "d a=U",           Cvt),
    form("cvt", "rnd:rn satfinite ?relu t:e4m3x2|e5m2x2 t:f32",          "d a=U a=U",       Cvt),
    form("cvt", "rnd:rn satfinite ?relu t:e4m3x2|e5m2x2 t:f16x2",        "d a=U",           Cvt),
    form("cvt", "rnd:rn ?relu t:f16x2 t:e4m3x2|e5m2x2",                  "d a=U",           Cvt),
    form("cvt", "rnd:rn|rs|rz|rp|rna ?relu ?satfinite ?scaled:scaled::n2::ue8m0 \
                 to:e4m3x2|e5m2x2|e4m3x4|e5m2x4|e2m1x2|e2m1x4|e2m3x2|e2m3x4|e3m2x2|e3m2x4|ue8m0x2|s2f6x2|f16x2|bf16x2|tf32|f16|bf16 \
                 from:f32|f16x2|bf16x2|f16|bf16|e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2|ue8m0x2|s2f6x2", "...", Unsupported),
    form("cvt", "pack sat to:u4|s4|u2|s2 t:s32 ?b32:b32",               "...",             Unsupported),
    form("cvt", "pack sat t:u16|s16 t:s32",                              "d=b32 a=U a=U",   Alu(CvtPack)),
    form("cvt", "pack sat t:u8|s8 t:s32 t:b32",                          "d=b32 a=U a=U a=b32", Alu(CvtPack)),
    form("cvta", "space:global|shared|shared::cta|local|const|param|param::entry t:u32|u64", "d a", Cvta),
    form("cvta", "to space:global|shared|shared::cta|local|const|param|param::entry t:u32|u64", "d a", Cvta),
    form("isspacep", "space:global|shared|shared::cta|local|const|param|param::entry", "...", IsSpace),
];
