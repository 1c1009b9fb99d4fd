//! A launch and a kernel, line by line: what the CPU does, what the GPU does meanwhile, and where the trap is. The lines are those of
//! tested sources; each opens its explanation, with or without a script.

use axum::response::Html;
use maud::{Markup, html};

use super::layout;

/// What there is to say of a line: how it begins, on the CPU, on the GPU, and a trap if it has one.
struct Note {
    line: &'static str,
    cpu: &'static str,
    gpu: &'static str,
    trap: &'static str,
}

/// A source, the part of it that is shown, and its notes.
struct Walk {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    from: &'static str,
    notes: &'static [Note],
}

static HOST: Walk = Walk {
    id: "host",
    title: "The host program",
    source: include_str!("../first_launch.rs"),
    from: "pub fn add(",
    notes: &[
        Note {
            line: "    let n =",
            cpu: "Counts the elements. So far this is an ordinary program.",
            gpu: "Idle.",
            trap: "",
        },
        Note {
            line: "    let a =",
            cpu: "Reserves memory of the device, then copies the array into it and waits until the copy is made.",
            gpu: "Its copy engine takes the bytes in; no SM has work.",
            trap: "`a` is an address in the device's memory. The CPU cannot read it, and a kernel cannot read `left`.",
        },
        Note { line: "    let b =", cpu: "The same for the second array.", gpu: "The copy engine again.", trap: "" },
        Note {
            line: "    let c =",
            cpu: "Reserves room for the result and has it filled with zeros.",
            gpu: "Writes zeros to its own memory.",
            trap: "Memory that nobody has written holds what was there before. The machine here can find such reads: `--check init`.",
        },
        Note {
            line: "    let shape =",
            cpu: "Rounds the grid up: as many whole blocks of 256 threads as n needs.",
            gpu: "Idle.",
            trap: "The last block has threads without an element. The kernel has to send them away.",
        },
        Note {
            line: "    gpu.launch_shaped(",
            cpu: "Puts the launch into a queue and goes on at once, after a few microseconds.",
            gpu: "Takes the launch from the queue, hands blocks to SMs, and begins.",
            trap: "A shape that the device cannot run is refused here. What goes wrong inside the kernel is not known yet.",
        },
        Note {
            line: "    gpu.synchronize(",
            cpu: "Waits until everything in the queue is done.",
            gpu: "Runs the blocks, wave by wave, until the last one has ended.",
            trap: "A fault of the kernel surfaces here, perhaps many lines after its launch. From then on the context refuses work.",
        },
        Note {
            line: "    c.download(",
            cpu: "Copies the result back and waits for it.",
            gpu: "The copy engine sends the bytes out.",
            trap: "The copy would have waited for the kernel by itself. Memory is given back when `a`, `b` and `c` go out of scope.",
        },
    ],
};

static KERNEL: Walk = Walk {
    id: "kernel",
    title: "The kernel",
    source: include_str!("../../../../kernels-gpu/src/vecadd.rs"),
    from: "#[kernel]",
    notes: &[
        Note {
            line: "#[kernel]",
            cpu: "For the CPU this makes a description: the kernel's name and the types of its arguments, so that a launch with others does not compile.",
            gpu: "For the GPU it makes an entry point: code that a launch can start.",
            trap: "",
        },
        Note {
            line: "pub unsafe fn vecadd(",
            cpu: "Passes four values, the same for every thread: three addresses and n.",
            gpu: "Every thread runs this function from its first line. There is no loop: the grid is the loop.",
            trap: "`unsafe`, because nobody checks that the addresses are arrays of n elements. The host promises it.",
        },
        Note {
            line: "    let i =",
            cpu: "Nothing: it has gone on long ago.",
            gpu: "block index times block size plus thread index. It is the one value here that differs from thread to thread.",
            trap: "Thread 5 of block 0 and thread 5 of block 1 have the same thread index. Only i tells them apart.",
        },
        Note {
            line: "    if i < n {",
            cpu: "Nothing.",
            gpu: "Every lane compares; lanes past the end are masked off, and a warp in which all are past the end is done.",
            trap: "Without it the last block reads and writes past the arrays. On hardware that may go unnoticed.",
        },
        Note {
            line: "        let i =",
            cpu: "Nothing.",
            gpu: "Widens i to 64 bits for the address; often no instruction of its own.",
            trap: "",
        },
        Note {
            line: "        unsafe {",
            cpu: "Nothing.",
            gpu: "Two loads, an addition, a store. The warp issues both loads, waits several hundred cycles for the data, adds, stores, and does not wait for the store.",
            trap: "Neighbouring lanes touch neighbouring words, so a load is four sectors. Another order of elements would cost up to eight times as many.",
        },
    ],
};

pub async fn page() -> Html<String> {
    let body = html! {
        section.lead {
            p.eyebrow { "ch1 §1–2" }
            h1 { "A launch, line by line" }
            p { "Open a line to see what the CPU does there, what the GPU does meanwhile, and what can go wrong. The lab behind it: "
                a href="/labs/launch" { "launch" } "." }
        }
        (walk(&HOST))
        (walk(&KERNEL))
    };
    Html(layout::page_with("A launch, line by line", "/explore", &["walk.js"], &body).into_string())
}

fn walk(walk: &Walk) -> Markup {
    html! {
        section.walk aria-labelledby=(walk.id) {
            h2 id=(walk.id) { (walk.title) }
            div.walk-lines {
                @for line in lines(walk) {
                    @match walk.notes.iter().find(|note| line.starts_with(note.line)) {
                        Some(note) => (annotated(line, note, walk.id)),
                        None => div.walk-plain { code { (line) } },
                    }
                }
            }
        }
    }
}

fn annotated(line: &str, note: &Note, group: &str) -> Markup {
    html! {
        details name=(group) {
            summary { code { (line) } }
            dl {
                dt { "CPU" } dd { (note.cpu) }
                dt { "GPU" } dd { (note.gpu) }
                @if !note.trap.is_empty() { dt.trap { "Trap" } dd { (note.trap) } }
            }
        }
    }
}

/// The lines from the first that begins so to the brace that closes it, comments left out.
fn lines(walk: &Walk) -> impl Iterator<Item = &'static str> {
    let mut ended = false;
    let shown = walk.source.lines().skip_while(|line| !line.starts_with(walk.from)).take_while(move |line| {
        let is_over = ended;
        ended = *line == "}";
        !is_over
    });
    shown.filter(|line| !line.trim_start().starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_has_its_line_and_every_statement_its_note() {
        for walk in [&HOST, &KERNEL] {
            let shown: Vec<&str> = lines(walk).collect();
            for note in walk.notes {
                let found = shown.iter().filter(|line| line.starts_with(note.line)).count();
                assert_eq!(found, 1, "{}: `{}`", walk.title, note.line);
            }
            let bare: Vec<&&str> =
                shown.iter().filter(|line| !walk.notes.iter().any(|note| line.starts_with(note.line))).collect();
            assert!(bare.iter().all(|line| line.trim() == "}" || line.starts_with(walk.from)), "{bare:?} have no note");
        }
    }
}
