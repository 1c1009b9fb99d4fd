//! The kernels of several builds, as `watch` sees them: as they were at the start, before the last change, and now, and what differs.
//!
//! A build is of the whole crate, or of some kernels alone, which takes a fraction of the time. LLVM may make something else of a kernel
//! that stands alone, so builds of some kernels are compared with each other, and what they said is held to the whole crate's build after.

use std::collections::HashMap;
use std::rc::Rc;

use warpwise_simt::isa::Program;

use super::{Launch, Snapshot};
use crate::error::CommandError;
use crate::suggest::UnknownName;
use crate::workbench::Workbench;

/// How a kernel is launched.
type LaunchOf<'a> = Box<dyn Fn(&Program) -> Result<Launch, CommandError> + 'a>;

/// Builds of the same crate.
pub struct Versions<'a> {
    launch: LaunchOf<'a>,
    /// Those that were asked for; none: all whose code changes.
    named: Vec<String>,
    timed: bool,
    /// By kernel, all of them.
    start: HashMap<String, Version>,
    /// Before the last change, those that have changed.
    before: HashMap<String, Version>,
    now: HashMap<String, Version>,
    /// Bodies of the last build of some kernels.
    alone: HashMap<String, String>,
}

/// A kernel of one build.
#[derive(Clone)]
struct Version {
    /// Until all is known of it.
    source: Option<Rc<Workbench>>,
    body: String,
    snapshot: Option<Snapshot>,
}

/// One kernel now and before.
pub struct Compared {
    pub now: Snapshot,
    last: Option<Snapshot>,
    start: Option<Snapshot>,
}

impl Compared {
    /// What there is to compare with, under the columns' names; the start is not said twice.
    pub fn before(&self) -> Vec<(&str, &Snapshot)> {
        let last = self.last.iter().map(|snapshot| ("last save", snapshot));
        last.chain(self.start.iter().map(|snapshot| ("start", snapshot))).collect()
    }
}

impl<'a> Versions<'a> {
    /// The first build. Kernels that are named are looked at now, others when they change.
    ///
    /// # Errors
    /// A name that is no kernel's; a launch that is not the kernel's.
    pub fn new(
        first: Workbench,
        named: Vec<String>,
        timed: bool,
        launch: impl Fn(&Program) -> Result<Launch, CommandError> + 'a,
    ) -> Result<Self, CommandError> {
        if let Some(unknown) = named.iter().find(|kernel| !first.code.entries().any(|known| known == *kernel)) {
            return Err(UnknownName::new("kernel", unknown, first.code.entries()).into());
        }
        let maps = || HashMap::new();
        let (launch, before, alone) = (Box::new(launch), maps(), HashMap::new());
        let start = versions(first, &named);
        let mut versions = Self { launch, named, timed, now: start.clone(), start, before, alone };
        for kernel in versions.named.clone() {
            versions.look(&kernel, true)?;
            versions.start.extend(versions.now.get(&kernel).cloned().map(|version| (kernel, version)));
        }
        Ok(versions)
    }

    /// Snapshots of the first build, of the kernels that were named.
    pub fn start(&self) -> impl Iterator<Item = &Snapshot> {
        self.named.iter().filter_map(|kernel| self.start.get(kernel)?.snapshot.as_ref())
    }

    /// Takes a new build of the whole crate; returns the kernels that are not what they were: of those named, or of all.
    ///
    /// # Errors
    /// What ptxas refuses.
    pub fn next(&mut self, bench: Workbench) -> Result<Vec<String>, CommandError> {
        self.confirm(bench, &[])
    }

    /// Takes the whole crate's build of sources of which some kernels were built alone and shown before; returns what is news: kernels that
    /// were not among them, or come out otherwise with the rest of the crate.
    ///
    /// # Errors
    /// What ptxas refuses.
    pub fn confirm(&mut self, bench: Workbench, shown: &[String]) -> Result<Vec<String>, CommandError> {
        let new = versions(bench, &self.named);
        self.now.retain(|kernel, _| new.contains_key(kernel));
        let mut news = Vec::new();
        for (kernel, mut version) in new {
            if !self.is_other(&kernel, &mut version)? {
                // What is known of it stays known.
                self.now.entry(kernel).and_modify(|now| now.body = version.body);
                continue;
            }
            match shown.contains(&kernel) {
                true => drop(self.now.insert(kernel.clone(), version)),
                false => self.change(&kernel, version),
            }
            news.push(kernel);
        }
        news.sort_unstable();
        Ok(news)
    }

    /// Whether kernels that were built alone, from the same sources as the last whole build, come out as they do there. Then their next
    /// builds alone can be taken.
    ///
    /// # Errors
    /// What ptxas refuses.
    pub fn begin_alone(&mut self, bench: Workbench) -> Result<bool, CommandError> {
        let mut some = versions(bench, &[]);
        for (kernel, version) in &mut some {
            if self.is_other(kernel, version)? {
                return Ok(false);
            }
        }
        self.alone = some.into_iter().map(|(kernel, version)| (kernel, version.body)).collect();
        Ok(!self.alone.is_empty())
    }

    /// Takes a new build of some kernels; returns those that are not what they were.
    ///
    /// # Errors
    /// What ptxas refuses.
    pub fn next_alone(&mut self, bench: Workbench) -> Result<Vec<String>, CommandError> {
        let mut changed = Vec::new();
        for (kernel, mut version) in versions(bench, &[]) {
            let before = self.alone.insert(kernel.clone(), version.body.clone());
            if before.is_some_and(|before| before != version.body) && self.is_other(&kernel, &mut version)? {
                self.change(&kernel, version);
                changed.push(kernel);
            }
        }
        changed.sort_unstable();
        Ok(changed)
    }

    fn change(&mut self, kernel: &str, version: Version) {
        let before = self.now.insert(kernel.to_owned(), version);
        self.before.remove(kernel);
        self.before.extend(before.map(|before| (kernel.to_owned(), before)));
    }

    /// Whether ptxas makes something else of a version than of the kernel as it is now. Texts that are the same are compiled to the same;
    /// others may be, where registers are only numbered otherwise.
    fn is_other(&mut self, kernel: &str, version: &mut Version) -> Result<bool, CommandError> {
        if self.now.get(kernel).is_some_and(|now| now.body == version.body) {
            return Ok(false);
        }
        let Some(now) = self.look(kernel, false)? else { return Ok(true) };
        let other = self.known(kernel, version, false)?;
        Ok(other.is_none_or(|other| !other.has_the_code_of(&now).unwrap_or(false)))
    }

    /// What ptxas says of a kernel now, and of what it was.
    ///
    /// # Errors
    /// What ptxas refuses.
    pub fn costs(&mut self, kernel: &str) -> Result<Option<Compared>, CommandError> {
        self.compare(kernel, false)
    }

    /// The same with instructions and times.
    ///
    /// # Errors
    /// As [`Versions::costs`].
    pub fn looks(&mut self, kernel: &str) -> Result<Option<Compared>, CommandError> {
        self.compare(kernel, true)
    }

    fn compare(&mut self, kernel: &str, looked_at: bool) -> Result<Option<Compared>, CommandError> {
        let Some(now) = self.look(kernel, looked_at)? else { return Ok(None) };
        let mut former =
            |of: fn(&mut Self) -> &mut HashMap<String, Version>| -> Result<Option<Snapshot>, CommandError> {
                let Some(mut version) = of(self).remove(kernel) else { return Ok(None) };
                let known = self.known(kernel, &mut version, looked_at);
                of(self).insert(kernel.to_owned(), version);
                known
            };
        let last = former(|versions| &mut versions.before)?;
        let start = former(|versions| &mut versions.start)?;
        // The first change is one since the start.
        let is_first = self
            .before
            .get(kernel)
            .zip(self.start.get(kernel))
            .is_some_and(|(before, start)| before.body == start.body);
        Ok(Some(Compared { now, last: last.filter(|_| !is_first), start }))
    }

    /// The kernel as it is now, if there still is one.
    fn look(&mut self, kernel: &str, looked_at: bool) -> Result<Option<Snapshot>, CommandError> {
        let Some(mut version) = self.now.remove(kernel) else { return Ok(None) };
        let known = self.known(kernel, &mut version, looked_at);
        self.now.insert(kernel.to_owned(), version);
        known
    }

    /// What is known of a version; more of it, if it is to be looked at.
    fn known(&self, kernel: &str, version: &mut Version, looked_at: bool) -> Result<Option<Snapshot>, CommandError> {
        let Some(bench) = version.source.clone() else { return Ok(version.snapshot.clone()) };
        let snapshot = match &mut version.snapshot {
            Some(known) => known,
            unknown => {
                let launch = (self.launch)(&*bench.code.program(kernel)?)?;
                unknown.insert(Snapshot::take(&bench, kernel, launch)?)
            }
        };
        if looked_at {
            if snapshot.code.is_none() {
                snapshot.look(&bench, self.timed)?;
            }
            version.source = None;
        }
        Ok(Some(snapshot.clone()))
    }
}

/// The kernels of a build: those named, or all.
fn versions(bench: Workbench, named: &[String]) -> HashMap<String, Version> {
    let bodies = bodies(&bench.kernels.ptx, named);
    let source = Rc::new(bench);
    let version = |body| Version { source: Some(Rc::clone(&source)), body, snapshot: None };
    bodies.into_iter().map(|(kernel, body)| (kernel, version(body))).collect()
}

/// The PTX of each entry without what says only where it comes from and in which order it stands: of those named, or of all.
fn bodies(ptx: &str, named: &[String]) -> HashMap<String, String> {
    let mut bodies = HashMap::new();
    for entry in ptx.split(".entry").skip(1).map(str::trim_start) {
        let name = &entry[..entry.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(entry.len())];
        if named.is_empty() || named.iter().any(|kernel| kernel == name) {
            let end = entry.find("\n}").unwrap_or(entry.len());
            bodies.insert(name.to_owned(), without_places(&entry[..end]));
        }
    }
    bodies
}

fn without_places(entry: &str) -> String {
    let mut out = String::with_capacity(entry.len());
    for line in entry.lines().map(str::trim) {
        let is_place = line.starts_with(".loc") || line.starts_with("$L__tmp") || line.starts_with("$L__func");
        if is_place || line.starts_with("//") || line.is_empty() {
            continue;
        }
        // `$L__BB48_2`: the first number counts the module's functions.
        let mut rest = line.split("//").next().unwrap_or(line);
        while let Some((before, label)) = rest.split_once("$L__BB") {
            out.push_str(before);
            out.push_str("$L__BB");
            rest = label.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        out.push_str(rest.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_has_a_body_of_its_own_and_only_those_named_are_read() {
        let ptx = ".visible .entry a(\n)\n{\n\tret;\n}\n.func f()\n{\n}\n.entry b()\n{\n\texit;\n}\n";
        let all = bodies(ptx, &[]);
        assert!(all["a"].contains("ret;") && all["b"].contains("exit;") && all.len() == 2, "{all:?}");
        assert!(!all["a"].contains("exit;"));
        assert_eq!(bodies(ptx, &["b".to_owned()]).into_keys().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn a_kernel_that_only_moved_is_what_it_was_and_one_with_another_instruction_is_not() {
        let one = "{\n\t.loc 1 2 3\n$L__tmp4:\n\t@%p1 bra $L__BB48_2; // x\n\tadd.u32 %r1, %r2, 1;\n$L__BB48_2:\n}";
        let moved = "{\n\t.loc 1 7 3\n$L__tmp9:\n\n\t@%p1 bra $L__BB50_2;\n\tadd.u32 %r1, %r2, 1;\n$L__BB50_2:\n}";
        assert_eq!(without_places(one), without_places(moved));
        assert_ne!(without_places(one), without_places(&moved.replace("%r2, 1", "%r2, 2")));
        assert_ne!(without_places(one), without_places(&moved.replace("BB50_2;", "BB50_3;")));
    }
}
