//! Loads, stores, atomics and hints to caches.

use super::Action::{Atomic, Load, Nothing, Policy, Reduce, Store};
use super::{Form, form};

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("ld", "?sem:weak ?space:$ld ?cache:ca|cg|cs|lu|cv|nc ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint ?prefetch:$prefetch \
                ?vec:v2|v4|v8 t:$mem", "D [] ?h", Load),
    form("ld", "?sem:weak ?space:$ld ?cache:ca|cg|cs|lu|cv|nc ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint ?prefetch:$prefetch t:b128", "D [] ?h", Load),
    form("ld", "sem:volatile ?space:$ld ?prefetch:$prefetch ?vec:v2|v4 t:$mem", "D []", Load),
    form("ld", "sem:volatile ?space:$ld ?prefetch:$prefetch t:b128", "D []", Load),
    form("ld", "sem:relaxed|acquire scope:$scope ?space:$ld ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint ?prefetch:$prefetch \
                ?vec:v2|v4|v8 t:$mem", "D [] ?h", Load),
    form("ld", "sem:relaxed|acquire scope:$scope ?space:$ld ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint ?prefetch:$prefetch t:b128", "D [] ?h", Load),
    form("ld", "sem:mmio relaxed scope:sys ?space:global t:$mem", "D []", Load),
    form("ldu", "?space:global ?vec:v2|v4 t:$mem", "D []", Load),
    form("ldu", "?space:global t:b128", "D []", Load),
    form("st", "?sem:weak ?space:$st ?cache:wb|cg|cs|wt ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint ?vec:v2|v4|v8 t:$mem",
         "[] S ?h", Store),
    form("st", "?sem:weak ?space:$st ?cache:wb|cg|cs|wt ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint t:b128",
         "[] S ?h", Store),
    form("st", "sem:volatile ?space:$st ?vec:v2|v4 t:$mem", "[] S", Store),
    form("st", "sem:volatile ?space:$st t:b128", "[] S", Store),
    form("st", "sem:relaxed|release scope:$scope ?space:$st ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint ?vec:v2|v4|v8 t:$mem",
         "[] S ?h", Store),
    form("st", "sem:relaxed|release scope:$scope ?space:$st ?hint:$level ?hint2:$level2 ?policy:L2::cache_hint t:b128",
         "[] S ?h", Store),
    form("st", "sem:mmio relaxed scope:sys ?space:global t:$mem", "[] S", Store),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:and|or|xor ?policy:L2::cache_hint t:b32|b64", "d [] a ?h", Atomic),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:exch ?policy:L2::cache_hint t:b32|b64|b128|u32|u64|s32|s64|f32", "d [] a ?h", Atomic),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:cas t:b16|b32|b64|b128|u32|u64|s32|s64", "d [] a a", Atomic),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:add ?policy:L2::cache_hint t:u32|s32|u64|f32|f64", "d [] a ?h", Atomic),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:add noftz ?policy:L2::cache_hint t:f16|f16x2|bf16|bf16x2", "d [] a ?h", Atomic),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:inc|dec ?policy:L2::cache_hint t:u32", "d [] a ?h", Atomic),
    form("atom", "?sem:$atomic ?scope:$scope ?space:$as op:min|max ?policy:L2::cache_hint t:u32|s32|u64|s64", "d [] a ?h", Atomic),
    form("red", "?sem:relaxed|release ?scope:$scope ?space:$as op:and|or|xor ?policy:L2::cache_hint t:b32|b64", "[] a ?h", Reduce),
    form("red", "?sem:relaxed|release ?scope:$scope ?space:$as op:add ?policy:L2::cache_hint t:u32|s32|u64|f32|f64", "[] a ?h", Reduce),
    form("red", "?sem:relaxed|release ?scope:$scope ?space:$as op:add noftz ?policy:L2::cache_hint t:f16|f16x2|bf16|bf16x2", "[] a ?h", Reduce),
    form("red", "?sem:relaxed|release ?scope:$scope ?space:$as op:inc|dec ?policy:L2::cache_hint t:u32", "[] a ?h", Reduce),
    form("red", "?sem:relaxed|release ?scope:$scope ?space:$as op:min|max ?policy:L2::cache_hint t:u32|s32|u64|s64", "[] a ?h", Reduce),
    form("prefetch",      "*", "...", Nothing),
    form("prefetchu",     "*", "...", Nothing),
    form("applypriority", "*", "...", Nothing),
    form("discard",       "*", "...", Nothing),
    form("createpolicy",  "*", "d=b64 ...", Policy),
];
