//! The roofline: what a device can do at most with so many operations for each byte.

use crate::ceilings::Ceilings;
use crate::lab::{Axis, Mark, Plot};

/// Where the roof is drawn, operations a byte, as powers of two.
const FROM: i32 = -6;
const TO: i32 = 12;
const BYTES_PER_FLOAT: f64 = 4.0;

/// Two ceilings; GFLOP/s and GB/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    pub gflops: f64,
    pub gbs: f64,
}

impl Roof {
    pub fn of(ceilings: &Ceilings) -> Self {
        Self { gflops: ceilings.fma.giga_per_second(), gbs: ceilings.copy.giga_per_second() }
    }

    /// The most operations a second, in GFLOP/s, at so many operations a byte.
    pub fn at(self, intensity: f64) -> f64 {
        self.gflops.min(intensity * self.gbs)
    }

    /// Operations a byte at which the two ceilings meet.
    pub fn ridge(self) -> f64 {
        self.gflops / self.gbs
    }

    /// The same for each float of four bytes.
    pub fn ridge_per_float(self) -> f64 {
        BYTES_PER_FLOAT * self.ridge()
    }

    /// A plot with the roof in it.
    pub fn plot(self, title: &str, x: &str, time_source: &str) -> Plot {
        let y = Axis::log(format!("GFLOP/s, {time_source}"));
        Plot::new(title, Axis::log(x), y).series("roof", Mark::Line, self.line().into_iter().map(|[x, y]| (x, y)))
    }

    /// The roof as points, from left to right: operations a byte, GFLOP/s.
    pub fn line(self) -> Vec<[f64; 2]> {
        let points = (FROM..=TO).map(|power| 2.0_f64.powi(power)).chain([self.ridge()]);
        let mut points: Vec<f64> = points.collect();
        points.sort_by(f64::total_cmp);
        points.into_iter().map(|x| [x, self.at(x)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_rises_to_the_ridge_and_is_flat_behind_it() {
        let roof = Roof { gflops: 1000.0, gbs: 50.0 };
        assert_eq!((roof.ridge(), roof.ridge_per_float()), (20.0, 80.0));
        assert_eq!([roof.at(10.0), roof.at(20.0), roof.at(40.0)], [500.0, 1000.0, 1000.0]);
    }
}
