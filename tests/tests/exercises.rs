//! Every exercise as its author did it: the solutions and the starts are compiled in one kernel crate, and the check of each
//! is run on both.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use warpwise::claim::Verdict;
use warpwise::exercises::kernel_crate::{self, Names};
use warpwise::exercises::{Attempt, Checked, EXERCISES, Exercise};
use warpwise::kernels::KernelFiles;
use warpwise::progress::Progress;
use warpwise::workbench::Workbench;

const PACKAGE: &str = "all-exercises";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

/// The machine with the kernels of all exercises, compiled by xtask as a reader's are.
fn bench() -> &'static Workbench {
    static BENCH: OnceLock<Workbench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let root = root();
        let folder = root.join("target/warpwise/exercises");
        kernel_crate::write_all(&folder, PACKAGE, EXERCISES, &root.join("kernels-gpu/std")).expect("it can be written");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.current_dir(&root).args(["xtask", "build", "--crate"]).arg(&folder).env_remove("WARPWISE_KERNELS");
        let output = build.output().expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let kernels = KernelFiles::read(Path::new(String::from_utf8_lossy(&output.stdout).trim()));
        let global = warpwise::cli::parse(["warpwise", "list"].map(Into::into)).expect("a command line").global;
        let bench = Workbench::with_kernels(&global, "sim", kernels.unwrap_or_else(|error| panic!("{error}")));
        bench.unwrap_or_else(|error| panic!("{error}"))
    })
}

fn check(exercise: &Exercise, names: Names) -> Checked {
    Attempt::check(exercise, names, bench(), &Progress::silent())
}

/// The claims as a reader sees them.
fn lines(checked: &Checked) -> String {
    let lines = checked.claims.iter().map(|judged| {
        let found = judged.found.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{}: {} [{}]: {found}", judged.verdict.word(), judged.claim.statement, judged.claim.relation)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_claim_is_right_of_the_authors_solution() {
    let mut wrong = Vec::new();
    for exercise in EXERCISES {
        let checked = check(exercise, Names::of_the_solution(exercise));
        println!("{}\n{}", exercise.lab, lines(&checked));
        if checked.claims.iter().any(|judged| judged.verdict != Verdict::Holds) {
            wrong.push(format!("{}\n{}", exercise.lab, lines(&checked)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_start_is_right_already_and_each_runs() {
    for exercise in EXERCISES {
        let checked = check(exercise, Names::of_the_start(exercise));
        println!("{}\n{}", exercise.lab, lines(&checked));
        assert!(checked.not_yet().count() > 0, "{}: nothing is left to do\n{}", exercise.lab, lines(&checked));
        let ended = checked.claims.iter().all(|judged| judged.claim.id != "runs");
        assert!(ended, "{} does not run as it is begun\n{}", exercise.lab, lines(&checked));
    }
}
