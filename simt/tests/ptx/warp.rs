//! Warp-wide instructions and barriers.

use expect_test::expect;

use super::{check, check_program};

#[test]
fn warp_wide_instructions_name_their_members() {
    check(
        r"
        shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;
        shfl.sync.idx.b32 %r1, %r2, %r3, 0x1f, %r4;
        shfl.down.b32 %r1|%p1, %r2, 1, 31;
        vote.sync.ballot.b32 %r1, !%p1, %r2;
        vote.sync.uni.pred %p2, %p1, -1;
        vote.all.pred %p2, !%p1;
        vote.ballot.b32 %r1, %p1;
        match.any.sync.b64 %r1, %d1, %r2;
        match.all.sync.b32 %r1|%p1, %r2, %r3;
        redux.sync.max.s32 %r1, %r2, -1;
        redux.sync.xor.b32 %r1, %r2, %r3;
        activemask.b32 %r1;
        elect.sync %r1|%p1, -1;
        elect.sync _|%p1, %r2;
        bar.warp.sync 0xffffffff;
        nanosleep.u32 100;",
        expect![[r#"
            r0, p1 = shuffle.butterfly r0, <16>, <31>, <0xffffffff>
            r0 = shuffle.index r0, r1, <31>, r2
            r0, p1 = shuffle.down r0, <1>, <31>
            r0 = vote.ballot r0, !p1
            p2 = vote.uniform <0xffffffff>, p1
            p2 = vote.all !p1
            r0 = vote.ballot p1
            r0 = match.any.b64 r1, r0
            r0, p1 = match.all.b32 r0, r1
            r0 = redux.max.s32 r0, <0xffffffff>
            r0 = redux.xor.b32 r0, r1
            r0 = activemask
            r0, p1 = elect <0xffffffff>
            p1 = elect r0
            warpsync <0xffffffff>
            sleep <100>
        "#]],
    );
}

#[test]
fn barriers_are_counted_up_to_the_highest_number() {
    check_program(
        r"
        .entry k() {
            .reg .pred %p<4>; .reg .b32 %r<4>;
            bar.sync 0;
            barrier.sync.aligned 1, 64;
            bar.arrive 3, %r1;
            bar.red.popc.u32 %r2, 0, %p1;
            barrier.cta.red.and.aligned.pred %p2, 1, 96, !%p1;
            ret;
        }",
        expect![[r#"
            entry k
              1 slots, 1 predicates, 1 registers estimated, 4 barriers
              c0 = 0
              c1 = 1
              c2 = 64
              c3 = 3
              c4 = 96
               0  barrier.sync c0
               1  barrier.sync c1, c2
               2  barrier.arrive c3, r0
               3  r0 = barrier.reduce.popc c0, p1
               4  p1 = barrier.reduce.and c1, c4, !p1
               5  exit
        "#]],
    );
}

#[test]
fn a_barrier_in_a_register_may_be_any_of_the_sixteen() {
    let program = super::program(".entry k() { .reg .b32 %r; mov.u32 %r, 3; bar.sync %r; ret; }");
    assert_eq!(program.barrier_count, 16);
}
