//! What a lab read back from the device, as one number: two backends that ran the same lab the same way have the same one.

use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::Xxh3;

/// A record of all that was read, in order. Clones are one record.
#[derive(Clone, Default)]
pub struct Readings(Arc<Mutex<Record>>);

#[derive(Default)]
struct Record {
    reads: u64,
    bytes: u64,
    hash: Xxh3,
}

/// What a record comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadingsDigest {
    pub reads: u64,
    pub bytes: u64,
    /// XXH3 of each read's length and bytes.
    pub hash: u128,
}

impl Readings {
    pub fn add(&self, bytes: &[u8]) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.reads += 1;
        record.bytes += bytes.len() as u64;
        record.hash.update(&(bytes.len() as u64).to_le_bytes());
        record.hash.update(bytes);
    }

    pub fn digest(&self) -> ReadingsDigest {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ReadingsDigest { reads: record.reads, bytes: record.bytes, hash: record.hash.digest128() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(reads: &[&[u8]]) -> ReadingsDigest {
        let readings = Readings::default();
        reads.iter().for_each(|bytes| readings.clone().add(bytes));
        readings.digest()
    }

    #[test]
    fn one_bit_an_order_or_a_boundary_makes_another_digest() {
        let whole = digest(&[b"abcd", b"ef"]);
        assert_eq!((whole.reads, whole.bytes), (2, 6));
        assert_eq!(whole, digest(&[b"abcd", b"ef"]));
        for other in [&[&b"abce"[..], b"ef"][..], &[b"ef", b"abcd"], &[b"abc", b"def"], &[b"abcdef"], &[]] {
            assert_ne!(whole.hash, digest(other).hash, "{other:?}");
        }
    }
}
