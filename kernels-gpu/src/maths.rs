//! The maths that a kernel and its CPU reference share: one function, compiled for both.
//!
//! Each operation is one that IEEE 754 rounds, in a fixed order, and a fused multiply-add is fused on both sides; so a
//! kernel's results equal the reference's to the bit (NaN payloads apart).

#[allow(unused_imports)] // on the host, the inherent methods of f32 come first
use cuda_std::GpuFloat;

use crate::special;

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
        add_outer_product(&mut tile, &mut column, &row);
    }
    sum_of(&tile)
}

/// [`outer_products`] with two steps in a turn of its loop: the same sums, and half the branches between them.
#[inline(always)]
pub fn outer_products_in_twos<const ROWS: usize, const COLUMNS: usize>(
    mut column: [f32; ROWS],
    row: [f32; COLUMNS],
    steps: u32,
) -> f32 {
    let mut tile = [[0.0; COLUMNS]; ROWS];
    for _ in 0..steps / 2 {
        add_outer_product(&mut tile, &mut column, &row);
        add_outer_product(&mut tile, &mut column, &row);
    }
    if steps % 2 == 1 {
        add_outer_product(&mut tile, &mut column, &row);
    }
    sum_of(&tile)
}

/// The sum of a tile, row by row.
#[inline(always)]
fn sum_of<const ROWS: usize, const COLUMNS: usize>(tile: &[[f32; COLUMNS]; ROWS]) -> f32 {
    let mut sum = 0.0;
    for sums in tile {
        for value in sums {
            sum += value;
        }
    }
    sum
}

/// A step of [`outer_products`].
#[inline(always)]
fn add_outer_product<const ROWS: usize, const COLUMNS: usize>(
    tile: &mut [[f32; COLUMNS]; ROWS],
    column: &mut [f32; ROWS],
    row: &[f32; COLUMNS],
) {
    for r in 0..ROWS {
        for c in 0..COLUMNS {
            tile[r][c] = column[r].mul_add(row[c], tile[r][c]);
        }
        column[r] *= FACTOR;
    }
}

/// Term `k` of an item: any number that costs a few instructions and is added up exactly in any order.
#[inline(always)]
pub fn ragged_term(item: u32, k: u32) -> u32 {
    (item ^ k.wrapping_mul(0x9e37_79b9)).wrapping_mul(1_664_525) >> 7
}

/// `steps` steps of a contracting map: one for even elements, another of the same cost for odd ones.
#[inline(always)]
pub fn parity(i: u32, x: f32, steps: u32) -> f32 {
    let mut value = x;
    if i.is_multiple_of(2) {
        for _ in 0..steps {
            value = value.mul_add(0.5, 0.25);
        }
    } else {
        for _ in 0..steps {
            value = value.mul_add(-0.5, -0.25);
        }
    }
    value
}

/// As [`parity()`], chosen by sign: the positive go one way, all others the other.
#[inline(always)]
pub fn relu_long_arms(x: f32, steps: u32) -> f32 {
    let mut value = x;
    if x > 0.0 {
        for _ in 0..steps {
            value = value.mul_add(0.5, 0.25);
        }
    } else {
        for _ in 0..steps {
            value = value.mul_add(-0.5, -0.25);
        }
    }
    value
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

/// The `steps`-fold approximate reciprocal square root, which tends to 1.
#[inline(always)]
pub fn reciprocal_roots(mut x: f32, steps: u32) -> f32 {
    for _ in 0..steps {
        x = special::reciprocal_sqrt(x);
    }
    x
}

/// `steps` times the square and 1; wraps at 2^32.
#[inline(always)]
pub fn squares(mut value: u32, steps: u32) -> u32 {
    for _ in 0..steps {
        value = value.wrapping_mul(value).wrapping_add(1);
    }
    value
}

/// 1 / `x`: approximate on a GPU, exact on the host.
#[inline(always)]
pub fn reciprocal(x: f32) -> f32 {
    special::reciprocal(x)
}

/// e to the power of `x`, by the power of two: approximate on a GPU.
#[inline(always)]
pub fn exponential(x: f32) -> f32 {
    special::exp2(x * core::f32::consts::LOG2_E)
}

/// Word of a lane, `apart` from that of the lane before, in the `number`-th access of a launch's warps, `turn` from that of the access
/// before; around an array of `mask + 1`.
pub fn scattered(lane: u32, number: u32, apart: u32, turn: u32, mask: u32) -> u32 {
    lane.wrapping_mul(apart).wrapping_add(number.wrapping_mul(turn)) & mask
}

/// The successor in the chain of [`crate::calibration::chase_shared()`]: a full period, since 32 and 1024 share their
/// prime factors and 4 divides both.
#[inline(always)]
pub fn shared_successor(at: u32) -> u32 {
    (33 * at + 1) % crate::calibration::SHARED_CHAIN as u32
}

/// `start` plus the products of `row(k)` and `column(k)` for k from 0 to `n` - 1, each fused and in this order.
#[inline(always)]
pub fn dot(row: impl Fn(u32) -> f32, column: impl Fn(u32) -> f32, n: u32, start: f32) -> f32 {
    let mut sum = start;
    for k in 0..n {
        sum = row(k).mul_add(column(k), sum);
    }
    sum
}

/// `a * b + sum`, rounded once.
#[inline(always)]
pub fn multiply_add(a: f32, b: f32, sum: f32) -> f32 {
    a.mul_add(b, sum)
}

/// The sum of `steps` elements of a table, each five behind the one before, around its end; `start` says where to begin.
#[inline(always)]
pub fn jumps<const LEN: usize>(table: &[f32; LEN], start: u32, steps: u32) -> f32 {
    let mut at = start as usize % LEN;
    let mut sum = 0.0;
    for _ in 0..steps {
        sum += table[at];
        at = (at + 5) % LEN;
    }
    sum
}

/// How many of the `len` ascending values, but the last, are less than `key`; `len` is a power of two.
#[inline(always)]
pub fn lower_bound(read: impl Fn(u32) -> u32, key: u32, len: u32) -> u32 {
    let mut below = 0;
    let mut step = len / 2;
    while step > 0 {
        if read(below + step - 1) < key {
            below += step;
        }
        step /= 2;
    }
    below
}

/// A cell of a cube of `n` cells an edge after one step of heat conduction; `read` takes a cell's place in memory.
#[inline(always)]
pub fn heat(read: impl Fn(u32) -> f32, [x, y, z]: [u32; 3], n: u32) -> f32 {
    const RATE: f32 = 0.125;
    let (row, layer) = (n, n * n);
    let cell = z * layer + y * row + x;
    let own = read(cell);
    let is_inside = |at: u32| at > 0 && at + 1 < n;
    if !(is_inside(x) && is_inside(y) && is_inside(z)) {
        return own;
    }
    let around =
        read(cell - 1) + read(cell + 1) + read(cell - row) + read(cell + row) + read(cell - layer) + read(cell + layer);
    (around - 6.0 * own).mul_add(RATE, own)
}

/// Coefficients of [`polynomial`], from the highest on: all below 1, so that values from -1 to 1 stay small.
const COEFFICIENTS: [f32; 16] = [
    0.031, -0.062, 0.093, -0.124, 0.155, -0.186, 0.217, -0.248, 0.279, -0.21, 0.141, -0.072, 0.053, -0.034, 0.25, 0.125,
];

/// `rounds` times the polynomial of degree 15 with [`COEFFICIENTS`], by Horner's rule.
#[inline(always)]
pub fn polynomial(mut x: f32, rounds: u32) -> f32 {
    for _ in 0..rounds {
        let mut value = COEFFICIENTS[0];
        for coefficient in &COEFFICIENTS[1..] {
            value = value.mul_add(x, *coefficient);
        }
        x = value;
    }
    x
}

/// `rounds` times the finaliser of MurmurHash3 (public domain, Austin Appleby) for 32 bits.
#[inline(always)]
pub fn mix_bits(mut value: u32, rounds: u32) -> u32 {
    for _ in 0..rounds {
        value ^= value >> 16;
        value = value.wrapping_mul(0x85eb_ca6b);
        value ^= value >> 13;
        value = value.wrapping_mul(0xc2b2_ae35);
        value ^= value >> 16;
    }
    value
}

/// A permutation of the numbers below `2^bits`, in an order without a pattern; `i` is one of them, `bits` below 32.
///
/// Each step can be undone: a number xor itself shifted to the right, times an odd number modulo `2^bits`.
#[inline(always)]
pub fn permuted(i: u32, bits: u32) -> u32 {
    let (mask, shift) = ((1 << bits) - 1, bits.div_ceil(2));
    let mut at = i;
    for factor in [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d] {
        at = (at ^ (at >> shift)).wrapping_mul(factor) & mask;
    }
    at ^ (at >> shift)
}

/// Adds two pairs of bfloat16, each in the halves of a word: both sums are exact in 32 bits but for one rounding, and rounded to the
/// nearest, ties to even. For finite numbers.
#[inline(always)]
pub fn add_bf16x2(a: u32, b: u32) -> u32 {
    let low = f32::from_bits(a << 16) + f32::from_bits(b << 16);
    let high = f32::from_bits(a & 0xffff_0000) + f32::from_bits(b & 0xffff_0000);
    let rounded = |x: f32| x.to_bits() + 0x7fff + (x.to_bits() >> 16 & 1);
    (rounded(low) >> 16) | (rounded(high) & 0xffff_0000)
}

/// Steps of Collatz' map from `value` to 1, at most `limit`; wraps at 2^32.
#[inline(always)]
pub fn collatz(mut value: u32, limit: u32) -> u32 {
    let mut steps = 0;
    while value != 1 && steps < limit {
        value = if value.is_multiple_of(2) { value / 2 } else { value.wrapping_mul(3).wrapping_add(1) };
        steps += 1;
    }
    steps
}

/// Turns of z² + c until z is more than 2 from the origin, at most `limit`; c is the pixel's place in the square from
/// -2 - 1.25i on, 2.5 wide.
#[inline(always)]
pub fn escapes_after(column: u32, row: u32, width: u32, limit: u32) -> u32 {
    // Not a division: on a GPU that is a function of its own.
    let scale = 2.5 * reciprocal_of_power(width);
    let im = (row as f32).mul_add(scale, -1.25);
    let re = (column as f32).mul_add(scale, -2.0);
    let (mut x, mut y, mut turns) = (0.0_f32, 0.0_f32, 0);
    while turns < limit && x * x + y * y <= 4.0 {
        let next = x * x - y * y + re;
        y = (x + x).mul_add(y, im);
        x = next;
        turns += 1;
    }
    turns
}

/// 1 / `width` for a power of two, exactly: the exponent, turned around.
#[inline(always)]
fn reciprocal_of_power(width: u32) -> f32 {
    f32::from_bits((127 - width.trailing_zeros()) << 23)
}

/// Softening of the distance between bodies, squared: no body is at no distance.
const SOFTENING: f32 = 0.01;

/// The acceleration `sum` and what `body` (x, y, z, mass) adds to it at the place of `own`.
#[inline(always)]
pub fn attracted(sum: [f32; 3], own: [f32; 4], body: [f32; 4]) -> [f32; 3] {
    let [dx, dy, dz] = [body[0] - own[0], body[1] - own[1], body[2] - own[2]];
    let squared = dx.mul_add(dx, dy.mul_add(dy, dz.mul_add(dz, SOFTENING)));
    let inverse = special::reciprocal_sqrt(squared);
    let pull = body[3] * inverse * (inverse * inverse);
    [dx.mul_add(pull, sum[0]), dy.mul_add(pull, sum[1]), dz.mul_add(pull, sum[2])]
}

/// `rounds` steps of a linear congruential generator (Numerical Recipes' constants), which nobody computes in one.
#[inline(always)]
pub fn stirred(mut value: u32, rounds: u32) -> u32 {
    for _ in 0..rounds {
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) ^ (value >> 16);
    }
    value
}

/// Cells on each side of one that its stencil takes in.
pub const STENCIL_RADIUS: u32 = 3;

/// The sum of a cell and its neighbours, from the left to the right; `read` takes 0 for the leftmost.
#[inline(always)]
pub fn stencil(read: impl Fn(u32) -> f32) -> f32 {
    let mut sum = 0.0;
    for at in 0..2 * STENCIL_RADIUS + 1 {
        sum += read(at);
    }
    sum
}
