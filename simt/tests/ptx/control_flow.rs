//! Where branches meet again, jump tables, labels, and what ends a kernel.

use expect_test::{Expect, expect};

use super::program;

/// The branches of a kernel: `pc text -> meets pc`.
fn check(body: &str, expected: Expect) {
    let program = program(&format!(".entry k() {{ .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n{body}\n}}"));
    let branches = program.code.iter().zip(&program.info).enumerate().filter_map(|(pc, (instr, info))| {
        let op = instr.op.to_string();
        op.starts_with("branch").then(|| format!("{pc}: {} | {op}\n", info.text))
    });
    expected.assert_eq(&branches.collect::<String>());
}

#[test]
fn nested_ifs_meet_inside_out() {
    check(
        r"
        @%p1 bra OUTER_ELSE;
        add.s32 %r1, %r1, 1;
        @%p2 bra INNER_ELSE;
        add.s32 %r1, %r1, 2;
        bra INNER_END;
    INNER_ELSE:
        add.s32 %r1, %r1, 3;
    INNER_END:
        add.s32 %r1, %r1, 4;
        bra.uni OUTER_END;
    OUTER_ELSE:
        add.s32 %r1, %r1, 5;
    OUTER_END:
        ret;",
        expect![[r#"
            0: @%p1 bra OUTER_ELSE; | branch 8 meets 9
            2: @%p2 bra INNER_ELSE; | branch 5 meets 6
            4: bra INNER_END; | branch 6
            7: bra.uni OUTER_END; | branch 9
        "#]],
    );
}

#[test]
fn a_loop_with_a_break_meets_behind_the_loop() {
    check(
        r"
    LOOP:
        @%p1 bra DONE;
        @%p2 bra SKIP;
        add.s32 %r1, %r1, 1;
    SKIP:
        add.s32 %r1, %r1, 2;
        @%p3 bra LOOP;
    DONE:
        ret;",
        expect![[r#"
            0: @%p1 bra DONE; | branch 5 meets 5
            1: @%p2 bra SKIP; | branch 3 meets 3
            4: @%p3 bra LOOP; | branch 0 meets 5
        "#]],
    );
}

#[test]
fn lanes_that_return_early_are_not_waited_for() {
    check(
        r"
        @%p1 bra REST;
        @%p2 bra GONE;
        add.s32 %r1, %r1, 1;
        bra REST;
    GONE:
        ret;
    REST:
        add.s32 %r1, %r1, 2;
        @%p3 exit;
        ret;",
        expect![[r#"
            0: @%p1 bra REST; | branch 5 meets 5
            1: @%p2 bra GONE; | branch 4
            3: bra REST; | branch 5
        "#]],
    );
}

#[test]
fn a_return_inside_nested_loops_leaves_their_meeting_places() {
    check(
        r"
    OUTER:
        mov.u32 %r1, 0;
    INNER:
        @%p1 bra GONE;
        add.s32 %r1, %r1, 1;
        @%p2 bra INNER;
        @%p3 bra OUTER;
        ret;
    GONE:
        ret;",
        expect![[r#"
            1: @%p1 bra GONE; | branch 6 meets 6
            3: @%p2 bra INNER; | branch 1 meets 4
            4: @%p3 bra OUTER; | branch 0 meets 5
        "#]],
    );
}

#[test]
fn a_side_that_traps_has_nobody_to_meet() {
    check(
        r"
        @%p1 bra BAD;
        @%p2 bra ELSE;
        add.s32 %r1, %r1, 1;
    ELSE:
        ret;
    BAD:
        trap;",
        expect![[r#"
            0: @%p1 bra BAD; | branch 4
            1: @%p2 bra ELSE; | branch 3 meets 3
        "#]],
    );
}

#[test]
fn sides_that_each_return_do_not_meet() {
    check(
        "@%p1 bra OTHER;\nadd.s32 %r1, %r1, 1;\nret;\nOTHER:\nadd.s32 %r1, %r1, 2;\nret;",
        expect![[r#"
        0: @%p1 bra OTHER; | branch 3
    "#]],
    );
}

#[test]
fn an_endless_loop_meets_inside_itself() {
    check(
        r"
    LOOP:
        @%p1 bra ELSE;
        add.s32 %r1, %r1, 1;
        bra NEXT;
    ELSE:
        add.s32 %r1, %r1, 2;
    NEXT:
        bra LOOP;",
        expect![[r#"
            0: @%p1 bra ELSE; | branch 3 meets 4
            2: bra NEXT; | branch 4
            4: bra LOOP; | branch 0
        "#]],
    );
}

#[test]
fn a_loop_with_one_way_out_meets_on_that_way() {
    check(
        r"
    LOOP:
        @%p1 bra ELSE;
        @%p2 bra END;
        bra NEXT;
    ELSE:
        add.s32 %r1, %r1, 2;
    NEXT:
        add.s32 %r1, %r1, 3;
        bra LOOP;
    END:
        ret;",
        expect![[r#"
            0: @%p1 bra ELSE; | branch 3 meets 1
            1: @%p2 bra END; | branch 6 meets 6
            2: bra NEXT; | branch 4
            5: bra LOOP; | branch 0
        "#]],
    );
}

#[test]
fn a_loop_that_both_arms_may_leave_meets_at_its_latch() {
    check(
        r"
    LOOP:
        @%p1 bra ELSE;
        @%p2 ret;
        add.s32 %r1, %r1, 1;
        bra LATCH;
    ELSE:
        @%p3 exit;
        add.s32 %r1, %r1, 2;
    LATCH:
        bra LOOP;",
        expect![[r#"
            0: @%p1 bra ELSE; | branch 4 meets 6
            3: bra LATCH; | branch 6
            6: bra LOOP; | branch 0
        "#]],
    );
}

#[test]
fn irreducible_flow_meets_where_every_path_comes_by() {
    check(
        r"
        @%p1 bra B;
    A:
        add.s32 %r1, %r1, 1;
        @%p2 bra END;
    B:
        add.s32 %r1, %r1, 2;
        @%p3 bra A;
    END:
        ret;",
        expect![[r#"
            0: @%p1 bra B; | branch 3 meets 5
            2: @%p2 bra END; | branch 5 meets 5
            4: @%p3 bra A; | branch 1 meets 5
        "#]],
    );
}

#[test]
fn a_jump_table_meets_behind_all_its_targets() {
    check(
        r"
        TABLE: .branchtargets A, B, A, C;
        brx.idx.uni %r1, TABLE;
    A:
        add.s32 %r1, %r1, 1;
        bra END;
    B:
        add.s32 %r1, %r1, 2;
        bra END;
    C:
        add.s32 %r1, %r1, 3;
    END:
        ret;",
        expect![[r#"
            0: brx.idx.uni %r1, TABLE; | branch table 0 meets 6
            2: bra END; | branch 6
            4: bra END; | branch 6
        "#]],
    );
}

#[test]
fn labels_belong_to_their_scope() {
    check(
        r"
        { WAIT: add.s32 %r1, %r1, 1; @%p1 bra WAIT; }
        { WAIT: add.s32 %r1, %r1, 2; @%p1 bra DONE; bra WAIT; DONE: }
        WAIT: @%p2 bra WAIT;
        ret;",
        expect![[r#"
            1: @%p1 bra WAIT; | branch 0 meets 2
            3: @%p1 bra DONE; | branch 5 meets 5
            4: bra WAIT; | branch 2
            5: @%p2 bra WAIT; | branch 5 meets 6
        "#]],
    );
}

#[test]
fn a_kernel_whose_end_can_be_reached_ends_there() {
    let ends = |body: &str| program(&format!(".entry k() {{ .reg .pred %p; {body} }}")).to_string();
    assert!(ends("").ends_with("0  exit\n"), "an empty kernel");
    assert!(ends("@%p ret;").ends_with("1  exit\n"), "after a guarded return");
    assert!(ends("bra L; L:").ends_with("1  exit\n"), "at a label that is jumped to");
    assert!(ends("ret; L:").ends_with("0  exit\n"), "not at a label that nobody uses");
    assert!(ends("L: bra L;").ends_with("0  branch 0\n"), "not after a jump");
}
