//! ncu that counts, is not permitted to, fails, or prints no table.

mod common;

use std::path::PathBuf;
use std::time::Duration;

use common::{folder, script};
use warpwise_nvtools::ncu::{NcuError, Profile, profile, version};

const METRICS: [&str; 2] = ["sm__ctas_launched.sum", "launch__waves_per_multiprocessor"];

fn profiled(test: &str, body: &str) -> Result<Vec<Profile>, NcuError> {
    let ncu: PathBuf = folder(test).join("ncu");
    script(&ncu, body);
    let words = ["launch-cases", "vecadd"];
    profile(&ncu, &METRICS, "/opt/warpwise".as_ref(), &words, Duration::from_secs(20)).map(|(profiles, _)| profiles)
}

#[test]
fn the_program_is_started_with_its_words_behind_the_metrics_and_each_launch_is_read() {
    let body = r#"
        [ "$LC_ALL" = C ] || exit 3
        echo "==PROF== Connected to process 7"
        case "$*" in
            *"--metrics sm__ctas_launched.sum,launch__waves_per_multiprocessor /opt/warpwise launch-cases vecadd") ;;
            *) echo "words: $*"; exit 4 ;;
        esac
        echo '"ID","Kernel Name","CC","Metric Name","Metric Unit","Metric Value"'
        echo '"0","vecadd","9.0","sm__ctas_launched.sum","block","3,907"'
        echo '"0","vecadd","9.0","launch__waves_per_multiprocessor","","3.70"'"#;
    let profiles = profiled("ncu_counts", body).expect("this ncu works");
    assert_eq!(profiles.len(), 1);
    assert_eq!(profiles[0].get(METRICS[0]).map(|measured| measured.value), Some(3907.0));
    assert_eq!(profiles[0].get(METRICS[1]).map(|measured| measured.decimals), Some(2));
}

#[test]
fn ncu_says_its_version_and_a_program_that_is_none_does_not() {
    let asked = |test, body| {
        let ncu = folder(test).join("ncu");
        script(&ncu, body);
        version(&ncu)
    };
    let banner = r#"[ "$*" = --version ] && printf 'NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 36398880)\n'"#;
    assert_eq!(asked("ncu_version", banner).expect("this ncu works"), "2025.3.1.0");
    let error = asked("ncu_no_version", "echo hello").expect_err("it is no ncu");
    assert!(error.to_string().ends_with("ncu failed: hello"), "{error}");
}

#[test]
fn counters_that_only_root_may_read_are_an_error_that_says_what_to_do() {
    let body = "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'; exit 1";
    let error = profiled("ncu_not_permitted", body).expect_err("it may not count");
    assert!(matches!(error, NcuError::NotPermitted) && error.to_string().contains("run this as root"), "{error}");
}

#[test]
fn an_ncu_that_fails_says_why_and_one_without_a_table_what_was_expected() {
    let failed = profiled("ncu_fails", "echo '==ERROR== No supported GPU'; exit 1").expect_err("it fails");
    assert!(failed.to_string().ends_with("No supported GPU"), "{failed}");
    let no_table = profiled("ncu_says_nothing", "echo '==PROF== No kernels were profiled.'").expect_err("no table");
    assert!(matches!(no_table, NcuError::Report { .. }), "{no_table}");
}
