//! Lane-wise operations: kind, types and modifiers, as the PTX ISA names them.

/// Type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    U16x2,
    S16x2,
    F16,
    F16x2,
    BF16,
    BF16x2,
    TF32,
    E4M3x2,
    E5M2x2,
    F32,
    F32x2,
    F64,
}

impl Ty {
    /// Bits of one value; a predicate has 1.
    pub const fn bits(self) -> u32 {
        match self {
            Ty::Pred => 1,
            Ty::B8 | Ty::U8 | Ty::S8 => 8,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 | Ty::E4M3x2 | Ty::E5M2x2 => 16,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::U16x2 | Ty::S16x2 | Ty::F16x2 | Ty::BF16x2 | Ty::TF32 | Ty::F32 => 32,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 | Ty::F32x2 => 64,
            Ty::B128 => 128,
        }
    }

    /// 32-bit slots that a value takes (a predicate takes none).
    pub const fn slots(self) -> u16 {
        match self.bits() {
            1 => 0,
            8 | 16 | 32 => 1,
            64 => 2,
            _ => 4,
        }
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64 | Ty::S16x2)
    }

    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Ty::F16
                | Ty::F16x2
                | Ty::BF16
                | Ty::BF16x2
                | Ty::TF32
                | Ty::F32
                | Ty::F32x2
                | Ty::F64
                | Ty::E4M3x2
                | Ty::E5M2x2
        )
    }
}

/// A lane-wise operation with everything that decides its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alu {
    pub kind: AluKind,
    /// Type of the operation; of the result for `Cvt`; of the sources for `Setp` and `Set`.
    pub ty: Ty,
    /// Source type of `Cvt`, result type of `Set`, comparison type of `Slct`, `Testp`'s operand; else equal to `ty`.
    pub from: Ty,
    pub mods: Mods,
}

/// Base operation. Operands are `src[0]`, `src[1]`, `src[2]` in PTX order unless said otherwise; the result is `dst[0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AluKind {
    /// Copies `ty.slots()` words. Type is B8 to B128 only.
    Mov,
    /// Joins: `dst[0]` (of `ty`) from `src[0]` (low) and `src[1]` (high), each of half the bits (`from`); four quarters use `src[0..4]`.
    Pack,
    /// Splits `src[0]` (of `ty`) into `dst[0]` (low) and `dst[1]` (high), each of half the bits (`from`); quarters fill `dst[0..4]`.
    Unpack,
    Add,
    Sub,
    /// `mods.half` chooses low, high or wide for integers.
    Mul,
    /// Multiply-add for integers (`mods.half`); `mad.f32`/`f64` is `Fma`.
    Mad,
    Mul24,
    Mad24,
    Fma,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    /// Three-input `min`/`max` (`src[2]`), PTX 8.8.
    Min3,
    Max3,
    Sad,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    /// `mods.lut` over `src[0..3]`. With `mods.bool_op`, also `pdst[0]` = (result != 0) bool_op `psrc`.
    Lop3,
    Shl,
    Shr,
    /// Funnel shifts; `mods.wrap` else clamp.
    ShfL,
    ShfR,
    /// Bytes of `src[0]`:`src[1]` chosen by `src[2]`; `mods.prmt`.
    Prmt,
    Popc,
    Clz,
    Brev,
    /// `mods.shiftamt`.
    Bfind,
    Bfe,
    /// `src[0]` inserted into `src[1]` at `src[2]`, length `src[3]`.
    Bfi,
    Bmsk,
    Szext,
    Fns,
    /// `ty` the a type, `from` the b type (U32 or S32 each); `dp2a` uses `mods.half`.
    Dp4a,
    Dp2a,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    Copysign,
    /// Result `pdst[0]`; `mods.testp`.
    Testp,
    /// `pdst[0]` = (a cmp b) bool_op c, `pdst[1]` = !(a cmp b) bool_op c, where c is `psrc`. Of packed halves, `pdst[0]` is for the
    /// low one and `pdst[1]` for the high one.
    Setp,
    /// As `Setp`, but `dst[0]` of type `from`: all ones or 1.0.
    Set,
    /// `psrc` ? `src[0]` : `src[1]`.
    Selp,
    /// `src[2]` (of type `from`) >= 0 ? `src[0]` : `src[1]`.
    Slct,
    /// `pdst[0]` = logic of predicates. The operands are `mods.pa` (first) and `psrc` (second); `PredNot` and `PredMov` have the first.
    PredAnd,
    PredOr,
    PredXor,
    PredNot,
    PredMov,
    /// `ty` from `from`. A packed result from `F32` has two sources: `src[0]` the high half, `src[1]` the low one.
    Cvt,
    /// `cvt.pack`: `src[0]` high, `src[1]` low, `src[2]` rest.
    CvtPack,
    /// Generic address from one in the space `mods.space`, and back.
    CvtaFrom,
    CvtaTo,
    /// `pdst[0]` = the generic address `src[0]` lies in `mods.space`.
    IsSpace,
    /// IADD3: the sum of three. With `mods.carry_in`, plus `psrc` and `mods.pa`; with `mods.carry_out`, `pdst[0]` is set where the
    /// sum carries once or more and `pdst[1]` where it carries twice. A negated source counts as its complement plus 1.
    Add3,
    /// LEA: `(src[0] << mods.shift) + src[1]`; `pdst[0]` the carry.
    Lea,
    /// LEA.HI: the high word of `src[2]:src[0] << mods.shift`, plus `src[1]`, plus `psrc` with `mods.carry_in`; `pdst[0]` the carry.
    LeaHi,
    /// SHF: `src[2]:src[0]` shifted by `src[1]`, to the left with `mods.left`, by the sign with a signed type; `mods.half` chooses the
    /// word of the result. The shift stops at the type's width, or wraps there (`mods.wrap`).
    Shf,
    /// IMAD.X and its kind: `Mad` plus `psrc` with `mods.carry_in`; `pdst[0]` the carry of the wide form.
    MadCarry,
    /// IMNMX, FMNMX, HMNMX2: the lesser where `psrc` is true, else the greater.
    MinMax,
    /// VIADDMNMX: `MinMax` of `src[0] + src[1]` and `src[2]`.
    AddMinMax,
    /// DSETP.MAX, and .MIN where `mods.cmp` is `Lt`: `pdst[0]` where `src[0]` is the result, `pdst[1]` where both are NaN.
    WhichExtreme,
    /// ISETP.EX: as `Setp`, of high words; where they are equal `mods.pb`, the low words' comparison, decides.
    SetpX,
    /// PLOP3: `pdst[0]` by the table `mods.lut` and `pdst[1]` by `mods.lut2`, over `mods.pa`, `psrc`, `mods.pb`.
    Plop3,
    /// PLOP3 of registers' signs: as `Plop3`, over the highest bits of `src[0..3]`.
    SignLogic,
    /// A special function as the hardware has it: `mods.mufu`.
    Mufu,
    /// FCHK: `pdst[0]` = `src[0] / src[1]` needs more than the fast path.
    FloatCheck,
    /// P2R: the predicates P0 to P6 as bits 0 to 6, those that the mask `src[1]` names; the other bits are `src[0]`'s.
    PredsToReg,
    /// R2P: P0 to P6 are bits 0 to 6 of `src[0]`, those that the mask `src[1]` names.
    RegToPreds,
}

/// Modifiers. A front end sets those the instruction has; the rest keep their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mods {
    pub round: Round,
    pub half: Half,
    pub ftz: bool,
    pub sat: bool,
    /// `.satfinite`: what is too large becomes the largest finite value.
    pub satfinite: bool,
    /// `.relu`: a negative result becomes 0.
    pub relu: bool,
    /// `.NaN` of `min` and `max`: NaN wins.
    pub nan: bool,
    pub xorsign_abs: bool,
    /// `.approx`: the fast form of a transcendental or division.
    pub approx: bool,
    /// `div.full`.
    pub full: bool,
    /// Reads the carry flag (`addc`, `subc`, `madc`); the flag is a predicate of the warp: `psrc`.
    pub carry_in: bool,
    /// Writes the carry flag to `pdst[0]`.
    pub carry_out: bool,
    pub wrap: bool,
    pub shiftamt: bool,
    pub lut: u8,
    pub prmt: Prmt,
    pub cmp: Cmp,
    pub bool_op: BoolOp,
    pub testp: Testp,
    pub space: super::Space,
    /// First operand of predicate logic.
    pub pa: PredOperand,
    /// A third predicate operand.
    pub pb: PredOperand,
    /// Sources that are negated, one bit each; after `abs`.
    pub neg: u8,
    /// Sources whose sign is dropped, one bit each.
    pub abs: u8,
    /// Sources that are complemented, one bit each.
    pub invert: u8,
    /// Which halves of each source of a pair are taken, two bits each: [`Halves`].
    pub halves: u8,
    pub left: bool,
    /// Of `Lea`, 0 to 31.
    pub shift: u8,
    pub lut2: u8,
    pub mufu: Mufu,
}

impl Mods {
    /// Sources are changed before they are used: SASS has that, PTX has not.
    pub const fn changes_sources(&self) -> bool {
        self.neg | self.abs | self.invert | self.halves != 0
    }
}

/// What a source of two halves is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Halves {
    #[default]
    Both,
    /// `.H0_H0`: the low one, twice.
    Low,
    /// `.H1_H1`.
    High,
}

/// Functions of the special function unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mufu {
    #[default]
    Rcp,
    Rsq,
    Sqrt,
    Lg2,
    Ex2,
    Sin,
    Cos,
    Tanh,
    /// High word of the reciprocal of the double whose high word is given.
    Rcp64h,
    Rsq64h,
}

/// [`super::PredSrc`] with a default (true), so that [`Mods`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredOperand(pub super::PredSrc);

impl Default for PredOperand {
    fn default() -> Self {
        Self(super::PredSrc::TRUE)
    }
}

/// Rounding. The integer forms (`rni` …) round a float to an integral value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Round {
    /// None written: exact, or the operation's default (nearest even).
    #[default]
    Default,
    Rn,
    Rna,
    Rz,
    Rm,
    Rp,
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Half {
    #[default]
    Lo,
    Hi,
    Wide,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prmt {
    #[default]
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// Comparisons; the `…u` forms are true when an operand is NaN; `Lo` … `Hs` compare unsigned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cmp {
    #[default]
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoolOp {
    /// The comparison alone.
    #[default]
    None,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Testp {
    #[default]
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}
