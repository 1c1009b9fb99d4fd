//! Explorers that run kernels or compile them: what they answer, against the machine and the labs, and what they refuse.

use super::*;

fn stepper(kernel: &str, n: i64, model: &str) -> String {
    format!("stepper?kernel={kernel}&blocks=1&block_x=64&block_y=1&n={n}&number=2&model={model}&of_block=0&warp=0")
}

#[tokio::test]
async fn a_warp_that_parts_pays_for_both_sides_and_one_that_does_not_pays_once() {
    let book = Book::new("stepper");
    let by_lane = book.explore(&stepper("by_lane", 64, "converge")).await;
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
    let by_warp = book.explore(&stepper("by_warp", 64, "converge")).await;
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
    let answer = book.explore(&stepper("vecadd", 11, "converge")).await;
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
    let answer = book.explore(&stepper("spin_lock_in_warp", 64, "lockstep")).await;
    assert!(answer["fault"].is_string(), "{}", answer["fault"]);
    let since = book.explore(&stepper("spin_lock_in_warp", 64, "converge")).await;
    assert!(since["fault"].is_null(), "{}", since["fault"]);
}

#[tokio::test]
async fn schedulers_have_their_warps_and_issue_one_a_cycle_each() {
    let book = Book::new("schedulers");
    let answer =
        book.explore("schedulers?device=RTX+5070&kernel=vecadd&blocks=96&block_x=256&block_y=1&n=24576&number=4").await;
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
    // Between its first and its last cycle every warp issues or is said to wait, and for vecadd that is mostly for memory.
    let long = answer["reasons"].as_array().expect("reasons").iter().position(|name| name == "long_scoreboard");
    let mut by_reason = [0; 2];
    for warp in warps {
        let spans = |name: &str, end: fn(&Value) -> u64| -> Vec<(u64, u64)> {
            let all = warp[name].as_array().expect("a list").iter();
            all.map(|span| (span[0].as_u64().expect("a cycle"), end(span))).collect()
        };
        let waits = spans("waits", |wait| wait[1].as_u64().expect("a cycle"));
        let mut all = [spans("issues", |issue| issue[0].as_u64().expect("a cycle") + 1), waits].concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0].1 == pair[1].0), "{all:?}");
        for wait in warp["waits"].as_array().expect("waits") {
            let cycles = wait[1].as_u64().expect("a cycle") - wait[0].as_u64().expect("a cycle");
            by_reason[usize::from(wait[3].as_u64() == long.map(|place| place as u64))] += cycles;
        }
    }
    assert!(by_reason[1] > by_reason[0], "waits for memory against others: {by_reason:?}");
    assert!(
        answer["words"]["LDG.E"].as_str().is_some_and(|words| words.contains("global memory")),
        "{}",
        answer["words"]
    );
}

const UNIFORM: &str = "grid_x=4&grid_y=1&block_x=256&block_y=1&block_z=1&n=1003";

#[tokio::test]
async fn a_condition_is_uniform_or_not_for_warp_block_and_grid_and_disagreement_has_its_price() {
    let book = Book::new("uniform");
    for (condition, known, parted, agree) in [
        ("threadIdx.x+%25+2+%3D%3D+0", "varying", 32, [0, 0, 0]),
        ("lane+%3C+16", "varying", 32, [0, 0, 0]),
        ("(tid+/+32)+%25+2", "uniform", 0, [32, 0, 0]),
        ("blockIdx.x+%25+2+%3D%3D+0", "uniform", 0, [32, 4, 0]),
        ("n+%3E+500", "uniform", 0, [32, 4, 1]),
        // The chapter's guard: 1,003 elements leave 11 lanes of one warp.
        ("i+%3C+n", "varying", 1, [31, 3, 0]),
        ("threadIdx.x+%3C+64", "varying", 0, [32, 0, 0]),
    ] {
        let answer = book.explore(&format!("uniform?condition={condition}&{UNIFORM}")).await;
        assert_eq!((&answer["known"], &answer["parted"]), (&known.into(), &parted.into()), "{condition}");
        let found: Vec<u64> =
            answer["levels"].as_array().expect("levels").iter().filter_map(|level| level["agree"].as_u64()).collect();
        assert_eq!(found, agree, "{condition}");
        let more = answer["issued"].as_u64().expect("a count") - answer["alone"].as_u64().expect("a count");
        assert_eq!(
            more,
            parted * answer["arm"].as_u64().expect("a length"),
            "each warp that parts pays for the other arm: {condition}"
        );
    }
    let guard = book.explore(&format!("uniform?condition=i+%3C+n&{UNIFORM}")).await;
    assert_eq!(guard["shown"][31]["holds"], 0x7ff, "11 of 32 lanes have an element");
    for (condition, more, says) in [
        ("threadIdx+%25+2", "", "threadIdx.x"),
        ("lane+%3C", "", "at letter 7"),
        ("lane", "&of=1", "unknown field"),
        ("tid+%26+1+%3D%3D+0", "", "parentheses"),
    ] {
        book.refuses(&format!("uniform?condition={condition}&{UNIFORM}{more}"), says).await;
    }
    book.refuses("uniform?condition=lane&grid_x=4096&grid_y=1&block_x=256&block_y=1&block_z=1&n=1", "1 to 65536").await;
    book.refuses("uniform?condition=lane&grid_x=1&grid_y=1&block_x=32&block_y=1&block_z=1&n=9999999", "1 to 131072")
        .await;
}

#[tokio::test]
async fn a_kernels_branches_part_its_warps_or_do_not() {
    let book = Book::new("branches");
    let of = async |kernel: &str| {
        let answer =
            book.explore(&format!("branches?kernel={kernel}&blocks=4&block_x=256&block_y=1&n=1003&number=4")).await;
        answer["branches"].as_array().expect("branches").clone()
    };
    let parts = |branch: &Value| branch["parted"].as_u64().is_some_and(|times| times > 0);
    let by_lane = of("by_lane").await;
    assert!(by_lane.iter().any(|branch| parts(branch) && branch["parted"] == branch["executed"]), "{by_lane:?}");
    assert!(by_lane.iter().all(|branch| !parts(branch) || branch["known"] == "varying"), "{by_lane:?}");
    let vecadd = of("vecadd").await;
    let guard =
        vecadd.iter().find(|branch| branch["condition"] == "i < n").expect("the guard, whose condition can be tried");
    assert_eq!(
        (&guard["parted"], &guard["executed"]),
        (&1.into(), &32.into()),
        "one warp of 32 has lanes on both sides"
    );
}

#[tokio::test]
async fn a_launch_of_ones_own_has_the_shape_and_the_device_that_were_asked_for() {
    let book = Book::new("launch");
    let ask = async |device: &str, block: u32, n: u32| {
        book.explore(&format!("launch?device={device}&kernel=vecadd&block={block}&n={n}&number=4")).await
    };
    let row = |answer: &Value, what: &str| {
        let rows = answer["rows"].as_array().expect("rows");
        let found = rows.iter().find(|row| row[0] == what).unwrap_or_else(|| panic!("no {what} in {rows:?}"));
        (found[1].as_str().unwrap_or_default().to_owned(), found[2].as_str().unwrap_or_default().to_owned())
    };
    let small = ask("RTX+5070", 256, 1003).await;
    assert_eq!((&small["blocks"], &small["threads"], &small["idle"]), (&4.into(), &1024.into(), &21.into()));
    assert_eq!(row(&small, "occupancy").0, "100%");
    assert_eq!(row(&small, "registers a thread").0, "12");
    let large = ask("RTX+5070", 1024, 1003).await;
    assert!(row(&large, "occupancy").0 == "67%" && row(&large, "waves").1.starts_with("48 SMs"), "{large}");
    let other = ask("H200", 256, 131_072).await;
    assert!(
        row(&other, "waves").1.starts_with("132 SMs")
            && row(&other, "time, modelled").1.contains("of SASS on the H200"),
        "{other}"
    );
    assert!(
        other["us"].as_f64() > small["us"].as_f64(),
        "more elements take longer: {} and {}",
        other["us"],
        small["us"]
    );
    book.refuses("launch?device=RTX+5070&kernel=vecadd&block=2048&n=1&number=4", "1 to 1024").await;
    book.refuses("launch?device=RTX+5070&kernel=vecadd&block=32&n=99999999&number=4", "1 to 131072").await;
}

#[tokio::test]
async fn the_film_shows_the_launch_and_the_story_that_the_lab_tells() {
    use warpwise::lab::LabContext;
    use warpwise::labs;
    use warpwise::progress::Progress;
    use warpwise::workbench::Workbench;
    let book = Book::new("film");
    let film = book.explore("film?device=RTX+5070&element=2690").await;
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
    let odd = book.explore("film?device=RTX+5070&element=262143").await;
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
        book.refuses(path, says).await;
    }
}

#[tokio::test]
async fn a_kernel_is_shown_in_three_listings_whose_lines_point_at_each_other() {
    let book = Book::new("pipeline");
    let free = book.explore("pipeline?kernel=heavy&arch=sm_120&cap=0").await;
    let capped = book.explore("pipeline?kernel=heavy&arch=sm_120&cap=40").await;
    assert_eq!((&free["spill_store_bytes"], &capped["registers"]), (&0.into(), &40.into()));
    assert!(capped["spill_store_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "a cap of 40 makes it spill");
    let lines = |name: &str| free[name].as_array().expect("lines").clone();
    let places = |name: &str| -> std::collections::BTreeSet<String> {
        lines(name).iter().filter_map(|line| line["place"].as_str().map(str::to_owned)).collect()
    };
    let shared: Vec<String> = places("rust").intersection(&places("ptx")).cloned().collect();
    assert!(shared.iter().any(|place| places("sass").contains(place)), "no source line is in all three");
    assert!(places("ptx").is_subset(&places("rust")), "every line that PTX names is shown");
    assert!(free["words"]["FFMA"].as_str().is_some_and(|words| words.starts_with("FFMA: ")), "{}", free["words"]);
    let has_words = |line: &Value| line["opcode"].as_str().is_none_or(|opcode| free["words"][opcode].is_string());
    assert!(lines("sass").iter().all(has_words), "an opcode has no words");
    let most = lines("sass").iter().filter_map(|line| line["live"].as_u64()).max().expect("live registers");
    assert!(most > 40 && most <= free["registers"].as_u64().expect("a count"), "{most} alive at once");
    for (path, says) in [
        ("kernel=nosuch&arch=sm_120&cap=0", "nosuch"),
        ("kernel=heavy&arch=sm_1&cap=0", "12.0"),
        ("kernel=heavy&arch=sm_120&cap=3", "16 to 255"),
    ] {
        book.refuses(&format!("pipeline?{path}"), says).await;
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
