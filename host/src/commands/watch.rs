//! `watch [KERNEL…]`: on each save the kernels are built again, and what changed is shown, since the last save and since the start.
//!
//! Compiling a crate takes as long as all of its kernels, and whoever saves waits for one. So the kernels that are looked at are compiled
//! alone first, and shown; then the whole crate, for what else has changed, and to be sure: LLVM may make something else of a kernel
//! that stands alone, and where it does, each save compiles the whole crate.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Outcome, standard};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::KernelFiles;
use crate::pressure::saves::{self, Event, Saves};
use crate::pressure::{Rebuild, Snapshot, Versions, changes};
use crate::report::terminal;
use crate::workbench::Workbench;

/// On save: rebuild, and show what changed in registers, occupancy, instructions and time
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Kernels, as `list` shows them; none: those whose code a save changes
    kernels: Vec<String>,
    /// No times, which take the longest
    #[arg(long)]
    no_times: bool,
    #[command(flatten)]
    launch: standard::LaunchOptions,
}

/// Kernels that are compiled alone at most: of more, it takes as long as of all.
const ALONE_MAX: usize = 8;

/// How often a build is looked at.
const POLL: Duration = Duration::from_millis(5);

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let rebuild = Rebuild::from_environment("watch")?;
    let bench = Workbench::open(global, "sim")?;
    bench.say_what_is_missing();
    let folder = bench.kernels.folder.clone();
    let sources = saves::folders(&bench.kernels);
    let versions =
        Versions::new(bench, options.kernels.clone(), !options.no_times, |program| options.launch.of(program))?;
    let saves = Saves::of(&sources)?;
    show_start(&versions, &sources)?;
    let wanted = options.kernels.clone();
    let mut watch =
        Watch { global, rebuild, saves, folder, versions, count: 0, wanted, alone: None, refused: Vec::new() };
    let mut step = watch.then_begin();
    loop {
        step = match watch.go(step) {
            Ok(Step::Stop) => break,
            Ok(next) => next,
            Err(error @ CommandError::Output(_)) => return Err(error),
            // A kernel that is worked on may be refused by anything, and the next save may mend it.
            Err(error) => {
                eprintln!("save {}: {error}\nthe next save is waited for", watch.count);
                Step::Wait
            }
        };
    }
    println!("{} {} watched", watch.count, if watch.count == 1 { "save" } else { "saves" });
    Ok(Outcome::Good)
}

struct Watch<'a> {
    global: &'a GlobalOptions,
    rebuild: Rebuild,
    saves: Saves,
    /// Of the whole crate's kernels.
    folder: PathBuf,
    versions: Versions<'a>,
    /// Saves so far.
    count: usize,
    /// Kernels to compile alone: those named, else the last that changed.
    wanted: Vec<String>,
    /// Those that are.
    alone: Option<Vec<String>>,
    /// Those that come out otherwise when they are compiled alone.
    refused: Vec<String>,
}

/// What is done next.
enum Step {
    Wait,
    /// Compile the kernels that are wanted alone, of the sources of the last whole build.
    Begin,
    /// Compile them alone, after a save.
    Alone(Instant),
    /// Compile the crate, after a save; of some kernels the outcome is shown already.
    Whole(Instant, Option<Vec<String>>),
    Stop,
}

/// How a build ended.
enum Built {
    Well,
    Badly,
    /// It was given up for a save or for Ctrl-C.
    For(Step),
}

impl Watch<'_> {
    /// Does a step; returns the next one.
    fn go(&mut self, step: Step) -> Result<Step, CommandError> {
        match step {
            Step::Stop => Ok(Step::Stop),
            Step::Wait => Ok(self.after(self.saves.next())),
            Step::Begin => self.begin(),
            Step::Alone(at) => self.some(at),
            Step::Whole(at, shown) => self.whole(at, shown),
        }
    }

    fn after(&mut self, event: Event) -> Step {
        match event {
            Event::Stop => Step::Stop,
            Event::Saved(at) => {
                self.count += 1;
                if self.alone.is_some() { Step::Alone(at) } else { Step::Whole(at, None) }
            }
        }
    }

    /// After a build of the whole crate: whether some kernels are to be compiled alone from now on.
    fn then_begin(&self) -> Step {
        let is_worth_it = (1..=ALONE_MAX).contains(&self.wanted.len()) && self.wanted != self.refused;
        if is_worth_it && self.alone.as_ref() != Some(&self.wanted) { Step::Begin } else { Step::Wait }
    }

    fn begin(&mut self) -> Result<Step, CommandError> {
        self.alone = None;
        let comes_out_alike = match self.build(&self.words_alone(&self.wanted, false))? {
            Built::For(step) => return Ok(step),
            Built::Badly => false,
            Built::Well => match KernelFiles::read(&self.folder_alone()) {
                Ok(kernels) => self.versions.begin_alone(Workbench::with_kernels(self.global, "sim", kernels)?)?,
                Err(_) => false,
            },
        };
        match comes_out_alike {
            true => self.alone = Some(self.wanted.clone()),
            false => self.refused = self.wanted.clone(),
        }
        let names = self.wanted.join(", ");
        terminal::stdout().note(&match self.alone {
            Some(_) => format!("{names}: compiled first at each save, the rest of the crate after"),
            None => format!("{names}: other code without the rest of the crate, so each save compiles all of it"),
        })?;
        Ok(Step::Wait)
    }

    fn some(&mut self, at: Instant) -> Result<Step, CommandError> {
        let alone = self.alone.clone().unwrap_or_default();
        match self.build(&self.words_alone(&alone, true))? {
            Built::For(step) => Ok(step),
            Built::Badly => Ok(self.does_not_compile()),
            Built::Well => {
                let kernels = KernelFiles::read(&self.folder_alone())?;
                let changed = self.versions.next_alone(Workbench::with_kernels(self.global, "sim", kernels)?)?;
                self.show(&changed, "", at)?;
                Ok(Step::Whole(at, Some(changed)))
            }
        }
    }

    fn whole(&mut self, at: Instant, shown: Option<Vec<String>>) -> Result<Step, CommandError> {
        match self.build(&[])? {
            Built::For(step) => return Ok(step),
            Built::Badly => return Ok(self.does_not_compile()),
            Built::Well => {}
        }
        let bench = Workbench::with_kernels(self.global, "sim", KernelFiles::read(&self.folder)?)?;
        let (news, shown) = match shown {
            None => (self.versions.next(bench)?, Vec::new()),
            Some(shown) => (self.versions.confirm(bench, &shown)?, shown),
        };
        let (other, news): (Vec<String>, Vec<String>) = news.into_iter().partition(|kernel| shown.contains(kernel));
        if !other.is_empty() {
            self.refused = self.alone.take().unwrap_or_default();
            self.show(&other, " with the rest of its crate", at)?;
        }
        self.show(&news, "", at)?;
        let said = match (shown.is_empty(), other.is_empty() && news.is_empty()) {
            (true, true) => Some(format!("\nsave {}: no kernel's code changed, {}", self.count, when(at))),
            (false, true) => Some(format!("the whole crate says the same, {}", when(at))),
            _ => None,
        };
        if let Some(said) = said {
            terminal::stdout().dim_line(&said)?;
        }
        if self.named_none() && !news.is_empty() {
            self.wanted = news;
        }
        Ok(self.then_begin())
    }

    fn named_none(&self) -> bool {
        self.versions.start().next().is_none()
    }

    fn does_not_compile(&self) -> Step {
        eprintln!("save {}: it does not compile; the next save is waited for", self.count);
        Step::Wait
    }

    fn folder_alone(&self) -> PathBuf {
        self.folder.join("alone")
    }

    /// What the command that builds is told of kernels to be compiled alone.
    fn words_alone(&self, kernels: &[String], again: bool) -> Vec<String> {
        let folder = self.folder_alone().display().to_string();
        let mut words = vec!["--into".to_owned(), folder, "--only".to_owned(), kernels.join(",")];
        words.extend(again.then(|| "--again".to_owned()));
        words
    }

    /// Builds, unless a save or Ctrl-C comes in between.
    fn build(&mut self, words: &[String]) -> Result<Built, CommandError> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut build = self.rebuild.start(&words)?;
        loop {
            if let Some(event) = self.saves.next_within(POLL) {
                drop(build);
                return Ok(Built::For(self.after(event)));
            }
            if let Some(is_well) = build.outcome()? {
                return Ok(if is_well { Built::Well } else { Built::Badly });
            }
        }
    }

    /// What a build came to: first what ptxas says, as soon as it is known, then what the instructions say.
    fn show(&mut self, changed: &[String], how: &str, at: Instant) -> Result<(), CommandError> {
        let mut terminal = terminal::stdout();
        for kernel in changed {
            let Some(costs) = self.versions.costs(kernel)? else { continue };
            terminal.line(&format!("\nsave {}: {kernel} on {}{how}", self.count, costs.now.arch))?;
            changes::print(&mut terminal, ("now", &costs.now), &costs.before(), Snapshot::costs)?;
            let Some(looks) = self.versions.looks(kernel)? else { continue };
            if let Some(code) = &looks.now.code {
                changes::print(&mut terminal, ("now", &looks.now), &looks.before(), Snapshot::looks)?;
                for (name, before) in looks.before() {
                    if let Some(mix) = changes::mix(&looks.now, before) {
                        terminal.line(&format!("  instructions since the {name}: {mix}"))?;
                    }
                }
                if let Some(reason) = &code.why_no_time {
                    terminal.line(&format!("  no time: {reason}"))?;
                }
            }
            terminal.dim_line(&when(at))?;
        }
        Ok(())
    }
}

fn when(at: Instant) -> String {
    format!("{:.1} s after the save", at.elapsed().as_secs_f64())
}

fn show_start(versions: &Versions, sources: &BTreeSet<PathBuf>) -> Result<(), CommandError> {
    let mut terminal = terminal::stdout();
    for snapshot in versions.start() {
        terminal.line(&format!("{} on {}", snapshot.kernel, snapshot.arch))?;
        changes::print(&mut terminal, ("start", snapshot), &[], |snapshot| {
            [snapshot.costs(), snapshot.looks()].concat()
        })?;
        terminal.line("")?;
    }
    let folders: Vec<String> = sources.iter().map(|folder| folder.display().to_string()).collect();
    terminal.note(&format!("watching {}; Ctrl-C ends it", folders.join(", ")))?;
    Ok(())
}
