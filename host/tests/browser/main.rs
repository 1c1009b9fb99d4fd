//! The lab book in a real browser: headless Chromium, driven through its WebDriver. Every explorer is used as a person would use it,
//! and what it shows is held against the library's own answer; no page may write an error to the console.
//!
//! Without a browser and its driver the tests are listed as ignored, so that they are counted; where `WARPWISE_BROWSER` is
//! `required`, as in CI, they fail instead. `cargo xtask test` installs both where it may.

mod accessibility;
mod asking;
mod browser;
mod explorers;
mod moving;
mod pages;
mod pictures;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use browser::{Browser, Tools, World};

/// A test: given a fresh window, panics if something is not as it should be.
type Test = fn(&Browser) -> browser::Future<'_>;

/// Their names, what they do, and whether the window has dark colours.
static TESTS: &[(&str, Test, bool)] = &[
    ("no_page_writes_to_the_console_at_either_size", pages::no_errors, false),
    ("a_lab_is_run_watched_cancelled_and_its_results_appear", pages::run_a_lab, false),
    ("a_launch_is_walked_by_key", pages::walk, false),
    ("the_calculator_follows_its_knobs", explorers::occupancy, false),
    ("a_thread_is_chosen_by_mouse_and_by_key", explorers::ids, false),
    ("a_block_shape_is_picked_and_shows_its_warps_and_sectors", explorers::shapes, false),
    ("a_stride_shows_sectors_and_queues_at_banks", explorers::memory, false),
    ("a_knob_out_of_range_is_answered_in_words", explorers::refused, false),
    ("a_warp_is_walked_forward_and_backward", moving::stepper, false),
    ("schedulers_go_cycle_by_cycle", moving::schedulers, false),
    ("the_film_plays_and_tells_the_labs_story", moving::film, false),
    ("a_condition_is_typed_and_the_warps_that_part_are_shown", asking::uniform, false),
    ("a_kernels_branch_leads_to_the_check_of_its_condition", asking::branches, false),
    ("listings_follow_architecture_and_cap_and_explain_themselves", asking::pipeline, false),
    ("a_launch_is_made_from_a_labs_page", asking::launch, false),
    ("a_question_is_answered_by_running", asking::quiz, false),
    ("a_point_under_the_roof_leads_to_its_kernel", asking::roofline, false),
    ("times_of_pages_and_steps", moving::times, false),
    ("every_control_has_a_name_and_text_can_be_read", accessibility::controls_and_contrast, false),
    ("every_control_has_a_name_and_text_can_be_read_in_dark_colours", accessibility::controls_and_contrast, true),
    ("everything_is_reached_by_keyboard_and_shows_its_focus", accessibility::keyboard, false),
    ("pictures_for_the_readme", pictures::take, false),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tools = Tools::find();
    let is_required = std::env::var_os("WARPWISE_BROWSER").is_some_and(|word| word == "required");
    let world = match &tools {
        Ok(tools) if !arguments.list => Some(&*Box::leak(Box::new(World::start(tools)))),
        Ok(_) => None,
        Err(missing) => {
            eprintln!("not run: {} tests in a browser: {missing}", TESTS.len());
            None
        }
    };
    let is_missing = tools.is_err();
    let trial = |&(name, test, is_dark): &(&'static str, Test, bool)| {
        Trial::test(name, move || match world {
            Some(world) => world.run(test, is_dark).map_err(Failed::from),
            None => Err(Failed::from("there is no browser, and WARPWISE_BROWSER=required asks for one")),
        })
        .with_ignored_flag(is_missing && !is_required)
    };
    // One window at a time: the machine that is modelled has all the work.
    let arguments = Arguments { test_threads: Some(1), ..arguments };
    let conclusion = libtest_mimic::run(&arguments, TESTS.iter().map(trial).collect());
    if let Some(world) = world {
        world.stop();
    }
    conclusion.exit_code()
}
