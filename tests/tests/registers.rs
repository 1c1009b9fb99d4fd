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
