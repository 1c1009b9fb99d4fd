//! Names, contrast, focus: the basics without which a page shuts people out.

use fantoccini::key::Key;
use serde_json::Value;

use super::browser::{Browser, Future};

const PAGES: [&str; 16] = [
    "/",
    "/chapters/1",
    "/labs/life",
    "/explore/occupancy",
    "/explore/ids",
    "/explore/shapes",
    "/explore/memory",
    "/explore/stepper",
    "/explore/film",
    "/explore/uniform",
    "/explore/branches",
    "/explore/launch",
    "/explore/pipeline",
    "/explore/schedulers",
    "/roofline",
    "/hierarchy",
];

/// Controls without a name, and pages without a language, a title, one first heading.
const NAMES: &str = r"
const found = [];
for (const control of document.querySelectorAll('input, select, button, a, canvas, progress')) {
  const label = control.labels?.length ? [...control.labels].map((label) => label.textContent).join(' ') : '';
  const name = control.getAttribute('aria-label') || label || control.textContent || control.title;
  if (!name.trim() && control.type !== 'hidden') found.push(control.outerHTML.slice(0, 120));
}
for (const id of [...document.querySelectorAll('[id]')].map((element) => element.id).filter((id, index, all) => all.indexOf(id) !== index)) found.push(`two elements have the id ${id}`);
if (!document.documentElement.lang) found.push('no language');
if (!document.title) found.push('no title');
if (document.querySelectorAll('h1').length !== 1) found.push('not one first heading');
return found;";

/// Text that stands out too little from what is behind it: less than 4.5 to 1, or 3 to 1 where it is large (WCAG 2.1, 1.4.3).
const CONTRAST: &str = r"
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
function channels(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return { rgb: [r, g, b], a: a / 255 };
}
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
function behind(element) {
  for (let at = element; at; at = at.parentElement) {
    const ground = channels(getComputedStyle(at).backgroundColor);
    if (ground.a > 0.99) return ground.rgb;
  }
  return [255, 255, 255];
}
const found = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || element.closest('[hidden], script, noscript, .sr, .skip, option, svg title')) continue;
  const style = getComputedStyle(element);
  if (style.visibility === 'hidden' || !element.getClientRects().length) continue;
  const ink = channels(element.closest('svg') ? style.fill : style.color).rgb;
  const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (isLarge ? 3 : 4.5)) found.add(`${ratio.toFixed(2)}: ${walker.currentNode.textContent.trim().slice(0, 40)} (${element.className.baseVal ?? element.className})`);
}
return [...found];";

pub fn controls_and_contrast(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        for path in PAGES {
            window.goto(path).await;
            for (what, script) in [("names", NAMES), ("contrast", CONTRAST)] {
                let found = window.run(script).await;
                assert_eq!(found, Value::Array(Vec::new()), "{path}: {what}");
            }
        }
    })
}

pub fn keyboard(window: &Browser) -> Future<'_> {
    Box::pin(async move {
        window.goto("/explore/occupancy").await;
        let mut reached = Vec::new();
        for _ in 0..24 {
            window.press(&Key::Tab.to_string()).await;
            let script = "const at = document.activeElement; const style = getComputedStyle(at); \
                          return [at === document.body ? '' : at.id || at.dataset.for || at.textContent.trim(), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]";
            let at = window.run(script).await;
            let name = at[0].as_str().unwrap_or_default().to_owned();
            if name.is_empty() {
                break;
            }
            assert_eq!(at[1], true, "{name} does not show its focus");
            reached.push(name);
        }
        for knob in ["Skip to the content", "Explorers", "device", "block", "registers", "shared", "carveout"] {
            assert!(reached.iter().any(|name| name == knob), "the keyboard never came to {knob}: {reached:?}");
        }
        window.run("document.getElementById('registers').focus()").await;
        window.press(&Key::Up.to_string()).await;
        window
            .until(
                "the number's key asks again",
                "return document.getElementById('headline').textContent.includes('83%')",
            )
            .await;
    })
}
