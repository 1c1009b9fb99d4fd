//! What the library exports, and finding it by name.

use crate::library::{Cuda, at, code, of};

/// Functions that `cust_raw` 0.11.3 declares.
const CUST_RAW: &str = include_str!("../data/cust_raw_names.txt");
/// Functions that `cudarc` 0.19.10 declares.
const CUDARC: &str = include_str!("../data/cudarc_names.txt");

#[test]
fn every_name_that_cust_and_cudarc_know_is_exported() {
    let cuda = Cuda::get();
    if !cuda.is_modelled() {
        eprintln!("not run: which names NVIDIA's driver exports depends on its version");
        return;
    }
    assert_eq!(CUST_RAW.lines().count(), 353);
    let missing: Vec<_> = CUST_RAW.lines().chain(CUDARC.lines()).filter(|name| !cuda.has(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_the_driver_lacks_says_that_it_is_not_supported() {
    let cuda = Cuda::get();
    if cuda.is_modelled() {
        let mut graph = 0u64;
        assert_eq!(cuda.call("cuGraphCreate", &[at(&mut graph), 0]), code::NOT_SUPPORTED);
        assert_eq!(cuda.call("cuTexObjectCreate", &[0, 0, 0, 0]), code::NOT_SUPPORTED);
    }
}

#[test]
fn functions_are_found_by_plain_name_and_version() {
    let cuda = Cuda::get();
    let find = |name: &str, version: u64| {
        let (mut function, mut how) = (0u64, 9u32);
        let result = cuda.call("cuGetProcAddress_v2", &[of(name), at(&mut function), version, 0, at(&mut how)]);
        (result, function != 0, how)
    };
    assert_eq!(find("cuMemAlloc\0", 12_000), (code::OK, true, 0));
    assert!(!find("cuNoSuchThing\0", 12_000).1);
    let (mut function, mut count) = (0u64, 0i32);
    let how = 0;
    cuda.ok("cuGetProcAddress_v2", &[of("cuDeviceGetCount\0"), at(&mut function), 12_000, 0, how]);
    // SAFETY: the function that was asked for.
    let found = unsafe { std::mem::transmute::<usize, extern "C" fn(u64) -> u32>(function as usize) };
    assert_eq!(found(at(&mut count)), code::OK);
    assert!(count >= 1);
}
