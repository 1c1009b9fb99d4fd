//! Claims: the numbers and statements of the chapters, each with the check that decides it.
//!
//! A lab lists its claims as data before it runs, so that they can be shown without running. The run then says what it found for
//! each; [`Claim::judge`] turns that into a verdict. A claim that the run never came to, or that this setting cannot
//! decide, is `not run`, always with the reason: nothing is dropped silently.

pub mod format;
mod recorded;
mod relation;
mod value;

pub use recorded::{RECORDED, Toolchain};
pub use relation::*;
pub use value::Value;

use crate::backend::BackendKind;

/// One checkable statement of a chapter.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Unique within its lab; reports show `LAB.id`.
    pub id: String,
    /// Where it is stated: `ch1 §2`.
    pub section: &'static str,
    /// What it says, as one sentence without a full stop.
    pub statement: String,
    pub relation: Relation,
    /// What is exact where the chapter is not, or how the number comes about.
    pub note: Option<String>,
    binding: Binding,
}

/// Where a claim can be decided. Everything unset: everywhere.
#[derive(Clone, Debug, Default)]
struct Binding {
    backend: Option<BackendKind>,
    device: Option<&'static str>,
    recorded_toolchain: bool,
    sass_times: bool,
}

/// What a run is made with, as far as claims care.
#[derive(Clone, Debug)]
pub struct Setting {
    pub backend: BackendKind,
    /// Name of the device that the labs run on.
    pub device: String,
    /// Where the run's times come from.
    pub times: Times,
    pub toolchain: Toolchain,
}

/// Where the times of a run come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Measured,
    ModelledFromSass,
    /// Good for less: PTX has no spills, no loops that ptxas unrolled, and no loops that it made of an operation.
    ModelledFromPtx,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Fails,
    NotRun,
}

/// A claim after a run.
#[derive(Clone, Debug)]
pub struct Judged {
    pub claim: Claim,
    pub backend: BackendKind,
    /// What the run found; shown even where it does not bind.
    pub found: Option<Value>,
    pub verdict: Verdict,
    /// Why it was not run.
    pub why: Option<String>,
    pub runs: Runs,
}

/// Of how many runs of a lab a claim held in how many; none where it was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    pub held: u32,
    pub of: u32,
}

impl Judged {
    /// Takes in what the same claim came to in another run. One failure is a failure, and what was found then is what is shown.
    pub fn and(&mut self, again: Judged) {
        let runs = Runs { held: self.runs.held + again.runs.held, of: self.runs.of + again.runs.of };
        if self.verdict != Verdict::Fails && again.verdict != Verdict::Holds {
            *self = again;
        }
        self.runs = runs;
    }
}

impl Claim {
    pub fn new(id: impl Into<String>, section: &'static str, statement: impl Into<String>, relation: Relation) -> Self {
        Self { id: id.into(), section, statement: statement.into(), relation, note: None, binding: Binding::default() }
    }

    /// Says what is exact where the chapter is not.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Cannot be seen on hardware.
    pub fn on_machine(mut self) -> Self {
        self.binding.backend = Some(BackendKind::Sim);
        self
    }

    /// Can be decided on a GPU only.
    pub fn on_gpu(mut self) -> Self {
        self.binding.backend = Some(BackendKind::Cuda);
        self
    }

    /// About times that follow from what ptxas made of the kernel: not judged by those modelled from PTX.
    pub fn needs_sass(mut self) -> Self {
        self.binding.sass_times = true;
        self
    }

    /// States a number of this device; with `--device` naming another, it is not run.
    pub fn on_device(mut self, device: &'static str) -> Self {
        self.binding.device = Some(device);
        self
    }

    /// Depends on what rustc, LLVM and ptxas make of the source: binds with the [`RECORDED`] versions only.
    pub fn recorded(mut self) -> Self {
        self.binding.recorded_toolchain = true;
        self
    }

    /// The verdict on `found`; `missing` says why there is nothing found, where the run knows.
    pub fn judge(self, found: Option<Value>, missing: Option<String>, setting: &Setting) -> Judged {
        let unbound = self.binding.reason_not_to_judge(setting);
        let (verdict, why) = match (&found, unbound) {
            (_, Some(reason)) => (Verdict::NotRun, Some(reason)),
            (None, None) => (Verdict::NotRun, Some(missing.unwrap_or_else(|| "the lab did not come to it".to_owned()))),
            (Some(found), None) if self.relation.accepts(found) => (Verdict::Holds, None),
            (Some(_), None) => (Verdict::Fails, None),
        };
        let runs = Runs { held: (verdict == Verdict::Holds).into(), of: (verdict != Verdict::NotRun).into() };
        Judged { backend: setting.backend, claim: self, found, verdict, why, runs }
    }
}

impl Binding {
    fn reason_not_to_judge(&self, setting: &Setting) -> Option<String> {
        match self.backend {
            Some(BackendKind::Cuda) if setting.backend == BackendKind::Sim => {
                return Some("needs a GPU".to_owned());
            }
            Some(BackendKind::Cuda) if setting.times != Times::Measured => {
                return Some("needs a GPU: this driver models one".to_owned());
            }
            Some(BackendKind::Sim) if setting.backend == BackendKind::Cuda => {
                return Some("cannot be seen on hardware".to_owned());
            }
            _ => {}
        }
        if let Some(device) = self.device.filter(|device| *device != setting.device) {
            return Some(format!("states a number of the {device}, this run is on the {}", setting.device));
        }
        if self.sass_times && setting.times == Times::ModelledFromPtx {
            return Some("needs times of SASS, this run models them from PTX".to_owned());
        }
        match self.recorded_toolchain {
            true => setting.toolchain.reason_not_recorded(),
            false => None,
        }
    }
}

impl Verdict {
    /// The word that reports use.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::NotRun => "not-run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(backend: BackendKind, ptxas: Option<&str>) -> Setting {
        let toolchain = Toolchain {
            rustc: Some(RECORDED[0].rustc.to_owned()),
            llvm: Some(RECORDED[0].llvm.to_owned()),
            ptxas: ptxas.map(str::to_owned),
        };
        let times = if backend == BackendKind::Cuda { Times::Measured } else { Times::ModelledFromSass };
        Setting { backend, device: "RTX 5070".to_owned(), times, toolchain }
    }

    fn claim() -> Claim {
        Claim::new("registers", "ch1 §5", "vecadd takes 12 registers", equal(12))
    }

    #[track_caller]
    fn check(claim: Claim, found: Option<Value>, setting: &Setting, verdict: Verdict, why: Option<&str>) {
        let judged = claim.judge(found.clone(), None, setting);
        assert_eq!((judged.verdict, judged.why.as_deref(), judged.found), (verdict, why, found));
    }

    #[test]
    fn a_found_value_decides_and_a_missing_one_does_not() {
        let sim = setting(BackendKind::Sim, None);
        check(claim(), Some(12.into()), &sim, Verdict::Holds, None);
        check(claim(), Some(13.into()), &sim, Verdict::Fails, None);
        check(claim(), None, &sim, Verdict::NotRun, Some("the lab did not come to it"));
    }

    #[test]
    fn a_claim_bound_elsewhere_is_not_run_but_shows_what_was_found() {
        let sim = setting(BackendKind::Sim, None);
        let cuda = setting(BackendKind::Cuda, None);
        check(claim().on_gpu(), Some(13.into()), &sim, Verdict::NotRun, Some("needs a GPU"));
        check(claim().on_machine(), Some(13.into()), &cuda, Verdict::NotRun, Some("cannot be seen on hardware"));
        let driver = Setting { times: Times::ModelledFromPtx, ..cuda };
        let reason = Some("needs a GPU: this driver models one");
        check(claim().on_gpu(), Some(13.into()), &driver, Verdict::NotRun, reason);
        let reason = Some("needs times of SASS, this run models them from PTX");
        check(claim().needs_sass(), Some(13.into()), &driver, Verdict::NotRun, reason);
        check(claim().needs_sass(), Some(13.into()), &sim, Verdict::Fails, None);
        let reason = "states a number of the RTX 5090, this run is on the RTX 5070";
        check(claim().on_device("RTX 5090"), Some(13.into()), &sim, Verdict::NotRun, Some(reason));
    }

    #[test]
    fn one_run_that_fails_is_a_failure_and_shows_what_it_found() {
        let sim = setting(BackendKind::Sim, None);
        let run = |found: i64| claim().judge(Some(found.into()), None, &sim);
        let mut judged = run(12);
        for found in [12, 13, 14, 12] {
            judged.and(run(found));
        }
        assert_eq!(
            (judged.verdict, judged.found, judged.runs),
            (Verdict::Fails, Some(13.into()), Runs { held: 3, of: 5 })
        );
        let mut unbound = claim().on_gpu().judge(None, None, &sim);
        unbound.and(claim().on_gpu().judge(None, None, &sim));
        assert_eq!((unbound.verdict, unbound.runs), (Verdict::NotRun, Runs { held: 0, of: 0 }));
    }

    #[test]
    fn a_register_count_binds_with_the_recorded_tools_only() {
        let recorded = setting(BackendKind::Sim, Some(RECORDED[0].ptxas));
        check(claim().recorded(), Some(13.into()), &recorded, Verdict::Fails, None);
        let newer = setting(BackendKind::Sim, Some("99.9.9"));
        let judged = claim().recorded().judge(Some(13.into()), None, &newer);
        assert_eq!((judged.verdict, judged.found), (Verdict::NotRun, Some(13.into())));
        assert!(judged.why.is_some_and(|why| why.contains("99.9.9")));
    }
}
