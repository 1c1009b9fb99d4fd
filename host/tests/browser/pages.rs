//! Every page, at two sizes; and a lab that is run from its page.

use warpwise::labs::LABS;

use super::browser::{Browser, Future, SIZES};

/// Pages that no table lists.
const OTHERS: [&str; 7] = ["/", "/explore", "/quiz", "/walk", "/roofline", "/hierarchy", "/nothing-here"];

pub fn no_errors(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        let explorers = window.links("/explore", "/explore/").await;
        assert!(explorers.len() >= 11, "{explorers:?}");
        let mut paths: Vec<String> = OTHERS.map(str::to_owned).to_vec();
        paths.extend((1..=4).map(|chapter| format!("/chapters/{chapter}")));
        paths.extend(LABS.iter().map(|lab| format!("/labs/{}", lab.id)));
        paths.extend(explorers);
        for (size, width, height) in SIZES {
            window.size(width, height).await;
            for path in &paths {
                window.goto(path).await;
                let too_wide = window
                    .run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    .await;
                assert_eq!(too_wide, 0, "{path} is wider than a {size}");
                let name = path.trim_matches('/').replace('/', "-");
                if !path.starts_with("/labs/") || path == "/labs/life" {
                    // All of it, up to some length.
                    let length = window.run("return Math.min(3000, document.documentElement.scrollHeight + 200)").await;
                    window.size(width, length.as_u64().unwrap_or_default() as u32).await;
                    window.picture(&super::pictures::folder().join(format!("{size}-{name}.png"))).await;
                    window.size(width, height).await;
                }
            }
        }
        // The browser itself notes that a page is not there.
        let said = window.console().await;
        let unexpected: Vec<&String> = said.iter().filter(|line| !line.contains("nothing-here")).collect();
        assert!(unexpected.is_empty(), "{unexpected:?}");
    })
}

impl Browser {
    /// Addresses on a page that begin with a prefix.
    async fn links(&self, page: &str, prefix: &str) -> Vec<String> {
        self.goto(page).await;
        let script = format!(
            "return [...document.querySelectorAll('main a')].map((a) => a.getAttribute('href')).filter((a) => a.startsWith('{prefix}'))"
        );
        let found = self.run(&script).await;
        found.as_array().expect("a list").iter().filter_map(|link| link.as_str().map(str::to_owned)).collect()
    }
}

pub fn run_a_lab(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/labs/guard").await;
        window.click("#start").await;
        window
            .until(
                "the step is shown",
                "return document.getElementById('status').textContent.includes('the second of two')",
            )
            .await;
        window.goto("/labs/guard").await;
        window
            .until(
                "a page opened later shows the same run",
                "return document.getElementById('status').textContent.includes('the second of two')",
            )
            .await;
        window.click("#cancel").await;
        window
            .until(
                "it says that it was cancelled",
                "return document.getElementById('status').textContent === 'Cancelled.'",
            )
            .await;
        assert!(window.text("#results").await.contains("No run on this device"), "a cancelled run left results");
        std::fs::write(window.folder.join("quick"), "").expect("a file");
        window.click("#start").await;
        window
            .until(
                "the results appear without another page",
                "return document.getElementById('results').textContent.includes('it was run')",
            )
            .await;
        assert!(window.text(".claims .verdict").await.contains("holds"));
        std::fs::remove_file(window.folder.join("quick")).expect("its removal");
    })
}

pub fn walk(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/walk").await;
        assert!(window.text("details[open]").await.contains("goes on at once"), "the launch's line is open at first");
        window.click("details[open] summary").await;
        window.click("details[open] summary, #host ~ .walk-lines details summary").await;
        window.press(&fantoccini::key::Key::Down.to_string()).await;
        window.until("the next line is open", "return [...document.querySelectorAll('details[open]')].some((line) => line.textContent.includes('let a ='))").await;
        let open = window.run("return document.querySelectorAll('#host ~ .walk-lines details[open]').length").await;
        assert_eq!(open, 1, "one line at a time");
    })
}
