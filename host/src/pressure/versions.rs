//! The kernels of several builds, as `watch` sees them: the first, the last and the newest, and what differs between them.

use std::collections::HashMap;

use warpwise_simt::isa::Program;

use super::{Launch, Snapshot};
use crate::error::CommandError;
use crate::suggest::UnknownName;
use crate::workbench::Workbench;

/// How a kernel is launched.
type LaunchOf<'a> = Box<dyn Fn(&Program) -> Result<Launch, CommandError> + 'a>;

/// Builds of the same crate, the first one kept.
pub struct Versions<'a> {
    launch: LaunchOf<'a>,
    /// Those that were asked for; none: all whose code changes.
    named: Vec<String>,
    timed: bool,
    first: Workbench,
    last: Option<Workbench>,
    newest: Option<Workbench>,
    /// Of the newest build.
    bodies: HashMap<String, String>,
    /// By kernel, of the first build and of the last.
    start: HashMap<String, Snapshot>,
    before: HashMap<String, Snapshot>,
    now: HashMap<String, Snapshot>,
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
        let (launch, start) = (Box::new(launch), HashMap::new());
        let bodies = bodies(&first.kernels.ptx, &named);
        let (before, now) = (maps(), maps());
        let mut versions = Self { launch, named, timed, first, last: None, newest: None, bodies, start, before, now };
        for kernel in versions.named.clone() {
            let mut snapshot = versions.costs_in(&versions.first, &kernel)?;
            snapshot.look(&versions.first, timed)?;
            versions.start.insert(kernel, snapshot);
        }
        Ok(versions)
    }

    /// Snapshots of the first build, of the kernels that were named.
    pub fn start(&self) -> impl Iterator<Item = &Snapshot> {
        self.named.iter().filter_map(|kernel| self.start.get(kernel))
    }

    /// Takes a new build; returns the kernels that are not what they were: of those named, or of all.
    pub fn next(&mut self, bench: Workbench) -> Vec<String> {
        self.last = self.newest.take();
        self.before = std::mem::take(&mut self.now);
        let bodies = bodies(&bench.kernels.ptx, &self.named);
        let entries: Vec<String> = bench.code.entries().map(str::to_owned).collect();
        let mut changed = Vec::new();
        for kernel in entries {
            let is_shown = self.named.is_empty() || self.named.contains(&kernel);
            if is_shown && bodies.get(&kernel) != self.bodies.get(&kernel) {
                changed.push(kernel);
            } else if let Some(snapshot) = self.before.get(&kernel).or_else(|| self.start.get(&kernel)) {
                // As it was: what is known of it stays known.
                self.now.insert(kernel, snapshot.clone());
            }
        }
        self.bodies = bodies;
        self.newest = Some(bench);
        changed
    }

    /// What ptxas says of a kernel now, and of what it was.
    ///
    /// # Errors
    /// What ptxas refuses.
    pub fn costs(&mut self, kernel: &str) -> Result<Compared, CommandError> {
        self.compare(kernel, false)
    }

    /// The same with instructions and times.
    ///
    /// # Errors
    /// As [`Versions::costs`].
    pub fn looks(&mut self, kernel: &str) -> Result<Compared, CommandError> {
        self.compare(kernel, true)
    }

    fn compare(&mut self, kernel: &str, looked_at: bool) -> Result<Compared, CommandError> {
        let newest = self.newest.as_ref().unwrap_or(&self.first);
        let now = self.snapshot(newest, kernel, self.now.get(kernel), looked_at)?;
        let start = self.former(&self.first, kernel, self.start.get(kernel), looked_at)?;
        let last = match &self.last {
            Some(last) => self.former(last, kernel, self.before.get(kernel), looked_at)?,
            None => None,
        };
        self.now.insert(kernel.to_owned(), now.clone());
        if let Some(start) = &start {
            self.start.insert(kernel.to_owned(), start.clone());
        }
        if let Some(last) = &last {
            self.before.insert(kernel.to_owned(), last.clone());
        }
        Ok(Compared { now, last, start })
    }

    fn former(
        &self,
        bench: &Workbench,
        kernel: &str,
        known: Option<&Snapshot>,
        looked_at: bool,
    ) -> Result<Option<Snapshot>, CommandError> {
        match bench.code.entries().any(|entry| entry == kernel) {
            true => self.snapshot(bench, kernel, known, looked_at).map(Some),
            false => Ok(None),
        }
    }

    fn snapshot(
        &self,
        bench: &Workbench,
        kernel: &str,
        known: Option<&Snapshot>,
        looked_at: bool,
    ) -> Result<Snapshot, CommandError> {
        let mut snapshot = match known {
            Some(known) => known.clone(),
            None => self.costs_in(bench, kernel)?,
        };
        if looked_at && snapshot.code.is_none() {
            snapshot.look(bench, self.timed)?;
        }
        Ok(snapshot)
    }

    fn costs_in(&self, bench: &Workbench, kernel: &str) -> Result<Snapshot, CommandError> {
        let launch = (self.launch)(&*bench.code.program(kernel)?)?;
        Snapshot::take(bench, kernel, launch)
    }
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
