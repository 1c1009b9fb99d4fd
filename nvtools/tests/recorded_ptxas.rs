//! What ptxas was recorded to print, read back.

use warpwise_nvtools::ptxas::{
    Diagnostic, ReportError, Resources, Severity, parse_architectures, parse_errors, parse_report,
};

const KERNELS: &str = include_str!("data/ptxas_kernels_sm_120.txt");
const CAPPED: &str = include_str!("data/ptxas_kernels_cap_16.txt");

#[test]
fn three_entries_and_the_functions_they_call() {
    let report = parse_report(KERNELS).expect("a recorded report");
    let costs: Vec<_> =
        report.entries.iter().map(|e| (e.entry.as_str(), e.arch.as_str(), e.registers, e.barriers)).collect();
    assert_eq!(costs, [("vecadd", "sm_120", 12, 0), ("norms", "sm_120", 14, 0), ("calls", "sm_120", 17, 1)]);
    let functions: Vec<_> = report.functions.iter().map(|function| function.function.as_str()).collect();
    assert_eq!(functions.len(), 3);
    assert!(functions[2].ends_with("recorded3far"), "{functions:?}");
    assert!(report.warnings.is_empty());
}

#[test]
fn spills_stack_shared_memory_and_barriers() {
    let report = parse_report(include_str!("data/ptxas_spills_sm_120.txt")).expect("a recorded report");
    let expected = Resources {
        entry: "spills".to_owned(),
        arch: "sm_120".to_owned(),
        registers: 24,
        barriers: 4,
        spill_store_bytes: 208,
        spill_load_bytes: 208,
        stack_bytes: 264,
        cumulative_stack_bytes: 264,
        shared_bytes: 4224,
        constant_banks: vec![],
    };
    assert_eq!(report.entries, [expected]);
    assert_eq!(report.global_bytes, 64);
}

#[test]
fn constant_banks_where_ptxas_names_them_and_stores_unlike_loads() {
    for (text, arch, stores, loads) in [
        (include_str!("data/ptxas_spills_sm_75.txt"), "sm_75", 228, 248),
        (include_str!("data/ptxas_spills_sm_80.txt"), "sm_80", 220, 220),
    ] {
        let report = parse_report(text).expect("a recorded report");
        let [entry] = &report.entries[..] else { panic!("{report:?}") };
        assert_eq!((entry.arch.as_str(), entry.spill_store_bytes, entry.spill_load_bytes), (arch, stores, loads));
        assert_eq!(entry.constant_banks, [(0, 360)]);
    }
}

#[test]
fn a_register_cap_below_the_minimum_is_raised_with_a_warning() {
    let report = parse_report(CAPPED).expect("a recorded report");
    let text = "For profile sm_120 adjusting per thread register count of 16 to lower bound of 24".to_owned();
    assert_eq!(report.warnings, [Diagnostic { severity: Severity::Warning, line: None, text }]);
    assert_eq!(report.entries.len(), 3);
}

#[test]
fn older_wordings_are_read_too() {
    let text = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'k' for 'sm_70'\n\
        ptxas info    : Function properties for k\n    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
        ptxas info    : Used 255 registers, 1024+16 bytes smem, 372 bytes cmem[0], 12 bytes cmem[2], 3 textures\n";
    let report = parse_report(text).expect("a report");
    let entry = &report.entries[0];
    assert_eq!((entry.registers, entry.barriers, entry.shared_bytes), (255, 0, 1040));
    assert_eq!(entry.constant_banks, [(0, 372), (2, 12)]);
    assert_eq!((entry.stack_bytes, entry.cumulative_stack_bytes), (16, 16));
}

#[test]
fn errors_name_the_line_of_the_ptx() {
    let errors = parse_errors(include_str!("data/ptxas_refused.txt"));
    assert_eq!(errors.len(), 10, "the closing `aborted` is no error of its own");
    assert_eq!(errors[0].to_string(), "PTX line 36: Not a name of any known instruction: 'foo'");
    let alone = parse_errors("ptxas fatal   : Ptx assembly aborted due to errors\n");
    assert_eq!(alone.len(), 1);
    let macros =
        parse_errors("ptxas <macro util>, line 2; error   : PTX .version 7.8 does not support .target sm_100\n");
    assert_eq!(macros[0].text, "PTX .version 7.8 does not support .target sm_100");
}

#[test]
fn the_help_says_which_architectures_there_are() {
    let known = parse_architectures(include_str!("data/ptxas_help.txt"));
    assert_eq!((known.first().map(String::as_str), known.last().map(String::as_str)), (Some("sm_75"), Some("sm_121f")));
    assert_eq!(known.len(), 23);
    assert!(parse_architectures("no help").is_empty());
}

#[test]
fn a_report_cut_anywhere_is_a_report_or_an_error() {
    let mut errors = 0;
    for (end, _) in CAPPED.char_indices() {
        errors += usize::from(parse_report(&CAPPED[..end]).is_err());
    }
    assert!(errors > 200, "{errors}");
}

#[test]
fn an_entry_without_registers_is_named() {
    let cut = &KERNELS[..KERNELS.find("ptxas info    : Used 14").expect("it is there")];
    assert_eq!(parse_report(cut), Err(ReportError::NoRegisters { entry: "norms".to_owned() }));
    let swapped =
        KERNELS.replacen("Used 12 registers, ", "", 1).replacen("used 0 barriers\n", "Used many registers\n", 1);
    assert!(parse_report(&swapped).is_err());
}

#[test]
fn numbers_that_are_none_are_shown() {
    let bad = KERNELS.replace("Used 12 registers", "Used twelve registers");
    let error = parse_report(&bad).expect_err("twelve is no number here");
    assert_eq!(
        error.to_string(),
        "`ptxas info    : Used twelve registers, used 0 barriers` where a number was expected"
    );
    let huge = KERNELS.replace("Used 12 registers", "Used 99999999999 registers");
    assert!(parse_report(&huge).is_err());
}
