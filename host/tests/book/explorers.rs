//! What explorers answer, against the library asked directly and against what the chapters say; and what they refuse.

use super::*;
use warpwise_simt::device;
use warpwise_simt::occupancy::{Request as Asked, calculate};

async fn ask(book: &Book, path: &str) -> Value {
    let answer = book.get(&format!("/api/explore/{path}")).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
    answer.json()
}

#[tokio::test]
async fn the_calculator_is_the_librarys() {
    let book = Book::new("occupancy");
    for (name, block, registers, shared) in [
        ("RTX 5070", 256, 40, 0),
        ("RTX 5070", 256, 41, 0),
        ("RTX 5070", 1024, 32, 0),
        ("H200", 768, 32, 0),
        ("RTX 5070", 256, 32, 16_001),
    ] {
        let query = format!("device={}&block={block}&registers={registers}&shared={shared}", name.replace(' ', "+"));
        let answer = ask(&book, &format!("occupancy?{query}")).await;
        let request = Asked { static_shared_bytes: shared, ..Asked::new(block, registers) };
        let found = calculate(&device::find(name).expect("a device").limits, &request).expect("a request");
        assert_eq!(answer["blocks_per_sm"], found.blocks_per_sm, "{query}");
        assert_eq!(answer["warps_per_sm"], found.warps_per_sm(), "{query}");
        let deciding =
            answer["limits"].as_array().expect("limits").iter().filter(|limit| limit["decides"] == true).count();
        assert_eq!(deciding, found.limiters.len(), "{query}: {answer}");
        let here = answer["by_registers"][registers as usize - 1][1].as_f64().expect("a point");
        assert!((here - 100.0 * found.theoretical()).abs() < 1e-9, "{query}");
    }
    let cliff = ask(&book, "occupancy?device=RTX+5070&block=256&registers=40").await;
    assert!(cliff["steps"][0].as_str().is_some_and(|step| step.starts_with("from 41 registers on: 83")), "{cliff}");
}

#[tokio::test]
async fn the_calculator_knows_where_the_labs_kernels_stand() {
    let book = Book::new("kernels");
    let answer = ask(&book, "occupancy/kernels?device=RTX+5070").await;
    let kernels = answer["kernels"].as_array().expect("kernels");
    assert!(kernels.len() > 20, "{answer}");
    let heavy = kernels.iter().find(|kernel| kernel["kernel"] == "heavy").expect("heavy is among them");
    assert!(heavy["registers"].as_u64().is_some_and(|registers| registers > 48), "{heavy}");
}

#[tokio::test]
async fn a_thread_knows_what_the_chapter_says() {
    let book = Book::new("ids");
    let answer =
        ask(&book, "ids?device=RTX+5070&grid_x=12&grid_y=1&block_x=250&block_y=1&block_z=1&block=11&thread=249").await;
    assert_eq!(
        (&answer["warp"], &answer["lane"], &answer["index_1d"]),
        (&7.into(), &25.into(), &2999.into()),
        "{answer}"
    );
    assert_eq!(answer["same_thread_x"], 12);
    assert_eq!(answer["lanes"].as_array().map(Vec::len), Some(250));
    let square =
        ask(&book, "ids?device=H200&grid_x=1&grid_y=1&block_x=16&block_y=16&block_z=1&block=0&thread=37").await;
    assert_eq!((&square["thread"], &square["lane"]), (&serde_json::json!([5, 2, 0]), &5.into()));
    assert_eq!((&square["lane_is_x_mod_32"], &square["sms_used"]), (&true.into(), &1.into()), "{square}");
}

#[tokio::test]
async fn a_block_shape_costs_the_sectors_that_the_lab_counts() {
    let book = Book::new("shapes");
    for (x, y, z, offset, sectors, rows) in [
        (32, 8, 1, 0, 4, 1),
        (16, 16, 1, 0, 4, 2),
        (8, 32, 1, 0, 4, 4),
        (4, 64, 1, 0, 8, 8),
        (32, 8, 1, 1, 5, 1),
        (8, 4, 8, 0, 4, 4),
    ] {
        let query =
            format!("shapes?x={x}&y={y}&z={z}&width=256&height=256&pitch=256&bytes=4&offset={offset}&thread=37");
        let answer = ask(&book, &query).await;
        let touched = answer["sectors"].as_array().expect("sectors");
        assert_eq!((touched.len(), &answer["rows"]), (sectors, &rows.into()), "{query}: {answer}");
        assert_eq!((&answer["warp"], &answer["lane"]), (&1.into(), &5.into()), "{query}");
        let lanes: usize = touched.iter().filter_map(|sector| sector["lanes"].as_array()).map(Vec::len).sum();
        assert_eq!(lanes, 32, "each lane of 4 bytes is in one sector: {query}");
    }
    let edge = ask(&book, "shapes?x=32&y=8&z=1&width=20&height=700&pitch=32&bytes=4&offset=0&thread=0").await;
    assert_eq!(edge["storing_lanes"], 20, "lanes beyond the image store nothing");
}

#[tokio::test]
async fn addresses_become_the_sectors_and_passes_of_the_labs() {
    let book = Book::new("memory");
    for (stride, offset, bytes, padding, sectors, passes) in [
        (1, 0, 4, 0, 4, 1),
        (1, 4, 4, 0, 5, 1),
        (2, 0, 4, 0, 8, 2),
        (32, 0, 4, 0, 32, 32),
        (32, 0, 4, 1, 32, 1),
        (33, 0, 4, 0, 32, 1),
        (0, 0, 4, 0, 1, 1),
        (1, 0, 8, 0, 8, 2),
        (1, 0, 16, 0, 16, 4),
        (1, 0, 1, 0, 1, 1),
    ] {
        let query = format!("memory?stride={stride}&offset={offset}&bytes={bytes}&padding={padding}&lanes=32");
        let answer = ask(&book, &query).await;
        assert_eq!(
            (&answer["sector_count"], &answer["passes"]),
            (&sectors.into(), &passes.into()),
            "{query}: {answer}"
        );
        let used: usize = answer["sectors"]
            .as_array()
            .expect("sectors")
            .iter()
            .filter_map(|one| one["bytes"].as_array())
            .map(Vec::len)
            .sum();
        assert_eq!(answer["bytes_used"], used, "{query}");
    }
}

#[tokio::test]
async fn what_is_out_of_range_is_refused_with_the_range() {
    let book = Book::new("ranges");
    for (path, says) in [
        ("occupancy?device=RTX+5070&block=0&registers=40", "1 to 1024"),
        ("occupancy?device=RTX+5070&block=256&registers=999999999999", "1 to 255"),
        ("occupancy?device=RTX+5070&block=256&registers=40&carveout=300", "0 to 100"),
        ("occupancy?device=Voodoo&block=256&registers=40", "RTX 5070"),
        ("occupancy?device=RTX+5070&block=x&registers=40", "block"),
        ("occupancy?device=RTX+5070&block=256", "registers"),
        ("ids?device=RTX+5070&grid_x=4096&grid_y=512&block_x=1024&block_y=1&block_z=1&block=0&thread=0", "262144"),
        ("ids?device=RTX+5070&grid_x=1&grid_y=1&block_x=1024&block_y=1024&block_z=1&block=0&thread=0", "1 to 1024"),
        ("ids?device=RTX+5070&grid_x=1&grid_y=1&block_x=32&block_y=1&block_z=1&block=1&thread=0", "0 to 0"),
        ("shapes?x=32&y=8&z=1&width=9&height=9&pitch=4&bytes=4&thread=0", "9 to"),
        ("shapes?x=32&y=8&z=1&width=9&height=9&pitch=9&bytes=3&thread=0", "1, 2, 4, 8 or 16"),
        ("memory?stride=1&offset=3&bytes=4&padding=0&lanes=32", "multiple of 4"),
        ("memory?stride=1&offset=0&bytes=4&padding=0&lanes=33", "1 to 32"),
        ("memory?stride=1&offset=0&bytes=4&padding=0&lanes=32&more=1", "more"),
    ] {
        let answer = book.get(&format!("/api/explore/{path}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {}", answer.text);
        assert!(answer.json()["error"].as_str().is_some_and(|why| why.contains(says)), "{path}: {}", answer.text);
    }
}

fn stepper(kernel: &str, n: i64, model: &str) -> String {
    format!("stepper?kernel={kernel}&blocks=1&block_x=64&block_y=1&n={n}&number=2&model={model}&of_block=0&warp=0")
}

#[tokio::test]
async fn a_warp_that_parts_pays_for_both_sides_and_one_that_does_not_pays_once() {
    let book = Book::new("stepper");
    let by_lane = ask(&book, &stepper("by_lane", 64, "converge")).await;
    let steps = by_lane["steps"].as_array().expect("steps");
    let masks: Vec<u64> = steps.iter().filter_map(|step| step["active"].as_u64()).collect();
    assert!(masks.contains(&0x5555_5555) && masks.contains(&0xaaaa_aaaa), "{masks:x?}");
    assert_eq!((masks.first(), masks.last()), (Some(&0xffff_ffff), Some(&0xffff_ffff)), "they meet again");
    let (executed, longest) =
        (by_lane["executed"].as_u64().expect("a count"), by_lane["longest"].as_u64().expect("a count"));
    assert!(executed > longest, "{executed} against {longest}");
    let halves = [0x5555_5555_u64, 0xaaaa_aaaa];
    let stands_apart = |step: &Value, half: usize| {
        let splits = step["splits"].as_array().expect("groups of lanes");
        step["active"] == halves[half] && splits.iter().any(|group| group[1] == halves[1 - half])
    };
    let apart = steps.iter().any(|step| stands_apart(step, 0) || stands_apart(step, 1));
    assert!(apart, "while one half runs, the other stands somewhere");
    let by_warp = ask(&book, &stepper("by_warp", 64, "converge")).await;
    assert_eq!(by_warp["executed"], by_warp["longest"], "lanes that agree pay for their own way alone");
    let first = &by_lane["steps"][0];
    assert!(first["changes"][0].as_str().is_some_and(|change| change.contains("in each lane")), "{first}");
    assert!(
        by_lane["code"]
            .as_array()
            .is_some_and(|code| code.iter().any(|line| line["rust"] == "let i = thread::index_1d();"))
    );
}

#[tokio::test]
async fn the_guard_leaves_the_last_lanes_out_and_they_wait_for_nobody() {
    let book = Book::new("guard");
    let answer = ask(&book, &stepper("vecadd", 11, "converge")).await;
    let lanes: Vec<u32> = answer["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .filter_map(|step| step["active"].as_u64())
        .map(u64::count_ones)
        .collect();
    assert!(lanes.contains(&11) && lanes.iter().all(|count| [11, 21, 32].contains(count)), "{lanes:?}");
    let of_the_others = lanes.iter().filter(|count| **count == 21).count();
    assert!(of_the_others <= 1, "the others jump to the end and execute nothing else: {lanes:?}");
}

#[tokio::test]
async fn a_lock_that_lockstep_never_opens_ends_with_a_fault_and_not_with_the_server() {
    let book = Book::new("lock");
    let answer = ask(&book, &stepper("spin_lock_in_warp", 64, "lockstep")).await;
    assert!(answer["fault"].is_string(), "{}", answer["fault"]);
    let since = ask(&book, &stepper("spin_lock_in_warp", 64, "converge")).await;
    assert!(since["fault"].is_null(), "{}", since["fault"]);
}

#[tokio::test]
async fn schedulers_have_their_warps_and_issue_one_a_cycle_each() {
    let book = Book::new("schedulers");
    let answer =
        ask(&book, "schedulers?device=RTX+5070&kernel=vecadd&blocks=96&block_x=256&block_y=1&n=24576&number=4").await;
    let warps = answer["warps"].as_array().expect("warps");
    assert_eq!(warps.len(), 16, "two blocks of eight warps on each of 48 SMs");
    for scheduler in 0..4 {
        let own: Vec<&Value> = warps.iter().filter(|warp| warp["scheduler"] == scheduler).collect();
        assert_eq!(own.len(), 4);
        let mut cycles: Vec<u64> = own
            .iter()
            .flat_map(|warp| warp["issues"].as_array().expect("issues"))
            .filter_map(|issue| issue[0].as_u64())
            .collect();
        let issues = cycles.len();
        cycles.sort_unstable();
        cycles.dedup();
        assert_eq!(cycles.len(), issues, "scheduler {scheduler} issued twice in a cycle");
    }
    let waits = warps.iter().all(|warp| warp["loads"].as_array().is_some_and(|loads| !loads.is_empty()));
    assert!(waits, "every warp loads from memory: {answer}");
    assert!(
        answer["code"].as_array().is_some_and(|code| code.iter().any(|line| line["waits_for"] == "long_scoreboard"))
    );
}

#[tokio::test]
async fn the_film_shows_the_launch_and_the_story_that_the_lab_tells() {
    use warpwise::lab::LabContext;
    use warpwise::labs;
    use warpwise::progress::Progress;
    use warpwise::workbench::Workbench;
    let book = Book::new("film");
    let film = ask(&book, "film?device=RTX+5070&element=2690").await;
    assert_eq!(
        (film["blocks"].as_array().map(Vec::len), &film["slots"], &film["at_once"]),
        (Some(1024), &288.into(), &288.into())
    );
    assert!(film["waves"].as_f64().is_some_and(|waves| (waves - 3.56).abs() < 0.01), "{}", film["waves"]);
    assert_eq!((&film["block"], &film["warp"], &film["lane"]), (&10.into(), &4.into(), &2.into()));
    let cli = warpwise::cli::parse(["warpwise", "list"].map(Into::into)).expect("words that are understood");
    let bench = Workbench::open(&cli.global, "sim").expect("kernels that are built");
    let outcome = LabContext::run(labs::find("life").expect("the lab"), &bench, &Progress::silent());
    let table =
        outcome.tables.iter().find(|table| table.title.contains("warp 4 of block 10")).expect("the lab's story");
    let told: Vec<(String, String)> =
        table.rows.iter().map(|row| (row[0].to_string().replace(',', ""), row[2].to_string())).collect();
    let shown = film["story"].as_array().expect("a story").iter();
    let shown: Vec<(String, String)> = shown
        .map(|event| (event["cycle"].to_string(), event["text"].as_str().unwrap_or_default().to_owned()))
        .collect();
    assert_eq!(shown, told);
    assert!(shown.iter().any(|(_, text)| text.starts_with("even lanes, ours among them")));
    let odd = ask(&book, "film?device=RTX+5070&element=262143").await;
    assert_eq!((&odd["block"], &odd["warp"], &odd["lane"]), (&1023.into(), &7.into(), &31.into()));
    let story = odd["story"].to_string();
    assert!(story.contains("odd lanes, ours among them") && story.contains("even lanes, ours waits"), "{story}");
}

#[tokio::test]
async fn launches_too_large_or_of_no_kernel_are_refused() {
    let book = Book::new("launches");
    for (path, says) in [
        ("stepper?kernel=nosuch&blocks=1&block_x=32&block_y=1&n=1&number=1&model=converge&of_block=0&warp=0", "vecadd"),
        (
            "stepper?kernel=vecadd&blocks=999999999&block_x=32&block_y=1&n=1&number=1&model=converge&of_block=0&warp=0",
            "1 to 4096",
        ),
        (
            "stepper?kernel=vecadd&blocks=1&block_x=32&block_y=1&n=99999999999&number=1&model=converge&of_block=0&warp=0",
            "1 to 4096",
        ),
        (
            "stepper?kernel=vecadd&blocks=1&block_x=32&block_y=1&n=1&number=1&model=sideways&of_block=0&warp=0",
            "adversarial",
        ),
        ("stepper?kernel=vecadd&blocks=1&block_x=32&block_y=1&n=1&number=1&model=converge&of_block=0&warp=1", "0 to 0"),
        ("schedulers?device=RTX+5070&kernel=vecadd&blocks=4096&block_x=1024&block_y=1&n=1&number=4", "131072"),
        ("film?device=RTX+5070&element=262144", "0 to 262143"),
    ] {
        let answer = book.get(&format!("/api/explore/{path}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {}", answer.text);
        assert!(answer.json()["error"].as_str().is_some_and(|why| why.contains(says)), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_kernel_is_shown_in_three_listings_whose_lines_point_at_each_other() {
    let book = Book::new("pipeline");
    let free = ask(&book, "pipeline?kernel=heavy&arch=sm_120&cap=0").await;
    let capped = ask(&book, "pipeline?kernel=heavy&arch=sm_120&cap=40").await;
    assert_eq!((&free["spill_store_bytes"], &capped["registers"]), (&0.into(), &40.into()));
    assert!(capped["spill_store_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "a cap of 40 makes it spill");
    let lines = |name: &str| free[name].as_array().expect("lines").clone();
    let places = |name: &str| -> std::collections::BTreeSet<String> {
        lines(name).iter().filter_map(|line| line["place"].as_str().map(str::to_owned)).collect()
    };
    let shared: Vec<String> = places("rust").intersection(&places("ptx")).cloned().collect();
    assert!(shared.iter().any(|place| places("sass").contains(place)), "no source line is in all three");
    assert!(places("ptx").is_subset(&places("rust")), "every line that PTX names is shown");
    let most = lines("sass").iter().filter_map(|line| line["live"].as_u64()).max().expect("live registers");
    assert!(most > 40 && most <= free["registers"].as_u64().expect("a count"), "{most} alive at once");
    for (path, says) in [
        ("kernel=nosuch&arch=sm_120&cap=0", "nosuch"),
        ("kernel=heavy&arch=sm_1&cap=0", "12.0"),
        ("kernel=heavy&arch=sm_120&cap=3", "16 to 255"),
    ] {
        let answer = book.get(&format!("/api/explore/pipeline?{path}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {}", answer.text);
        assert!(answer.text.contains(says), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_question_is_answered_by_a_run() {
    let book = Book::new("quiz");
    let right = book.get("/api/quiz?question=blocks&answer=3907").await.json();
    assert_eq!(
        (&right["right"], right["text"].as_str().map(|text| text.contains("finds 3907"))),
        (&true.into(), Some(true)),
        "{right}"
    );
    assert_eq!(book.get("/api/quiz?question=blocks&answer=3906").await.json()["right"], false);
    let page = book.get("/quiz?question=blocks&answer=3906").await.text;
    assert!(page.contains("No: the machine finds 3907"), "a page without a script tells it too: {page}");
    assert_eq!(book.get("/api/quiz?question=nosuch&answer=1").await.status, StatusCode::NOT_FOUND);
    assert_eq!(book.get("/api/quiz?question=blocks&answer=x").await.status, StatusCode::UNPROCESSABLE_ENTITY);
}
