//! Compiles a kernel crate to PTX, if it is stale: cargo with the device compiler, core compiled too, everything in one
//! module that rustc prints as assembly. What rustc writes is raw; [`crate::finish`] makes it what everyone sees.

use crate::compiler::Compiler;
use crate::error::{Error, Result};
use crate::facts;
use crate::kernel_crate::KernelCrate;
use crate::process;
use crate::progress;
use crate::rustc_line::{self, RustcLine};
use crate::stamp::{self, Stamp};
use crate::workspace::Workspace;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Set for the device build, which names this program as its linker: there is nothing to link, since fat LTO puts
/// everything into the one module that is printed.
pub const AS_LINKER: &str = "XTASK_IS_THE_LINKER";

/// Read by `#[kernel]`: the kernels that alone become entries, their names between commas.
const ONLY: &str = "WARPWISE_ONLY_KERNELS";

const TARGET: &str = "nvptx64-nvidia-cuda";

/// Core takes half a minute on two slow cores; a user's crate may bring dependencies.
const LIMIT: Duration = Duration::from_secs(1800);

/// The profile `device`, whole, so that no profile of a user's workspace changes it and core is built once for all.
const PROFILE: [&str; 10] = [
    "inherits=\"release\"",
    "opt-level=3",
    // One module, so that `--emit=asm` prints the whole program.
    "lto=\"fat\"",
    "codegen-units=1",
    "panic=\"abort\"",
    // Inlined calls with their lines; the sections are read and dropped when the PTX is finished.
    "debug=\"limited\"",
    "debug-assertions=false",
    "overflow-checks=false",
    "incremental=false",
    "strip=\"none\"",
];

/// Raw PTX, and what it was made from.
pub struct Raw {
    pub path: PathBuf,
    pub source_hash: String,
}

/// Builds the crate's PTX unless it is that of its inputs already.
pub fn build(workspace: &Workspace, compiler: &Compiler, kernels: &KernelCrate) -> Result<Raw> {
    Workspace::create(&kernels.output)?;
    let path = kernels.output.join("raw.ptx");
    let stamp_path = kernels.output.join("raw.stamp");
    let flags = flags(workspace, compiler);
    let key = key(compiler, kernels, &flags);
    if let Some(stamp) = Stamp::current(&stamp_path, &key).filter(|_| path.is_file()) {
        return Ok(Raw { path, source_hash: stamp.content() });
    }
    let begin = SystemTime::now();
    if !assembly(kernels).is_file() {
        forget(workspace, kernels);
    }
    progress::step(&format!("compiling {} to PTX", kernels.name), || compile(workspace, compiler, kernels, &flags))?;
    take(kernels, &path)?;
    let made = workspace.device_target().join(TARGET).join("device");
    let stamp = Stamp::take(&key, &inputs(kernels, &made.join(&kernels.library).with_extension("d"))?)?;
    if kernels.only.is_some() {
        stamp.write(&stamp_of_the_record(kernels))?;
    }
    if stamp.has_input_since(begin) {
        // Edited while it was compiled: the PTX may be that of either content, so the next run compiles again.
        let _ = fs::remove_file(&stamp_path);
    } else {
        stamp.write(&stamp_path)?;
    }
    Ok(Raw { path, source_hash: stamp.content() })
}

/// Builds the crate's PTX by the call of rustc that cargo made last, if since then nothing but its own sources has changed; else nothing
/// is done.
pub fn build_again(workspace: &Workspace, kernels: &KernelCrate) -> Result<Option<PathBuf>> {
    let manifest = kernels.folder.join("Cargo.toml");
    let is_own =
        |path: &Path| manifest_of(path).as_ref() == Some(&manifest) && path.extension().is_some_and(|end| end == "rs");
    let others_are_the_same = Stamp::is_true_but_for(&stamp_of_the_record(kernels), &is_own);
    let Some(line) = RustcLine::read(&record(kernels)).filter(|_| others_are_the_same) else { return Ok(None) };
    // From here on the PTX is not that of the inputs that cargo saw.
    let _ = fs::remove_file(kernels.output.join("raw.stamp"));
    let finished = line.run(kernels, (ONLY, only(kernels)), &log(workspace, kernels), LIMIT)?;
    if !finished.success {
        eprintln!("{}", finished.output.trim_end());
        return Err(does_not_compile(kernels, &finished.output));
    }
    let path = kernels.output.join("raw.ptx");
    take(kernels, &path)?;
    Ok(Some(path))
}

/// Makes rustc's PTX the crate's.
fn take(kernels: &KernelCrate, path: &Path) -> Result<()> {
    let assembly = assembly(kernels);
    let ptx = fs::read(&assembly)
        .map_err(|error| Error::file("read the PTX that rustc should have written,", &assembly, &error))?;
    if !contains(&ptx, b".entry ") {
        let name = &kernels.name;
        return Err(Error::new(format!("{name} has no kernel: put #[kernel] on a `pub unsafe fn` of its library")));
    }
    facts::replace(path, &ptx)
}

fn compile(workspace: &Workspace, compiler: &Compiler, kernels: &KernelCrate, flags: &[String]) -> Result<()> {
    let mut cargo = Command::new(&workspace.cargo);
    cargo.current_dir(&kernels.root).arg("rustc").arg("--manifest-path").arg(kernels.folder.join("Cargo.toml"));
    cargo.args(["--lib", "--crate-type", "cdylib", "--profile", "device", "--target", TARGET, "-Z", "build-std=core"]);
    cargo.arg("--target-dir").arg(workspace.device_target());
    cargo.args(PROFILE.iter().flat_map(|setting| ["--config".to_owned(), format!("profile.device.{setting}")]));
    cargo.arg("--").args(own_flags(kernels));
    // RUSTC_BOOTSTRAP: build-std and the NVPTX features are unstable, and the compiler is a stable one.
    cargo.env("RUSTC", &compiler.rustc).env("RUSTC_BOOTSTRAP", "1").env(AS_LINKER, "1");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    // Incremental compilation makes other code of a quarter of our kernels, and the variable counts before the profile.
    for meant_for_the_host in ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_INCREMENTAL"] {
        cargo.env_remove(meant_for_the_host);
    }
    if kernels.only.is_some() {
        cargo.env(ONLY, only(kernels)).env("RUSTC_WRAPPER", &workspace.own_executable);
        cargo.env(rustc_line::RECORD, record(kernels)).env(rustc_line::LIBRARY, &kernels.library);
    }
    let finished = process::run(&mut cargo, &log(workspace, kernels), LIMIT)?;
    if finished.success {
        return Ok(());
    }
    eprintln!("{}", finished.output.trim_end());
    Err(does_not_compile(kernels, &finished.output))
}

fn does_not_compile(kernels: &KernelCrate, output: &str) -> Error {
    let advice = if output.contains("failed to download") || output.contains("could not resolve host") {
        "the registry cannot be reached: connect once, core's own dependencies come from there"
    } else {
        "the compiler's messages are above"
    };
    Error::new(format!("{} does not compile for {TARGET}: {advice}", kernels.name))
}

fn log(workspace: &Workspace, kernels: &KernelCrate) -> PathBuf {
    workspace.own_folder().join("logs").join(format!("{}.log", kernels.name))
}

/// Where the call of rustc is written down.
fn record(kernels: &KernelCrate) -> PathBuf {
    kernels.output.join("rustc.line")
}

/// The inputs of the build whose call is written down.
fn stamp_of_the_record(kernels: &KernelCrate) -> PathBuf {
    kernels.output.join("rustc.stamp")
}

fn only(kernels: &KernelCrate) -> &str {
    kernels.only.as_deref().unwrap_or_default()
}

/// Flags for every crate of the device build, core included.
fn flags(workspace: &Workspace, compiler: &Compiler) -> Vec<String> {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let mut flags = vec![
        // The virtual architecture: every GPU from sm_80 on takes its PTX.
        "-Ctarget-cpu=sm_80".to_owned(),
        // PTX ISA 7.8, so that `.loc … inlined_at` (7.2) may be written.
        "-Ctarget-feature=+ptx78".to_owned(),
        format!("-Clinker={}", workspace.own_executable.display()),
        // Comments that name the inlined calls of each `.loc`: the sections cannot tell two calls of one function apart
        // where the compiler unrolled or moved them.
        "-Zverbose-asm".to_owned(),
        // In `if c {…} barrier; if c {…} else {…}` this pass would put the barrier into both arms.
        "-Zmir-enable-passes=-JumpThreading".to_owned(),
    ];
    // No path of this machine gets into the PTX.
    flags.extend(cargo_home.map(|home| remap(&home, "/cargo")));
    flags.push(remap(&compiler.core_source, "/rustc"));
    flags.push(remap(&workspace.root.join(""), ""));
    flags
}

/// Flags for the kernel crate alone: what differs between crates must not make core another one for each.
fn own_flags(kernels: &KernelCrate) -> Vec<String> {
    // Into a file of its own: in cargo's folder the crates of two checkouts have one name.
    let mut flags = vec![format!("--emit=asm={}", assembly(kernels).display()), remap(&kernels.root.join(""), "")];
    // What only other kernels use is not used then.
    flags.extend(kernels.only.is_some().then(|| "-Aunused".to_owned()));
    flags
}

/// Has cargo compile the crate, whatever it remembers: what it would take as fresh is gone.
fn forget(workspace: &Workspace, kernels: &KernelCrate) {
    let remembered = workspace.device_target().join(TARGET).join("device").join(".fingerprint");
    let of_the_crate = format!("{}-", kernels.name);
    for entry in fs::read_dir(remembered).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&of_the_crate) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Where rustc writes the PTX. Cargo compiles again where this is another file, as it must be for other kernels.
fn assembly(kernels: &KernelCrate) -> PathBuf {
    let of_some = kernels.only.as_ref().map(|only| format!("rustc-{:016x}.ptx", stamp::hash(only.as_bytes())));
    kernels.output.join(of_some.as_deref().unwrap_or("rustc.ptx"))
}

fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// What makes PTX stale though no file changes.
fn key(compiler: &Compiler, kernels: &KernelCrate, flags: &[String]) -> String {
    let Compiler { rustc, version, llvm, .. } = compiler;
    let (flags, profile, only) = (flags.join(" "), PROFILE.join(" "), only(kernels));
    format!("{} {version} {llvm} {} {flags} {profile} {only}", rustc.display(), kernels.folder.display())
}

/// The sources that cargo lists in its dependency file, and the manifests above them.
fn inputs(kernels: &KernelCrate, dependency_file: &Path) -> Result<BTreeSet<PathBuf>> {
    let text = fs::read_to_string(dependency_file).map_err(|error| Error::file("read", dependency_file, &error))?;
    let sources = sources(&text);
    let mut inputs: BTreeSet<PathBuf> = sources.iter().filter_map(|source| manifest_of(source)).collect();
    inputs.extend(sources);
    inputs.extend(
        ["Cargo.toml", "Cargo.lock"].map(|name| kernels.root.join(name)).into_iter().filter(|path| path.is_file()),
    );
    Ok(inputs)
}

/// The paths after the colon of each rule of a make-style dependency file; a space in a path is written `\ `.
fn sources(dependencies: &str) -> BTreeSet<PathBuf> {
    let rules = dependencies.lines().filter_map(|line| line.split_once(": "));
    let paths = rules.map(|(_, paths)| paths.replace("\\ ", "\0"));
    paths
        .flat_map(|paths| paths.split(' ').map(|path| path.replace('\0', " ").into()).collect::<Vec<PathBuf>>())
        .collect()
}

/// The Cargo.toml of the package that a source belongs to.
fn manifest_of(source: &Path) -> Option<PathBuf> {
    source.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.is_file())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::sources;
    use std::path::PathBuf;

    #[test]
    fn sources_are_read_from_every_rule_with_their_spaces() {
        let text = "/t/k.ptx: /my\\ kernels/src/lib.rs /k/std.rs\n\n/t/k.d: /k/std.rs\n";
        let expected = ["/k/std.rs", "/my kernels/src/lib.rs"].map(PathBuf::from);
        assert_eq!(sources(text).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_file_without_rules_has_no_sources() {
        assert!(sources("").is_empty());
        assert!(sources("# a comment\n").is_empty());
    }
}
