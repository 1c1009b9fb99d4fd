//! What the driver says on stderr: faults each time, everything else once.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

static SAID: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Says it.
pub fn say(text: &str) {
    eprintln!("warpwise driver: {text}");
}

/// Says it unless it was said before.
pub fn say_once(text: &str) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(text.to_owned()) {
        say(text);
    }
}
