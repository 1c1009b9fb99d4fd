//! Explorers that answer to their knobs.

use fantoccini::key::Key;
use warpwise_simt::device::Device;
use warpwise_simt::occupancy::{Request, calculate};

use super::browser::{Browser, Future};

pub fn occupancy(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/occupancy").await;
        for (block, registers) in [(256, 40), (256, 41), (1024, 32), (512, 80), (32, 16)] {
            window.set("block", block).await;
            window.set("registers", registers).await;
            let found =
                calculate(&Device::default_device().limits, &Request::new(block, registers)).expect("a request");
            let headline = window.text("#headline").await;
            let warps = format!(
                "{} of {} warps, {:.0}%",
                found.warps_per_sm(),
                found.max_warps_per_sm,
                100.0 * found.theoretical()
            );
            assert!(headline.contains(&warps), "{block}, {registers}: {headline} lacks {warps}");
            assert_eq!(window.count(".place.even, .place.odd").await as i64, found.warps_per_sm());
            assert_eq!(window.count(".bar.decides").await, found.limiters.len(), "{block}, {registers}");
        }
        window
            .until(
                "the labs' kernels stand on the curve",
                "return document.querySelectorAll('#by-registers .mark').length > 20",
            )
            .await;
        window.run("document.querySelector('#by-registers svg').scrollIntoView({ block: 'center' })").await;
        window.click("#by-registers svg").await;
        window.answered().await;
        let chosen = window.run("return Number(document.getElementById('registers').value)").await;
        assert!(
            chosen.as_f64().is_some_and(|registers| (120.0..150.0).contains(&registers)),
            "a click in the curve's middle chose {chosen}"
        );
        let slider = window.run("return document.querySelector('[data-for=registers]').value === document.getElementById('registers').value").await;
        assert_eq!(slider, true, "slider and number are one knob");
        // The knobs' places are in the address.
        let address = window.client.current_url().await.expect("an address").to_string();
        window.client.goto(&address).await.expect("the page again");
        window.answered().await;
        assert_eq!(window.run("return Number(document.getElementById('registers').value)").await, chosen);
    })
}

pub fn ids(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/ids").await;
        window.set("block_x", 16).await;
        window.set("block_y", 16).await;
        window.click("#block-map .cell:nth-child(38)").await;
        window.answered().await;
        assert!(
            window.text("#headline").await.contains("Thread 37 of block 1: warp 1, lane 5"),
            "{}",
            window.text("#headline").await
        );
        assert_eq!(window.text("[data-fact='threadIdx']").await, "(5, 2, 0)");
        window.press(&Key::Right.to_string()).await;
        window
            .until("the key moves on", "return document.getElementById('headline').textContent.includes('Thread 38')")
            .await;
        window.press(&Key::Down.to_string()).await;
        window.until("and a row down", "return document.getElementById('headline').textContent.includes('Thread 70 of block 1: warp 2, lane 6')").await;
        window.click("#grid .cell:nth-child(4)").await;
        window.answered().await;
        assert_eq!(window.text("[data-fact='blockIdx']").await, "(3, 0, 0)");
    })
}

pub fn shapes(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/shapes").await;
        for (shape, sectors, rows) in
            [("32×8", 4, "one row"), ("16×16", 4, "2 rows"), ("4×64", 8, "8 rows"), ("8×32", 4, "4 rows")]
        {
            window.set("width", 256).await;
            window.set("pitch", 256).await;
            window.click(&format!("[data-value='{shape}']")).await;
            window
                .until(
                    "the shape is shown",
                    &format!("return document.getElementById('headline').textContent.startsWith('{shape}:')"),
                )
                .await;
            window.answered().await;
            let headline = window.text("#headline").await;
            assert!(headline.contains(rows) && headline.contains(&format!("touches {sectors} sectors")), "{headline}");
            assert_eq!(window.count(".sector").await, sectors, "{shape}");
        }
        window.set("thread", 0).await;
        window.click("#shape .cell:nth-child(256)").await;
        window.answered().await;
        assert!(window.text("#hint").await.contains("tid 255: warp 7, lane 31"), "{}", window.text("#hint").await);
        assert_eq!(window.count("#shape .cell:not(.faint)").await, 32, "the warp of the thread stands out");
    })
}

pub fn memory(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/memory").await;
        for (stride, padding, bytes) in [(1, 0, 4), (2, 0, 4), (32, 0, 4), (32, 1, 4), (1, 0, 16), (0, 0, 4)] {
            window.set("bytes", bytes).await;
            window.set("stride", stride).await;
            window.set("padding", padding).await;
            let answer =
                window.ask(&format!("memory?stride={stride}&offset=0&bytes={bytes}&padding={padding}&lanes=32")).await;
            let headline = window.text("#headline").await;
            assert!(headline.contains(&format!("Global: {} sectors", answer["sector_count"])), "{headline}");
            assert!(headline.contains(&format!("Shared: {} pass", answer["passes"])), "{headline}");
            assert_eq!(window.count(".strips li").await as u64, answer["sector_count"].as_u64().expect("a count"));
            let used = window.count(".strip .used").await as u64;
            assert_eq!(used, answer["bytes_used"].as_u64().expect("a count"), "stride {stride}");
        }
    })
}

pub fn refused(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/memory").await;
        window.set("offset", 3).await;
        assert!(window.text("#problem").await.contains("multiple of 4"), "{}", window.text("#problem").await);
        window.set("offset", 4).await;
        assert_eq!(
            window.run("return document.getElementById('problem').hidden").await,
            true,
            "the problem is gone with its cause"
        );
        assert!(window.text("#headline").await.contains("5 sectors"));
    })
}
