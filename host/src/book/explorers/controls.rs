//! The knobs: each with a label, its limits, and a name that is the question's.

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
