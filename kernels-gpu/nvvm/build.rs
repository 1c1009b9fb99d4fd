//! Compiles the kernels to PTX with rust-cuda, into the file that WARPWISE_NVVM_PTX names.

use cuda_builder::{CudaBuilder, NvvmArch};
use std::{env, path::PathBuf, process::exit};

fn main() {
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed=../src");
    println!("cargo::rerun-if-env-changed=WARPWISE_NVVM_PTX");
    let named = env::var_os("WARPWISE_NVVM_PTX").or_else(|| env::var_os("OUT_DIR"));
    let mut ptx = PathBuf::from(named.expect("cargo sets OUT_DIR"));
    if ptx.is_dir() {
        ptx.push("kernels.ptx");
    }
    let built = CudaBuilder::new("kernels")
        .arch(NvvmArch::Compute80)
        // Results are held to the CPU's to the bit: only what the source fuses is fused.
        .fma_contraction(false)
        .build_args(&["--locked"])
        .copy_to(&ptx)
        .build();
    if let Err(error) = built {
        // Cargo shows what the compiler said only if this program fails.
        eprintln!("rust-cuda does not compile the kernels: {error}");
        exit(1);
    }
}
