//! One launch as the machine and as the hardware counted it.

use warpwise_nvtools::ncu::{Measured, Profile};
use warpwise_simt::isa::Isa;

use super::launch::Counted;
use super::metrics::{Kind, LIMIT_SHARED, METRICS, SHARED_CONFIG};

/// Why a kernel that uses local memory is held to less.
pub const LOCAL_MEMORY: &str = "the kernel uses local memory, whose accesses are in SASS alone";

/// Why one that adds to half a word in memory is.
pub const HALF_A_WORD: &str = "ptxas makes a loop with loads of an addition to half a word";

/// One metric of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub kernel: String,
    pub metric: &'static str,
    pub machine: Option<f64>,
    pub hardware: Option<f64>,
    pub verdict: Verdict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Equal,
    /// They differ, for a reason that is known.
    Explained(&'static str),
    /// They differ and must not.
    Differs,
    /// One of the two has no number.
    NotCompared,
}

impl Verdict {
    /// The word that reports use.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Explained(_) => "explained",
            Verdict::Differs => "differs",
            Verdict::NotCompared => "not-compared",
        }
    }
}

/// All metrics of a launch; without a profile, the machine's alone.
pub fn compare(counted: &Counted, profile: Option<&Profile>) -> Vec<Comparison> {
    METRICS.iter().map(|&(metric, kind)| one(counted, profile, metric, kind)).collect()
}

fn one(counted: &Counted, profile: Option<&Profile>, metric: &'static str, kind: Kind) -> Comparison {
    let hardware = profile.and_then(|profile| profile.get(metric));
    let machine = match (metric, profile.and_then(|profile| profile.get(SHARED_CONFIG))) {
        // The driver splits the SM's memory as it likes; both reckon with the split that it chose.
        (LIMIT_SHARED, Some(config)) if counted.shared_bytes_allocated > 0.0 => {
            Some((config.value / counted.shared_bytes_allocated).floor())
        }
        _ => counted.get(metric),
    };
    let verdict = match (machine, hardware) {
        (Some(machine), Some(hardware)) => judge(machine, hardware, kind, counted),
        _ => Verdict::NotCompared,
    };
    let hardware = hardware.map(|measured| measured.value);
    Comparison { kernel: counted.kernel.to_owned(), metric, machine, hardware, verdict }
}

fn judge(machine: f64, hardware: Measured, kind: Kind, counted: &Counted) -> Verdict {
    if hardware.is(machine) {
        return Verdict::Equal;
    }
    let of_ptx = counted.unlike_ptx.filter(|_| counted.isa == Isa::Ptx);
    kind.reason(counted.isa).or(of_ptx).map_or(Verdict::Differs, Verdict::Explained)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
    const INSTRUCTIONS: &str = "smsp__inst_executed.sum";

    fn counted(uses_local_memory: bool) -> Counted {
        counted_of(Isa::Ptx, uses_local_memory)
    }

    fn counted_of(isa: Isa, uses_local_memory: bool) -> Counted {
        let unlike_ptx = uses_local_memory.then_some(LOCAL_MEMORY);
        let values = [(SECTORS, 250_002.0), (INSTRUCTIONS, 562_608.0), (LIMIT_SHARED, 223.0)];
        let values = values.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Counted::new("vecadd", unlike_ptx, 1024.0, isa, values)
    }

    fn profile(metrics: &[(&str, f64)]) -> Profile {
        let measured = |&(name, value): &(&str, f64)| (name.to_owned(), Measured { value, decimals: 0 });
        Profile { kernel: "vecadd".to_owned(), metrics: metrics.iter().map(measured).collect(), ..Profile::default() }
    }

    fn verdict(counted: &Counted, profile: Option<&Profile>, metric: &str) -> Verdict {
        let all = compare(counted, profile);
        all.into_iter().find(|comparison| comparison.metric == metric).expect("a metric of the table").verdict
    }

    #[test]
    fn sectors_must_be_equal_and_instructions_need_not() {
        let same = profile(&[(SECTORS, 250_002.0), (INSTRUCTIONS, 531_352.0)]);
        assert_eq!(verdict(&counted(false), Some(&same), SECTORS), Verdict::Equal);
        assert!(matches!(verdict(&counted(false), Some(&same), INSTRUCTIONS), Verdict::Explained(_)));
        let one_more = profile(&[(SECTORS, 250_003.0)]);
        assert_eq!(verdict(&counted(false), Some(&one_more), SECTORS), Verdict::Differs);
        assert_eq!(verdict(&counted(true), Some(&one_more), SECTORS), Verdict::Explained(LOCAL_MEMORY));
    }

    #[test]
    fn a_machine_that_executed_sass_is_held_to_its_instructions() {
        let one_more = profile(&[(SECTORS, 250_003.0), (INSTRUCTIONS, 562_609.0)]);
        for local in [false, true] {
            assert_eq!(verdict(&counted_of(Isa::Sass, local), Some(&one_more), INSTRUCTIONS), Verdict::Differs);
            assert_eq!(verdict(&counted_of(Isa::Sass, local), Some(&one_more), SECTORS), Verdict::Differs);
        }
    }

    #[test]
    fn the_limit_of_shared_memory_goes_by_the_split_that_the_driver_chose() {
        let split = profile(&[(SHARED_CONFIG, 32_768.0), (LIMIT_SHARED, 32.0)]);
        assert_eq!(verdict(&counted(false), Some(&split), LIMIT_SHARED), Verdict::Equal);
    }

    #[test]
    fn without_hardware_nothing_is_compared_and_the_machines_numbers_are_there() {
        let all = compare(&counted(false), None);
        assert!(all.iter().all(|comparison| comparison.verdict == Verdict::NotCompared));
        assert_eq!(all.iter().find(|comparison| comparison.metric == SECTORS).and_then(|c| c.machine), Some(250_002.0));
    }
}
