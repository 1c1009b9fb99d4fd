//! What the environment sets up, and what the driver says on stderr: tests of this program, run again in processes of their own.

use std::ffi::CStr;
use std::process::Command;

use crate::library::{Cuda, at, code};

/// Runs one test of this program alone. What it printed, and what it and the driver said on stderr.
fn alone(test: &str, environment: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).envs(environment.iter().copied());
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(out.contains("running 1 test"), "{test} is none of the tests: {out}");
    assert!(output.status.success(), "{test} failed: {out}{err}");
    (out, err)
}

/// Run alone by others below; the answers depend on the environment.
#[test]
fn the_first_calls_answer() {
    let cuda = Cuda::open();
    let mut count = 0i32;
    println!("before: {}", cuda.call("cuDeviceGetCount", &[at(&mut count)]));
    let started = cuda.call("cuInit", &[0]);
    println!("cuInit: {started}");
    let mut name = [0u8; 100];
    if cuda.call("cuDeviceGetName", &[at(&mut name), 100, 0]) == code::OK {
        println!("device: {}", CStr::from_bytes_until_nul(&name).unwrap().to_str().unwrap());
    }
}

const FIRST_CALLS: &str = "environment::the_first_calls_answer";

#[test]
fn before_cuinit_nothing_is_initialised() {
    let (out, _) = alone(FIRST_CALLS, &[]);
    assert!(out.contains("before: 3\n") && out.contains("cuInit: 0\n"), "{out}");
}

/// Tests of our own variables and messages.
fn is_ours() -> bool {
    let ours = Cuda::open().is_modelled();
    if !ours {
        eprintln!("not run: NVIDIA's driver has no such variables");
    }
    ours
}

#[test]
fn the_device_is_chosen_by_name_and_a_wrong_name_is_no_device_and_a_list() {
    if is_ours() {
        let (out, _) = alone(FIRST_CALLS, &[("WARPWISE_DEVICE", "h200")]);
        assert!(out.contains("device: H200 (modelled)\n"), "{out}");
        let (out, err) = alone(FIRST_CALLS, &[("WARPWISE_DEVICE", "GTX 480")]);
        assert!(out.contains("cuInit: 100\n"), "{out}");
        assert!(err.contains("WARPWISE_DEVICE: no device is called `GTX 480`; there are RTX 5070"), "{err}");
    }
}

#[test]
fn checks_that_are_unknown_are_refused_with_a_message_and_others_taken() {
    if is_ours() {
        let (out, err) = alone(FIRST_CALLS, &[("WARPWISE_CHECK", "mem,rcae")]);
        assert!(out.contains("cuInit: 1\n") && err.contains("`rcae` is no check"), "{out}{err}");
        let (out, err) = alone(FIRST_CALLS, &[("WARPWISE_CHECK", "race,init,sync")]);
        assert!(out.contains("cuInit: 0\n"), "{out}{err}");
    }
}

#[test]
fn a_fault_is_said_with_kernel_source_line_block_thread_and_address() {
    if is_ours() {
        let test = "faults::a_read_past_the_end_in_code_with_source_lines_is_an_illegal_address";
        let (_, err) = alone(test, &[]);
        for part in
            ["kernel vecadd: out-of-bounds read of 4 bytes at 0x", "block (0, 0, 0), thread (0, 0, 0)", "vecadd.rs:8"]
        {
            assert!(err.contains(part), "{part} is missing: {err}");
        }
    }
}

/// Run alone below.
#[test]
fn a_missing_function_answers_each_time() {
    let cuda = Cuda::open();
    if cuda.is_modelled() {
        for _ in 0..3 {
            assert_eq!(cuda.call("cuGraphCreate", &[0, 0]), code::NOT_SUPPORTED);
        }
    }
}

#[test]
fn a_missing_function_is_said_once() {
    if is_ours() {
        let (_, err) = alone("environment::a_missing_function_answers_each_time", &[]);
        assert_eq!(err.matches("cuGraphCreate is not supported").count(), 1, "{err}");
    }
}

#[test]
fn functional_time_counts_launches_as_empty_ones_and_says_so() {
    if is_ours() {
        let test = "events::a_launch_between_two_events_takes_time_and_more_work_takes_more";
        let (_, err) = alone(test, &[("WARPWISE_TIME", "functional")]);
        assert!(err.contains("an event counts each launch as an empty one"), "{err}");
    }
}
