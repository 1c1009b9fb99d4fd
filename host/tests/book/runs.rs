//! Runs: started, watched, cancelled, ended by their limits. A shell script stands for `warpwise labs`.

use super::*;

/// A program in the folder that does `script`; `$OUT` is the file that it is to write.
fn program(folder: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("program.sh");
    let text = format!("#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --json ] && OUT=$2; shift; done\n{script}\n");
    std::fs::write(&path, text).expect("a program");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its right to run");
    path
}

fn book(name: &str, script: &str) -> Book {
    let limits = Limits { at_once: 1, waiting: 1, time: Duration::from_secs(60), memory_bytes: 256 << 20 };
    Book::with(name, |folder| program(folder, script), limits)
}

/// Asks until the run is in one of these states, for half a minute at most.
async fn until(book: &Book, id: u64, states: &[&str]) -> Value {
    for _ in 0..600 {
        let run = book.get(&format!("/api/runs/{id}")).await.json();
        if states.iter().any(|state| run["state"] == *state) {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the run {id} never came to {states:?}");
}

async fn start(book: &Book, lab: &str) -> u64 {
    let answer = book.post(&format!("/api/labs/{lab}/run"), "device=RTX+5070&isa=ptx").await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
    answer.json()["id"].as_u64().expect("a number")
}

#[tokio::test]
async fn a_run_tells_its_steps_and_leaves_its_results_on_the_page() {
    let script = "echo 'running guard' >&2; echo 'step: half of it' >&2; while [ ! -e $(dirname $OUT)/go ]; do sleep 0.05; done\n\
         echo '{\"labs\":[{\"seconds\":2,\"claims\":[{\"id\":\"guard.x\",\"statement\":\"it was run\",\"verdict\":\"holds\"}]}]}' > $OUT\nexit 1";
    let book = book("steps", script);
    let go = book.folder.join("go");
    let id = start(&book, "guard").await;
    for _ in 0..600 {
        if book.get(&format!("/api/runs/{id}")).await.json()["step"] == "half of it" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let run = until(&book, id, &["running"]).await;
    assert_eq!(run["step"], "half of it");
    assert!(book.get("/labs/guard").await.text.contains("This lab is being run"));
    std::fs::write(&go, "").expect("the sign to go on");
    until(&book, id, &["done"]).await;
    assert!(book.get("/labs/guard").await.text.contains("it was run"));
    let again = book.post("/api/labs/guard/run", "device=RTX+5070").await.json();
    assert_eq!(again["expected_seconds"], 2.0);
}

#[tokio::test]
async fn a_run_can_be_cancelled_while_it_runs_and_while_it_waits() {
    let book = book("cancel", "exec sleep 600");
    let (running, waiting) = (start(&book, "guard").await, start(&book, "ids").await);
    until(&book, running, &["running"]).await;
    assert_eq!(until(&book, waiting, &["waiting"]).await["lab"], "ids");
    let full = book.post("/api/labs/life/run", "device=H200").await;
    assert_eq!(full.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(full.json()["error"].as_str().is_some_and(|why| why.contains("2 runs")), "{}", full.text);
    assert_eq!(start(&book, "guard").await, running, "a run that goes on is not started twice");
    assert_eq!(book.delete(&format!("/api/runs/{waiting}")).await.status, StatusCode::OK);
    until(&book, waiting, &["cancelled"]).await;
    assert_eq!(book.post("/labs/guard/cancel", "").await.status, StatusCode::SEE_OTHER);
    until(&book, running, &["cancelled"]).await;
    assert_eq!(book.get("/api/runs/77").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_run_that_takes_too_long_or_too_much_memory_is_ended_and_the_book_lives_on() {
    let limits = Limits { at_once: 1, waiting: 1, time: Duration::from_millis(300), memory_bytes: 256 << 20 };
    let slow = Book::with("slow", |folder| program(folder, "exec sleep 600"), limits);
    let id = start(&slow, "guard").await;
    let run = until(&slow, id, &["failed"]).await;
    assert!(run["why"].as_str().is_some_and(|why| why.contains("longest")), "{run}");
    let greedy =
        book("greedy", "x=$(head -c 67108864 /dev/zero | tr '\\0' a); y=$x$x$x$x; while true; do sleep 1; done");
    let id = start(&greedy, "guard").await;
    let run = until(&greedy, id, &["failed"]).await;
    assert!(run["why"].as_str().is_some_and(|why| why.contains("MiB of memory")), "{run}");
    assert_eq!(greedy.get("/").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_run_that_cannot_be_done_says_why() {
    let failing = book("failing", "echo 'no kernels: build them' >&2; exit 2");
    let id = start(&failing, "guard").await;
    assert_eq!(until(&failing, id, &["failed"]).await["why"], "no kernels: build them");
    let missing = Book::new("missing-program");
    let id = start(&missing, "guard").await;
    let run = until(&missing, id, &["failed"]).await;
    assert!(run["why"].as_str().is_some_and(|why| why.contains("cannot start")), "{run}");
}
