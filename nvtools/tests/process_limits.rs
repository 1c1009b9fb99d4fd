//! Programs that hang, flood or do not start.

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::{folder, script};
use warpwise_nvtools::process::{ProcessError, run};

const PLENTY: Duration = Duration::from_secs(60);

fn shell(code: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", code]);
    command
}

#[test]
fn output_and_status_come_back_whole() {
    let output = run(&mut shell("echo out; echo err >&2; exit 3"), PLENTY).expect("it runs");
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!((output.status.code(), output.last_line().as_str()), (Some(3), "err"));
    let silent = run(&mut shell("exit 1"), PLENTY).expect("it runs");
    assert_eq!(silent.last_line(), "it printed nothing");
}

#[test]
fn more_output_than_a_pipe_holds_on_both_streams_does_not_block() {
    let flood = "i=0; while [ $i -lt 3000 ]; do printf '%0100d\\n' $i; printf '%0100d\\n' $i >&2; i=$((i+1)); done";
    let output = run(&mut shell(flood), PLENTY).expect("it runs");
    assert_eq!((output.stdout.len(), output.stderr.len()), (303_000, 303_000));
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let output = run(&mut shell("printf 'a\\377b'"), PLENTY).expect("it runs");
    assert_eq!(output.stdout, "a\u{fffd}b");
}

#[test]
fn standard_input_is_empty() {
    assert_eq!(run(&mut shell("cat; echo end"), PLENTY).expect("it runs").stdout, "end\n");
}

#[test]
fn a_program_that_hangs_is_ended_also_when_a_grandchild_keeps_the_pipe() {
    // A caller that waits for the grandchild waits for two minutes.
    for code in ["exec sleep 120", "sleep 120", "exec >&-; exec sleep 120", "exec >&- 2>&-; exec sleep 120"] {
        let started = Instant::now();
        let error = run(&mut shell(code), Duration::from_millis(100)).expect_err("it hangs");
        assert!(matches!(error, ProcessError::TimedOut { .. }), "{error}");
        assert_eq!(error.to_string(), "/bin/sh was ended after 0.1 s without an answer");
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn a_program_that_is_not_there_or_cannot_be_executed_is_named() {
    let folder = folder("not-started");
    let absent = folder.join("absent");
    let error = run(&mut Command::new(&absent), PLENTY).expect_err("it is not there").to_string();
    assert!(error.starts_with(&format!("{} could not be started: ", absent.display())), "{error}");
    let broken = folder.join("broken");
    script(&broken, "");
    std::fs::write(&broken, "#!/no/such/interpreter\n").expect("it can be written");
    assert!(matches!(run(&mut Command::new(broken), PLENTY), Err(ProcessError::NotStarted { .. })));
}
