//! The roofline: what a device can do at most with so many operations a byte, and every kernel under it. Each point leads to its
//! kernel's row, and from there to its code and to a launch of one's own.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;
use warpwise_simt::device::Device;

use super::lab::Options;
use super::{layout, run_panel};
use crate::book::problem::Problem;
use crate::book::{Site, measured};
use crate::claim::format::real;
use crate::labs::roofline::{LAB, sheet};

pub async fn page(State(site): State<Arc<Site>>, Query(options): Query<Options>) -> Result<Html<String>, Problem> {
    let device = options.device()?;
    let recorded = site.recorded.load(&LAB, &device.name);
    let run = recorded.as_ref().and_then(|run| Roofline::of(&run["labs"][0]));
    let body = html! {
        section.lead {
            p.eyebrow { (LAB.sections) }
            h1 { "Every kernel under the roof" }
            p { "Left of the ridge memory sets the pace, right of it arithmetic. How far a kernel is below the roof is what there is to gain. "
                "The lab behind it: " a href="/labs/roofline" { "roofline" } "." }
        }
        section.live-only aria-labelledby="run" { h2 #run { "Run it on a device" }
            (run_panel::panel(&LAB, device, site.runs.going_on(&LAB).as_deref())) }
        div #results {
            section aria-labelledby="modelled" {
                h2 #modelled { (device.name) ", modelled" }
                @match &run {
                    Some(run) => (figure(run, "modelled")),
                    None => (by_sheet(device)),
                }
            }
        }
        @if let Some((file, lab)) = measured::lab(LAB.id) {
            @if let Some(run) = Roofline::of(lab) {
                section aria-labelledby="measured" {
                    h2 #measured { (measured::DEVICE) ", measured" }
                    p.from { "Kept in docs/measurements/" (file) "." }
                    (figure(&run, "measured"))
                }
            }
        }
    };
    Ok(Html(layout::page_with("Every kernel under the roof", "/explore", &["run.js"], &body).into_string()))
}

/// A roof and the kernels under it, as the lab's report has them.
struct Roofline<'a> {
    roof: Vec<[f64; 2]>,
    kernels: Vec<Kernel<'a>>,
}

struct Kernel<'a> {
    name: &'a str,
    /// Operations a byte.
    intensity: f64,
    side: &'a str,
    /// GFLOP/s; `None` where it was not timed.
    rate: Option<f64>,
    /// Of the roof.
    share: &'a str,
}

impl<'a> Roofline<'a> {
    fn of(lab: &'a Value) -> Option<Self> {
        let plot = lab["plots"].as_array()?.iter().find(|plot| title(plot).starts_with("Every kernel"))?;
        let roof = plot["series"].as_array()?.iter().find(|series| series["name"] == "roof")?["points"].as_array()?;
        let roof = roof.iter().filter_map(|point| Some([point[0].as_f64()?, point[1].as_f64()?])).collect();
        let table = lab["tables"].as_array()?.iter().find(|table| title(table).starts_with("every kernel"))?;
        let kernels = table["rows"].as_array()?.iter().filter_map(|row| {
            let text = |column: usize| row[column].as_str().unwrap_or_default();
            let intensity = row[1].as_f64()?;
            Some(Kernel { name: text(0), intensity, side: text(2), rate: row[3].as_f64(), share: text(4) })
        });
        Some(Self { roof, kernels: kernels.collect() })
    }
}

fn title(part: &Value) -> &str {
    part["title"].as_str().unwrap_or_default()
}

/// What can be said without a run.
fn by_sheet(device: &Device) -> Markup {
    let roof = sheet(device);
    html! {
        p.from { "No run on this device is recorded yet: this is the roof of its data sheet. Run the lab, and its kernels stand under it." }
        (drawing(&roof.line(), &[], "sheet"))
        p { (real(roof.gflops)) " GFLOP/s and " (real(roof.gbs)) " GB/s meet at " (real(roof.ridge())) " operations a byte." }
    }
}

fn figure(run: &Roofline<'_>, how: &str) -> Markup {
    html! {
        (drawing(&run.roof, &run.kernels, how))
        div.wide { table {
            thead { tr { th scope="col" { "kernel" } th scope="col" { "operations a byte" } th scope="col" { "set by" }
                th scope="col" { "GFLOP/s, " (how) } th scope="col" { "of the roof" } th scope="col" { "look at" } } }
            tbody { @for kernel in &run.kernels {
                tr id={ (how) "-" (kernel.name) } {
                    th scope="row" { code { (kernel.name) } }
                    td { (real(kernel.intensity)) } td { (kernel.side) }
                    td { (kernel.rate.map_or("not timed".to_owned(), real)) } td { (kernel.share) }
                    td { a href={ "/explore/pipeline?kernel=" (kernel.name) } { "its code" } " · "
                         a href={ "/explore/launch?kernel=" (kernel.name) } { "a launch" } }
                }
            } }
        } }
    }
}

const SIZE: [f64; 2] = [960.0, 460.0];
const MARGIN: [f64; 2] = [70.0, 46.0];

/// Both axes in decades.
struct Scale {
    from: [f64; 2],
    to: [f64; 2],
}

impl Scale {
    fn of(roof: &[[f64; 2]], kernels: &[Kernel<'_>]) -> Self {
        let points = kernels.iter().filter_map(|kernel| Some([kernel.intensity, kernel.rate?]));
        let all: Vec<[f64; 2]> = roof.iter().copied().chain(points).filter(|[x, y]| *x > 0.0 && *y > 0.0).collect();
        let ends = |axis: usize| {
            let values = || all.iter().map(|point| point[axis].log10());
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let [x, y] = [ends(0), ends(1)];
        Self { from: [x.0, y.0.floor()], to: [x.1, y.1 + 0.15] }
    }

    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        let share = |axis: usize| (point[axis].log10() - self.from[axis]) / (self.to[axis] - self.from[axis]);
        let [width, height] = [SIZE[0] - MARGIN[0] - 20.0, SIZE[1] - MARGIN[1] - 16.0];
        [MARGIN[0] + share(0) * width, 16.0 + (1.0 - share(1)) * height]
    }

    /// Powers of ten on an axis.
    fn decades(&self, axis: usize) -> impl Iterator<Item = f64> {
        (self.from[axis].ceil() as i32..=self.to[axis].floor() as i32).map(|power| 10_f64.powi(power))
    }
}

fn drawing(roof: &[[f64; 2]], kernels: &[Kernel<'_>], how: &str) -> Markup {
    let scale = Scale::of(roof, kernels);
    let [right, bottom] = [SIZE[0] - 20.0, SIZE[1] - MARGIN[1]];
    let line = roof.iter().enumerate().map(|(index, point)| {
        let [x, y] = scale.place(*point);
        format!("{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" })
    });
    let line: String = line.collect();
    let named = named(kernels, &scale);
    html! {
        figure.roofline {
            svg.chart viewBox={ "0 0 " (SIZE[0]) " " (SIZE[1]) } role="group" aria-label="Kernels by operations a byte and their rate, under the roof" {
                @for value in scale.decades(1) {
                    @let [_, y] = scale.place([roof[0][0], value]);
                    line.rule x1=(MARGIN[0]) x2=(right) y1=(y) y2=(y) {}
                    text x=(MARGIN[0] - 8.0) y=(y + 4.0) text-anchor="end" { (real(value)) }
                }
                @for value in scale.decades(0) {
                    @let [x, _] = scale.place([value, roof[0][1]]);
                    line.rule x1=(x) x2=(x) y1="16" y2=(bottom) {}
                    text x=(x) y=(bottom + 18.0) text-anchor="middle" { (real(value)) }
                }
                text.axis x=(right) y=(SIZE[1] - 6.0) text-anchor="end" { "operations a byte that has to move" }
                text.axis x="4" y="12" { "GFLOP/s" }
                path.curve d=(line) {}
                @for (kernel, is_named) in kernels.iter().zip(named) {
                    @if let Some(rate) = kernel.rate {
                        @let [x, y] = scale.place([kernel.intensity, rate]);
                        a.point.named[is_named] href={ "#" (how) "-" (kernel.name) } {
                            title { (kernel.name) ": " (real(kernel.intensity)) " operations a byte, " (real(rate)) " GFLOP/s, " (kernel.share) " of the roof" }
                            circle cx=(x) cy=(y) r="6" {}
                            text x=(x) y=(y - 11.0) text-anchor=(if x > SIZE[0] * 0.8 { "end" } else { "middle" }) { (kernel.name) }
                        }
                    }
                }
            }
            @if !kernels.is_empty() { figcaption { "A point is a kernel; it has its name while it is pointed at or has the focus, and leads to its row." } }
        }
    }
}

/// Room that a name takes: half its width a letter, and its height.
const NAME: [f64; 2] = [4.2, 13.0];

/// Which kernels have their names beside them always: those whose names hide no point and no other name.
fn named(kernels: &[Kernel<'_>], scale: &Scale) -> Vec<bool> {
    let places: Vec<Option<[f64; 2]>> =
        kernels.iter().map(|kernel| Some(scale.place([kernel.intensity, kernel.rate?]))).collect();
    let mut taken: Vec<[f64; 4]> = places.iter().flatten().map(|[x, y]| [x - 7.0, x + 7.0, y - 7.0, y + 7.0]).collect();
    let mut has_room = |kernel: &Kernel<'_>, [x, y]: [f64; 2]| {
        let half = NAME[0] * kernel.name.len() as f64;
        let room = [x - half, x + half, y - 11.0 - NAME[1], y - 8.0];
        let meets =
            |other: &[f64; 4]| room[0] < other[1] && other[0] < room[1] && room[2] < other[3] && other[2] < room[3];
        let is_free = !taken.iter().any(meets);
        if is_free {
            taken.push(room);
        }
        is_free
    };
    kernels.iter().zip(&places).map(|(kernel, place)| place.is_some_and(|place| has_room(kernel, place))).collect()
}
