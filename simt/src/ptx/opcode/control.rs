//! Branches, calls, barriers and fences.

use super::Action::*;
use super::{Form, form};

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("bra",  "?uni",     "...",   Branch),
    form("brx",  "idx ?uni", "...",   BranchIndexed),
    form("call", "?uni",     "...",   Call),
    form("ret",  "?uni",     "",      Return),
    form("exit", "",         "",      Exit),
    form("trap", "",         "",      Trap),
    form("brkpt", "",        "",      Trap),
    form("bar",  "?scope:cta sync",             "a=u32 ?a=u32",          Barrier),
    form("bar",  "?scope:cta arrive",           "a=u32 a=u32",           BarrierArrive),
    form("bar",  "?scope:cta red reduce:popc t:u32",      "d a=u32 P",   BarrierReduce),
    form("bar",  "?scope:cta red reduce:popc t:u32",      "d a=u32 a=u32 P",   BarrierReduce),
    form("bar",  "?scope:cta red reduce:and|or t:pred",   "p a=u32 P",   BarrierReduce),
    form("bar",  "?scope:cta red reduce:and|or t:pred",   "p a=u32 a=u32 P",   BarrierReduce),
    form("bar",  "warp sync",                   "a=b32",                 WarpSync),
    form("barrier", "?scope:cta sync ?aligned",      "a=u32 ?a=u32",     Barrier),
    form("barrier", "?scope:cta arrive ?aligned",    "a=u32 a=u32",      BarrierArrive),
    form("barrier", "?scope:cta red reduce:popc ?aligned t:u32",    "d a=u32 P", BarrierReduce),
    form("barrier", "?scope:cta red reduce:popc ?aligned t:u32",    "d a=u32 a=u32 P", BarrierReduce),
    form("barrier", "?scope:cta red reduce:and|or ?aligned t:pred", "p a=u32 P", BarrierReduce),
    form("barrier", "?scope:cta red reduce:and|or ?aligned t:pred", "p a=u32 a=u32 P", BarrierReduce),
    form("barrier", "cluster op:arrive|wait ?sem:acquire|release|relaxed ?aligned", "...", Unsupported),
    form("membar", "scope:cta|gl|sys",          "",                      Fence),
    form("membar", "proxy ?hint:alias|async|async::global|async::shared::cta", "", Nothing),
    form("fence", "?sem:sc|acq_rel|acquire|release scope:$scope", "",    Fence),
    form("fence", "proxy hint:alias|async|async::global|async::shared::cta|async::shared::cluster", "", Nothing),
    form("fence", "proxy hint:tensormap::generic|async::generic ?sem:acquire|release ?restrict:sync_restrict::shared::cluster|sync_restrict::shared::cta ?scope:$scope",
         "...", Unsupported),
    form("fence", "mbarrier_init sem:release scope:cluster", "",         Nothing),
    form("fence", "sem:acquire|release restrict:sync_restrict::shared::cluster|sync_restrict::shared::cta scope:cluster", "", Nothing),
    form("nanosleep", "t:u32",                  "a",                     Sleep),
    form("pmevent", "*",                        "...",                   Nothing),
    form("griddepcontrol", "hint:launch_dependents|wait", "",            Nothing),
    form("setmaxnreg", "hint:inc|dec sync aligned t:u32", "i",           Nothing),
];
