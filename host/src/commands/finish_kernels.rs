//! `finish-kernels` (hidden): rustc's raw PTX in, the PTX that ptxas, a driver and the machine all see out.
//!
//! The kernels' build calls it once after compiling. What is done to the text is [`warpwise_simt::rewrite`]'s business; this adds
//! what only the program knows: the kernels' launch bounds, and which source files are an author's.

use std::path::PathBuf;

use warpwise_kernels::KERNELS;
use warpwise_kernels::bounds::BOUNDS;
use warpwise_simt::rewrite::{FinishOptions, HeaderBounds, finish};

use super::{Outcome, read_text, write_text};
use crate::error::CommandError;
use crate::kernels::Code;
use crate::workbench::WorkbenchError;

/// Finish rustc's PTX: source lines, launch bounds
#[derive(clap::Args, Debug)]
pub struct Options {
    /// PTX as rustc wrote it
    #[arg(long, value_name = "FILE")]
    raw: PathBuf,
    /// Where to write the finished PTX
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Demand that entries and parameters are those of our kernels
    #[arg(long)]
    ours: bool,
}

pub fn run(options: Options) -> Result<Outcome, CommandError> {
    let raw = read_text(&options.raw)?;
    if options.ours {
        let path = options.raw.display().to_string();
        let code = Code::parse(&path, &raw).map_err(WorkbenchError::from)?;
        let differ = differences(&code);
        if !differ.is_empty() {
            let list = differ.join("\n  ");
            return Err(CommandError::Usage(format!("{path} is not of these kernels:\n  {list}")));
        }
    }
    let bounds = bounds_in(&raw);
    let finished = finish(&raw, &FinishOptions { bounds: &bounds, ours: &is_ours })
        .map_err(|source| CommandError::Finish { path: options.raw.display().to_string(), source })?;
    write_text(&options.out, &finished)?;
    Ok(Outcome::Good)
}

/// Where entries and the sizes of their parameters are not those of our kernels.
fn differences(code: &Code) -> Vec<String> {
    let known = |name: &str| KERNELS.iter().find(|kernel| kernel.name == name);
    let strangers = code.entries().filter(|name| known(name).is_none());
    let mut differ: Vec<String> = strangers.map(|name| format!("`{name}` is none of them")).collect();
    for kernel in KERNELS {
        let expected: Vec<u32> = kernel.types.iter().map(|of_type| param_bytes(of_type)).collect();
        match code.program(kernel.name) {
            Err(error) => differ.push(format!("`{}`: {error}", kernel.name)),
            Ok(program) => {
                let found: Vec<u32> = program.params.iter().map(|param| param.bytes).collect();
                if found != expected {
                    let name = kernel.name;
                    differ.push(format!("`{name}` has parameters of {found:?} bytes, the kernel here of {expected:?}"));
                }
            }
        }
    }
    differ
}

/// Bytes of a parameter, by its type in the source: kernels take pointers and scalars only.
pub(crate) fn param_bytes(of_type: &str) -> u32 {
    match of_type {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" => 4,
        _ => 8,
    }
}

/// The bounds of the entries that are in this PTX: a crate of the user's has none of our kernels.
pub(crate) fn bounds_in(ptx: &str) -> Vec<HeaderBounds<'static>> {
    let has = |entry: &str| ptx.contains(&format!(".entry {entry}("));
    let bounds = BOUNDS.iter().filter(|bounds| has(bounds.entry)).map(|bounds| HeaderBounds {
        entry: bounds.entry,
        max_threads: bounds.max_threads,
        min_blocks_per_sm: bounds.min_blocks_per_sm,
        max_registers: bounds.max_registers,
    });
    bounds.collect()
}

/// Parts of paths of library code: an instruction inlined from there carries the line of the author's that called.
const LIBRARIES: [&str; 5] = [
    // core, by the paths of rustup's, the distribution's and the compiler's own builds.
    "/rustlib/src/rust/",
    "/rustc/",
    // Crates from a registry.
    "/registry/src/",
    // The device library, and the accessors of shared memory that stand in for it.
    "kernels-gpu/std/",
    "kernels-gpu/src/shared.rs",
];

/// Whether a source file is an author's, as PTX spells its path.
pub(crate) fn is_ours(file: &str) -> bool {
    !LIBRARIES.iter().any(|library| file.contains(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel's name and the types of its parameters.
    type Entry = (String, Vec<&'static str>);

    #[test]
    fn every_entry_with_bounds_is_a_kernel() {
        for bounds in BOUNDS {
            assert!(warpwise_kernels::find(bounds.entry).is_some(), "{} has bounds but is no kernel", bounds.entry);
        }
    }

    #[test]
    fn bounds_go_to_the_entries_that_the_text_has() {
        assert!(bounds_in(".visible .entry mine(").is_empty());
        assert_eq!(bounds_in(".visible .entry heavy_capped(\n")[0].min_blocks_per_sm, Some(6));
    }

    #[test]
    fn a_text_of_other_kernels_is_told_from_ours() {
        let entry = |name: &str, parameters: &[&str]| {
            let list: Vec<String> =
                parameters.iter().enumerate().map(|(i, ty)| format!(".param .{ty} {name}_{i}")).collect();
            format!(".visible .entry {name}({}) {{ ret; }}\n", list.join(", "))
        };
        let ours = |change: &dyn Fn(&str, Vec<&'static str>) -> Option<Entry>| {
            let mut text = ".version 7.8\n.target sm_80\n.address_size 64\n".to_owned();
            for kernel in KERNELS {
                let types = kernel.types.iter().map(|of_type| if param_bytes(of_type) == 4 { "u32" } else { "u64" });
                if let Some((name, types)) = change(kernel.name, types.collect()) {
                    text.push_str(&entry(&name, &types));
                }
            }
            differences(&Code::parse("k.ptx", &text).expect("valid PTX"))
        };
        assert_eq!(ours(&|name, types| Some((name.to_owned(), types))), Vec::<String>::new());
        let wider = ours(&|name, types| {
            Some((name.to_owned(), if name == "vecadd" { vec!["u64", "u64", "u64", "u64"] } else { types }))
        });
        assert_eq!(wider, ["`vecadd` has parameters of [8, 8, 8, 8] bytes, the kernel here of [8, 8, 8, 4]"]);
        let gone = ours(&|name, types| (name != "vecadd").then(|| (name.to_owned(), types)));
        assert!(gone.len() == 1 && gone[0].starts_with("`vecadd`"), "{gone:?}");
        let renamed = ours(&|name, types| Some((if name == "empty" { "empty_too" } else { name }.to_owned(), types)));
        assert!(renamed.len() == 2 && renamed[0] == "`empty_too` is none of them", "{renamed:?}");
    }

    #[test]
    fn core_and_the_device_library_are_not_ours_and_kernels_are() {
        for library in [
            "/usr/lib/rustlib/src/rust/library/core/src/ptr/const_ptr.rs",
            "/rustc/ac68faa20c58/library/core/src/ops/arith.rs",
            "kernels-gpu/std/src/thread.rs",
        ] {
            assert!(!is_ours(library), "{library}");
        }
        for ours in ["kernels-gpu/src/vecadd.rs", "kernels-gpu/src/maths.rs", "/home/someone/mine/src/lib.rs"] {
            assert!(is_ours(ours), "{ours}");
        }
    }
}
