//! One kernel under other bounds than its own, as ptxas makes it.

use std::collections::HashMap;
use std::sync::Arc;

use warpwise_nvtools::ptxas::{CompileRequest, Compiled, PtxasError};
use warpwise_simt::rewrite::{Bounds, Excerpt};

use crate::kernels::Resources;
use crate::toolbox::ToolError;
use crate::workbench::{Workbench, WorkbenchError};

/// What ptxas is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    pub kernel: String,
    /// `sm_120`
    pub arch: String,
    /// The bounds of the entry's header, in place of those that it came with.
    pub bounds: Bounds,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Made {
    pub resources: Resources,
    /// `None` where there is no ptxas; then the resources are an estimate.
    pub compiled: Option<Arc<Compiled>>,
    /// Where ptxas did not do as it was asked: `16 raised to 24, the least that ptxas goes to`.
    pub remarks: Vec<String>,
}

/// Has ptxas compile all variants on all cores; in their order. `done` gets the number finished, after each.
///
/// # Errors
/// Outside: an entry that the kernels do not have. Inside: ptxas refuses this one.
pub fn make(
    bench: &Workbench,
    variants: &[Variant],
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Result<Made, PtxasError>>, WorkbenchError> {
    let mut excerpts: HashMap<&str, Excerpt<'_>> = HashMap::new();
    for variant in variants {
        bench.code.bounds(&variant.kernel).map_err(WorkbenchError::from)?;
        if !excerpts.contains_key(variant.kernel.as_str()) {
            excerpts.insert(&variant.kernel, bench.excerpt(&variant.kernel)?);
        }
    }
    let text = |variant: &Variant| {
        excerpts.get(variant.kernel.as_str()).map(|excerpt| excerpt.text(&[(&variant.kernel, variant.bounds)]))
    };
    let texts: Vec<String> = variants.iter().map(|variant| text(variant).unwrap_or_default()).collect();
    let requests: Vec<CompileRequest<'_>> = variants
        .iter()
        .zip(&texts)
        .map(|(variant, text)| CompileRequest {
            entry: Some(&variant.kernel),
            ..CompileRequest::new(text, &variant.arch)
        })
        .collect();
    match bench.tools.compile_texts(&requests, done) {
        Err(ToolError::Missing(_)) => variants.iter().map(|variant| Ok(Ok(estimated(bench, variant)?))).collect(),
        Err(error) => Err(error.into()),
        Ok(answers) => {
            Ok(variants.iter().zip(answers).map(|(variant, answer)| Ok(compiled(variant, answer?))).collect())
        }
    }
}

fn estimated(bench: &Workbench, variant: &Variant) -> Result<Made, WorkbenchError> {
    let program = bench.code.program(&variant.kernel)?;
    let resources = Resources::estimated(&program, variant.bounds.max_registers);
    Ok(Made { resources, compiled: None, remarks: Vec::new() })
}

fn compiled(variant: &Variant, compiled: Compiled) -> Made {
    let resources = compiled.resources(&variant.kernel).map(Resources::compiled);
    let remarks = compiled.report.warnings.iter().filter_map(|warning| remark(&warning.text)).collect();
    // The compiler has made sure that its report has the entry.
    let resources = resources.unwrap_or_else(Resources::none);
    Made { resources, compiled: Some(Arc::new(compiled)), remarks }
}

/// What a warning of ptxas says of a bound: that it is below the least, above the most, or not heeded.
fn remark(warning: &str) -> Option<String> {
    if let Some((_, numbers)) = warning.split_once("adjusting per thread register count of ") {
        let (asked, least) = numbers.split_once(" to lower bound of ")?;
        return Some(format!("{asked} raised to {}, the least that ptxas goes to", least.trim()));
    }
    if warning.contains(".minnctapersm will be ignored") {
        return Some("so many blocks do not fit an SM: ptxas ignores it".to_owned());
    }
    // Of this library's own.
    if warning.contains("is newer than this ptxas") {
        return Some(warning.to_owned());
    }
    let too_big = warning.starts_with("Too big maxrregcount");
    (too_big || warning.contains(".maxnreg")).then(|| warning.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_about_bounds_become_remarks_and_others_do_not() {
        let of_flag = "For profile sm_120 adjusting per thread register count of 16 to lower bound of 24";
        let of_header = "For entry heavy adjusting per thread register count of 16 to lower bound of 24";
        for warning in [of_flag, of_header] {
            assert_eq!(remark(warning).as_deref(), Some("16 raised to 24, the least that ptxas goes to"));
        }
        let blocks = "Value of threads per SM for entry heavy is out of range. .minnctapersm will be ignored";
        assert_eq!(remark(blocks).as_deref(), Some("so many blocks do not fit an SM: ptxas ignores it"));
        assert_eq!(remark("Stack size for entry function 'f' cannot be statically determined"), None);
    }
}
