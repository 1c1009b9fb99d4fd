//! The register-pressure workbench through the real program.

use std::path::PathBuf;

use tests::program::{Scratch, good, refused, root};

const WIDTH_MAX: usize = 100;

fn fits(printed: &str) {
    let wide = printed.lines().find(|line| line.chars().count() > WIDTH_MAX);
    assert!(wide.is_none(), "more than {WIDTH_MAX} columns: {wide:?}");
    assert!(!printed.contains('\x1b'), "colour where there is no terminal:\n{printed}");
}

fn kernels() -> PathBuf {
    let folder = std::env::var_os("WARPWISE_KERNELS").map(PathBuf::from);
    folder.unwrap_or_else(|| root().join("target/warpwise/kernels")).join("kernels.ptx")
}

#[test]
fn regs_has_a_row_for_every_cap_and_says_what_the_next_register_costs() {
    let (json, csv) = (Scratch::new("caps.json", ""), Scratch::new("caps.csv", ""));
    let words = ["regs", "heavy", "--arch", "sm_80,sm_120", "--maxregs", "16,40..=41", "--why"];
    let printed = good(&[&words[..], &["--json", json.path(), "--csv", csv.path()]].concat());
    fits(&printed);
    let report = json.json();
    let rows = report["rows"].as_array().expect("rows");
    let caps: Vec<_> = rows.iter().map(|row| (row["arch"].as_str(), row["max_registers"].as_u64())).collect();
    let expected = ["sm_80", "sm_120"].map(|arch| [16, 40, 41].map(|cap| (Some(arch), Some(cap))));
    assert_eq!(caps, expected.concat());
    // What was asked for is what ptxas gives, but below its least.
    assert_eq!(rows[3]["registers"], 24);
    assert_eq!(rows[3]["remarks"][0], "16 raised to 24, the least that ptxas goes to");
    assert!(printed.contains("16 raised to 24"), "{printed}");
    let at_40 = &rows[4];
    assert_eq!((&at_40["registers"], &at_40["next_cliff"]["registers"]), (&40.into(), &41.into()), "{at_40}");
    assert!(printed.contains("one register more, 41, costs 1 block of 6 (8 warps)"), "{printed}");
    let table: Vec<String> = csv.text().lines().map(str::to_owned).collect();
    assert_eq!(table.len(), 1 + rows.len());
    assert!(table[0].starts_with("kernel,variant,arch,max_registers,registers,"), "{}", table[0]);
}

#[test]
fn a_cap_of_ours_counts_in_place_of_the_kernels_own() {
    let json = Scratch::new("own-cap.json", "");
    let words = ["regs", "accumulators_capped", "heavy_capped", "--arch", "sm_120", "--maxregs", "64"];
    good(&[&words[..], &["--json", json.path()]].concat());
    for row in json.json()["rows"].as_array().expect("rows") {
        assert_eq!(row["registers"], 64, "{row}");
    }
}

#[test]
fn regs_of_a_file_of_ptx_equal_those_of_the_same_kernel_built() {
    let (of_file, built) = (Scratch::new("of-file.json", ""), Scratch::new("built.json", ""));
    let kernels = kernels();
    let file = kernels.to_str().expect("the path is UTF-8");
    good(&["regs", file, "vecadd", "heavy", "--arch", "sm_90", "--json", of_file.path()]);
    good(&["regs", "vecadd", "heavy", "--arch", "sm_90", "--json", built.path()]);
    assert_eq!(of_file.json(), built.json());
    assert_eq!(built.json()["rows"].as_array().map(Vec::len), Some(2));
    assert!(refused(&["regs", file, "vecaddd"]).contains("vecadd"));
}

#[test]
fn caps_that_cannot_be_meant_are_refused() {
    for caps in ["0", "40..=32", "many", "2000"] {
        let message = refused(&["regs", "heavy", "--maxregs", caps]);
        assert!(message.contains(caps) && message.contains("16..=128"), "{message}");
    }
}

#[test]
fn a_sweep_of_caps_finds_the_chapters_cliffs_and_says_which_caps_ptxas_raised() {
    let (json, csv, svg) =
        (Scratch::new("sweep.json", ""), Scratch::new("sweep.csv", ""), Scratch::new("sweep.svg", ""));
    let words = ["sweep", "heavy", "--device", "RTX 5070", "--maxregs", "16..=128", "--no-times"];
    let files = ["--json", json.path(), "--csv", csv.path(), "--svg", svg.path()];
    let printed = good(&[&words[..], &files].concat());
    fits(&printed);
    assert!(printed.contains("40/41, 48/49, 64/65, 80/81, 128/129"), "{printed}");
    assert!(printed.contains("16..=23") && printed.contains("raised to 24"), "{printed}");
    assert!(printed.contains("◀ most warps without a spill"), "{printed}");
    let report = json.json();
    assert_eq!(report["cliffs"], serde_json::json!([40, 48, 64, 80, 128]));
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 113);
    for row in rows {
        let (cap, registers) = (row["max_registers"].as_u64().expect("a cap"), row["registers"].as_u64());
        assert!(registers <= Some(cap.max(24)), "{row}");
        assert_eq!(row["remarks"].as_array().map(Vec::len), Some(usize::from(cap < 24)), "{row}");
        let blocks = match registers.expect("a number") {
            0..=40 => 6,
            41..=48 => 5,
            49..=64 => 4,
            _ => 3,
        };
        assert_eq!(row["blocks_per_sm"], blocks, "{row}");
    }
    let best = &rows[usize::try_from(report["best"].as_u64().expect("a best row")).expect("a row")];
    assert_eq!((&best["spill_store_bytes"], &best["blocks_per_sm"]), (&0.into(), &3.into()), "{best}");
    assert_eq!(csv.text().lines().count(), 1 + rows.len());
    let svg = svg.text();
    assert!(svg.starts_with("<svg xmlns") && svg.contains("so many registers allow"), "{svg}");
}

#[test]
fn times_of_a_sweep_are_modelled_from_sass_and_spills_cost_time() {
    let json = Scratch::new("timed.json", "");
    let words = ["sweep", "heavy", "--device", "RTX 5070", "--maxregs", "32,80,96", "--arg", "x=in:f32:15360:rand:1"];
    let args = ["--arg", "y=out:f32:1024", "--arg", "n=scalar:u32:1024", "--arg", "steps=scalar:u32:4"];
    let printed = good(&[&words[..], &args, &["--grid", "4", "--json", json.path()]].concat());
    fits(&printed);
    let report = json.json();
    let rows = report["rows"].as_array().expect("rows");
    let time = |row: usize| {
        let time = &rows[row]["times"][0];
        assert_eq!((&time["source"], &time["isa"]), (&"modelled".into(), &"sass".into()), "{time}");
        time["cycles"].as_u64().expect("cycles")
    };
    assert!(time(0) > time(1), "{rows:?}");
    assert_eq!(time(1), time(2), "the same code twice");
    assert!(rows.iter().all(|row| row["remarks"].as_array().is_some_and(Vec::is_empty)), "{rows:?}");
    assert_eq!(report["best"], 1);
    assert!(printed.contains("◀ fastest"), "{printed}");
}

#[test]
fn blocks_bounds_and_constants_are_swept_too() {
    let json = Scratch::new("blocks.json", "");
    let rows = |words: &[&str]| {
        good(&[words, &["--no-times", "--json", json.path()]].concat());
        json.json()["rows"].as_array().expect("rows").clone()
    };
    let blocks = rows(&["sweep", "vecadd", "--block", "64,1024"]);
    assert_eq!(blocks[0]["block"], serde_json::json!([64, 1, 1]));
    assert_eq!((&blocks[0]["occupancy"], &blocks[1]["blocks_per_sm"]), (&1.0.into(), &1.into()), "{blocks:?}");
    // A thread an element in blocks of any size; a block a sum, whose size the kernel was written for.
    let timed = |words: &[&str]| {
        good(&[words, &["--json", json.path()]].concat());
        json.json()["rows"].to_string().contains("other results than the first row")
    };
    assert!(!timed(&["sweep", "light", "--block", "64,256"]));
    assert!(timed(&["sweep", "block_scan", "--block", "64,256"]));
    let bounds = rows(&["sweep", "heavy", "--min-blocks", "3,6"]);
    assert_eq!((&bounds[0]["registers"], &bounds[1]["registers"]), (&80.into(), &40.into()), "{bounds:?}");
    let constants = rows(&["sweep", "gemm"]);
    let values: Vec<_> = constants.iter().map(|row| row["constant"].as_u64()).collect();
    assert_eq!(values, [Some(4), Some(16)]);
    assert!(constants[0]["registers"].as_u64() < constants[1]["registers"].as_u64(), "{constants:?}");
    assert!(refused(&["sweep", "blur", "--block", "64"]).contains("leave --block out"));
    assert!(refused(&["sweep", "hevy"]).contains("heavy"));
}

/// Modelled times in microseconds of a sweep's rows.
fn times_us(words: &[&str]) -> Vec<f64> {
    let json = Scratch::new("slice.json", "");
    good(&[&["sweep"], words, &["--device", "RTX 5070", "--json", json.path()]].concat());
    let rows = json.json()["rows"].as_array().expect("rows").clone();
    rows.iter().map(|row| row["times"][0]["us"].as_f64().unwrap_or_else(|| panic!("{row}"))).collect()
}

#[test]
fn a_slice_ranks_rows_as_the_whole_gpu_does_and_their_ratios_are_within_a_tenth() {
    // Bounds by spills, the tail of a launch, the size of a tile; one kernel with arithmetic, one with L2, one with shared memory.
    for words in [&["nbody", "--maxregs", "24,32,40"][..], &["light", "--block", "64,1024"], &["gemm"]] {
        let (slice, whole) = (times_us(words), times_us(&[words, &["--whole"]].concat()));
        assert!(slice.len() == whole.len() && slice.len() > 1, "{words:?}");
        for (index, (here, there)) in slice.iter().zip(&whole).enumerate() {
            for (other_here, other_there) in slice.iter().zip(&whole).skip(index + 1) {
                let (ratio, of_the_whole) = (here / other_here, there / other_there);
                assert!((ratio / of_the_whole - 1.0).abs() < 0.1, "{words:?}: {slice:?} and {whole:?}");
                // Ties are no order.
                let is_order = (of_the_whole - 1.0).abs() > 0.03;
                assert!(!is_order || (ratio > 1.0) == (of_the_whole > 1.0), "{words:?}: {slice:?} and {whole:?}");
            }
        }
    }
}
