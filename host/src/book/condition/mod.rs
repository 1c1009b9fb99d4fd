//! Conditions as a reader types them: `threadIdx.x % 2 == 0`, `i < n && a[i] > 0`.
//!
//! [`parse`] reads one, in the spelling of CUDA C++ or of Rust, and [`run`](fn@run) makes a kernel of it that takes a branch on it: what
//! it is for each thread, and which warps part, is then for the machine to say. Numbers are 32 bits wide and mix as in C++: what has
//! to do with threads is unsigned, plain numbers and what is read from `a` are signed, and where both meet the result is unsigned.

mod parse;
mod ptx;
mod run;

pub use parse::parse;
pub use ptx::ARM;
pub use run::{Found, element, run};

/// Letters of the longest condition.
pub const LETTERS_MAX: usize = 200;

/// A condition, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A number; signed unless it is written with `u` or does not fit.
    Number {
        value: u32,
        is_signed: bool,
    },
    Name(Name),
    /// `a[…]`
    Element(Box<Term>),
    Unary(Unary, Box<Term>),
    Binary(Binary, Box<Term>, Box<Term>),
}

/// What a thread knows, or the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// Along x, y or z, as are the next three.
    ThreadIdx(usize),
    BlockIdx(usize),
    BlockDim(usize),
    GridDim(usize),
    /// The thread's linear number in its block.
    Tid,
    Lane,
    /// The warp's number in its block.
    Warp,
    /// `blockIdx.x * blockDim.x + threadIdx.x`
    Index,
    N,
    WarpSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Minus,
    /// 1 where it is 0, else 0.
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    fn is_bitwise(self) -> bool {
        matches!(self, Self::BitOr | Self::BitXor | Self::BitAnd)
    }
}

impl Term {
    /// Whether its value counts as signed.
    fn is_signed(&self) -> bool {
        use Binary::{And, Or, ShiftLeft, ShiftRight};
        match self {
            Self::Number { is_signed, .. } => *is_signed,
            Self::Name(_) => false,
            Self::Element(_) | Self::Unary(Unary::Not, _) => true,
            Self::Unary(_, of) | Self::Binary(ShiftLeft | ShiftRight, of, _) => of.is_signed(),
            Self::Binary(binary, ..) if binary.is_comparison() || matches!(binary, Or | And) => true,
            Self::Binary(_, left, right) => left.is_signed() && right.is_signed(),
        }
    }
}
