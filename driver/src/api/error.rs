//! Names and texts of errors.

use std::ffi::c_char;

use crate::abi::Out;
use crate::code::{self, Code};
use crate::guard::api;

api! {
    fn cuGetErrorName(error: u32, name: Out<*const c_char>) {
        name.put(code::describe(error).map_or(std::ptr::null(), |(name, _)| name.as_ptr()))?;
        code::describe(error).map(|_| ()).ok_or(Code::INVALID_VALUE)
    }

    fn cuGetErrorString(error: u32, text: Out<*const c_char>) {
        text.put(code::describe(error).map_or(std::ptr::null(), |(_, text)| text.as_ptr()))?;
        code::describe(error).map(|_| ()).ok_or(Code::INVALID_VALUE)
    }
}
