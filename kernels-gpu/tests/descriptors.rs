//! What the host knows of the kernels: descriptors against the sources they come from.

use cuda_std::host::{DevicePtr, Kernel, KernelArgs};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use warpwise_kernels::{KERNELS, bounds, find, occupancy, slow, vecadd, whoami};

/// What a launch asks of the types: a kernel and the arguments that are its own.
fn bytes_of<A: KernelArgs>(_: &Kernel<A>, arguments: A) -> usize {
    arguments.pack().len()
}

#[test]
fn a_kernel_takes_its_own_arguments_and_they_have_the_size_of_its_parameters() {
    let floats = DevicePtr::<f32>::from_address(256);
    assert_eq!(bytes_of(&vecadd::vecadd, (floats, floats, floats, 1003)), 28);
    assert_eq!(bytes_of(&slow::slow, (DevicePtr::from_address(256), 1, 1_000_000)), 16);
    assert_eq!(bytes_of(&whoami::whoami, (DevicePtr::NULL, DevicePtr::NULL)), 16);
}

#[test]
fn a_descriptor_says_what_the_source_says() {
    let vecadd = find("vecadd").expect("in the table");
    assert_eq!(vecadd.params, ["a", "b", "c", "n"]);
    assert_eq!(vecadd.types, ["*const f32", "*const f32", "*mut f32", "u32"]);
    assert!(vecadd.doc.starts_with("Adds two arrays of `n` elements, a thread an element: `c[i] = a[i] + b[i]`.\n"));
    assert!(vecadd.doc.ends_with("- Launch: one-dimensional, at least `n` threads."), "{}", vecadd.doc);
    assert_eq!(find("vecsub"), None);
}

/// Every source file of the crate.
fn sources() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let paths = folder.read_dir().expect("the crate has sources").flatten().map(|entry| entry.path());
        let (deeper, here): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
        folders.extend(deeper);
        files.extend(here.into_iter().filter(|path| path.extension().is_some_and(|is| is == "rs")));
    }
    files
}

#[test]
fn every_kernel_of_the_sources_is_in_the_table_once() {
    let mut in_sources = BTreeSet::new();
    for path in sources() {
        let text = fs::read_to_string(&path).expect("a readable source");
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[kernel]") {
            let name = pair[1].trim_start_matches("pub unsafe fn ").split('(').next().unwrap_or_default();
            assert!(in_sources.insert(name.to_owned()), "{name} twice");
        }
    }
    let table: BTreeSet<String> = KERNELS.iter().map(|kernel| kernel.name.to_owned()).collect();
    assert_eq!(table.len(), KERNELS.len(), "a kernel is in the table twice");
    assert_eq!(table, in_sources);
}

#[test]
fn every_descriptor_points_at_the_line_of_its_kernel_and_has_a_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for kernel in KERNELS {
        let text =
            fs::read_to_string(root.join(kernel.file)).unwrap_or_else(|error| panic!("{}: {error}", kernel.file));
        let line = text.lines().nth(kernel.line as usize - 1).unwrap_or_default();
        assert!(
            line.starts_with(&format!("pub unsafe fn {}(", kernel.name)),
            "{}:{}: {line}",
            kernel.file,
            kernel.line
        );
        assert!(
            kernel.doc.contains("Launch") || kernel.doc.contains("as for"),
            "{} does not say its launch",
            kernel.name
        );
        for parameter in kernel.params {
            let explained = kernel.doc.contains(&format!("`{parameter}`")) || kernel.doc.contains("as for");
            assert!(explained || kernel.doc.contains("arameters as for"), "{}: {parameter}", kernel.name);
        }
    }
}

#[test]
fn bounds_are_of_kernels_and_consistent() {
    for row in bounds::BOUNDS {
        assert!(find(row.entry).is_some(), "{} is no kernel", row.entry);
        // PTX ISA, `.minnctapersm`: it is ignored without `.maxntid`.
        assert!(row.min_blocks_per_sm.is_none() || row.max_threads.is_some(), "{}", row.entry);
        let threads = row.max_threads.unwrap_or([1; 3]).iter().product::<u32>();
        assert!((1..=1024).contains(&threads), "{}", row.entry);
    }
    assert_eq!(bounds::of("vecadd"), None);
    let text = str::from_utf8(&bounds::WARPWISE_LAUNCH_BOUNDS).expect("a text");
    assert_eq!(text.lines().count(), bounds::BOUNDS.len());
    assert!(text.contains("matmul_register .maxntid 256,1,1 .minnctapersm 2\n"), "{text}");
    assert!(text.contains("accumulators_capped .maxnreg 40\n"), "{text}");
}

#[test]
fn the_sizes_in_the_texts_of_light_and_heavy_are_those_of_their_tiles() {
    let size = |(rows, columns): (usize, usize)| format!("`({rows} + {columns}) * n` elements");
    assert!(occupancy::light.doc.contains(&size(occupancy::LIGHT_TILE)));
    assert!(occupancy::heavy.doc.contains(&size(occupancy::HEAVY_TILE)));
}

#[test]
fn an_identity_is_read_from_words_in_the_order_of_its_fields() {
    let words: [u32; whoami::Identity::WORDS] = std::array::from_fn(|index| index as u32);
    let identity = whoami::Identity::from_words(&words);
    assert_eq!((identity.thread_idx, identity.block_idx), ([0, 1, 2], [3, 4, 5]));
    let rest = [identity.linear_tid, identity.lane, identity.warp, identity.sm, identity.ticket, identity.index_1d];
    assert_eq!(rest, [6, 7, 8, 9, 10, 11]);
}
