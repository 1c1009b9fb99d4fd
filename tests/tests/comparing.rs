//! `diff` and `watch` through the real program; what they build is built by a stand-in for the device compiler.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use tests::program::{self, Scratch, good, refused, root};

/// A folder of a test's own, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpwise-comparing-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("src")).expect("the temporary folder can be written");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file of this test's");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn kernels() -> PathBuf {
    let folder = std::env::var_os("WARPWISE_KERNELS").map(PathBuf::from);
    folder.unwrap_or_else(|| root().join("target/warpwise/kernels")).join("kernels.ptx")
}

#[test]
fn two_kernels_differ_in_numbers_and_at_their_source_lines() {
    let json = Scratch::new("diff.json", "");
    let words = ["diff", "heavy:sm_120", "heavy_capped:sm_120", "--no-times", "--json", json.path()];
    let printed = good(&words);
    let wide = printed.lines().find(|line| line.chars().count() > 100);
    assert!(wide.is_none() && !printed.contains('\x1b'), "{wide:?}");
    let report = json.json();
    assert_eq!(report["schema"], "warpwise.diff/1");
    let [a, b] = [0, 1].map(|row| &report["rows"][row]);
    assert_eq!((&a["registers"], &b["registers"]), (&80.into(), &40.into()));
    assert!(a["mix"].get("STL").is_none() && b["mix"]["STL"].as_u64() > Some(0), "{b}");
    assert!(printed.contains("STL +"), "{printed}");
    let changed = report["changed"].as_array().expect("source lines");
    let of_spills = |section: &&serde_json::Value| section["come"].to_string().contains("STL");
    let spilled = changed.iter().find(of_spills).expect("a line at which values are spilled");
    let source = spilled["source"].as_str().expect("a place");
    assert!(source.starts_with("kernels-gpu/src/") && printed.contains(source), "{source}");
}

#[test]
fn a_kernel_is_no_different_from_itself_in_a_file_and_from_another_architecture_it_is() {
    let file = format!("{}:vecadd", kernels().display());
    let same = good(&["diff", &file, "vecadd", "--no-times"]);
    assert!(same.contains("the same instructions at all of"), "{same}");
    let other = good(&["diff", "vecadd:sm_80", "vecadd:sm_120", "--no-times"]);
    assert!(other.contains("instructions differ at") && other.contains("sm_80"), "{other}");
    for (words, part) in [
        (&["diff", "vecadd", "vecad"][..], "vecadd"),
        (&["diff", "vecadd", "vecadd:sm_999"], "12.0"),
        (&["diff", "vecadd", "vecadd@HEAD"], "cargo xtask diff"),
        (&["diff", "vecadd", "vecadd:x"], "KERNEL@COMMIT"),
        (&["diff", &kernels().display().to_string(), "vecadd"], ":KERNEL"),
    ] {
        let message = refused(words);
        assert!(message.contains(part), "{words:?}: {message}");
    }
}

/// Runs git for a test.
fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output().expect("git is here");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_commit_is_checked_out_and_built_into_a_folder_of_its_own() {
    let folder = Folder::new("commit");
    // Cargo's mark: what is built goes below it.
    folder.write("CACHEDIR.TAG", "");
    fs::create_dir(folder.0.join("kernels-gpu")).expect("a folder");
    let ptx = fs::read_to_string(kernels()).expect("the kernels are built");
    let source = folder.0.join("kernels-gpu/kernels.ptx");
    git(&folder.0, &["init", "--quiet"]);
    let commit = |message: &str| {
        git(&folder.0, &["add", "kernels-gpu"]);
        let by = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
        git(&folder.0, &[&by[..], &["commit", "--quiet", "-m", message]].concat());
    };
    let first = ptx.replace(".entry vecadd4(", ".entry was_vecadd4(");
    assert_ne!(first, ptx);
    fs::write(&source, first).expect("a file");
    commit("first");
    fs::write(&source, &ptx).expect("a file");
    commit("second");
    // As `xtask build --crate C --into D` does: the kernels of C, in D.
    let build = folder.write("build.sh", "set -e\nmkdir -p \"$4\"\ncp \"$2/kernels.ptx\" \"$4/kernels.ptx\"\n");
    let diff = |a: &str, b: &str| {
        let output = Command::new(program::path())
            .args(["diff", a, b, "--no-times"])
            .env("WARPWISE_BUILD_CMD", format!("sh {}", build.display()))
            .env("WARPWISE_CHECKOUT", &folder.0)
            .current_dir(root())
            .output()
            .expect("the program starts");
        (output.status.code(), program::stdout(&output), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, printed, said) = diff("was_vecadd4@HEAD~1", "vecadd4@HEAD");
    assert_eq!(code, Some(0), "{printed}{said}");
    assert!(printed.contains("the same instructions at all of"), "{printed}");
    let (code, _, said) = diff("vecadd4@HEAD~1", "vecadd4");
    assert!(code == Some(2) && said.contains("was_vecadd4"), "the first commit has no such kernel: {said}");
    let (code, _, said) = diff("vecadd4@no-such-branch", "vecadd4");
    assert!(code == Some(2) && said.contains("no commit `no-such-branch`"), "{said}");
    let trees = fs::read_dir(folder.0.join("warpwise/sides/trees")).expect("working trees").count();
    assert_eq!(trees, 2);
}

const KERNEL: &str = "
.version 7.8
.target sm_80
.address_size 64
.file 1 \"src/lib.rs\"
.visible .entry add_one(.param .u64 p)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 1 1
    ld.global.u32 %r3, [%rd3];
    add.u32 %r4, %r3, 1;
    st.global.u32 [%rd3], %r4;
    ret;
}
";

/// Has one more load and addition, and what they need; `offset` in bytes tells such kernels apart.
fn with_a_load(offset: u32) -> String {
    let more = format!("ld.global.u32 %r5, [%rd3+{offset}];\n    add.u32 %r4, %r4, %r5;\n    st.global");
    KERNEL.replace("st.global", &more)
}

/// A crate whose build is a script: `whole.ptx` is what all of it comes to, `alone.ptx` one kernel alone.
struct Crate(Folder);

impl Crate {
    fn new(name: &str) -> Self {
        let this = Self(Folder::new(name));
        this.0.write("kernels.ptx", KERNEL);
        this.0.write("kernels.json", &serde_json::json!({"crate": "mine", "source_root": this.0.0}).to_string());
        this.0.write("src/lib.rs", "// kernels\n");
        this.comes_to(KERNEL, KERNEL);
        this
    }

    /// As `xtask build [--into FOLDER --only KERNELS [--again]]` does.
    fn comes_to(&self, whole: &str, alone: &str) {
        self.0.write("whole.ptx", whole);
        self.0.write("alone.ptx", alone);
        let folder = self.0.0.display();
        let script = format!(
            "cd {folder}\nif [ \"$1\" = --into ]; then mkdir -p \"$2\"; cp alone.ptx \"$2/kernels.ptx\"; echo \"$*\" >> words\n\
             else cp whole.ptx kernels.ptx; fi\n"
        );
        self.0.write("build.sh", &script);
    }

    /// It does not compile, and the compiler says this.
    fn is_broken(&self, message: &str) {
        self.0.write("build.sh", &format!("echo '{message}' >&2\nexit 1\n"));
    }

    fn save(&self, text: &str) {
        self.0.write("src/lib.rs", text);
    }

    fn watch(&self, words: &[&str]) -> Watching {
        let errors = self.0.write("stderr", "");
        let mut child = Command::new(program::path())
            .arg("watch")
            .args(words)
            .env("WARPWISE_BUILD_CMD", format!("sh {}", self.0.0.join("build.sh").display()))
            .env("WARPWISE_KERNELS", &self.0.0)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&errors).expect("a file"))
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        Watching { child, lines, errors }
    }
}

/// The program watching a folder.
struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
    errors: PathBuf,
}

impl Watching {
    /// Everything up to a line that has this in it.
    fn until(&mut self, part: &str) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("its output is text");
            assert!(read > 0, "it ended before it said `{part}`:\n{seen}");
            seen.push_str(&line);
            if line.contains(part) {
                return seen;
            }
        }
    }

    /// Everything on standard error, once this is in it.
    fn until_said(&mut self, part: &str) -> String {
        loop {
            let said = fs::read_to_string(&self.errors).unwrap_or_default();
            if said.contains(part) {
                return said;
            }
            assert!(self.child.try_wait().expect("it can be asked").is_none(), "it ended: {said}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The cells of a row of a printed table.
fn row<'t>(printed: &'t str, name: &str) -> Vec<&'t str> {
    let line = printed.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{printed}"));
    line.trim_start().trim_start_matches(name).split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn a_save_is_built_and_compared_an_error_is_shown_and_ctrl_c_ends_it() {
    let mine = Crate::new("watch");
    let mut watching = mine.watch(&["add_one"]);
    let start = watching.until("Ctrl-C ends it");
    let registers = row(&start, "registers")[0].to_owned();

    mine.comes_to(&with_a_load(4), &with_a_load(4));
    mine.save("// more kernels\n");
    let first = watching.until("after the save");
    assert!(first.contains("save 1: add_one"), "{first}");
    let cells = row(&first, "registers");
    let numbers: Vec<u32> = [cells[0], &registers].map(|cell| cell.parse().expect("a number")).to_vec();
    assert!(numbers[0] >= numbers[1], "{first}");
    assert!(first.contains("instructions since the start:") && first.contains("LDG +1"), "{first}");
    assert!(row(&first, "modelled time")[0].contains("µs"), "{first}");

    mine.is_broken("error[E0425]: cannot find value `x`");
    mine.save("// broken kernels\n");
    let said = watching.until_said("save 2: it does not compile");
    assert!(said.contains("error[E0425]: cannot find value `x`"), "{said}");

    mine.comes_to(KERNEL, KERNEL);
    mine.save("// kernels\n");
    let third = watching.until("instructions since the last save");
    // As at the start, and other than at the last save that compiled.
    assert!(third.contains("save 3: add_one") && third.contains("LDG -1"), "{third}");
    assert!(!third.contains("since the start"), "{third}");

    let pid = watching.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill is here").success());
    let end = watching.until("watched");
    assert!(end.contains("3 saves watched"), "{end}");
    assert_eq!(watching.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_kernel_is_shown_as_soon_as_it_is_compiled_alone_and_again_only_where_the_whole_crate_has_other_news() {
    let mine = Crate::new("alone");
    let mut watching = mine.watch(&["add_one"]);
    watching.until("add_one: compiled first at each save");

    // The same of both.
    mine.comes_to(&with_a_load(4), &with_a_load(4));
    mine.save("// 1\n");
    let first = watching.until("the whole crate says the same");
    assert_eq!(first.matches("save 1: add_one on").count(), 1, "{first}");
    assert!(first.contains("LDG +1"), "{first}");
    // Registers that are only numbered otherwise are no news, neither alone nor with the rest.
    let numbered = with_a_load(4).replace("%r4", "%r7").replace("%r<6>", "%r<9>");
    mine.comes_to(&numbered, &with_a_load(4));
    mine.save("// 2\n");
    let second = watching.until("no kernel's code changed");
    assert!(!second.contains("add_one on"), "{second}");

    // With the rest of its crate LLVM makes something else of it: that counts, and from then on the crate is compiled at once.
    mine.comes_to(KERNEL, &with_a_load(8));
    mine.save("// 3\n");
    let alone = watching.until("LDG");
    assert!(alone.contains("save 3: add_one on"), "{alone}");
    let whole = watching.until("registers");
    assert!(whole.contains("save 3: add_one on sm_120 with the rest of its crate"), "{whole}");
    watching.until("after the save");
    mine.comes_to(&with_a_load(12), KERNEL);
    mine.save("// 4\n");
    let fourth = watching.until("LDG +1");
    assert!(fourth.contains("save 4: add_one on") && !fourth.contains("with the rest"), "{fourth}");
    let words = fs::read_to_string(mine.0.0.join("words")).expect("the script's words");
    let of_builds: Vec<&str> =
        words.lines().filter_map(|line| line.split_once("--only ")).map(|(_, rest)| rest).collect();
    assert_eq!(of_builds, ["add_one", "add_one --again", "add_one --again", "add_one --again"], "{words}");
}

#[test]
fn kernels_compiled_alone_by_cargo_and_again_without_it_cost_what_they_cost_in_the_crate() {
    let folder = Folder::new("only");
    let build = |words: &[&str], cargo: Option<&str>| {
        let mut xtask = Command::new(root().join("target/debug/xtask"));
        xtask.args(["build", "--only", "heavy,vecadd", "--into"]).arg(&folder.0).args(words).current_dir(root());
        xtask.env("WARPWISE_PROGRAM", program::path()).env("CARGO_MANIFEST_DIR", root().join("xtask"));
        xtask.env_remove("WARPWISE_KERNELS").envs(cargo.map(|cargo| ("CARGO", cargo)));
        let output = xtask.output().expect("`cargo xtask test` builds xtask");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let json = Scratch::new("only.json", "");
    let regs = |words: &[&str]| {
        good(&[&["regs"], words, &["heavy", "vecadd", "--arch", "sm_120", "--json", json.path()]].concat());
        json.json()
    };
    let in_the_crate = regs(&[]);
    let ptx = folder.0.join("kernels.ptx");
    build(&[], None);
    let text = fs::read_to_string(&ptx).expect("kernels");
    assert_eq!(text.matches(".entry ").count(), 2, "no other kernel is compiled");
    assert_eq!(regs(&[&ptx.display().to_string()]), in_the_crate);
    fs::remove_file(&ptx).expect("it is there");
    build(&["--again"], Some("/no/cargo"));
    assert_eq!(fs::read_to_string(&ptx).expect("kernels"), text);
    // What cargo saw is not known to be what was compiled: the next build by cargo compiles again.
    assert!(!folder.0.join("raw.stamp").exists());
}

#[test]
fn watch_that_nobody_told_how_to_build_says_how_to_start_it() {
    let message = refused(&["watch", "vecadd"]);
    assert!(message.contains("cargo xtask watch") && message.contains("WARPWISE_BUILD_CMD"), "{message}");
}
