//! The panel that starts a run of a lab and shows how far it is. A plain form: with the script it does not leave the page.

use maud::{Markup, html};
use warpwise_simt::device::{Device, devices};

use crate::book::runs::Job;
use crate::lab::Lab;

pub fn panel(lab: &Lab, device: &Device, going_on: Option<&Job>) -> Markup {
    html! {
        form.panel #run-form method="post" action={ "/labs/" (lab.id) "/run" } data-lab=(lab.id) data-run=[going_on.map(|job| job.id)] {
            div.field {
                label for="run-device" { "Device" }
                select #run-device name="device" {
                    @for known in devices() {
                        option value=(known.name) selected[known.name == device.name] {
                            (known.name) " (" (known.sm_count) " SMs)" @if !known.validated { ", not held against one" }
                        }
                    }
                }
            }
            div.field {
                label for="run-isa" { "Code" }
                select #run-isa name="isa" {
                    option value="auto" selected { "SASS where there is, else PTX" }
                    option value="ptx" { "PTX" }
                    option value="sass" { "SASS" }
                }
            }
            button.primary #start type="submit" { "Run it" }
            button #cancel type="submit" formaction={ "/labs/" (lab.id) "/cancel" } formnovalidate hidden[going_on.is_none()] { "Cancel" }
            div.progress #progress hidden[going_on.is_none()] {
                progress #bar max="100" aria-label="Progress of the run" {}
                p #status role="status" aria-live="polite" {
                    @if going_on.is_some() { "This lab is being run. Load the page again to see what it found." }
                }
            }
        }
    }
}
