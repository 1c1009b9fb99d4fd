//! The same on the host, in one order and in 64 bits, with a bound on what rounding and another order can make of it.

use super::{CHANNELS, HEADS, LEVEL_WORDS, LEVELS, Level, POINTS, SAMPLES, Sample, sample};

/// What goes in. Lengths are as the module [`super`] says.
#[derive(Clone, Debug)]
pub struct Inputs {
    pub levels: Vec<Level>,
    pub value: Vec<f32>,
    pub locations: Vec<f32>,
    pub weights: Vec<f32>,
    /// Of the output.
    pub gradient: Vec<f32>,
}

/// A sum, the sum of its terms' magnitudes, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    pub value: f64,
    pub magnitude: f64,
    pub terms: u32,
}

/// All gradients.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub value: Vec<Sum>,
    pub location: Vec<Sum>,
    pub weight: Vec<Sum>,
}

/// Roundings of a term before it is added: weights of four corners, products with a weight and a slope.
const TERM_ROUNDINGS: f64 = 6.0;

impl Sum {
    fn add(&mut self, term: f64) {
        *self = Self { value: self.value + term, magnitude: self.magnitude + term.abs(), terms: self.terms + 1 };
    }

    /// How far a sum of 32-bit numbers in any order may lie from this one: half a unit in the last place of the magnitude for each
    /// rounding (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). What is too small for 32 bits counts too.
    pub fn bound(&self) -> f64 {
        let roundings = f64::from(self.terms) + TERM_ROUNDINGS;
        roundings * (f64::from(f32::EPSILON) / 2.0) * 1.01 * self.magnitude + f64::from(f32::MIN_POSITIVE)
    }

    /// The distance as a share of the bound: at most 1 is right.
    pub fn off(&self, found: f32) -> f64 {
        (f64::from(found) - self.value).abs() / self.bound()
    }
}

impl Inputs {
    pub fn queries(&self) -> u32 {
        self.weights.len() as u32 / (HEADS * SAMPLES)
    }

    /// The same with the first queries only, at most all; the values stay.
    pub fn first(&self, queries: u32) -> Self {
        let results = (queries.min(self.queries()) * HEADS) as usize;
        let (points, channels) = (results * SAMPLES as usize, results * CHANNELS as usize);
        Self {
            levels: self.levels.clone(),
            value: self.value.clone(),
            locations: self.locations[..2 * points].to_vec(),
            weights: self.weights[..points].to_vec(),
            gradient: self.gradient[..channels].to_vec(),
        }
    }

    /// As kernels read it.
    pub fn level_words(&self) -> Vec<u32> {
        let words = |level: &Level| [level.height, level.width, level.first_pixel];
        let words: Vec<u32> = self.levels.iter().flat_map(words).collect();
        debug_assert_eq!(words.len() as u32, LEVELS * LEVEL_WORDS);
        words
    }

    /// Each point in order: where it lies, and the result that it belongs to.
    fn points(&self) -> impl Iterator<Item = (usize, Sample, usize)> {
        (0..self.weights.len()).map(|i| {
            let level = self.levels[i % SAMPLES as usize / POINTS as usize];
            (i, sample(level, [self.locations[2 * i], self.locations[2 * i + 1]]), i / SAMPLES as usize)
        })
    }

    fn at(pixel: u32, result: usize) -> usize {
        super::channels_at(pixel, result as u32 % HEADS)
    }

    /// The output, in the order and with the roundings of [`super::forward::msda_tile()`]: equal to the bit.
    pub fn output(&self) -> Vec<f32> {
        let channels = CHANNELS as usize;
        let mut output = vec![0.0_f32; self.gradient.len()];
        for (i, sample, result) in self.points() {
            for corner in 0..4 {
                let weight = sample.weights[corner] * self.weights[i];
                let from = &self.value[Self::at(sample.pixels[corner], result)..][..channels];
                for (sum, value) in output[result * channels..][..channels].iter_mut().zip(from) {
                    *sum = value.mul_add(weight, *sum);
                }
            }
        }
        output
    }

    /// The output with its bounds.
    pub fn output_bounds(&self) -> Vec<Sum> {
        let channels = CHANNELS as usize;
        let mut output = vec![Sum::default(); self.gradient.len()];
        for (i, sample, result) in self.points() {
            for corner in 0..4 {
                let weight = f64::from(sample.weights[corner]) * f64::from(self.weights[i]);
                let from = &self.value[Self::at(sample.pixels[corner], result)..][..channels];
                for (sum, value) in output[result * channels..][..channels].iter_mut().zip(from) {
                    sum.add(weight * f64::from(*value));
                }
            }
        }
        output
    }

    /// All gradients, with their bounds.
    pub fn gradients(&self) -> Gradients {
        let channels = CHANNELS as usize;
        let none = |len: usize| vec![Sum::default(); len];
        let mut found = Gradients {
            value: none(self.value.len()),
            location: none(self.locations.len()),
            weight: none(self.weights.len()),
        };
        for (i, sample, result) in self.points() {
            let weight = f64::from(self.weights[i]);
            for corner in 0..4 {
                let at = Self::at(sample.pixels[corner], result);
                let (row, column) = (corner / 2, corner % 2);
                let (x, y) = (&sample.x, &sample.y);
                let product = |y: f32, x: f32| f64::from(y) * f64::from(x);
                let by_x = product(y.weights[row], x.slopes[column]) * weight;
                let by_y = product(y.slopes[row], x.weights[column]) * weight;
                let blend = product(y.weights[row], x.weights[column]);
                for channel in 0..channels {
                    let gradient = f64::from(self.gradient[result * channels + channel]);
                    let term = gradient * f64::from(self.value[at + channel]);
                    if sample.weights[corner] != 0.0 {
                        found.value[at + channel].add(blend * weight * gradient);
                    }
                    found.weight[i].add(blend * term);
                    found.location[2 * i].add(by_x * term);
                    found.location[2 * i + 1].add(by_y * term);
                }
            }
        }
        found
    }
}
