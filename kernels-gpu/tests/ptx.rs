//! What the compiler made of the kernels: the PTX itself, entry by entry.
//!
//! The PTX is that of `WARPWISE_KERNELS`, which `cargo xtask test` sets; plain `cargo test` takes what an earlier build
//! left in target/warpwise/kernels, and prints that nothing was run where there is none.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use warpwise_kernels::{KERNELS, bounds};

/// Beginnings of instructions that synchronise lanes: none may be duplicated, and none may appear unasked.
const CONVERGENT: [&str; 7] = ["bar.", "barrier.", "elect.", "match.", "redux.", "shfl.", "vote."];

/// How many of them each kernel's source has; a kernel that is not here has none.
const IN_SOURCE: [(&str, &[(&str, usize)]); 36] = [
    ("block_reverse", &[("bar.sync", 1)]),
    ("barrier_between_ifs", &[("bar.sync", 1)]),
    ("barrier_reductions", &[("bar.red", 3)]),
    ("shuffles", &[("shfl.sync", 4)]),
    ("shuffle_f64", &[("shfl.sync", 2)]),
    ("votes", &[("bar.warp.sync", 1), ("vote.sync", 3)]),
    ("histogram", &[("bar.sync", 2)]),
    ("matmul_tiled", &[("bar.sync", 2)]),
    ("transpose_tiled", &[("bar.sync", 1)]),
    ("transpose_padded", &[("bar.sync", 1)]),
    // Five steps to combine the 32 lanes of a warp.
    ("block_sums", &[("bar.sync", 1), ("shfl.sync", 5)]),
    ("block_scan", &[("bar.sync", 1), ("shfl.sync", 5)]),
    ("softmax", &[("shfl.sync", 10)]),
    // A barrier before each of the eight halvings.
    ("reduce_shared", &[("bar.sync", 8)]),
    ("reduce_shuffle", &[("bar.sync", 1), ("shfl.sync", 10)]),
    ("reduce_atomic", &[("shfl.sync", 5)]),
    ("matmul_tiled_16", &[("bar.sync", 2)]),
    // Before the first set is read, and in the loop.
    ("matmul_register", &[("bar.sync", 2)]),
    // Five steps for each of four rows and each vector.
    ("gemv", &[("shfl.sync", 20)]),
    ("gemm_4", &[("shfl.sync", 80)]),
    ("gemm_16", &[("shfl.sync", 320)]),
    ("ragged_split", &[("shfl.sync", 6), ("vote.sync", 1)]),
    ("shared_pairs", &[("bar.sync", 1)]),
    ("shared_quads", &[("bar.sync", 1)]),
    ("shared_stride", &[("bar.sync", 1)]),
    // One, in a loop that is unrolled four times.
    ("spin_lock_by_turns", &[("bar.warp.sync", 4)]),
    ("stencil4", &[("shfl.sync", 6)]),
    ("stencil_1d", &[("bar.sync", 1)]),
    ("stencil_as_printed", &[("bar.sync", 1)]),
    ("stencil_halo_off", &[("bar.sync", 1)]),
    ("warp_sum_sync", &[("shfl.sync", 5)]),
    ("warp_sum_synced", &[("bar.warp.sync", 11)]),
    ("nbody", &[("bar.sync", 2)]),
    // 16 to leave each pair of lanes one of 16 sums, 6 to add up three of them over four corners.
    ("msda_tile_backward", &[("shfl.sync", 22)]),
    ("read_shared", &[("bar.sync", 1)]),
    ("chase_shared", &[("bar.sync", 1)]),
];

/// The finished PTX, or nothing where it was never built.
fn ptx() -> Option<String> {
    let named = env::var_os("WARPWISE_KERNELS").map(PathBuf::from);
    let folder =
        named.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/warpwise/kernels"));
    let path = folder.join("kernels.ptx");
    match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if named.is_some() => panic!("WARPWISE_KERNELS has no kernels: {}: {error}", path.display()),
        Err(_) => {
            eprintln!("not run: there are no kernels yet; `cargo xtask test` builds them");
            None
        }
    }
}

/// Each entry's text, from its name to its closing brace.
fn entries(ptx: &str) -> BTreeMap<&str, &str> {
    let parts = ptx.split(".visible .entry ").skip(1);
    parts
        .map(|part| (part.split('(').next().unwrap_or_default(), part.split("\n}").next().unwrap_or_default()))
        .collect()
}

/// An entry's instructions: no labels, directives or comments, and no guard before the opcode.
fn instructions(entry: &str) -> impl Iterator<Item = &str> {
    let body = entry.split_once("\n{").map_or("", |(_, body)| body);
    body.lines().map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with('.')).map(|line| {
        if line.starts_with('@') {
            line.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim())
        } else {
            line
        }
    })
}

/// The convergent instructions of an entry, counted under the names of `IN_SOURCE`.
fn convergent(entry: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for instruction in instructions(entry).filter(|text| CONVERGENT.iter().any(|start| text.starts_with(start))) {
        let opcode = instruction.split_whitespace().next().unwrap_or_default().trim_end_matches(';');
        let parts = if opcode.starts_with("bar.warp") { 3 } else { 2 };
        let name = opcode.split('.').take(parts).collect::<Vec<_>>().join(".");
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

#[test]
fn every_barrier_shuffle_and_vote_of_the_source_is_once_in_the_ptx() {
    let Some(ptx) = ptx() else { return };
    for (name, entry) in entries(&ptx) {
        let row = IN_SOURCE.iter().find(|(kernel, _)| *kernel == name);
        let expected = row.map_or(Default::default(), |(_, counts)| {
            counts.iter().map(|(op, count)| ((*op).to_owned(), *count)).collect()
        });
        assert_eq!(convergent(entry), expected, "{name}:\n{entry}");
    }
}

#[test]
fn the_table_of_kernels_and_the_entries_of_the_ptx_are_the_same() {
    let Some(ptx) = ptx() else { return };
    let mut table: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    table.sort_unstable();
    assert_eq!(entries(&ptx).into_keys().collect::<Vec<_>>(), table);
}

#[test]
fn entries_have_the_parameters_of_their_descriptors() {
    let Some(ptx) = ptx() else { return };
    let entries = entries(&ptx);
    for kernel in KERNELS {
        let header = entries[kernel.name].split("\n{").next().unwrap_or_default();
        let declared: Vec<&str> = header.lines().filter_map(|line| line.trim().strip_prefix(".param ")).collect();
        assert_eq!(declared.len(), kernel.types.len(), "{}: {declared:?}", kernel.name);
        for (declared, of_type) in declared.iter().zip(kernel.types) {
            let is_pointer = of_type.starts_with('*');
            let expected = if is_pointer { ".u64 .ptr" } else { ".u32" };
            assert!(declared.starts_with(expected), "{}: {declared} for {of_type}", kernel.name);
        }
    }
}

/// What a kernel has on purpose that no other may have: bounds checks that panic, an array that is indexed at run time, places of channels
/// that are read from an array (of `msda_point`: its source says why).
const ON_PURPOSE: [(&str, &[&str]); 4] = [
    ("msda_point", &["ld.local", "st.local"]),
    ("filter_indexed", &["call", "trap", "exit"]),
    ("filter_iterator", &["call", "trap", "exit"]),
    ("runtime_index", &["ld.local", "st.local"]),
];

#[test]
fn no_kernel_panics_calls_or_keeps_an_array_in_local_memory_but_those_that_show_it() {
    let Some(ptx) = ptx() else { return };
    assert!(!ptx.contains(".extern"), "something is left to link");
    for (name, entry) in entries(&ptx) {
        let on_purpose = ON_PURPOSE.iter().find(|(kernel, _)| *kernel == name).map_or(&[][..], |(_, allowed)| allowed);
        for unwanted in ["call", "trap", "brkpt", "exit", "ld.local", "st.local", "div.", "rem."] {
            let found = instructions(entry).any(|instruction| instruction.starts_with(unwanted));
            assert_eq!(found, on_purpose.contains(&unwanted), "{name}: {unwanted}");
        }
    }
}

#[test]
fn shared_arrays_are_accessed_as_shared_memory() {
    let Some(ptx) = ptx() else { return };
    let entries = entries(&ptx);
    let starts =
        |kernel: &str, start: &str| instructions(entries[kernel]).filter(|text| text.starts_with(start)).count();
    assert_eq!((starts("block_reverse", "st.shared.u32"), starts("block_reverse", "ld.shared.u32")), (1, 1));
    assert_eq!((starts("barrier_between_ifs", "st.shared.v4"), starts("barrier_between_ifs", "ld.shared.v4")), (1, 1));
    for kernel in KERNELS {
        assert_eq!((starts(kernel.name, "ld.u"), starts(kernel.name, "ld.b"), starts(kernel.name, "ld.f")), (0, 0, 0));
    }
}

#[test]
fn vecadd4_loads_and_stores_sixteen_bytes_at_a_time() {
    let Some(ptx) = ptx() else { return };
    let entries = entries(&ptx);
    let is_wide = |text: &&str| text.starts_with("ld.global") && text.contains(".v4.");
    assert_eq!(instructions(entries["vecadd4"]).filter(is_wide).count(), 2, "{}", entries["vecadd4"]);
    let stores = instructions(entries["vecadd4"]).filter(|text| text.starts_with("st.global.v4."));
    assert_eq!(stores.count(), 1, "{}", entries["vecadd4"]);
}

#[test]
fn streams_move_sixteen_bytes_an_access() {
    let Some(ptx) = ptx() else { return };
    let entries = entries(&ptx);
    let wide = |kernel: &str, start: &str| {
        let accesses = || instructions(entries[kernel]).filter(|text| text.starts_with(start));
        (accesses().filter(|text| text.contains(".v2.b64") || text.contains(".v4.b32")).count(), accesses().count())
    };
    assert_eq!((wide("copy_stream", "ld.global"), wide("copy_stream", "st.global")), ((1, 1), (1, 1)));
    assert_eq!((wide("read_stream", "ld.global"), wide("read_stream", "st.global")), ((4, 4), (0, 1)));
    assert_eq!(wide("write_stream", "st.global"), (1, 1));
}

#[test]
fn fma_chains_does_next_to_nothing_but_multiply_adds() {
    let Some(ptx) = ptx() else { return };
    let entry = entries(&ptx)["fma_chains"];
    let all = instructions(entry).count();
    let fused = instructions(entry).filter(|text| text.starts_with("fma.rn.f32")).count();
    assert!(fused >= 128 && all - fused < 64, "{fused} of {all} instructions:\n{entry}");
}

#[test]
fn sources_are_named_from_the_root_of_the_checkout_and_no_path_of_this_machine_is() {
    let Some(ptx) = ptx() else { return };
    let files = ptx.lines().filter(|line| line.trim_start().starts_with(".file"));
    let paths: Vec<&str> = files.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(paths.contains(&"kernels-gpu/src/vecadd.rs"), "{paths:?}");
    for path in paths {
        assert!(path.starts_with("kernels-gpu/") || path.starts_with("/rustc/library/"), "{path}");
    }
}

#[test]
fn launch_bounds_are_in_the_headers_of_the_entries_that_have_any() {
    let Some(ptx) = ptx() else { return };
    for (name, entry) in entries(&ptx) {
        let header = entry.split("\n{").next().unwrap_or_default();
        let row = bounds::of(name);
        assert_eq!(header.contains(".maxntid"), row.is_some_and(|row| row.max_threads.is_some()), "{name}");
        assert_eq!(header.contains(".minnctapersm"), row.is_some_and(|row| row.min_blocks_per_sm.is_some()), "{name}");
        assert_eq!(header.contains(".maxnreg"), row.is_some_and(|row| row.max_registers.is_some()), "{name}");
    }
    assert!(!ptx.contains("WARPWISE_LAUNCH_BOUNDS"), "the table has gone into the headers");
}

#[test]
fn a_planted_second_barrier_is_counted() {
    let ptx = ".visible .entry k(\n)\n{\n\t@%p1 bra \t$A;\n\tbar.sync \t0;\n$A:\n\t@!%p1 bar.sync 0;\n\tbar.warp.sync \t-1;\n\
               \tvote.sync.any.pred \t%p5, %p4, -1;\n\tret;\n\n}\n";
    let counts = convergent(entries(ptx)["k"]);
    assert_eq!(
        counts,
        BTreeMap::from([("bar.sync", 2), ("bar.warp.sync", 1), ("vote.sync", 1)].map(|(op, n)| (op.to_owned(), n)))
    );
}
