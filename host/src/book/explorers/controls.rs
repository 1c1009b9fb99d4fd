//! The knobs: each with a label, its limits, and a name that is the question's; and the buttons of a figure that has a place in time.

use maud::{Markup, html};
use warpwise_simt::device::{Device, devices};

/// A form whose answers come from `/api/explore/ID`; the script asks whenever a knob is turned.
pub fn form(id: &str, knobs: &Markup) -> Markup {
    html! {
        form.panel.controls #controls data-api={ "/api/explore/" (id) } autocomplete="off" { (knobs) }
        p.static-only.aside { "A recorded answer: in the program, the knobs turn." }
        p.problem #problem role="alert" hidden {}
    }
}

/// A number that is typed, and a slider beside it that is the same number.
pub fn slider(name: &str, label: &str, (least, most, step): (i64, i64, i64), value: i64) -> Markup {
    html! {
        div.field.slider {
            label for=(name) { (label) }
            div.pair {
                input type="range" min=(least) max=(most) step=(step) value=(value) data-for=(name) aria-label={ (label) ", as a slider" };
                input type="number" id=(name) name=(name) min=(least) max=(most) step=(step) value=(value);
            }
        }
    }
}

/// A number that is typed.
pub fn number(name: &str, label: &str, (least, most): (i64, i64), value: i64) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            input type="number" id=(name) name=(name) min=(least) max=(most) value=(value);
        }
    }
}

/// One of several words: each is the value and what is shown for it.
pub fn choice(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                @for (value, text) in options { option value=(value) selected[*value == chosen] { (text) } }
            }
        }
    }
}

/// A device.
pub fn device() -> Markup {
    let names: Vec<(&str, &str)> =
        devices().iter().map(|device| (device.name.as_str(), device.name.as_str())).collect();
    choice("device", "Device", &names, &Device::default_device().name)
}

/// A text that is typed.
pub fn text(name: &str, label: &str, letters_max: usize, value: &str) -> Markup {
    html! {
        div.field.line {
            label for=(name) { (label) }
            input type="text" id=(name) name=(name) maxlength=(letters_max) value=(value) spellcheck="false" autocapitalize="off";
        }
    }
}

/// Values to begin with: each button sets the knob of that name.
pub fn examples(name: &str, label: &str, values: &[&str]) -> Markup {
    html! {
        div.field { span.label { (label) } div.buttons {
            @for value in values { button type="button" data-sets=(name) data-value=(value) { (value) } }
        } }
    }
}

/// A button that moves: its id, what stands on it, what it does, and whether it is the one most used.
pub struct Move {
    pub id: &'static str,
    pub sign: &'static str,
    pub title: &'static str,
    pub is_main: bool,
}

impl Move {
    pub const fn new(id: &'static str, sign: &'static str, title: &'static str) -> Self {
        Self { id, sign, title, is_main: false }
    }

    pub const fn main(self) -> Self {
        Self { is_main: true, ..self }
    }
}

/// What moves a figure through time: buttons, speeds if it plays at several, and a slider.
pub struct Transport {
    pub what: &'static str,
    /// What the slider's numbers are.
    pub place: &'static str,
    pub moves: &'static [Move],
    /// Places a second, with words.
    pub speeds: &'static [(&'static str, &'static str)],
}

pub fn transport(transport: &Transport) -> Markup {
    let is_sign = |sign: &str| sign.chars().count() == 1;
    html! {
        div.transport role="group" aria-label=(transport.what) {
            @for one in transport.moves {
                button type="button" id=(one.id) title=(one.title) class=[one.is_main.then_some("primary")] {
                    (one.sign) @if is_sign(one.sign) { span.sr { (one.title) } }
                }
            }
            @if !transport.speeds.is_empty() {
                label.sr for="speed" { "Speed" }
                select #speed { @for (index, (value, words)) in transport.speeds.iter().enumerate() {
                    option value=(value) selected[index == transport.speeds.len() / 2] { (words) }
                } }
            }
            input type="range" #at min="0" max="0" value="0" aria-label=(transport.place);
        }
    }
}
