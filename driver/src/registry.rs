//! Handles: numbers that stand for objects, so that a handle that was never given out, or is dead, is found out.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::abi::Handle;
use crate::code::{Code, Done};

/// The live objects of one kind.
#[derive(Debug)]
pub struct Registry<T> {
    objects: RwLock<HashMap<usize, Arc<T>>>,
    next: std::sync::atomic::AtomicUsize,
}

/// Handles of one kind follow each other at this distance, and each kind starts elsewhere: no handle is valid as another kind's.
const STEP: usize = 256;
/// Below it there are no handles: the driver API has numbers there that mean streams (`CU_STREAM_LEGACY` …).
const FIRST: usize = 1 << 16;

impl<T> Registry<T> {
    /// `kind` below 256, one for each registry.
    pub fn new(kind: u8) -> Self {
        Self { objects: RwLock::default(), next: (FIRST + usize::from(kind)).into() }
    }

    /// Enters what `make` makes of its handle.
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> Arc<T> {
        let handle = Handle(self.next.fetch_add(STEP, std::sync::atomic::Ordering::Relaxed));
        let object = Arc::new(make(handle));
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.insert(handle.0, Arc::clone(&object));
        object
    }

    /// # Errors
    /// `INVALID_HANDLE` for a handle that stands for nothing alive.
    pub fn get(&self, handle: Handle) -> Done<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&handle.0).cloned().ok_or(Code::INVALID_HANDLE)
    }

    /// Takes the object out; its handle is dead.
    ///
    /// # Errors
    /// As [`Registry::get`].
    pub fn remove(&self, handle: Handle) -> Done<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&handle.0).ok_or(Code::INVALID_HANDLE)
    }

    /// Takes out all that `unwanted` picks.
    pub fn remove_all(&self, unwanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.extract_if(|_, object| unwanted(object)).map(|(_, object)| object).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_for_its_own_registry_until_it_is_removed() {
        let (cats, dogs) = (Registry::new(1), Registry::new(2));
        let cat = *cats.insert_with(|handle| handle);
        let dog = *dogs.insert_with(|handle| handle);
        assert!(cats.get(cat).is_ok());
        assert_eq!(dogs.get(cat).err(), Some(Code::INVALID_HANDLE));
        assert_eq!(cats.get(dog).err(), Some(Code::INVALID_HANDLE));
        assert!(cats.remove(cat).is_ok());
        assert_eq!(cats.get(cat).err(), Some(Code::INVALID_HANDLE));
        assert_eq!(cats.get(Handle::NULL).err(), Some(Code::INVALID_HANDLE));
    }
}
