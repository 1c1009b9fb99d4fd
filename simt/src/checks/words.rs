//! Which checks are made, and the words for them: those of `--check` and `WARPWISE_CHECK`.

use std::str::FromStr;

/// Checks beyond memory bounds, alignment and use after free, which are always made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checks {
    /// Reads of memory that nobody wrote.
    pub init: bool,
    /// Two threads, at least one write, no order between them.
    pub race: bool,
    /// Barriers and warp-wide operations.
    pub sync: bool,
}

/// A word that is no check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no check; there is {known}", known = Checks::WORDS.join(", "))]
pub struct UnknownCheck(pub String);

impl Checks {
    pub const WORDS: [&str; 5] = ["mem", "race", "init", "sync", "all"];
    pub const ALL: Self = Self { init: true, race: true, sync: true };

    /// Whether a launch has to be watched.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// Words separated by commas; none is none.
impl FromStr for Checks {
    type Err = UnknownCheck;

    fn from_str(words: &str) -> Result<Self, UnknownCheck> {
        let mut checks = Self::default();
        for word in words.split(',').map(str::trim) {
            match word {
                "" | "mem" => {}
                "race" => checks.race = true,
                "init" => checks.init = true,
                "sync" => checks.sync = true,
                "all" => checks = Self::ALL,
                other => return Err(UnknownCheck(other.to_owned())),
            }
        }
        Ok(checks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_with_spaces_and_others_are_named() {
        assert_eq!("mem".parse(), Ok(Checks::default()));
        assert_eq!("".parse(), Ok(Checks::default()));
        assert_eq!("race, init".parse(), Ok(Checks { race: true, init: true, sync: false }));
        assert_eq!("mem,all".parse(), Ok(Checks::ALL));
        let error = "race,rcae".parse::<Checks>().unwrap_err();
        assert_eq!(error.to_string(), "`rcae` is no check; there is mem, race, init, sync, all");
    }
}
