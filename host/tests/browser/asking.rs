//! Explorers and pages whose answer is a run or a compilation: conditions, branches, listings, launches, questions.

use fantoccini::key::Key;
use serde_json::Value;

use super::browser::{Browser, Future};

pub fn uniform(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/uniform").await;
        assert_eq!(window.text("#headline").await, "threadIdx.x % 2 == 0 parts every one of the 32 warps");
        assert_eq!(window.count("#warps .on").await, 512, "every other lane of 32 warps");
        window.click("[data-value='(tid / 32) % 2']").await;
        window.answered().await;
        assert!(window.text("#headline").await.ends_with("parts none of the 32 warps"));
        assert!(window.text("#hint").await.contains("known to be uniform before it runs"));
        assert_eq!(window.text("[data-level='warp'] td").await, "yes, all 32 warps");
        assert_eq!(window.text("[data-level='block'] td").await, "no, none of 4 blocks");
        // As a person types: letter by letter, with what is no condition yet in between.
        let field = window.client.find(fantoccini::Locator::Css("#condition")).await.expect("the field");
        field.clear().await.expect("an empty field");
        field.send_keys("i < n && a[i] > 0").await.expect("keys");
        window.until("the condition is answered", "return document.getElementById('headline').textContent.startsWith('i < n && a[i] > 0 parts 32 of') || document.getElementById('headline').textContent.startsWith('i < n && a[i] > 0 parts every')").await;
        let answer = window.ask("uniform?condition=i+%3C+n+%26%26+a%5Bi%5D+%3E+0&grid_x=4&grid_y=1&block_x=256&block_y=1&block_z=1&n=1003").await;
        assert_eq!(window.count("#warps .parted").await as u64, answer["parted"].as_u64().expect("a count"));
        assert!(window.text("#hint").await.contains(&format!("holds for {} of 1,024 threads", answer["holding"])));
        window.set("condition", "lane <").await;
        assert!(window.text("#problem").await.contains("at letter 7"), "{}", window.text("#problem").await);
    })
}

pub fn branches(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/branches").await;
        window.set("kernel", "vecadd").await;
        let answer = window.ask("branches?kernel=vecadd&blocks=4&block_x=256&block_y=1&n=1003&number=4").await;
        let branches = answer["branches"].as_array().expect("branches");
        assert_eq!(window.count("#branches tbody tr").await, branches.len());
        assert_eq!(window.text("#branches td.parts").await, "once");
        window.click("#branches a").await;
        window
            .until(
                "the condition is tried",
                "return document.getElementById('headline')?.textContent === 'i < n parts 1 of 32 warps'",
            )
            .await;
    })
}

pub fn pipeline(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/pipeline").await;
        for (kernel, arch, cap) in [("branch_paths", "sm_120", 0), ("heavy", "sm_90", 0), ("heavy", "sm_120", 40)] {
            window.set("kernel", kernel).await;
            window.set("arch", arch).await;
            window.set("cap", cap).await;
            let answer = window.ask(&format!("pipeline?kernel={kernel}&arch={arch}&cap={cap}")).await;
            let headline = window.text("#headline").await;
            let registers = answer["registers"].as_u64().expect("a count");
            assert!(headline.starts_with(&format!("{kernel} for {arch}: {registers} registers (ptxas)")), "{headline}");
            assert!(cap == 0 || registers == cap, "a cap of {cap} gives {registers}");
            let spills = answer["spill_store_bytes"].as_u64().expect("bytes");
            assert_eq!(headline.contains("no spills"), spills == 0, "{headline}");
            for name in ["rust", "ptx", "sass"] {
                let lines = answer[name].as_array().expect("lines");
                assert_eq!(
                    window.count(&format!("#{name} .code-line")).await,
                    lines.len(),
                    "{kernel}, {arch}, {cap}: {name}"
                );
            }
        }
        let capped = window.ask("pipeline?kernel=heavy&arch=sm_120&cap=40").await;
        // A line that is held marks its lines in all three.
        let sass = capped["sass"].as_array().expect("lines");
        let of_place = |name: &str, place: &Value| {
            capped[name].as_array().expect("lines").iter().filter(|line| line["place"] == *place).count()
        };
        let at = sass.iter().position(|line| line["opcode"] == "FFMA" && line["place"].is_string()).expect("an FFMA");
        let place = &sass[at]["place"];
        window
            .run(&format!("document.querySelectorAll('#sass .code-line')[{at}].scrollIntoView({{ block: 'center' }})"))
            .await;
        window.click(&format!("#sass .code-line:nth-child({})", at + 1)).await;
        for name in ["rust", "ptx", "sass"] {
            assert_eq!(
                window.count(&format!("#{name} .code-line.here")).await,
                of_place(name, place),
                "{place} in {name}"
            );
        }
        // By keyboard: a listing is entered, up and down go through it, and each opcode has its words.
        window.run("document.querySelectorAll('#sass .code-line')[0].focus()").await;
        let to = sass.iter().position(|line| line["opcode"].is_string()).expect("an instruction");
        for _ in 0..to {
            window.press(&Key::Down.to_string()).await;
        }
        let opcode = sass[to]["opcode"].as_str().expect("an opcode");
        let words = window.text("#words").await;
        let meaning = capped["words"][opcode].as_str().expect("its words");
        assert!(words.starts_with(meaning.trim()), "{opcode}: {words}");
        let title = window.run("return document.activeElement.querySelector('abbr').title").await;
        assert_eq!(title, meaning);
    })
}

pub fn launch(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/labs/guard").await;
        assert_eq!(window.text("#headline").await, "", "a lab's page launches nothing by itself");
        for (name, value) in [("device", "H200"), ("block", "128"), ("n", "1003")] {
            window.run(&format!("document.getElementById('controls').elements['{name}'].value = '{value}'")).await;
        }
        window.click("#launch").await;
        window
            .until(
                "the launch is answered",
                "return document.getElementById('headline').textContent.startsWith('vecadd on the H200')",
            )
            .await;
        let answer = window.ask("launch?device=H200&kernel=vecadd&block=128&n=1003&number=4").await;
        for row in answer["rows"].as_array().expect("rows") {
            let shown = window.text(&format!("#found [data-fact='{}']", row[0].as_str().expect("a name"))).await;
            assert_eq!(shown, row[1], "{}", row[0]);
        }
        assert!(
            window.text("#hint").await.contains("8 blocks, 1,024 threads, of which 21"),
            "{}",
            window.text("#hint").await
        );
    })
}

pub fn quiz(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/quiz").await;
        let said = "document.querySelector('#blocks [role=status]')";
        for (answer, right, says) in
            [("3906", "false", "No: the machine finds 3907"), ("3907", "true", "Right: the machine finds 3907")]
        {
            window.click(&format!("#blocks button[value='{answer}']")).await;
            window.until("the machine has answered", &format!("return {said}.textContent.startsWith('{says}')")).await;
            assert_eq!(window.run(&format!("return {said}.dataset.right")).await, right);
            assert_eq!(window.text("#blocks button[aria-pressed=true]").await, answer);
        }
        let others = window.run("return [...document.querySelectorAll('form.question:not(#blocks) [role=status]')].every((status) => status.textContent.trim() === '')").await;
        assert_eq!(others, true, "one answer says nothing of other questions");
    })
}

pub fn roofline(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/roofline").await;
        assert!(window.text("#results").await.contains("the roof of its data sheet"));
        let point = "a[href='#measured-heavy']";
        window.run(&format!("document.querySelector(\"{point}\").scrollIntoView({{ block: 'center' }}); document.querySelector(\"{point}\").focus()")).await;
        window.press(&Key::Enter.to_string()).await;
        let chosen = "return document.querySelector('tr:target')?.textContent ?? ''";
        let row = window.run(chosen).await;
        let (_, kept) = warpwise::book::measured::lab("roofline").expect("a run is kept");
        let rows = |table: &Value| table["rows"].as_array().cloned().unwrap_or_default();
        let mut kept = kept["tables"].as_array().expect("tables").iter().flat_map(rows);
        let heavy = kept.find(|row| row[0] == "heavy").expect("heavy was measured");
        let share = heavy[4].as_str().expect("its share of the roof");
        assert!(row.as_str().is_some_and(|row| row.starts_with("heavy") && row.contains(share)), "{row}");
        window.run("document.querySelector('tr:target a').scrollIntoView({ block: 'center' })").await;
        window.click("tr:target a").await;
        window
            .until(
                "its code is shown",
                "return document.getElementById('headline')?.textContent.startsWith('heavy for') === true",
            )
            .await;
    })
}
