//! The border between C and Rust: what every exported function goes through.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::{Code, Done, SUCCESS};
use crate::notice;

/// A function of the driver, as `cuGetProcAddress` hands it out.
#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub address: *const (),
}

// SAFETY: the address of a function.
unsafe impl Sync for Entry {}

/// Runs the body of an exported function: its error becomes a number, and no panic crosses into C.
pub fn guard(name: &str, body: impl FnOnce() -> Done) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code.number(),
        Err(_) => {
            notice::say(&format!("{name} failed inside the driver: a fault of Warpwise; the message above says where"));
            Code::UNKNOWN.number()
        }
    }
}

/// Defines exported functions of C, and the list of them. Bodies return [`Done`].
macro_rules! api {
    ($( $(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block )*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the driver's name")]
            #[allow(clippy::too_many_arguments, reason = "the driver's signature")]
            pub extern "C" fn $name($($arg: $ty),*) -> u32 {
                $crate::guard::guard(stringify!($name), || $body)
            }
        )*

        /// The functions of this file.
        pub static ENTRIES: &[$crate::guard::Entry] = &[
            $($crate::guard::Entry { name: stringify!($name), address: $name as *const () },)*
        ];
    };
}

pub(crate) use api;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_unknown_error() {
        assert_eq!(guard("cuTest", || panic!("planted")), 999);
        assert_eq!(guard("cuTest", || Err(Code::NOT_READY)), 600);
        assert_eq!(guard("cuTest", || Ok(())), 0);
    }
}
