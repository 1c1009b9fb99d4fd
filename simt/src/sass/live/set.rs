//! Sets of registers of all four files.

use super::{File, Register};

/// 256 general registers, 128 uniform ones, 8 predicates, 8 uniform predicates.
const WORDS: usize = 7;
const UNIFORM: u16 = 256;
const PREDICATES: u16 = 384;
const UNIFORM_PREDICATES: u16 = 392;

/// A set of registers; those that no chip has are left out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; WORDS]);

impl Set {
    pub fn insert(&mut self, register: Register) {
        let (first, size) = match register.file {
            File::General => (0, 255),
            File::Uniform => (UNIFORM, 128),
            File::Predicate => (PREDICATES, 7),
            File::UniformPredicate => (UNIFORM_PREDICATES, 7),
        };
        if register.index < size {
            let bit = first + register.index;
            self.0[usize::from(bit / 64)] |= 1 << (bit % 64);
        }
    }

    pub fn contains(&self, register: Register) -> bool {
        let mut one = Self::default();
        one.insert(register);
        one != Self::default() && self.and(&one) == one
    }

    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// By file, then by number.
    pub fn iter(&self) -> impl Iterator<Item = Register> {
        let bits = (0..WORDS as u16 * 64).filter(|bit| self.0[usize::from(bit / 64)] >> (bit % 64) & 1 == 1);
        bits.map(|bit| match bit {
            UNIFORM_PREDICATES.. => Register { file: File::UniformPredicate, index: bit - UNIFORM_PREDICATES },
            PREDICATES.. => Register { file: File::Predicate, index: bit - PREDICATES },
            UNIFORM.. => Register { file: File::Uniform, index: bit - UNIFORM },
            _ => Register { file: File::General, index: bit },
        })
    }
}

impl FromIterator<Register> for Set {
    fn from_iter<I: IntoIterator<Item = Register>>(registers: I) -> Self {
        let mut set = Self::default();
        registers.into_iter().for_each(|register| set.insert(register));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_registers_of_its_own() {
        let registers = [
            Register { file: File::General, index: 0 },
            Register { file: File::General, index: 254 },
            Register { file: File::Uniform, index: 0 },
            Register { file: File::Uniform, index: 127 },
            Register { file: File::Predicate, index: 6 },
            Register { file: File::UniformPredicate, index: 0 },
        ];
        let set: Set = registers.into_iter().collect();
        let mut found: Vec<Register> = set.iter().collect();
        assert_eq!(found.len(), registers.len());
        found.retain(|register| !registers.contains(register));
        assert_eq!(found, []);
        assert!(set.contains(registers[1]) && !set.contains(Register { file: File::Predicate, index: 0 }));
    }

    #[test]
    fn a_register_that_no_chip_has_is_left_out() {
        let beyond = Register { file: File::Predicate, index: 7 };
        let set: Set = [beyond].into_iter().collect();
        assert_eq!((set, set.contains(beyond)), (Set::default(), false));
    }
}
