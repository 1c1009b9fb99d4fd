//! Instructions in which the lanes of a warp see each other. Those without `.sync` are from before Volta.

use super::Action::*;
use super::{Form, form};

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("shfl", "sync shuffle:up|down|bfly|idx t:b32", "d|p a a=u32 a=u32 a=u32", Shuffle),
    form("shfl", "shuffle:up|down|bfly|idx t:b32",      "d|p a a=u32 a=u32",  Shuffle),
    form("vote", "sync vote:all|any|uni t:pred",      "p P a=u32",       Vote),
    form("vote", "sync vote:ballot t:b32",            "d P a=u32",       Vote),
    form("vote", "vote:all|any|uni t:pred",           "p P",             Vote),
    form("vote", "vote:ballot t:b32",                 "d P",             Vote),
    form("match", "match:any sync t:b32|b64",         "d=b32 a a=u32",   Match),
    form("match", "all sync t:b32|b64",               "d|p=b32 a a=u32", Match),
    form("redux", "sync op:add t:u32|s32",            "d a a=u32",       Redux),
    form("redux", "sync op:min|max t:u32|s32|f32",    "d a a=u32",       Redux),
    form("redux", "sync op:and|or|xor t:b32",         "d a a=u32",       Redux),
    form("redux", "sync op:min|max ?abs ?NaN t:f32",  "...",             Unsupported),
    form("activemask", "t:b32",                       "d",               ActiveMask),
    form("elect", "sync",                             "d|p=b32 a=u32",   Elect),
];
