//! Looking functions up by name and version, as the CUDA runtime and newer programs do.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};
use std::sync::LazyLock;

use crate::abi::{Out, Text};
use crate::code::{Code, Done};
use crate::guard::api;

/// `CUdriverProcAddressQueryResult`.
const FOUND: u32 = 0;
const NO_SUCH_SYMBOL: u32 = 1;
const NEEDS_NEWER_VERSION: u32 = 2;

/// Versions of CUDA (1000 · major + 10 · minor) that later forms came with, from `cudaTypedefs.h`; those that are not here came with CUDA 4
/// or before.
const SINCE: &[(&str, c_int)] = &[
    ("cuCtxCreate_v3", 11_040),
    ("cuCtxCreate_v4", 12_050),
    ("cuCtxGetDevice_v2", 13_000),
    ("cuCtxSynchronize_v2", 13_000),
    ("cuDeviceGetUuid_v2", 11_040),
    ("cuDevicePrimaryCtxRelease_v2", 11_000),
    ("cuDevicePrimaryCtxReset_v2", 11_000),
    ("cuDevicePrimaryCtxSetFlags_v2", 11_000),
    ("cuEventElapsedTime_v2", 12_080),
    ("cuGetProcAddress_v2", 12_000),
    ("cuGraphAddDependencies_v2", 12_030),
    ("cuGraphAddKernelNode_v2", 12_000),
    ("cuGraphAddNode_v2", 12_030),
    ("cuGraphExecKernelNodeSetParams_v2", 12_000),
    ("cuGraphExecUpdate_v2", 12_000),
    ("cuGraphGetEdges_v2", 12_030),
    ("cuGraphKernelNodeGetParams_v2", 12_000),
    ("cuGraphKernelNodeSetParams_v2", 12_000),
    ("cuGraphNodeGetDependencies_v2", 12_030),
    ("cuGraphNodeGetDependentNodes_v2", 12_030),
    ("cuGraphRemoveDependencies_v2", 12_030),
    ("cuIpcOpenMemHandle_v2", 11_000),
    ("cuMemAdvise_v2", 12_020),
    ("cuMemPrefetchAsync_v2", 12_020),
    ("cuMemcpyBatchAsync_v2", 13_000),
    ("cuStreamBatchMemOp_v2", 11_070),
    ("cuStreamBeginCapture_v2", 10_010),
    ("cuStreamGetCaptureInfo_v2", 11_030),
    ("cuStreamGetCaptureInfo_v3", 12_030),
    ("cuStreamGetCtx_v2", 12_050),
    ("cuStreamUpdateCaptureDependencies_v2", 12_030),
    ("cuStreamWaitValue32_v2", 11_070),
    ("cuStreamWaitValue64_v2", 11_070),
    ("cuStreamWriteValue32_v2", 11_070),
    ("cuStreamWriteValue64_v2", 11_070),
];

/// A form of a function: since which version of CUDA it is meant by the plain name, and its address.
type Form = (c_int, usize);

/// The forms by plain name, newest first.
static FORMS: LazyLock<HashMap<&'static str, Vec<Form>>> = LazyLock::new(|| {
    let mut forms: HashMap<&str, Vec<(u32, Form)>> = HashMap::new();
    for entry in super::entries() {
        let (plain, number) = split(entry.name);
        let since = SINCE.iter().find(|(name, _)| *name == entry.name).map_or(0, |(_, since)| *since);
        forms.entry(plain).or_default().push((number, (since, entry.address as usize)));
    }
    let sorted = |(plain, mut forms): (&'static str, Vec<(u32, Form)>)| {
        forms.sort_by_key(|form| std::cmp::Reverse(form.0));
        (plain, forms.into_iter().map(|(_, form)| form).collect())
    };
    forms.into_iter().map(sorted).collect()
});

/// A name without `_v2` and the like, and that number; 1 without.
fn split(name: &str) -> (&str, u32) {
    name.rsplit_once("_v").and_then(|(plain, digits)| Some((plain, digits.parse().ok()?))).unwrap_or((name, 1))
}

/// The function that a name means to a program made for a version of CUDA, and how the search ended.
fn look_up(name: &str, version: c_int) -> (usize, u32) {
    // Names that already say a form are that form.
    let (plain, number) = split(name);
    if number > 1 {
        let exact = super::entries().find(|entry| entry.name == name);
        return exact.map_or((0, NO_SUCH_SYMBOL), |entry| (entry.address as usize, FOUND));
    }
    let Some(forms) = FORMS.get(plain) else { return (0, NO_SUCH_SYMBOL) };
    match forms.iter().find(|(since, _)| *since <= version) {
        Some((_, address)) => (*address, FOUND),
        None => (0, NEEDS_NEWER_VERSION),
    }
}

fn get(name: Text, function: Out<usize>, version: c_int, flags: u64, result: Out<c_uint>) -> Done {
    // Streams of each thread's own (flag 2) are an order that the legacy stream keeps, too.
    if flags > 2 {
        return Err(Code::INVALID_VALUE);
    }
    let name = name.get()?;
    let (address, how) = look_up(&name, version);
    function.put(address)?;
    result.put_if_wanted(how);
    // The later form tells a miss by its result alone.
    if how == FOUND || result.is_wanted() { Ok(()) } else { Err(Code::NOT_FOUND) }
}

api! {
    fn cuGetProcAddress(name: Text, function: Out<usize>, version: c_int, flags: u64) {
        get(name, function, version, flags, Out::at(0))
    }

    fn cuGetProcAddress_v2(name: Text, function: Out<usize>, version: c_int, flags: u64, result: Out<c_uint>) {
        get(name, function, version, flags, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(name: &str) -> usize {
        super::super::entries().find(|entry| entry.name == name).expect("it is exported").address as usize
    }

    #[test]
    fn a_plain_name_means_the_newest_form_of_the_programs_version() {
        assert_eq!(look_up("cuMemAlloc", 11_000), (address("cuMemAlloc_v2"), FOUND));
        assert_eq!(look_up("cuCtxCreate", 11_000), (address("cuCtxCreate_v2"), FOUND));
        assert_eq!(look_up("cuCtxCreate", 11_040), (address("cuCtxCreate_v3"), FOUND));
        assert_eq!(look_up("cuCtxCreate", 13_000), (address("cuCtxCreate_v4"), FOUND));
        assert_eq!(look_up("cuEventElapsedTime", 12_000), (address("cuEventElapsedTime"), FOUND));
        assert_eq!(look_up("cuMemAlloc_v2", 13_000), (address("cuMemAlloc_v2"), FOUND));
    }

    #[test]
    fn what_is_not_there_is_told_from_what_came_later() {
        assert_eq!(look_up("cuFlyToTheMoon", 13_000), (0, NO_SUCH_SYMBOL));
        assert_eq!(look_up("cuMemAlloc_v9", 13_000), (0, NO_SUCH_SYMBOL));
        assert_eq!(look_up("cuGetProcAddress", 11_000), (address("cuGetProcAddress"), FOUND));
    }

    #[test]
    fn every_form_with_a_version_is_exported() {
        for (name, _) in SINCE {
            address(name);
        }
    }

    #[test]
    fn no_function_is_exported_twice() {
        let mut names: Vec<_> = super::super::entries().map(|entry| entry.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
