//! Names of types as PTX writes them.

use super::Ty;

const TYPE_NAMES: &[(Ty, &str)] = &[
    (Ty::Pred, "pred"),
    (Ty::B8, "b8"),
    (Ty::B16, "b16"),
    (Ty::B32, "b32"),
    (Ty::B64, "b64"),
    (Ty::B128, "b128"),
    (Ty::U8, "u8"),
    (Ty::U16, "u16"),
    (Ty::U32, "u32"),
    (Ty::U64, "u64"),
    (Ty::S8, "s8"),
    (Ty::S16, "s16"),
    (Ty::S32, "s32"),
    (Ty::S64, "s64"),
    (Ty::U16x2, "u16x2"),
    (Ty::S16x2, "s16x2"),
    (Ty::F16, "f16"),
    (Ty::F16x2, "f16x2"),
    (Ty::BF16, "bf16"),
    (Ty::BF16x2, "bf16x2"),
    (Ty::TF32, "tf32"),
    (Ty::E4M3x2, "e4m3x2"),
    (Ty::E5M2x2, "e5m2x2"),
    (Ty::F32, "f32"),
    (Ty::F32x2, "f32x2"),
    (Ty::F64, "f64"),
];

impl Ty {
    /// `u32`, `f16x2`, …: the modifier without its dot.
    pub fn name(self) -> &'static str {
        TYPE_NAMES.iter().find(|(ty, _)| *ty == self).map_or("", |(_, name)| name)
    }

    /// The type of that name.
    pub fn named(name: &str) -> Option<Ty> {
        TYPE_NAMES.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
