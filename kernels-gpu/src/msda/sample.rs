//! Where a point lies between pixels: the arithmetic that kernels and references share.

#[allow(unused_imports)] // on the host, the inherent methods of f32 come first
use cuda_std::GpuFloat;

/// An image of the pyramid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    pub height: u32,
    pub width: u32,
    /// Index of its first pixel among those of all levels.
    pub first_pixel: u32,
}

/// A coordinate between two neighbouring columns or rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The two, moved into the image where they lie beyond it.
    pub at: [u32; 2],
    /// How much each counts: nothing beyond the image.
    pub weights: [f32; 2],
    /// How fast that changes with the coordinate.
    pub slopes: [f32; 2],
}

/// A point among four pixels: upper left, upper right, lower left, lower right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Indices among the pixels of all levels.
    pub pixels: [u32; 4],
    pub weights: [f32; 4],
    pub x: Axis,
    pub y: Axis,
}

/// A coordinate as a share of `len` pixels, at least one: 0 is the outer edge of the first pixel, 1 that of the last. Pixels count at their
/// centres. Any number is allowed; a NaN is as far outside as can be.
#[inline(always)]
pub fn axis(coordinate: f32, len: u32) -> Axis {
    let length = len as f32;
    let place = coordinate.mul_add(length, -0.5);
    let is_near = place > -1.0 && place < length;
    // Beyond a pixel outside nothing changes any more, and the conversion below is safe.
    let place = place.max(-1.0).min(length);
    let below = place.floor();
    let share = place - below;
    // SAFETY: from -1 to `len`, which is a whole number that 32 bits hold.
    let first = unsafe { below.to_int_unchecked::<i32>() };
    let last = len as i32 - 1;
    let (has_first, has_second) = (first >= 0 && first <= last, first < last);
    let nearest = first.max(0).min(last);
    let slope = if is_near { length } else { 0.0 };
    Axis {
        at: [nearest as u32, if has_second { first + 1 } else { nearest } as u32],
        weights: [if has_first { 1.0 - share } else { 0.0 }, if has_second { share } else { 0.0 }],
        slopes: [if has_first { -slope } else { 0.0 }, if has_second { slope } else { 0.0 }],
    }
}

/// The pixels around a point of a level, and their weights.
#[inline(always)]
pub fn sample(level: Level, [x, y]: [f32; 2]) -> Sample {
    let (x, y) = (axis(x, level.width), axis(y, level.height));
    let row = |k: usize| level.first_pixel + y.at[k] * level.width;
    Sample {
        pixels: [row(0) + x.at[0], row(0) + x.at[1], row(1) + x.at[0], row(1) + x.at[1]],
        weights: [
            y.weights[0] * x.weights[0],
            y.weights[0] * x.weights[1],
            y.weights[1] * x.weights[0],
            y.weights[1] * x.weights[1],
        ],
        x,
        y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_lies_between_the_centres_of_two_pixels_and_loses_weight_at_the_edges() {
        let weighted = |coordinate: f32| {
            let Axis { at, weights, .. } = axis(coordinate, 4);
            (at, weights)
        };
        assert_eq!(weighted(0.125), ([0, 1], [1.0, 0.0]), "the centre of the first");
        assert_eq!(weighted(0.25), ([0, 1], [0.5, 0.5]));
        assert_eq!(weighted(0.0), ([0, 0], [0.0, 0.5]), "the outer edge: half of it is nothing");
        assert_eq!(weighted(1.0), ([3, 3], [0.5, 0.0]));
        for beyond in [-0.125, 1.125, -7.0, 1e30, f32::NEG_INFINITY, f32::NAN] {
            assert_eq!(weighted(beyond).1, [0.0, 0.0], "{beyond}");
            assert!(weighted(beyond).0.iter().all(|at| *at < 4), "{beyond}");
        }
    }

    #[test]
    fn slopes_are_the_change_of_the_weights() {
        for coordinate in [-0.1_f32, 0.05, 0.3, 0.7, 0.95, 1.05] {
            let (here, there) = (axis(coordinate, 8), axis(coordinate + 1.0 / 1024.0, 8));
            for k in 0..2 {
                let change = (there.weights[k] - here.weights[k]) * 1024.0;
                assert!((change - here.slopes[k]).abs() < 1e-2, "{coordinate}: {change} and {here:?}");
            }
        }
        assert_eq!(axis(-3.0, 8).slopes, [0.0; 2]);
    }

    #[test]
    fn the_four_pixels_of_a_point_are_those_of_its_level() {
        let level = Level { height: 2, width: 4, first_pixel: 100 };
        let Sample { pixels, weights, .. } = sample(level, [0.25, 0.5]);
        assert_eq!((pixels, weights), ([100, 101, 104, 105], [0.25; 4]));
    }
}
