//! Explorers with a place in time.

use fantoccini::key::Key;

use super::browser::{Browser, Future};

pub fn stepper(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/stepper").await;
        let walk = window
            .ask("stepper?kernel=by_lane&blocks=1&block_x=64&block_y=1&n=60&number=2&model=converge&of_block=0&warp=0")
            .await;
        let steps = walk["steps"].as_array().expect("steps");
        let lanes = |at: usize| steps[at]["on"].as_u64().expect("a mask").count_ones() as usize;
        window.click("#first").await;
        for at in 0..steps.len() {
            assert_eq!(window.count("#lanes .on").await, lanes(at), "step {at}");
            let shown = format!("Step {} of {}", at + 1, walk["executed"]);
            assert!(window.text("#headline").await.starts_with(&shown), "{shown}");
            let line = window.text(".code-line.here").await;
            assert_eq!(line, walk["code"][steps[at]["pc"].as_u64().expect("a place") as usize]["text"], "step {at}");
            window.click("#forward").await;
        }
        window.run("document.activeElement.blur()").await;
        for back in 1..4 {
            window.press(&Key::Left.to_string()).await;
            assert_eq!(window.count("#lanes .on").await, lanes(steps.len() - 1 - back), "{back} steps back");
        }
        window.press(&Key::Home.to_string()).await;
        window.press(&Key::Down.to_string()).await;
        assert_eq!(window.count("#lanes .on").await, 16, "the next parting: half of the lanes");
        assert_eq!(window.count("#lanes .waits").await, 16, "the others stand elsewhere");
        assert!(window.text("#state").await.contains("goes on at"), "{}", window.text("#state").await);
        window.set("kernel", "by_warp").await;
        window.press(&Key::End.to_string()).await;
        let cost = window.text("#cost .legend").await;
        let numbers: Vec<&str> = cost.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
        assert!(numbers.len() == 2 && numbers[0] == numbers[1], "lanes that agree pay once: {cost}");
    })
}

pub fn schedulers(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/schedulers").await;
        let trace = window
            .ask("schedulers?device=RTX+5070&kernel=vecadd&blocks=96&block_x=256&block_y=1&n=24576&number=4")
            .await;
        let warps = trace["warps"].as_array().expect("warps");
        assert_eq!(window.count(".scheduler").await, 4);
        assert_eq!(window.count(".scheduler .warp").await, warps.len());
        let issuing = |cycle: u64| {
            let issues = |warp: &&serde_json::Value| {
                warp["issues"].as_array().is_some_and(|all| all.iter().any(|one| one[0] == cycle))
            };
            warps.iter().filter(issues).count()
        };
        for _ in 0..25 {
            window.click("#next").await;
            let cycle =
                window.run("return Number(document.getElementById('at').value)").await.as_u64().expect("a cycle");
            assert!(issuing(cycle) > 0, "cycle {cycle} has no issue");
            assert_eq!(window.count(".scheduler .warp.issues").await, issuing(cycle), "cycle {cycle}");
        }
        // Who waits, and for what, is the model's word for that warp and cycle.
        let cycle = window.run("return Number(document.getElementById('at').value)").await.as_u64().expect("a cycle");
        let waits = |warp: &serde_json::Value| {
            let all = warp["waits"].as_array().expect("waits").iter();
            all.filter(|wait| wait[0].as_u64() <= Some(cycle) && Some(cycle) < wait[1].as_u64()).count()
        };
        let shown = window.count(".scheduler .warp.memory, .scheduler .warp.waits, .scheduler .warp.ready").await;
        assert_eq!(shown, warps.iter().map(waits).sum::<usize>(), "cycle {cycle}");
        let waiting = "const at = document.getElementById('at'); at.value = 400; at.dispatchEvent(new Event('input')); \
                       return document.querySelectorAll('.warp.memory').length";
        assert!(
            window.run(waiting).await.as_u64().is_some_and(|count| count > 8),
            "in the middle most wait for memory"
        );
    })
}

/// How long a fresh page takes until it answers to its knobs, and a step of the stepper until it is drawn: printed, since computers
/// differ, and not judged.
pub fn times(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        let mut pages = Vec::new();
        for page in [
            "/",
            "/labs/life",
            "/explore/occupancy",
            "/explore/stepper",
            "/explore/uniform",
            "/explore/schedulers",
            "/explore/film",
        ] {
            // The first visit may build what the server keeps; a fresh page is one after that.
            window.goto(page).await;
            window.goto(page).await;
            let interactive = "const entry = performance.getEntriesByType('navigation')[0]; \
                               return Math.max(entry.domInteractive, Number(document.body.dataset.answeredAt ?? 0))";
            let ms = window.run(interactive).await.as_f64().expect("a time");
            assert!(ms > 0.0, "{page} has no time");
            pages.push(format!("{page} {ms:.0}"));
        }
        window.goto("/explore/stepper").await;
        // A step is drawn when its frame is: the second callback runs after it.
        let step = "const done = arguments[arguments.length - 1]; const times = []; const button = document.getElementById('forward'); \
                    document.getElementById('first').click(); \
                    function one() { if (times.length === 30) return done(times); const from = performance.now(); button.click(); \
                    document.getElementById('lanes').getBoundingClientRect(); times.push(performance.now() - from); requestAnimationFrame(() => requestAnimationFrame(one)); } one();";
        let times = window.client.execute_async(step, Vec::new()).await.expect("times");
        let mut times: Vec<f64> =
            times.as_array().expect("a list").iter().filter_map(serde_json::Value::as_f64).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(times.len(), 30);
        println!("ms until a fresh page answers: {}", pages.join(", "));
        println!("ms of a step of the stepper, drawn: median {:.1}, most {:.1}", times[15], times[29]);
    })
}

pub fn film(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/film").await;
        assert_eq!(window.text("#headline").await, "1,024 blocks, 288 slots, 3.56 waves");
        let film = window.ask("film?device=RTX+5070&element=2690").await;
        let story = film["story"].as_array().expect("a story");
        assert_eq!(window.count("#story li").await, story.len());
        for (index, event) in story.iter().enumerate() {
            let shown = window.text(&format!("#story li:nth-child({}) span", index + 1)).await;
            assert_eq!(shown, event["text"], "event {index}");
        }
        let block_counts = |cycle: u64| {
            let blocks = film["blocks"].as_array().expect("blocks").iter();
            let at = |block: &serde_json::Value, place: usize| block[place].as_u64().expect("a cycle");
            let (started, ended) = blocks.fold((0, 0), |(started, ended), block| {
                (started + usize::from(at(block, 3) <= cycle), ended + usize::from(at(block, 4) <= cycle))
            });
            (1024 - started, started - ended, ended)
        };
        let number = |text: String| text.replace(',', "").parse::<usize>().expect("a number");
        for cycle in [0, 500, 3000, 6000, 12_000] {
            window
                .run(&format!(
                    "const at = document.getElementById('at'); at.value = {cycle}; at.dispatchEvent(new Event('input'))"
                ))
                .await;
            let shown = (
                number(window.text("#waiting").await),
                number(window.text("#resident").await),
                number(window.text("#done").await),
            );
            assert_eq!(shown, block_counts(cycle), "cycle {cycle}");
        }
        window.click("#first").await;
        window.click("#play").await;
        window.until("the clock runs", "return Number(document.getElementById('at').value) > 300").await;
        window.click("#play").await;
        let stopped = window.run("return document.getElementById('at').value").await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        assert_eq!(
            window.run("return document.getElementById('at').value").await,
            stopped,
            "it goes on though it was paused"
        );
        window.click("#story li:nth-child(10) button").await;
        let cycle = window.run("return Number(document.getElementById('at').value)").await;
        assert_eq!(cycle, story[9]["cycle"], "an event of the story leads to its cycle");
        window.set("element", 5).await;
        assert!(
            window.text("#hint").await.contains("Element 5 is block 0, thread 5: warp 0, lane 5"),
            "{}",
            window.text("#hint").await
        );
        assert!(window.text("#story").await.contains("odd lanes, ours among them"));
    })
}
