//! Arguments of the cases as data, and their buffers on a device.

use crate::backend::{DeviceBuffer, Gpu, GpuError};
use crate::labs::input::noise;
use crate::random::{Random, generator};

/// One argument of a case. Lengths are in elements of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    U32(u32),
    /// Floats from -1 to 1.
    Noise(u32),
    /// Words with every bit random.
    Words(u32),
    /// Zeros.
    Zeros(u32),
    /// Never written.
    Out(u32),
    /// 0, 1, 2 …, times so much.
    Ramp(u32, u32),
    /// Indices that lead through all lines of an array in an order of chance and back: so many lines, so far apart. What lies
    /// between is not written.
    Chain {
        lines: u32,
        apart: u32,
    },
}

/// The parameters of a launch, and the memory behind them.
pub struct Bound {
    /// In CUDA's layout.
    pub params: Vec<u8>,
    pub buffers: Vec<DeviceBuffer<u32>>,
}

/// Allocates and fills what the arguments need. The same arguments give the same contents.
pub fn bind(gpu: &Gpu, inputs: &[Input]) -> Result<Bound, GpuError> {
    let mut bound = Bound { params: Vec::new(), buffers: Vec::new() };
    for (seed, input) in inputs.iter().enumerate() {
        match *input {
            Input::U32(value) => bound.params.extend(value.to_le_bytes()),
            other => {
                let buffer = match contents(other, seed as u64 + 1) {
                    Some(words) => gpu.upload(&words)?,
                    None => gpu.uninitialised(other.len())?,
                };
                bound.params.resize(bound.params.len().next_multiple_of(size_of::<u64>()), 0);
                bound.params.extend(buffer.ptr().address().to_le_bytes());
                bound.buffers.push(buffer);
            }
        }
    }
    Ok(bound)
}

impl Input {
    /// Elements of the buffer; none for a scalar.
    fn len(self) -> usize {
        let len = match self {
            Input::U32(_) => 0,
            Input::Noise(len) | Input::Words(len) | Input::Zeros(len) | Input::Out(len) | Input::Ramp(len, _) => len,
            Input::Chain { lines, apart } => lines * apart,
        };
        len as usize
    }
}

/// What the buffer holds before the launch; `None` if that does not matter.
fn contents(input: Input, seed: u64) -> Option<Vec<u32>> {
    match input {
        Input::U32(_) | Input::Out(_) => None,
        Input::Noise(len) => Some(noise(len, seed).into_iter().map(f32::to_bits).collect()),
        Input::Words(len) => {
            let mut random = generator(seed);
            Some((0..len).map(|_| random.random()).collect())
        }
        Input::Zeros(len) => Some(vec![0; len as usize]),
        Input::Ramp(len, factor) => Some((0..len).map(|i| i * factor).collect()),
        Input::Chain { lines, apart } => Some(chain(lines, apart, seed)),
    }
}

/// A cycle through all lines: element `line * apart` has the index of the next.
fn chain(lines: u32, apart: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (1..lines).collect();
    let mut random = generator(seed);
    for place in (1..order.len()).rev() {
        order.swap(place, random.random_range(0..=place));
    }
    let mut next = vec![0; (lines * apart) as usize];
    let mut at = 0;
    for line in order {
        next[at as usize] = line * apart;
        at = line * apart;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_visits_every_line_once_and_comes_back() {
        let (lines, apart) = (100, 32);
        let next = chain(lines, apart, 1);
        let mut at = 0;
        let mut visited = vec![false; lines as usize];
        for _ in 0..lines {
            assert_eq!(at % apart, 0);
            assert!(!std::mem::replace(&mut visited[(at / apart) as usize], true), "line {} twice", at / apart);
            at = next[at as usize];
        }
        assert_eq!(at, 0);
    }

    #[test]
    fn the_same_arguments_have_the_same_contents_and_other_places_others() {
        assert_eq!(contents(Input::Noise(100), 1), contents(Input::Noise(100), 1));
        assert_ne!(contents(Input::Noise(100), 1), contents(Input::Noise(100), 2));
        assert_eq!(contents(Input::Out(100), 1), None);
        assert_eq!(contents(Input::Ramp(3, 7), 1), Some(vec![0, 7, 14]));
    }
}
