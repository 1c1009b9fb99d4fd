//! How the machine runs a launch where CUDA leaves it open, and the words for it on the command line.

use std::num::NonZeroUsize;

use clap::ValueEnum;
use warpwise_simt::checks::Checks;
use warpwise_simt::exec::Divergence;
use warpwise_simt::machine::BlockOrder;

/// Choices that no correct kernel's results depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineOptions {
    pub divergence: Divergence,
    pub block_order: BlockOrder,
    pub isa: IsaChoice,
    /// What launches are checked for beyond memory bounds.
    pub checks: Checks,
    /// Threads that the cycle model takes, which change no result; none: one a core.
    pub threads: Option<NonZeroUsize>,
}

/// Which code of a kernel the machine runs: the values of `--isa`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum IsaChoice {
    /// SASS where ptxas and nvdisasm are at hand and the machine knows every instruction of the kernel, else PTX.
    #[default]
    Auto,
    Ptx,
    Sass,
}

/// Reads `converge`, `lockstep` or `adversarial:SEED`. For clap's `value_parser`.
pub fn parse_divergence(word: &str) -> Result<Divergence, String> {
    match word {
        "converge" => Ok(Divergence::Converge),
        "lockstep" => Ok(Divergence::Lockstep),
        _ => word
            .strip_prefix("adversarial")
            .and_then(|seed| if seed.is_empty() { Some(0) } else { seed.strip_prefix(':')?.parse().ok() })
            .map(Divergence::Adversarial)
            .ok_or_else(|| "expected converge, lockstep or adversarial:SEED".to_owned()),
    }
}

/// Reads `mem`, `race`, `init`, `sync`, several of them with commas, or `all`. For clap's `value_parser`.
pub fn parse_checks(words: &str) -> Result<Checks, String> {
    words.parse().map_err(|error: warpwise_simt::checks::UnknownCheck| error.to_string())
}

/// Reads `forward`, `reverse`, `random` or `random:SEED`. For clap's `value_parser`.
pub fn parse_block_order(word: &str) -> Result<BlockOrder, String> {
    let expected = || "expected forward, reverse, random or random:SEED".to_owned();
    match word.split_once(':').unwrap_or((word, "0")) {
        ("forward", "0") => Ok(BlockOrder::Forward),
        ("reverse", "0") => Ok(BlockOrder::Reverse),
        ("random", seed) => seed.parse().map(BlockOrder::Random).map_err(|_| expected()),
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_command_line_are_read_and_others_refused() {
        assert_eq!(parse_divergence("lockstep"), Ok(Divergence::Lockstep));
        assert_eq!(parse_divergence("adversarial:7"), Ok(Divergence::Adversarial(7)));
        assert_eq!(parse_divergence("adversarial"), Ok(Divergence::Adversarial(0)));
        for word in ["Converge", "adversarial:", "adversarial7", "adversarial:x"] {
            assert!(parse_divergence(word).is_err(), "{word}");
        }
        assert_eq!(parse_checks("mem,all"), Ok(Checks::ALL));
        assert!(parse_checks("races").is_err());
        assert_eq!(parse_block_order("forward"), Ok(BlockOrder::Forward));
        assert_eq!(parse_block_order("random"), Ok(BlockOrder::Random(0)));
        assert_eq!(parse_block_order("random:7"), Ok(BlockOrder::Random(7)));
        for word in ["", "random:", "random:x", "reverse:1", "backward"] {
            assert!(parse_block_order(word).is_err(), "{word}");
        }
    }
}
