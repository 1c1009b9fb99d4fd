//! The library of the program `warpwise`: chapters as laboratories that run.
//!
//! A [lab](lab) asks one question about how a GPU runs code. It launches [kernels](kernels) on a [backend](backend), states what
//! a chapter [claims](claim) and records what it found; [reports](report) print that for a person, a program or a browser.
//! To each lab belongs an [exercise](exercises): a kernel that the reader changes.
//! Every number carries how it was got ([`numbers`]): a modelled time is never mistaken for a measured one.
//!
//! How PTX is parsed, executed and timed is `warpwise_simt`'s business; NVIDIA's tools are `warpwise_nvtools`'s; what a
//! kernel computes is `warpwise_kernels`'s. [`commands`] are the words of the command line, one file each.

pub mod accuracy;
pub mod arguments;
pub mod backend;
pub mod bench;
#[cfg(feature = "book")]
pub mod book;
pub mod ceilings;
pub mod claim;
pub mod cli;
pub mod commands;
pub mod counters;
pub mod diagnose;
pub mod error;
pub mod exercises;
pub mod folders;
pub mod kernels;
pub mod lab;
pub mod labs;
pub mod listing;
pub mod numbers;
mod parallel;
pub mod peers;
pub mod pressure;
pub mod progress;
pub mod random;
pub mod report;
pub mod rust_cuda;
pub mod sass_words;
pub mod schema;
pub mod suggest;
pub mod toolbox;
pub mod user_code;
pub mod workbench;
