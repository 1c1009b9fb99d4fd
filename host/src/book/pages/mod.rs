//! The pages, one file each, over one [`layout`].

pub mod chapter;
pub mod hierarchy;
pub mod index;
pub mod lab;
pub mod layout;
mod plots;
pub mod quiz;
mod results;
pub mod roofline;
mod run_panel;
pub mod walk;
