//! The path of a real GPU without one: the bundle's program on the machine as a CUDA driver, its reports held against the machine's own.

#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

/// What `cargo xtask test` built and names by a variable.
fn built(variable: &str, otherwise: &str) -> PathBuf {
    let path = env::var_os(variable).map_or_else(|| root().join(otherwise), PathBuf::from);
    assert!(path.exists(), "{} is not there; `cargo xtask test` builds it", path.display());
    path
}

/// A bundle of this test's own, gone when dropped.
struct Bundle(PathBuf);

impl Bundle {
    fn pack(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("warpwise-{}-{name}", std::process::id()));
        let mut program = Command::new(built("WARPWISE_PROGRAM", "target/release/warpwise"));
        expect(program.current_dir(root()).args(["bundle", "--out"]).arg(&folder), 0);
        Self(folder)
    }

    /// The program as on a GPU machine: in its folder, with nothing to tell it where kernels are.
    fn program(&self) -> Command {
        let mut program = Command::new(self.0.join("warpwise"));
        program.current_dir(&self.0).env_remove("WARPWISE_KERNELS").env_remove("WARPWISE_DEVICE");
        program
    }

    fn program_on_the_driver(&self) -> Command {
        let mut program = self.program();
        program.env("LD_LIBRARY_PATH", built("WARPWISE_DRIVER", "target/warpwise/driver"));
        program
    }

    /// The report of all labs by a backend.
    fn labs(&self, mut program: Command, backend: &str) -> Value {
        let json = self.0.join(format!("{backend}.json"));
        expect(program.args(["labs", "--backend", backend, "--json"]).arg(&json), 0);
        serde_json::from_str(&fs::read_to_string(json).expect("the report was written")).expect("it is JSON")
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn expect(command: &mut Command, code: i32) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{out}{err}");
    output
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} is no list in {value}"))
}

/// How the labs of two reports differ in what they read back from the device.
fn differences(cuda: &Value, sim: &Value) -> Vec<String> {
    let (cuda, sim) = (list(cuda, "labs"), list(sim, "labs"));
    if cuda.len() != sim.len() {
        return vec![format!("{} labs and {}", cuda.len(), sim.len())];
    }
    let pairs = cuda.iter().zip(sim).filter(|(cuda, sim)| cuda["results"] != sim["results"] || cuda["id"] != sim["id"]);
    pairs
        .map(|(cuda, sim)| {
            format!("{}: {} on the driver, {} on the machine", cuda["id"], cuda["results"], sim["results"])
        })
        .collect()
}

/// Claims of a lab that no verdict was given on, though no GPU is needed for one.
fn undecided<'a>(report: &'a Value, lab: &str) -> Vec<&'a str> {
    let lab = list(report, "labs").iter().find(|found| found["id"] == lab);
    let claims = lab.map(|lab| list(lab, "claims")).unwrap_or_else(|| panic!("the report has no such lab"));
    let open = claims.iter().filter(|claim| claim["verdict"] == "not-run" && claim["why"] != "needs a GPU");
    open.filter_map(|claim| claim["id"].as_str()).collect()
}

#[test]
fn every_lab_runs_on_the_driver_with_the_machines_results_and_no_time_is_called_measured() {
    let bundle = Bundle::pack("bundle-of-labs");
    let cuda = bundle.labs(bundle.program_on_the_driver(), "cuda");
    let sim = bundle.labs(bundle.program(), "sim");
    assert_eq!(differences(&cuda, &sim), [""; 0]);
    let reads: u64 = list(&cuda, "labs").iter().filter_map(|lab| lab["results"]["reads"].as_u64()).sum();
    assert!(reads >= 50, "only {reads} results were compared");
    assert_eq!(cuda["summary"]["fails"], 0);
    assert_eq!(
        undecided(&sim, "codegen"),
        [""; 0],
        "kernels in C++ are to be compiled and compared wherever tests run"
    );
    let mut times = 0;
    for lab in list(&cuda, "labs") {
        assert_eq!(lab["backend"], "cuda");
        for kernel in list(lab, "kernels") {
            assert!(kernel["device"].as_str().is_some_and(|name| name.ends_with("(modelled)")), "{kernel}");
            for time in list(kernel, "times") {
                assert_eq!(time["source"], "modelled", "{time}");
                times += 1;
            }
        }
    }
    assert!(times >= 20, "only {times} times were seen");
    let text = cuda.to_string();
    assert!(!text.contains(r#""source":"measured""#), "something in the report is called measured");
}

#[test]
fn a_result_that_differs_in_a_bit_is_noticed() {
    let report = |digest: &str| serde_json::json!({"labs": [{"id": "ids", "results": {"reads": 1, "digest": digest}}]});
    assert!(differences(&report("01"), &report("01")).is_empty());
    let found = differences(&report("01"), &report("03"));
    assert!(found[0].contains("ids") && found[0].contains("03"), "{found:?}");
    assert_eq!(differences(&report("01"), &serde_json::json!({"labs": []})), ["1 labs and 0"]);
}

#[test]
fn a_claim_that_lacks_more_than_a_gpu_is_noticed() {
    let report = |why: &str| {
        let claim = serde_json::json!({"id": "codegen.results", "verdict": "not-run", "why": why});
        serde_json::json!({"labs": [{"id": "codegen", "claims": [claim]}]})
    };
    assert_eq!(undecided(&report("needs a GPU"), "codegen"), [""; 0]);
    assert_eq!(undecided(&report("nvcc was not found"), "codegen"), ["codegen.results"]);
}

#[test]
fn the_device_is_the_one_that_the_variable_names_and_an_unknown_one_ends_with_2() {
    let bundle = Bundle::pack("bundle-of-devices");
    let json = bundle.0.join("h200.json");
    let mut program = bundle.program_on_the_driver();
    program.env("WARPWISE_DEVICE", "H200");
    expect(program.args(["labs", "ids", "--backend", "cuda", "--json"]).arg(&json), 0);
    let text = fs::read_to_string(&json).expect("the report was written");
    assert!(text.contains("H200"), "{text}");
    let mut unknown = bundle.program_on_the_driver();
    let output = expect(unknown.env("WARPWISE_DEVICE", "GTX 480").args(["labs", "ids", "--backend", "cuda"]), 2);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("GTX 480") && message.contains("RTX 5070"), "{message}");
}
