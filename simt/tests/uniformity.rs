//! Uniformity: what is known before a run must be seen in every run.

mod support;

use support::Bench;
use warpwise_simt::isa::Program;
use warpwise_simt::uniformity::{BlockShape, Class, Watcher, analyse};

/// Class of the result of the instruction whose text contains `text`, once in the program.
#[track_caller]
fn class(bench: &Bench, shape: BlockShape, text: &str) -> Class {
    let program = bench.kernel.program();
    analyse(program, shape).result(place(program, text)).expect("it has a result")
}

#[track_caller]
fn place(program: &Program, text: &str) -> u32 {
    let places: Vec<u32> =
        (0..).zip(&program.info).filter(|(_, info)| info.text.contains(text)).map(|(pc, _)| pc).collect();
    assert_eq!(places.len(), 1, "`{text}` should be there once");
    places[0]
}

/// Runs it and demands that no result that is called uniform differs between lanes. What was seen.
fn watch(bench: &mut Bench, shape: BlockShape, grid: [u32; 3], block: [u32; 3]) -> Watcher {
    let mut launch = bench.launch(1, 32, 7);
    (launch.grid, launch.block) = (grid, block);
    let mut watcher = Watcher::new(bench.kernel.program());
    let kernel = bench.kernel.clone();
    let report = bench.machine.launch_observed(&kernel, &launch, &mut watcher).expect("accepted");
    assert_eq!(report.fault.map(|fault| fault.to_string()), None);
    let program = bench.kernel.program();
    let known = analyse(program, shape);
    for pc in 0..program.code.len() as u32 {
        let is_uniform = known.result(pc).is_some_and(Class::is_uniform);
        assert!(!is_uniform || !watcher.differed(pc), "{} was seen to differ", program.info[pc as usize].text);
    }
    watcher
}

#[test]
fn block_numbers_sizes_parameters_and_what_is_made_of_them_are_uniform_and_thread_numbers_are_not() {
    let body = "mov.u32 %r3, %ctaid.y; add.u32 %r4, %r3, %n; xor.b32 %r5, %t, %n; mul.lo.u32 %r6, %r4, 100;
        st.global.u32 [%mine], %r6;";
    let mut bench = Bench::new("", body, 64);
    for (text, expected) in [
        ("mov.u32 %r3, %ctaid.y", Class::Uniform),
        ("add.u32 %r4", Class::Uniform),
        ("mul.lo.u32 %r6", Class::Uniform),
        ("xor.b32 %r5", Class::Varying),
    ] {
        assert_eq!(class(&bench, BlockShape::Any, text), expected, "{text}");
    }
    let watcher = watch(&mut bench, BlockShape::Any, [2, 1, 1], [32, 1, 1]);
    assert!(watcher.differed(place(bench.kernel.program(), "xor.b32 %r5")), "a run shows it");
    assert!(watcher.was_executed(place(bench.kernel.program(), "add.u32 %r4")));
}

#[test]
fn the_warp_of_a_thread_is_uniform_in_blocks_of_suitable_shape_only() {
    let body = "mov.u32 %r3, %tid.x; shr.u32 %r4, %r3, 5; and.b32 %r5, %r3, -32; shr.u32 %r6, %r3, 4; st.global.u32 [%mine], %r4;";
    let mut bench = Bench::new("", body, 64);
    for (text, in_rows, in_any) in [
        ("shr.u32 %r4", Class::Uniform, Class::Varying),
        ("and.b32 %r5", Class::Uniform, Class::Varying),
        ("shr.u32 %r6", Class::Varying, Class::Varying),
    ] {
        for shape in [BlockShape::OneDimensional, BlockShape::RowsOfWarps] {
            assert_eq!(class(&bench, shape, text), in_rows, "{text}");
        }
        assert_eq!(class(&bench, BlockShape::Any, text), in_any, "{text}");
    }
    watch(&mut bench, BlockShape::OneDimensional, [1, 1, 1], [64, 1, 1]);
    watch(&mut bench, BlockShape::RowsOfWarps, [1, 1, 1], [32, 2, 1]);
    // Rows of 48: lanes 0 to 15 of the second warp end the first row.
    let watcher = watch(&mut Bench::new("", body, 96), BlockShape::Any, [1, 1, 1], [48, 2, 1]);
    assert!(watcher.differed(place(bench.kernel.program(), "shr.u32 %r4")));
}

#[test]
fn what_lanes_wrote_on_different_ways_varies_where_they_meet() {
    let body = "setp.lt.u32 %p1, %t, 9; mov.u32 %r4, 5; @%p1 bra SMALL; mov.u32 %r4, 1; add.u32 %r5, %r4, 3; bra JOIN;
        SMALL: mov.u32 %r4, 2; JOIN: add.u32 %r6, %r4, 10; st.global.u32 [%mine], %r6;";
    let mut bench = Bench::new("", body, 32);
    assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r5"), Class::Uniform, "on one side all lanes have one value");
    assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r6"), Class::Varying);
    let watcher = watch(&mut bench, BlockShape::Any, [1, 1, 1], [32, 1, 1]);
    assert!(watcher.differed(place(bench.kernel.program(), "add.u32 %r6")));
}

#[test]
fn a_loops_counter_is_uniform_in_the_loop_and_behind_it_only_if_all_lanes_leave_together() {
    let looped = |bound: &str| {
        let body = format!(
            "mov.u32 %r4, 0; LOOP: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {bound}; @%p1 bra LOOP;
             add.u32 %r6, %r4, 10; st.global.u32 [%mine], %r6;"
        );
        Bench::new("", &body, 32)
    };
    for (bound, behind) in [("%n", Class::Uniform), ("%t", Class::Varying)] {
        let mut bench = looped(bound);
        assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r4"), Class::Uniform, "{bound}");
        assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r6"), behind, "{bound}");
        let watcher = watch(&mut bench, BlockShape::Any, [1, 1, 1], [32, 1, 1]);
        let differed = watcher.differed(place(bench.kernel.program(), "add.u32 %r6"));
        assert_eq!(differed, behind == Class::Varying, "{bound}");
    }
}

#[test]
fn a_write_under_a_varying_guard_varies_and_one_under_a_uniform_guard_does_not() {
    let body = "setp.lt.u32 %p1, %t, 9; setp.lt.u32 %p2, %n, 9; mov.u32 %r4, 5; mov.u32 %r5, 5; @%p1 mov.u32 %r4, 6;
        @%p2 mov.u32 %r5, 6; add.u32 %r6, %r4, 10; add.u32 %r7, %r5, 10; add.u32 %r8, %r6, %r7; st.global.u32 [%mine], %r8;";
    let mut bench = Bench::new("", body, 32);
    assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r6"), Class::Varying);
    assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r7"), Class::Uniform);
    watch(&mut bench, BlockShape::Any, [1, 1, 1], [32, 1, 1]);
}

#[test]
fn a_load_from_one_place_is_uniform_and_one_from_each_lanes_own_is_not() {
    let body = "ld.global.u32 %r4, [%out]; ld.global.u32 %r5, [%mine]; add.u32 %r6, %r4, 1; st.global.u32 [%mine], %i;";
    let mut bench = Bench::new("", body, 64);
    assert_eq!(class(&bench, BlockShape::Any, "ld.global.u32 %r4"), Class::Uniform);
    assert_eq!(class(&bench, BlockShape::Any, "ld.global.u32 %r5"), Class::Varying);
    assert_eq!(class(&bench, BlockShape::Any, "add.u32 %r6"), Class::Uniform);
    watch(&mut bench, BlockShape::Any, [2, 1, 1], [32, 1, 1]);
}

#[test]
fn logic_of_predicates_varies_if_one_of_them_does() {
    let body = "setp.lt.u32 %p1, %t, 9; setp.lt.u32 %p2, %n, 9; not.pred %p3, %p1; and.pred %p4, %p1, %p2; or.pred %p5, %p2, %p2;
        xor.pred %p6, %p2, %p1; @%p3 bra DONE; selp.u32 %r3, 1, 2, %p4; st.global.u32 [%mine], %r3; DONE:";
    let mut bench = Bench::new("", body, 32);
    for (text, expected) in [
        ("not.pred %p3", Class::Varying),
        ("and.pred %p4", Class::Varying),
        ("or.pred %p5", Class::Uniform),
        ("xor.pred %p6", Class::Varying),
        ("selp.u32", Class::Varying),
    ] {
        assert_eq!(class(&bench, BlockShape::Any, text), expected, "{text}");
    }
    watch(&mut bench, BlockShape::Any, [1, 1, 1], [32, 1, 1]);
}
