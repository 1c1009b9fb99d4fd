//! The maths that a kernel and its CPU reference share: one function, compiled for both.
//!
//! Each operation is one that IEEE 754 rounds, in a fixed order, and a fused multiply-add is fused on both sides; so a
//! kernel's results equal the reference's to the bit (NaN payloads apart).

#[allow(unused_imports)] // on the host, the inherent methods of f32 come first
use cuda_std::GpuFloat;

/// The factor of the map `x ↦ FACTOR * x + SUMMAND`, whose fixed point is [`FIXED_POINT`].
const FACTOR: f32 = 0.999;
const SUMMAND: f32 = 0.001;

/// What the map of the two paths tends to: SUMMAND / (1 - FACTOR).
pub const FIXED_POINT: f32 = 1.0;

/// Path A: `steps` times the map, as one fused multiply-add each.
#[inline(always)]
pub fn path_a(mut x: f32, steps: u32) -> f32 {
    for _ in 0..steps {
        x = x.mul_add(FACTOR, SUMMAND);
    }
    x
}

/// Path B: `steps` times the map, as a multiplication and an addition, each rounded.
#[inline(always)]
pub fn path_b(mut x: f32, steps: u32) -> f32 {
    for _ in 0..steps {
        x = x * FACTOR + SUMMAND;
    }
    x
}

/// Path A for those who take it, path B for the others.
#[inline(always)]
pub fn either_path(takes_a: bool, x: f32, steps: u32) -> f32 {
    if takes_a { path_a(x, steps) } else { path_b(x, steps) }
}

/// [`path_a`] for several values, step by step in turn, so that no value waits for another.
#[inline(always)]
pub fn path_a_each<const VALUES: usize>(mut values: [f32; VALUES], steps: u32) -> [f32; VALUES] {
    for _ in 0..steps {
        for value in &mut values {
            *value = value.mul_add(FACTOR, SUMMAND);
        }
    }
    values
}

/// Chains that start at `x`, `x + 1`, …, each `steps * unrolled` times the map; their sum, from the first on. `unrolled` is a
/// constant where it is called, so that the compiler writes the inner loop out.
#[inline(always)]
pub fn fma_chains<const CHAINS: usize>(x: f32, steps: u32, unrolled: u32) -> f32 {
    let mut values = [x; CHAINS];
    for (k, value) in values.iter_mut().enumerate() {
        *value += k as f32;
    }
    for _ in 0..steps {
        values = path_a_each(values, unrolled);
    }
    let mut sum = 0.0;
    for value in values {
        sum += value;
    }
    sum
}

/// What [`crate::divergence::branch_paths`] does once its lanes have met: a polynomial in the distance to the fixed
/// point.
#[inline(always)]
pub fn after_the_join(x: f32) -> f32 {
    let distance = x - FIXED_POINT;
    distance.mul_add(distance, x)
}

/// Leaky ReLU.
#[inline(always)]
pub fn leaky_relu(x: f32) -> f32 {
    if x > 0.0 { x } else { scale(x) }
}

/// The arm of [`leaky_relu`] for what is not positive.
#[inline(always)]
pub fn scale(x: f32) -> f32 {
    0.1 * x
}

/// Multiply-adds of the long arm of [`leaky_relu_long`].
const LONG_ARM_STEPS: u32 = 32;

/// Leaky ReLU whose arm for what is not positive is [`path_a`] of it, at length.
#[inline(always)]
pub fn leaky_relu_long(x: f32) -> f32 {
    if x > 0.0 { x } else { path_a(scale(x), LONG_ARM_STEPS) }
}

/// The mean of the 3 × 3 pixels around (`column`, `row`), the edge repeated beyond itself. `read(column, row)` is asked
/// for pixels of the image only; rows are added from top to bottom, each from left to right.
#[inline(always)]
pub fn blur(read: impl Fn(u32, u32) -> f32, column: u32, row: u32, width: u32, height: u32) -> f32 {
    let columns = around(column, width);
    let rows = around(row, height);
    let mut sum = 0.0;
    for row in rows {
        for column in columns {
            sum += read(column, row);
        }
    }
    sum * (1.0 / 9.0)
}

/// `at` and its neighbours below `len`, the edge repeated.
#[inline(always)]
fn around(at: u32, len: u32) -> [u32; 3] {
    [if at == 0 { 0 } else { at - 1 }, at, if at + 1 == len { at } else { at + 1 }]
}

/// Steps of each arm of [`mix`].
const MIX_STEPS: u32 = 16;

/// Element `i` of the kernel mix: the sum, then path A if `i` is even and path B if it is odd.
#[inline(always)]
pub fn mix(i: u32, a: f32, b: f32) -> f32 {
    either_path(i.is_multiple_of(2), a + b, MIX_STEPS)
}

/// `steps` times the outer product of a `column` and a `row`, added up in a tile of `ROWS` × `COLUMNS` sums, the column
/// shrinking a little in each step; then the sum of the tile, row by row. It is the inner loop of a matrix
/// multiplication that keeps its tile in registers, without the loads.
#[inline(always)]
pub fn outer_products<const ROWS: usize, const COLUMNS: usize>(
    mut column: [f32; ROWS],
    row: [f32; COLUMNS],
    steps: u32,
) -> f32 {
    let mut tile = [[0.0; COLUMNS]; ROWS];
    for _ in 0..steps {
        for r in 0..ROWS {
            for c in 0..COLUMNS {
                tile[r][c] = column[r].mul_add(row[c], tile[r][c]);
            }
            column[r] *= FACTOR;
        }
    }
    let mut sum = 0.0;
    for sums in &tile {
        for value in sums {
            sum += value;
        }
    }
    sum
}

/// The `steps`-th successor of `value` in a linear congruential sequence: `ranqd1` of Numerical
/// Recipes in C, 2nd edition, 7.1.
#[inline(always)]
pub fn successor(mut value: u32, steps: u32) -> u32 {
    for _ in 0..steps {
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    value
}
