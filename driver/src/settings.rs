//! What the environment asks for. The driver is started by programs that know nothing of it, so there is no other way in.
//!
//! | variable | means |
//! |---|---|
//! | `WARPWISE_DEVICE` | the modelled GPU, by any name that `warpwise doctor` lists; RTX 5070 where unset |
//! | `WARPWISE_CHECK` | checks, separated by commas: `mem` (always on), `race`, `init`, `sync`, or `all` |
//! | `WARPWISE_TIME` | `modelled` (where unset): launches between events go through the cycle model; `functional`: none does, which is several times faster, and an event counts every launch as an empty one |

use warpwise_simt::checks::{Checks, UnknownCheck};
use warpwise_simt::device::{self, Device, UnknownDevice};

use crate::code::Code;

/// How launches between two events are timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    #[default]
    Modelled,
    Functional,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub device: &'static Device,
    pub timing: Timing,
    pub checks: Checks,
}

/// A variable that says what cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSetting {
    #[error("WARPWISE_DEVICE: {0}")]
    Device(#[from] UnknownDevice),
    #[error("WARPWISE_CHECK: {0}")]
    Check(#[from] UnknownCheck),
    #[error("WARPWISE_TIME: `{0}` is neither `modelled` nor `functional`")]
    Time(String),
}

impl BadSetting {
    /// What `cuInit` answers.
    pub fn code(&self) -> Code {
        match self {
            Self::Device(_) => Code::NO_DEVICE,
            Self::Check(_) | Self::Time(_) => Code::INVALID_VALUE,
        }
    }
}

impl Settings {
    /// Reads variables by `get`, which gives `None` for one that is unset.
    ///
    /// # Errors
    /// The first variable that makes no sense.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, BadSetting> {
        let given = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let device = match given("WARPWISE_DEVICE") {
            Some(name) => device::find(name.trim())?,
            None => Device::default_device(),
        };
        let checks = given("WARPWISE_CHECK").map_or(Ok(Checks::default()), |words| words.parse())?;
        let timing = match given("WARPWISE_TIME").as_deref().map(str::trim) {
            None | Some("modelled") => Timing::Modelled,
            Some("functional") => Timing::Functional,
            Some(other) => return Err(BadSetting::Time(other.to_owned())),
        };
        Ok(Self { device, timing, checks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, BadSetting> {
        Settings::read(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_set_means_the_default_device_and_modelled_time() {
        for pairs in [&[][..], &[("WARPWISE_DEVICE", ""), ("WARPWISE_CHECK", " "), ("WARPWISE_TIME", "")]] {
            let settings = read(pairs).unwrap();
            assert_eq!((settings.device.name.as_str(), settings.timing), ("RTX 5070", Timing::Modelled));
        }
    }

    #[test]
    fn variables_are_read_with_spaces_around_words() {
        let settings = read(&[("WARPWISE_DEVICE", " h200 "), ("WARPWISE_CHECK", "mem, mem")]).unwrap();
        assert_eq!(settings.device.name, "H200");
        assert_eq!(read(&[("WARPWISE_TIME", "functional")]).unwrap().timing, Timing::Functional);
    }

    #[test]
    fn a_word_that_is_not_known_is_named_with_those_that_are() {
        let error = read(&[("WARPWISE_CHECK", "mem,rcae")]).unwrap_err();
        assert_eq!(error.to_string(), "WARPWISE_CHECK: `rcae` is no check; there is mem, race, init, sync, all");
        assert_eq!(error.code(), Code::INVALID_VALUE);
        assert_eq!(read(&[("WARPWISE_CHECK", "race,mem")]).unwrap().checks, Checks { race: true, ..Checks::default() });
        assert_eq!(read(&[("WARPWISE_DEVICE", "GTX 480")]).unwrap_err().code(), Code::NO_DEVICE);
        assert_eq!(read(&[("WARPWISE_TIME", "fast")]).unwrap_err().code(), Code::INVALID_VALUE);
    }
}
