//! The two types of the crate glam that [`crate::thread`] returns, at the path where rust-cuda has them.

/// Two coordinates, `x` the one that varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UVec2 {
    pub x: u32,
    pub y: u32,
}

impl UVec2 {
    #[inline(always)]
    pub const fn new(x: u32, y: u32) -> Self {
        Self { x, y }
    }
}

/// Three coordinates, `x` the one that varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UVec3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl UVec3 {
    #[inline(always)]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }
}
