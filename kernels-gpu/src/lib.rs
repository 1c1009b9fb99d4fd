//! The laboratories' kernels: device code in Rust, one module a topic.
//!
//! Compiled for `nvptx64`, the crate is one PTX module with an entry a kernel. Compiled for the host, it is the typed
//! descriptors that launches take ([`KERNELS`] lists them) and the maths of [`maths`], which a kernel and its CPU
//! reference share, so that both compute the same bits.
//!
//! Rules that every kernel keeps: parameters are pointers and scalars; indices are 32-bit until they meet a pointer;
//! no bounds check and no panic but in [`slices`], which is about them; what synchronises lanes comes from `cuda_std`,
//! never from `asm!`. Launch bounds and register caps stand in one table, [`bounds`], and shared arrays in one type,
//! [`shared`].

// rust-cuda says no_std itself, and has a way of its own to mark kernels.
#![cfg_attr(all(target_arch = "nvptx64", not(feature = "nvvm")), no_std)]
#![cfg_attr(all(target_arch = "nvptx64", not(feature = "nvvm")), feature(abi_ptx))]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]

pub mod access;
pub mod atomics;
pub mod banks;
pub mod blur;
pub mod bounds;
pub mod calibration;
pub mod ceilings;
pub mod compute;
pub mod divergence;
pub mod gemv;
pub mod halves;
pub mod its;
mod lanes;
pub mod latency;
pub mod local;
pub mod maths;
pub mod matmul;
pub mod matmul_register;
pub mod mix;
pub mod msda;
pub mod occupancy;
pub mod parity;
pub mod predication;
pub mod primitives;
pub mod ragged;
pub mod reduce;
pub mod relu;
pub mod shared;
pub mod slices;
pub mod slow;
mod special;
pub mod stencil;
pub mod total;
pub mod transpose;
pub mod vecadd;
pub mod whoami;
mod wide;

#[cfg(not(target_arch = "nvptx64"))]
mod table;
#[cfg(not(target_arch = "nvptx64"))]
pub use table::{KERNELS, find};
