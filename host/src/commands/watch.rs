//! `watch [KERNEL…]`: on each save the kernels are built again, and what changed is shown, since the last save and since the start.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher};

use super::{Outcome, standard};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::kernels::KernelFiles;
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

/// What may happen while nothing does.
enum Event {
    Saved(Instant),
    /// Ctrl-C.
    Stop,
}

/// How long after a save others of the same stroke are waited for: an editor writes several files, or one in several steps.
const QUIET: Duration = Duration::from_millis(30);

pub fn run(options: Options, global: &GlobalOptions) -> Result<Outcome, CommandError> {
    let rebuild = Rebuild::from_environment("watch")?;
    let bench = Workbench::open(global, "sim")?;
    bench.say_what_is_missing();
    let folder = bench.kernels.folder.clone();
    let sources = sources(&bench.kernels);
    let mut versions =
        Versions::new(bench, options.kernels.clone(), !options.no_times, |program| options.launch.of(program))?;
    let (events, _watcher) = listen(&sources)?;
    show_start(&versions, &sources)?;
    let mut saves = 0;
    while let Ok(Event::Saved(at)) = events.recv() {
        if is_over(&events) {
            break;
        }
        saves += 1;
        if !rebuild.run(&[], &[])? {
            // Ctrl-C ends the build, too.
            if is_over(&events) {
                break;
            }
            eprintln!("save {saves}: it does not compile; the next save is waited for");
            continue;
        }
        show(&mut versions, Workbench::with_kernels(global, "sim", KernelFiles::read(&folder)?), saves, at)?;
    }
    println!("{saves} {} watched", if saves == 1 { "save" } else { "saves" });
    Ok(Outcome::Good)
}

/// Folders with sources of the kernels: those that the PTX names and that are there, and that of the manifest.
fn sources(kernels: &KernelFiles) -> BTreeSet<PathBuf> {
    let root = kernels.facts.source_root.clone().unwrap_or_default();
    let files = kernels.ptx.lines().filter_map(|line| line.trim_start().strip_prefix(".file")?.split('"').nth(1));
    let paths = files.map(|file| root.join(file)).filter(|path| path.is_file() && path.starts_with(&root));
    paths.filter_map(|path| path.parent().map(Path::to_owned)).collect()
}

/// Events from now on. The watcher is what they come from: it must live on.
fn listen(sources: &BTreeSet<PathBuf>) -> Result<(Receiver<Event>, notify::RecommendedWatcher), CommandError> {
    let (sender, events) = mpsc::channel();
    let stop = sender.clone();
    // Set once a process; a test's second is no harm.
    let _ = ctrlc::set_handler(move || drop(stop.send(Event::Stop)));
    let cannot = |error: notify::Error| CommandError::Usage(format!("cannot watch the kernels' sources: {error}"));
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_save = |event: &notify::Event| {
            matches!(event.kind, EventKind::Modify(_) | EventKind::Create(_) | EventKind::Remove(_))
                && event.paths.iter().any(|path| path.extension().is_some_and(|extension| extension == "rs"))
        };
        if event.as_ref().is_ok_and(is_save) {
            let _ = sender.send(Event::Saved(Instant::now()));
        }
    })
    .map_err(cannot)?;
    if sources.is_empty() {
        return Err(CommandError::Usage(
            "the kernels' sources are not on this machine, so there is nothing to watch\nstart it in a checkout, as `cargo xtask watch`".to_owned(),
        ));
    }
    for folder in sources {
        watcher.watch(folder, RecursiveMode::NonRecursive).map_err(cannot)?;
    }
    Ok((events, watcher))
}

/// Takes the events of one stroke; whether Ctrl-C is among them.
fn is_over(events: &Receiver<Event>) -> bool {
    loop {
        match events.recv_timeout(QUIET) {
            Ok(Event::Saved(_)) => {}
            Ok(Event::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => return true,
            Err(mpsc::RecvTimeoutError::Timeout) => return false,
        }
    }
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

/// What a build came to: first what ptxas says, as soon as it is known, then what the instructions say.
fn show(
    versions: &mut Versions,
    bench: Result<Workbench, crate::workbench::WorkbenchError>,
    save: usize,
    at: Instant,
) -> Result<(), CommandError> {
    let changed = versions.next(bench?);
    let mut terminal = terminal::stdout();
    let when = || format!("{:.1} s after the save", at.elapsed().as_secs_f64());
    if changed.is_empty() {
        terminal.line(&format!("\nsave {save}: no kernel's code changed, {}", when()))?;
        return Ok(());
    }
    for kernel in changed {
        let costs = versions.costs(&kernel)?;
        terminal.line(&format!("\nsave {save}: {kernel} on {}", costs.now.arch))?;
        changes::print(&mut terminal, ("now", &costs.now), &costs.before(), Snapshot::costs)?;
        let looks = versions.looks(&kernel)?;
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
        terminal.dim_line(&when())?;
    }
    Ok(())
}
