//! Pictures: of every explorer for people to look at, and the README's two.
//!
//! They are written into the target folder; the README's only where `WARPWISE_PICTURES` asks for it, since fonts differ from
//! computer to computer.

use std::path::{Path, PathBuf};

use super::browser::{Browser, Future};

/// Where pictures of this run are put.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures")
}

pub fn take(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        let is_asked_for = std::env::var_os("WARPWISE_PICTURES").is_some();
        let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
        let folder = if is_asked_for { readme } else { folder() };
        for (name, path, height, from) in [
            ("film", "/explore/film", 1000, "#headline"),
            ("occupancy", "/explore/occupancy?registers=41", 1000, "#controls"),
        ] {
            window.size(1280, height).await;
            window.goto(path).await;
            if name == "film" {
                window.run("const at = document.getElementById('at'); at.value = 3050; at.dispatchEvent(new Event('input'))").await;
            } else {
                window
                    .until(
                        "the labs' kernels are there",
                        "return document.querySelectorAll('#by-registers .mark').length > 20",
                    )
                    .await;
            }
            window.run(&format!("document.querySelector('{from}').scrollIntoView({{ block: 'start' }})")).await;
            let file = folder.join(format!("{name}.png"));
            window.picture(&file).await;
            let bytes = std::fs::metadata(&file).expect("the picture").len();
            assert!((20_000..600_000).contains(&bytes), "{name}: {bytes} bytes");
        }
    })
}
