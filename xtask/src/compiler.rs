//! Which compiler makes the PTX: one with LLVM's NVPTX back end and core's source, since core is compiled too.
//!
//! The order: the one that `WARPWISE_DEVICE_RUSTC` names, the active toolchain's, the distribution's. Only the first is
//! a command: if it cannot do the work, that is an error, and no other compiler is taken silently.

use crate::error::{Error, Result};
use crate::system::System;
use std::path::{Path, PathBuf};

pub const VARIABLE: &str = "WARPWISE_DEVICE_RUSTC";
const DISTRIBUTION: &str = "/usr/bin/rustc";
const DEVICE_TARGET: &str = "nvptx64-nvidia-cuda";

/// The least version that the kernels' sources compile with: the workspace's `rust-version`.
const LEAST: (u32, u32) = (1, 95);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    pub rustc: PathBuf,
    /// `1.96.0`
    pub version: String,
    /// `22.1.8`
    pub llvm: String,
    /// The folder that holds `library/core`.
    pub core_source: PathBuf,
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Variable,
    ActiveToolchain,
    Distribution,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Self::Variable => VARIABLE,
            Self::ActiveToolchain => "active toolchain",
            Self::Distribution => "distribution",
        }
    }
}

/// A compiler that was looked at and cannot do the work.
#[derive(Debug, PartialEq, Eq)]
pub struct Rejected {
    pub rustc: String,
    pub reason: String,
}

/// What the search found: a compiler, and those that came before it in the order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Search {
    pub compiler: Option<Compiler>,
    pub rejected: Vec<Rejected>,
}

/// Looks for a compiler, in order.
pub fn search(system: &dyn System) -> Result<Search> {
    if let Some(rustc) = system.variable(VARIABLE) {
        return match inspect(system, &rustc, Origin::Variable) {
            Ok(compiler) => Ok(Search { compiler: Some(compiler), rejected: Vec::new() }),
            Err(reason) => Err(Error::new(format!(
                "{VARIABLE} is {rustc}, which {reason}\nname another compiler, or unset the variable to have one looked for"
            ))),
        };
    }
    let mut search = Search::default();
    for (rustc, origin) in [("rustc", Origin::ActiveToolchain), (DISTRIBUTION, Origin::Distribution)] {
        match inspect(system, rustc, origin) {
            Ok(compiler) => {
                search.compiler = Some(compiler);
                break;
            }
            Err(reason) => search.rejected.push(Rejected { rustc: rustc.to_owned(), reason }),
        }
    }
    Ok(search)
}

/// Whether a compiler can do the work; the reason reads on after its name, "…, which".
fn inspect(system: &dyn System, rustc: &str, origin: Origin) -> std::result::Result<Compiler, String> {
    let verbose = system.output(rustc, &["-vV"]).ok_or("does not start")?;
    let field = |name: &str| verbose.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let version = field("release:").ok_or("is no rustc: it prints no release")?.to_owned();
    let llvm = field("LLVM version:").ok_or("is a rustc without LLVM")?.to_owned();
    if !is_new_enough(&version) {
        return Err(format!("is version {version}; the kernels need {}.{} or later", LEAST.0, LEAST.1));
    }
    let sysroot = system.output(rustc, &["--print", "sysroot"]).ok_or("does not say where its libraries are")?;
    let core_source = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    if !system.exists(&core_source.join("library/core/src/lib.rs")) {
        return Err(format!("has no source of core in {}", core_source.display()));
    }
    if system.output(rustc, &["--target", DEVICE_TARGET, "--print", "target-cpus"]).is_none() {
        return Err(format!("cannot compile for {DEVICE_TARGET}: its LLVM has no NVPTX back end"));
    }
    Ok(Compiler { rustc: rustc.into(), version, llvm, core_source, origin })
}

/// Whether a compiler of this version compiles the kernels' sources.
pub fn is_new_enough(version: &str) -> bool {
    number(version) >= LEAST
}

/// Major and minor of a version; 0 for what is none.
fn number(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{Origin, VARIABLE, search};
    use crate::system::Fake;

    /// A machine with these compilers: command, version, whether its source of core is there.
    fn machine(compilers: &[(&str, &str, bool)]) -> Fake {
        let mut fake = Fake::default();
        for (rustc, version, has_source) in compilers {
            let sysroot = format!("/sysroot-of{}", rustc.replace('/', "-"));
            fake.outputs.push((format!("{rustc} -vV"), format!("rustc\nrelease: {version}\nLLVM version: 22.1.8\n")));
            fake.outputs.push((format!("{rustc} --print sysroot"), format!("{sysroot}\n")));
            fake.outputs
                .push((format!("{rustc} --target nvptx64-nvidia-cuda --print target-cpus"), "sm_80".to_owned()));
            if *has_source {
                let source = format!("{sysroot}/lib/rustlib/src/rust/library/core/src/lib.rs");
                fake.paths.push(Box::leak(source.into_boxed_str()));
            }
        }
        fake
    }

    fn origin(fake: &Fake) -> Option<Origin> {
        search(fake).unwrap().compiler.map(|compiler| compiler.origin)
    }

    #[test]
    fn the_variable_comes_first_then_the_active_toolchain_then_the_distribution() {
        let all = [("/my/rustc", "1.97.0", true), ("rustc", "1.95.0", true), ("/usr/bin/rustc", "1.96.0", true)];
        let mut fake = machine(&all);
        fake.variables.push((VARIABLE, "/my/rustc"));
        assert_eq!(origin(&fake), Some(Origin::Variable));
        assert_eq!(origin(&machine(&all[1..])), Some(Origin::ActiveToolchain));
        assert_eq!(origin(&machine(&all[2..])), Some(Origin::Distribution));
        assert_eq!(origin(&machine(&[])), None);
    }

    #[test]
    fn an_active_toolchain_without_the_source_of_core_is_passed_over_and_the_reason_kept() {
        let found = search(&machine(&[("rustc", "1.95.0", false), ("/usr/bin/rustc", "1.96.0", true)])).unwrap();
        let compiler = found.compiler.unwrap();
        assert_eq!((compiler.version.as_str(), compiler.llvm.as_str()), ("1.96.0", "22.1.8"));
        assert!(compiler.core_source.ends_with("lib/rustlib/src/rust"));
        assert_eq!(found.rejected.len(), 1);
        assert!(
            found.rejected[0].reason.starts_with("has no source of core in /sysroot-ofrustc"),
            "{found:?}",
            found = found.rejected
        );
    }

    #[test]
    fn an_old_compiler_and_one_without_the_back_end_are_passed_over() {
        assert_eq!(origin(&machine(&[("/usr/bin/rustc", "1.63.0", true)])), None);
        assert_eq!(origin(&machine(&[("/usr/bin/rustc", "1.94.1", true)])), None);
        assert_eq!(origin(&machine(&[("/usr/bin/rustc", "2.0.0", true)])), Some(Origin::Distribution));
        let mut without_back_end = machine(&[("rustc", "1.96.0", true)]);
        without_back_end.outputs.retain(|(line, _)| !line.contains("target-cpus"));
        assert!(search(&without_back_end).unwrap().rejected[0].reason.contains("no NVPTX back end"));
    }

    #[test]
    fn a_variable_that_names_no_usable_compiler_is_an_error_even_if_another_would_do() {
        let mut fake = machine(&[("rustc", "1.96.0", true)]);
        fake.variables.push((VARIABLE, "/nowhere/rustc"));
        let message = search(&fake).unwrap_err().to_string();
        assert!(message.starts_with("WARPWISE_DEVICE_RUSTC is /nowhere/rustc, which does not start\n"), "{message}");
    }
}
