//! Instructions that PTX has and the machine does not execute: they parse, and lowering an entry that uses one names it.

use super::Action::Unsupported;
use super::{Form, form};

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    // Matrices.
    form("mma", "*", "...", Unsupported),
    form("wmma", "*", "...", Unsupported),
    form("wgmma", "*", "...", Unsupported),
    form("tcgen05", "*", "...", Unsupported),
    form("ldmatrix", "*", "...", Unsupported),
    form("stmatrix", "*", "...", Unsupported),
    form("movmatrix", "*", "...", Unsupported),
    // Asynchronous copies and their barriers.
    form("cp", "*", "...", Unsupported),
    form("mbarrier", "*", "...", Unsupported),
    form("multimem", "*", "...", Unsupported),
    form("tensormap", "*", "...", Unsupported),
    form("clusterlaunchcontrol", "*", "...", Unsupported),
    // Clusters.
    form("mapa", "*", "...", Unsupported),
    form("getctarank", "*", "...", Unsupported),
    // Textures and surfaces.
    form("tex", "*", "...", Unsupported),
    form("tld4", "*", "...", Unsupported),
    form("txq", "*", "...", Unsupported),
    form("suld", "*", "...", Unsupported),
    form("sust", "*", "...", Unsupported),
    form("sured", "*", "...", Unsupported),
    form("suq", "*", "...", Unsupported),
    form("istypep", "*", "...", Unsupported),
    // The stack.
    form("alloca", "*", "...", Unsupported),
    form("stacksave", "*", "...", Unsupported),
    form("stackrestore", "*", "...", Unsupported),
    // Video instructions.
    form("vadd", "*", "...", Unsupported),
    form("vsub", "*", "...", Unsupported),
    form("vabsdiff", "*", "...", Unsupported),
    form("vmin", "*", "...", Unsupported),
    form("vmax", "*", "...", Unsupported),
    form("vshl", "*", "...", Unsupported),
    form("vshr", "*", "...", Unsupported),
    form("vmad", "*", "...", Unsupported),
    form("vset", "*", "...", Unsupported),
    form("vadd2", "*", "...", Unsupported),
    form("vsub2", "*", "...", Unsupported),
    form("vavrg2", "*", "...", Unsupported),
    form("vabsdiff2", "*", "...", Unsupported),
    form("vmin2", "*", "...", Unsupported),
    form("vmax2", "*", "...", Unsupported),
    form("vset2", "*", "...", Unsupported),
    form("vadd4", "*", "...", Unsupported),
    form("vsub4", "*", "...", Unsupported),
    form("vavrg4", "*", "...", Unsupported),
    form("vabsdiff4", "*", "...", Unsupported),
    form("vmin4", "*", "...", Unsupported),
    form("vmax4", "*", "...", Unsupported),
    form("vset4", "*", "...", Unsupported),
];
