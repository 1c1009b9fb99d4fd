//! The recorded module: `recorded/lib.rs` and `helper.rs` compiled by rustc 1.96.0 with LLVM 22.1.8 and the flags that
//! the kernels are built with (`-C debuginfo=1 -Z verbose-asm` among them). `recorded/finished.ptx` is what comes out;
//! `WARPWISE_BLESS=1 cargo test -p warpwise-simt rewrite` writes it anew.

mod headers;
mod malformed;
mod source_lines;

use super::*;

const RAW: &str = include_str!("recorded/raw.ptx");

fn ours(file: &str) -> bool {
    file.starts_with("recorded/")
}

fn finished(raw: &str) -> String {
    finish(raw, &FinishOptions { bounds: &[], ours: &ours }).expect("the recorded module can be finished")
}

/// Number of a line of the raw text that contains `needle`, counted from 1.
fn line_of(text: &str, needle: &str) -> usize {
    text.lines().position(|line| line.contains(needle)).expect("the needle is in the text") + 1
}
