//! Every page is there, says what it should, and asks for nothing from elsewhere.

use super::*;
use warpwise::labs::LABS;

fn addresses(page: &str) -> Vec<String> {
    let after = |mark: &'static str| {
        page.split(mark).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect::<Vec<_>>()
    };
    [after("href=\""), after("src=\""), after("action=\"")].concat()
}

#[tokio::test]
async fn every_page_answers_and_links_to_pages_of_the_book_only() {
    let book = Book::new("pages");
    let mut seen = std::collections::BTreeSet::new();
    let mut to_see = vec!["/".to_owned()];
    while let Some(path) = to_see.pop() {
        if path.starts_with('#') || path.ends_with("/run") || path.ends_with("/cancel") || !seen.insert(path.clone()) {
            continue;
        }
        let answer = book.get(&path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        if answer.headers[header::CONTENT_TYPE].as_bytes().starts_with(b"text/html") {
            for address in addresses(&answer.text) {
                assert!(address.starts_with('/') || address.starts_with('#'), "{path} refers to {address}");
                to_see.push(address);
            }
            assert!(
                !answer.text.contains(" style=\"") && !answer.text.contains("<style"),
                "{path} has styles of its own"
            );
            assert!(!answer.text.contains(" onclick"), "{path} has a script of its own");
        }
    }
    for lab in LABS {
        assert!(seen.contains(&format!("/labs/{}", lab.id)), "no link leads to {}", lab.id);
    }
    assert!(seen.len() > LABS.len() + 4, "{seen:?}");
}

#[tokio::test]
async fn a_lab_that_never_ran_shows_its_claims_and_one_that_did_its_verdicts() {
    let book = Book::new("verdicts");
    let page = book.get("/labs/guard").await.text;
    assert!(page.contains("No run on this device is recorded yet") && page.contains("claims"), "{page}");
    let run = serde_json::json!({ "toolchain": { "ptxas": "13.2.78" }, "labs": [{
        "id": "guard", "backend": "sim", "seconds": 1.5,
        "claims": [{ "id": "guard.blocks", "section": "ch1 §7", "statement": "4 < 5 blocks", "expected": "= 4", "found": "4", "verdict": "holds" },
                   { "id": "guard.free", "section": "ch1 §7", "statement": "it is free", "expected": "< 0.01", "found": null, "verdict": "not-run", "why": "needs a GPU" }],
        "kernels": [{ "kernel": "vecadd", "variant": "", "device": "RTX 5070", "registers": { "value": 12, "source": "ptxas" },
                      "spill_store_bytes": 0, "spill_load_bytes": 0, "occupancy": { "theoretical": 1.0, "achieved": null, "limiters": ["warps"] },
                      "times": [{ "us": 16.3, "cycles": 41000, "isa": "sass" }] }],
        "tables": [{ "title": "sizes", "columns": ["n", "share", "instruction"], "rows": [[1003, 0.25, "@!P0 LDG.E R2, desc[UR4][R2.64] <&"]] }],
        "plots": [{ "title": "cost", "x": "n", "x_log": true, "y": "cycles", "y_log": false,
                    "series": [{ "name": "a", "mark": "steps", "points": [[1.0, 2.0], [10.0, 3.0]] }] }],
        "notes": ["a note"] }] });
    std::fs::write(book.folder.join("guard--RTX-5070.json"), run.to_string()).expect("a recorded run");
    let page = book.get("/labs/guard").await.text;
    for shown in [
        "4 &lt; 5 blocks",
        "needs a GPU",
        "12 (ptxas)",
        "16.3 µs modelled (41,000 cycles, sass)",
        "1,003",
        "<svg",
        "a note",
        "@!P0 <abbr class=\"word\" tabindex=\"0\" title=\"LDG: ",
        "desc[UR4][R2.64] &lt;&amp;",
    ] {
        assert!(page.contains(shown), "the page lacks {shown}: {page}");
    }
    let other = book.get("/labs/guard?device=H200").await.text;
    assert!(other.contains("No run on this device is recorded yet"), "the run of another device is shown");
}

#[tokio::test]
async fn the_roofline_has_every_kernel_and_the_hierarchy_every_level_each_with_how_it_was_got() {
    let book = Book::new("roof");
    let bare = book.get("/roofline").await.text;
    let (modelled, measured) = bare.split_once("H200, measured").expect("what an H200 was measured to do");
    assert!(modelled.contains("RTX 5070, modelled") && modelled.contains("the roof of its data sheet"), "{modelled}");
    assert!(!modelled.contains("GFLOP/s, measured") && measured.contains("GFLOP/s, measured"));
    let points = measured.matches("href=\"#measured-").count();
    assert!(points > 30, "{points} points");
    for link in measured.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(measured.contains(&format!("id=\"{link}\"")), "#{link} leads nowhere");
    }
    let run = serde_json::json!({ "labs": [{
        "plots": [{ "title": "Every kernel under the roof of RTX 5070", "series": [{ "name": "roof", "points": [[0.01, 6.7], [46.0, 30000.0], [4096.0, 30000.0]] }] }],
        "tables": [{ "title": "every kernel, at the sizes of `counters`", "columns": [], "rows": [["vecadd", 0.0833, "memory", 41.5, "74%"], ["nbody", 576, "arithmetic", "–", "–"]] }] }] });
    std::fs::write(book.folder.join("roofline--RTX-5070.json"), run.to_string()).expect("a recorded run");
    let page = book.get("/roofline").await.text;
    let (modelled, _) = page.split_once("H200, measured").expect("both");
    for shown in ["href=\"#modelled-vecadd\"", "41.5", "74%", "not timed", "GFLOP/s, modelled"] {
        assert!(modelled.contains(shown), "{shown}: {modelled}");
    }
    assert!(!modelled.contains("#modelled-nbody"), "a kernel without a time has no place");
    let levels = book.get("/hierarchy?device=H200").await.text;
    let (modelled, measured) = levels.split_once("H200, measured").expect("both");
    assert!(modelled.contains("given to the model") && modelled.contains("256 KiB an SM, both together"), "{modelled}");
    let (_, kept) = warpwise::book::measured::lab("hierarchy").expect("a run is kept");
    let latencies = &kept["tables"][0];
    assert_eq!(latencies["columns"][1], "cycles");
    let rows = latencies["rows"].as_array().expect("a row a level");
    let cells: Vec<String> = rows.iter().map(|row| format!("<td>{}</td>", row[1].as_str().expect("cycles"))).collect();
    assert_eq!(cells.len(), 5, "shared memory, L1, near L2, far L2, memory");
    assert!(cells.iter().all(|cell| measured.contains(cell) && !modelled.contains(cell)), "{cells:?}: {measured}");
}

#[test]
fn the_program_that_the_page_walks_through_adds_two_arrays() {
    let cli = warpwise::cli::parse(["warpwise", "list"].map(Into::into)).expect("words that are understood");
    let bench = warpwise::workbench::Workbench::open(&cli.global, "sim").expect("kernels that are built");
    let gpu = bench.gpu().expect("a context");
    let left: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let right: Vec<f32> = left.iter().map(|value| 2.0 * value).collect();
    let sum = warpwise::book::first_launch::add(&gpu, &left, &right).expect("sums");
    assert!(sum.iter().zip(&left).all(|(sum, value)| *sum == 3.0 * value));
}

#[tokio::test]
async fn what_is_not_there_is_said_with_what_there_is() {
    let book = Book::new("missing");
    for (path, status, says) in [
        ("/labs/gard", StatusCode::NOT_FOUND, "guard"),
        ("/labs/guard?device=Voodoo", StatusCode::UNPROCESSABLE_ENTITY, "RTX 5070"),
        ("/chapters/9", StatusCode::NOT_FOUND, "1 to 4"),
        ("/nothing", StatusCode::NOT_FOUND, "nothing is served"),
    ] {
        let answer = book.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.text.contains(says), "{path}: {}", answer.text);
    }
}
