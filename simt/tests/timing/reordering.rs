//! The order in which the cycle model runs PTX: results stay, independent loads move up.

use std::fmt::Write;

use proptest::prelude::*;
use warpwise_simt::device::find;
use warpwise_simt::machine::Mode;
use warpwise_simt::ptx::Module;
use warpwise_simt::timing::reorder;

use crate::bench::{Bench, entry};
use crate::kernels::REGISTERS;

/// One line of a random program: what it does, and three small numbers that say on what.
#[derive(Clone, Debug)]
struct Line(u8, u32, u32, u32);

impl Line {
    fn text(&self) -> String {
        let Self(kind, d, a, b) = *self;
        let (p, offset, wide) = (d % 3, 4 * (b % 8), d % 4);
        match kind {
            0 => format!("add.u32 %r{d}, %r{a}, %r{b};"),
            1 => format!("mul.lo.u32 %r{d}, %r{a}, %r{b};"),
            2 => format!("setp.lt.u32 %p{p}, %r{a}, %r{b};"),
            3 => format!("@%p{p} xor.b32 %r{d}, %r{a}, %r{b};"),
            4 => format!("@!%p{p} mov.u32 %r{d}, %r{a};"),
            5 => format!("selp.b32 %r{d}, %r{a}, %r{b}, %p{p};"),
            6 => format!("mul.wide.u32 %rd{wide}, %r{a}, %r{b};"),
            7 => format!("add.u64 %rd{wide}, %rd{}, %rd{};", a % 4, b % 4),
            8 => format!("cvt.u32.u64 %r{d}, %rd{};", a % 4),
            9 => format!("ld.global.u32 %r{d}, [%rd8+{offset}];"),
            10 => format!("st.global.u32 [%rd8+{offset}], %r{a};"),
            11 => format!("ld.shared.u32 %r{d}, [%r12+{offset}];"),
            12 => format!("st.shared.u32 [%r12+{offset}], %r{a};"),
            13 => format!("@%p{p} st.global.u32 [%rd8+{offset}], %r{a};"),
            14 => format!("ld.global.v2.u32 {{%r{d}, %r{}}}, [%rd8+{}];", (d + 1) % 8, 8 * (b % 4)),
            15 => format!("atom.shared.add.u32 %r{d}, [%r12+{offset}], %r{a};"),
            16 => format!("shfl.sync.down.b32 %r{d}, %r{a}, {}, 31, -1;", b % 32),
            17 => format!("mov.b64 {{%r{d}, %r{}}}, %rd{};", (d + 1) % 8, a % 4),
            18 => format!("mov.b64 %rd{wide}, {{%r{a}, %r{b}}};"),
            _ => format!("red.global.add.u32 [%rd8+{offset}], %r{a};"),
        }
    }
}

/// A kernel of the lines in which every thread has 32 bytes of global and of shared memory and writes all registers out in the end.
fn kernel(lines: &[Line]) -> String {
    let mut body = String::from(
        "ld.param.u64 %rd9, [p0]; ld.param.u64 %rd10, [p1]; mov.u32 %r13, %tid.x;
         shl.b32 %r14, %r13, 5; cvt.u64.u32 %rd11, %r14; add.u64 %rd8, %rd9, %rd11;
         mov.u32 %r12, s; add.u32 %r12, %r12, %r14; mul.wide.u32 %rd12, %r13, 64; add.u64 %rd13, %rd10, %rd12;\n",
    );
    for register in 0..8 {
        let _ = writeln!(body, "mul.lo.u32 %r{register}, %r13, {}; ", 2_654_435_761u32.wrapping_mul(register + 1));
    }
    body += "mul.wide.u32 %rd0, %r1, %r2; mul.wide.u32 %rd1, %r3, %r4; mov.u64 %rd2, %rd0; mov.u64 %rd3, %rd1;\n";
    body += "setp.eq.u32 %p0, %r13, 3; setp.lt.u32 %p1, %r13, 17; setp.gt.u32 %p2, %r13, 40;\n";
    lines.iter().for_each(|line| _ = writeln!(body, "{}", line.text()));
    (0..8).for_each(|register| _ = writeln!(body, "st.global.u32 [%rd13+{}], %r{register};", 4 * register));
    (0..4).for_each(|wide| _ = writeln!(body, "st.global.u64 [%rd13+{}], %rd{wide};", 32 + 8 * wide));
    entry(2, &format!("{REGISTERS} .shared .align 8 .b8 s[2048];"), &body)
}

fn results(mode: Mode, ptx: &str) -> [Vec<u32>; 2] {
    let mut bench = Bench::new("RTX 5070");
    bench.mode = mode;
    let own: Vec<u32> = (0..8 * 64).map(|word: u32| word.wrapping_mul(0x9e37_79b9)).collect();
    let (memory, out) = (bench.upload(&own), bench.upload(&[0; 16 * 64]));
    assert_eq!(bench.run(ptx, 1, 64, &[memory, out]).fault, None);
    [bench.download(memory, 8 * 64), bench.download(out, 16 * 64)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_straight_line_of_code_computes_what_it_computed_before(
        lines in prop::collection::vec((0..20u8, 0..8u32, 0..8u32, 0..8u32).prop_map(|(k, d, a, b)| Line(k, d, a, b)), 1..60)
    ) {
        let ptx = kernel(&lines);
        prop_assert_eq!(results(Mode::Timed, &ptx), results(Mode::Functional, &ptx));
    }
}

/// Texts of a kernel's instructions in the new order, those that hold one of the words.
fn order(body: &str, words: &[&str]) -> Vec<String> {
    let module = Module::parse("test.ptx", &entry(2, REGISTERS, body)).unwrap();
    let program = module.lower("k").unwrap();
    let reordered = reorder(&program, find("RTX 5070").unwrap());
    for (place, original) in reordered.original.iter().enumerate() {
        assert_eq!(reordered.program.info[place].text, program.info[*original as usize].text);
    }
    let texts = reordered.program.info.iter().map(|info| info.text.to_string());
    texts.filter(|text| words.iter().any(|word| text.contains(word))).collect()
}

#[test]
fn loads_move_before_the_arithmetic_on_earlier_loads_even_through_one_register() {
    let body = "ld.param.u64 %rd1, [p0];
        ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1;
        ld.global.f32 %f1, [%rd1+4]; add.f32 %f3, %f1, %f2;
        ld.global.f32 %f1, [%rd1+8]; add.f32 %f4, %f1, %f3;
        st.global.f32 [%rd1+12], %f4;";
    let kinds: Vec<String> = order(body, &["global", "add"]).iter().map(|text| text[..2].to_owned()).collect();
    assert_eq!(kinds, ["ld", "ld", "ld", "ad", "ad", "ad", "st"]);
}

#[test]
fn a_load_does_not_pass_a_store_that_may_touch_the_same_bytes() {
    let through = |second: &str| {
        let body = format!(
            "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; {second} st.global.u32 [%rd1+64], %r2;"
        );
        let texts = order(&body, &["global"]);
        let place = |text: &str| texts.iter().position(|other| other.contains(text)).unwrap();
        place(second.trim_end_matches(';')) < place("st.global.u32 [%rd1], %r1")
    };
    assert!(!through("ld.global.u32 %r2, [%rd1];"), "the same bytes");
    assert!(!through("ld.global.u32 %r2, [%rd2];"), "another pointer, which may be equal");
    assert!(through("ld.global.u32 %r2, [%rd1+4];"), "other bytes from the same pointer");
    assert!(through("ld.global.nc.u32 %r2, [%rd2];"), "what nobody writes");
    assert!(!through("ld.volatile.global.u32 %r2, [%rd1+4];"), "volatile");
}

#[test]
fn nothing_crosses_a_barrier_a_branch_or_a_clock() {
    let body = "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %clock; add.u32 %r4, %r1, %r1; add.u32 %r5, %r4, %r4; bar.sync 0;
        ld.global.u32 %r2, [%rd1]; mov.u32 %r3, %clock; ld.global.u32 %r6, [%rd1+4];";
    let texts = order(body, &["clock", "bar", "global"]);
    let kinds: Vec<&str> = texts.iter().map(|text| &text[..3]).collect();
    assert_eq!(kinds, ["mov", "bar", "ld.", "mov", "ld."]);
}
