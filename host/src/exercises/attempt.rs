//! A reader's version of an exercise, put beside the one that it began with.

use std::ops::{Deref, DerefMut};

use cuda_std::host::KernelArgs;

use super::Exercise;
use super::kernel_crate::Names;
use crate::backend::{Gpu, LaunchReport, LaunchShape};
use crate::claim::{Judged, Verdict};
use crate::lab::{Case, KernelRow, LabContext, LabError};
use crate::progress::Progress;
use crate::workbench::Workbench;

/// What a check works with: all that a lab has, and the names of the two versions.
pub struct Attempt<'a> {
    context: LabContext<'a>,
    names: Names,
}

/// What came of an attempt.
pub struct Checked {
    /// Both versions, where the check measured them.
    pub rows: Vec<KernelRow>,
    pub claims: Vec<Judged>,
}

impl Checked {
    /// Claims that the reader's version does not fulfil.
    pub fn not_yet(&self) -> impl Iterator<Item = &Judged> {
        self.claims.iter().filter(|judged| judged.verdict == Verdict::Fails)
    }
}

impl<'a> Attempt<'a> {
    /// Checks the kernels of the bench, which are those of an exercise's crate.
    pub fn check(exercise: &Exercise, names: Names, bench: &'a Workbench, progress: &'a Progress) -> Checked {
        let mut attempt = Self { context: LabContext::new(bench, progress), names };
        let result = (exercise.check)(&mut attempt);
        let claims = attempt.context.judge((exercise.claims)(), "", "the check", result.err());
        Checked { rows: attempt.context.take_rows(), claims }
    }

    /// Name of the entry as it was.
    pub fn before(&self, entry: &str) -> String {
        self.names.before(entry)
    }

    /// Name of the entry as the reader has it.
    pub fn yours(&self, entry: &str) -> String {
        self.names.yours(entry)
    }

    /// A launch of the entry as it was.
    pub fn case_before<A: KernelArgs>(&self, entry: &str, variant: &str, shape: LaunchShape, args: A) -> Case {
        Case::named(self.before(entry), format!("before{}", after_comma(variant)), shape, args)
    }

    /// A launch of the reader's entry.
    ///
    /// # Errors
    /// If it takes other parameters than before.
    pub fn case_yours<A: KernelArgs>(
        &self,
        entry: &str,
        variant: &str,
        shape: LaunchShape,
        args: A,
    ) -> Result<Case, LabError> {
        self.same_parameters(entry)?;
        Ok(Case::named(self.yours(entry), format!("yours{}", after_comma(variant)), shape, args))
    }

    /// Measures the entry as it was, then as the reader has it, each with its arguments.
    pub fn run_both<A: KernelArgs>(
        &mut self,
        gpu: &Gpu,
        entry: &str,
        shape: LaunchShape,
        args_before: A,
        args_yours: A,
    ) -> Result<[LaunchReport; 2], LabError> {
        let cases =
            vec![self.case_before(entry, "", shape, args_before), self.case_yours(entry, "", shape, args_yours)?];
        let reports = self.measure_in_turn(gpu, cases)?;
        reports.try_into().map_err(|_| LabError::Other(format!("{entry} was not measured twice")))
    }

    /// Arguments go to the kernel as bytes, so a parameter too many would read what is not there.
    fn same_parameters(&self, entry: &str) -> Result<(), LabError> {
        let types = |name: &str| -> Result<Vec<&'static str>, LabError> {
            let program = self.bench().code.program(name).map_err(|error| LabError::Other(error.to_string()))?;
            Ok(program.params.iter().map(|param| param.ty.name()).collect())
        };
        let (before, yours) = (types(&self.before(entry))?, types(&self.yours(entry))?);
        match before == yours {
            true => Ok(()),
            false => Err(LabError::Other(format!(
                "{entry} takes other parameters than before: {} in place of {}",
                yours.join(" "),
                before.join(" ")
            ))),
        }
    }
}

fn after_comma(variant: &str) -> String {
    if variant.is_empty() { String::new() } else { format!(", {variant}") }
}

impl<'a> Deref for Attempt<'a> {
    type Target = LabContext<'a>;

    fn deref(&self) -> &LabContext<'a> {
        &self.context
    }
}

impl DerefMut for Attempt<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.context
    }
}
