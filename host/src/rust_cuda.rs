//! The kernels as rust-cuda made them: a text of PTX that comes with the program, so that a machine without rust-cuda can put it beside
//! rustc's. It is of one commit; kernels that have changed since are told, and left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use warpwise_kernels::find;
use warpwise_simt::ptx::PtxError;
use warpwise_simt::rewrite::{FinishOptions, RewriteError, chosen, finish};

use crate::commands::finish_kernels::{bounds_in, is_ours, param_bytes};
use crate::kernels::{Code, KernelFiles};

/// What ends the name of an entry of it, where it stands beside rustc's: `vecadd_nvvm`.
pub const SUFFIX: &str = "_nvvm";

/// What `--codegen nvvm` left in raw.ptx.
const KEPT: &str = include_str!("../../docs/measurements/2026-12-01-nvvm.ptx");

/// Sources that are in a kernel whether a line of its code says so or not.
const SHARED: [&str; 2] = ["kernels-gpu/src/shared.rs", "kernels-gpu/src/shared/nvvm.rs"];

/// Which bytes of a load are wanted.
const HINT: &str = ".pragma \"used_bytes_mask";

/// Kernels that rust-cuda compiles to something else than their source says: these are never put beside ours.
const MISCOMPILED: [(&str, &str); 1] =
    [("stencil4", "rust-cuda moves its shuffles under conditions that not all lanes meet")];

/// A text by rust-cuda, and what it says of its making.
pub struct Made<'a> {
    ptx: &'a str,
    facts: HashMap<&'a str, &'a str>,
    /// Path and hash.
    sources: BTreeMap<&'a str, &'a str>,
}

impl Made<'static> {
    /// The text that comes with the program.
    pub fn kept() -> Self {
        Self::of(KEPT)
    }
}

impl<'a> Made<'a> {
    /// Reads the head of a text.
    pub fn of(ptx: &'a str) -> Self {
        let (mut facts, mut sources) = (HashMap::new(), BTreeMap::new());
        let head = ptx.lines().map_while(|line| line.strip_prefix("// ")).filter_map(|line| line.split_once(": "));
        for (name, value) in head {
            match (name, value.split_once(' ')) {
                ("source", Some((path, hash))) => drop(sources.insert(path, hash)),
                _ => drop(facts.insert(name, value)),
            }
        }
        Self { ptx, facts, sources }
    }

    /// What the head says under this name, or that it does not.
    pub fn fact(&self, name: &str) -> &'a str {
        self.facts.get(name).copied().unwrap_or("unknown")
    }

    /// Compilers, commit and day in one line.
    pub fn description(&self) -> String {
        format!(
            "rust-cuda {} ({}, LLVM {}, libNVVM of CUDA {}), {}, from the kernels of {}",
            self.fact("rust-cuda").get(..7).unwrap_or("unknown"),
            self.fact("rustc"),
            self.fact("llvm"),
            self.fact("cuda"),
            self.fact("made"),
            self.fact("commit").get(..7).unwrap_or("unknown"),
        )
    }

    /// Of these kernels, those that it does not have as they are now, or wrongly, each with why.
    ///
    /// # Errors
    /// The text cannot be parsed.
    pub fn changed(&self, kernels: &KernelFiles, entries: &[&str]) -> Result<BTreeMap<String, String>, RewriteError> {
        let now: BTreeMap<&str, &str> =
            kernels.facts.sources.iter().filter_map(|source| source.split_once(' ')).collect();
        let files = files(&kernels.ptx);
        let code = self.code().ok();
        let mut changed = BTreeMap::new();
        for entry in entries {
            let own = files.get(entry).into_iter().flatten().copied();
            let own: BTreeSet<&str> = own.chain(SHARED).filter(|file| file.starts_with("kernels-gpu/src/")).collect();
            let differs = |file: &&&str| !now.contains_key(**file) || now.get(**file) != self.sources.get(**file);
            let miscompiled = MISCOMPILED.iter().find(|(kernel, _)| kernel == entry);
            let reason = match own.iter().filter(differs).copied().collect::<Vec<_>>() {
                _ if now.is_empty() => Some("it is not known what the kernels here are of".to_owned()),
                other if !other.is_empty() => Some(other.join(", ")),
                _ if miscompiled.is_some() => miscompiled.map(|(_, reason)| (*reason).to_owned()),
                _ => code.as_ref().and_then(|code| misfit(code, entry)),
            };
            changed.extend(reason.map(|reason| ((*entry).to_owned(), reason)));
        }
        Ok(changed)
    }

    /// Its kernels.
    ///
    /// # Errors
    /// The text cannot be parsed.
    pub fn code(&self) -> Result<Code, PtxError> {
        Code::parse("the kernels by rust-cuda", self.ptx)
    }

    /// These kernels under names of their own, with the launch bounds of ours.
    ///
    /// # Errors
    /// It lacks one of them.
    pub fn text(&self, entries: &[&str]) -> Result<String, RewriteError> {
        let bounds = bounds_in(self.ptx);
        // A hint to ptxas that a text has to be of PTX 8.3 for, and rustc's is of an older one.
        let plain: String = self.ptx.split_inclusive('\n').filter(|line| !line.contains(HINT)).collect();
        let finished = finish(&plain, &FinishOptions { bounds: &bounds, ours: &is_ours })?;
        chosen(&finished, entries, SUFFIX)
    }
}

/// Why an entry cannot take the place of the kernel here.
fn misfit(code: &Code, entry: &str) -> Option<String> {
    let Ok(program) = code.program(entry) else { return Some("it is not in the text".to_owned()) };
    let expected: Vec<u32> = find(entry)?.types.iter().map(|of_type| param_bytes(of_type)).collect();
    let found: Vec<u32> = program.params.iter().map(|param| param.bytes).collect();
    (found != expected).then(|| format!("parameters of {found:?} bytes, not {expected:?}"))
}

/// The source files of each entry, by the lines that its instructions carry.
fn files(ptx: &str) -> HashMap<&str, BTreeSet<&str>> {
    let mut paths = HashMap::new();
    let mut by_number: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    let mut entry = None;
    for line in ptx.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some(".visible") if words.next() == Some(".entry") => {
                entry = words.next().and_then(|name| name.split('(').next());
            }
            Some(".file") => {
                let number = words.next().unwrap_or_default();
                paths.insert(number, line.split('"').nth(1).unwrap_or_default());
            }
            Some(".loc") => {
                if let (Some(entry), Some(number)) = (entry, words.next()) {
                    by_number.entry(entry).or_default().insert(number);
                }
            }
            _ => {}
        }
    }
    let named = |numbers: BTreeSet<&str>| numbers.iter().filter_map(|number| paths.get(number).copied()).collect();
    by_number.into_iter().map(|(entry, numbers)| (entry, named(numbers))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labs::codegen;
    use warpwise_kernels::KERNELS;

    #[test]
    fn the_kept_text_says_what_it_is_of_and_has_the_kernels_that_are_compared() {
        let kept = Made::kept();
        let commit = kept.fact("commit");
        assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
        assert_eq!(kept.fact("rust-cuda"), "946c91f080770f30d42d7c706ac8185969274073");
        for name in ["made", "rustc", "llvm", "cuda"] {
            assert_ne!(kept.fact(name), "unknown", "{name}");
        }
        assert!(kept.sources.len() > 30, "{} sources", kept.sources.len());
        let code = Code::parse("kept", KEPT).expect("PTX that the machine knows");
        let entries: Vec<&str> = code.entries().collect();
        for kernel in codegen::names() {
            assert!(entries.contains(&kernel), "{kernel}");
        }
        // Kernels may come and go here; what is in both takes the same parameters.
        let both = KERNELS.iter().filter(|kernel| entries.contains(&kernel.name));
        let misfits: Vec<String> = both.filter_map(|kernel| misfit(&code, kernel.name)).collect();
        assert_eq!(misfits, Vec::<String>::new());
    }

    const OURS: &str = "\
.file 1 \"kernels-gpu/src/vecadd.rs\"
.file 2 \"kernels-gpu/src/maths.rs\"
.visible .entry vecadd(
)
{
 .loc 1 5 2
 .loc 2 7 1, function_name $L1, inlined_at 1 5 2
}
.visible .entry vecadd4(
)
{
 .loc 1 9 1
}
";

    fn made(maths: &str, parameters: &str) -> String {
        let sources = format!(
            "// source: kernels-gpu/src/vecadd.rs 1\n// source: kernels-gpu/src/maths.rs {maths}\n\
             // source: {} 3\n// source: {} 4\n",
            SHARED[0], SHARED[1]
        );
        let entry = |name: &str| format!(".visible .entry {name}({parameters}) {{ ret; }}\n");
        format!(
            "// made: 2026-12-01\n// commit: 0123456789\n{sources}//\n.version 7.8\n.target sm_80\n.address_size 64\n{}{}",
            entry("vecadd"),
            entry("vecadd4")
        )
    }

    fn kernels(sources: &[&str]) -> KernelFiles {
        let mut kernels = KernelFiles::of_text("k.ptx".as_ref(), OURS);
        kernels.facts.sources = sources.iter().map(|source| (*source).to_owned()).collect();
        kernels
    }

    #[test]
    fn kernels_whose_sources_or_parameters_are_others_are_told() {
        let parameters = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n";
        let shared = [format!("{} 3", SHARED[0]), format!("{} 4", SHARED[1])];
        let now = ["kernels-gpu/src/vecadd.rs 1", "kernels-gpu/src/maths.rs 2", &shared[0], &shared[1]];
        let changed = |text: &str, now: &[&str]| {
            Made::of(text).changed(&kernels(now), &["vecadd", "vecadd4"]).expect("PTX").into_iter().collect::<Vec<_>>()
        };
        assert_eq!(changed(&made("2", parameters), &now), []);
        let of_maths = changed(&made("other", parameters), &now);
        assert_eq!(of_maths, [("vecadd".to_owned(), "kernels-gpu/src/maths.rs".to_owned())]);
        let shorter = changed(&made("2", ".param .u64 a"), &now);
        assert_eq!(shorter[1], ("vecadd4".to_owned(), "parameters of [8] bytes, not [8, 8, 8, 4]".to_owned()));
        assert_eq!(changed(&made("2", parameters), &now[..3]).len(), 2, "shared memory's accesses are in all");
        assert_eq!(changed(&made("2", parameters), &[]).len(), 2, "nothing is known of the kernels here");
    }

    #[test]
    fn what_is_put_beside_has_names_of_its_own() {
        let text = made("2", ".param .u64 a");
        let chosen = Made::of(&text).text(&["vecadd4"]).expect("it is there");
        assert!(chosen.contains(".entry vecadd4_nvvm(") && !chosen.contains(".entry vecadd("), "{chosen}");
        assert_eq!(Made::of(&text).fact("commit"), "0123456789");
        assert!(Made::of(&text).description().contains("from the kernels of 0123456"));
    }
}
