//! The pages, one file each, over one [`layout`].

pub mod chapter;
pub mod index;
pub mod lab;
pub mod layout;
mod plots;
pub mod quiz;
mod results;
mod run_panel;
pub mod walk;
