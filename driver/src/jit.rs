//! JIT options: the few that change something here, and the buffers for what the compiler has to say.

use crate::abi::{In, Out};
use crate::code::Done;
use std::ffi::c_char;

/// `CUjit_option`, those that are read.
mod option {
    pub const MAX_REGISTERS: u32 = 0;
    pub const WALL_TIME: u32 = 2;
    pub const INFO_BUFFER: u32 = 3;
    pub const INFO_BYTES: u32 = 4;
    pub const ERROR_BUFFER: u32 = 5;
    pub const ERROR_BYTES: u32 = 6;
}

/// The options of one load. Others than these are the compiler's business, and there is none here: they are taken and change nothing.
#[derive(Clone, Copy, Default)]
pub struct JitOptions {
    pub max_registers: Option<u32>,
    info: Log,
    error: Log,
    /// Where `CU_JIT_WALL_TIME` wants its milliseconds: the option's own slot.
    wall_time: Option<Out<u64>>,
}

/// A buffer for text, and the slot of the option that gives its size, where the length used goes.
#[derive(Clone, Copy, Default)]
struct Log {
    buffer: Option<Out<c_char>>,
    bytes: usize,
    used: Option<Out<u64>>,
}

impl JitOptions {
    /// Reads `count` options; each has a slot of pointer size, which holds a value, not a pointer to one.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null arrays.
    pub fn read(count: u32, names: In<u32>, slots: Out<u64>) -> Done<Self> {
        let mut options = Self::default();
        for (index, name) in names.array(count as usize)?.into_iter().enumerate() {
            let slot = slots.element(index);
            let value = slot.get()?;
            match name {
                option::MAX_REGISTERS => options.max_registers = u32::try_from(value).ok().filter(|cap| *cap > 0),
                option::WALL_TIME => options.wall_time = Some(slot),
                option::INFO_BUFFER => options.info.buffer = Some(Out::at(value)),
                option::INFO_BYTES => (options.info.bytes, options.info.used) = (value as u32 as usize, Some(slot)),
                option::ERROR_BUFFER => options.error.buffer = Some(Out::at(value)),
                option::ERROR_BYTES => (options.error.bytes, options.error.used) = (value as u32 as usize, Some(slot)),
                _ => {}
            }
        }
        Ok(options)
    }

    /// Fills the buffers.
    pub fn finish(&self, info: &str, error: &str, milliseconds: f32) {
        self.info.write(info);
        self.error.write(error);
        if let Some(slot) = self.wall_time {
            slot.cast::<f32>().put_if_wanted(milliseconds);
        }
    }
}

impl Log {
    fn write(&self, text: &str) {
        let written = match self.buffer {
            Some(buffer) if self.bytes > 0 && buffer.put_text(text, self.bytes).is_ok() => {
                text.len().min(self.bytes - 1)
            }
            _ => 0,
        };
        if let Some(slot) = self.used {
            slot.put_if_wanted(written as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address<T>(place: &mut [T]) -> u64 {
        place.as_mut_ptr().expose_provenance() as u64
    }

    #[test]
    fn logs_go_to_their_buffers_and_the_lengths_used_to_the_slots_of_their_sizes() {
        let (mut info, mut error) = ([1u8; 8], [1u8; 4]);
        let mut names = [option::ERROR_BYTES, option::ERROR_BUFFER, option::INFO_BUFFER, option::INFO_BYTES, 9, 0, 2];
        let mut slots = [4, address(&mut error), address(&mut info), 8, 90, 32, u64::MAX];
        let (names_at, slots_at) = (address(&mut names), address(&mut slots));
        let options = JitOptions::read(7, In::at(names_at), Out::at(slots_at)).unwrap();
        assert_eq!(options.max_registers, Some(32));
        options.finish("well", "not well", 1.5);
        assert_eq!((&info, &error), (b"well\0\x01\x01\x01", b"not\0"));
        assert_eq!((slots[3], slots[0]), (4, 3));
        assert_eq!(slots[6] as u32, 1.5f32.to_bits());
    }

    #[test]
    fn no_options_need_no_arrays_and_some_do() {
        assert!(JitOptions::read(0, In::at(0), Out::at(0)).is_ok());
        assert!(JitOptions::read(1, In::at(0), Out::at(0)).is_err());
    }
}
