//! SASS by the instruction: small programs as nvdisasm would print them, run on the machine, against what each should do.

use std::sync::Arc;

use warpwise_simt::device;
use warpwise_simt::isa::{Control, Param, Ty};
use warpwise_simt::machine::{Launch, Machine};
use warpwise_simt::sass::{Code, Entry, Instruction, SassError, lower};

/// A kernel of one pointer, compiled for 9.0.
fn entry() -> Entry {
    entry_of(90)
}

/// Where each architecture has the parameters.
fn params_at(arch: u32) -> u32 {
    match arch {
        80 => 0x160,
        90 => 0x210,
        _ => 0x380,
    }
}

fn entry_of(arch: u32) -> Entry {
    Entry {
        name: "k".to_owned(),
        arch,
        abi_version: 10,
        registers: 32,
        params: vec![Param { name: "p".to_owned(), ty: Ty::U64, bytes: 8, offset: 0 }],
        params_at: (params_at(arch), 8),
        shared_static_bytes: 256,
        shared_reserved_bytes: if arch >= 90 { 1024 } else { 0 },
        local_bytes: 64,
        max_threads: None,
        required_threads: None,
        barrier_count: 1,
        banks: Vec::new(),
    }
}

/// One instruction a line; `name:` is a label; `= 0x…` behind one is the immediate in its encoding.
fn code(text: &str) -> Code {
    let mut code = Code::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let address = 16 * code.instructions.len() as u32;
        if let Some(name) = line.strip_suffix(':') {
            code.labels.push((name.to_owned(), address));
            continue;
        }
        let (line, immediate) = line.split_once(" = ").unwrap_or((line, "0x0"));
        let (predicate, rest) = match line.starts_with('@') {
            true => line.split_once(' ').map(|(guard, rest)| (Some(guard.to_owned()), rest)).expect("an opcode"),
            false => (None, line),
        };
        let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let immediate = u128::from_str_radix(immediate.trim_start_matches("0x"), 16).expect("hexadecimal");
        code.instructions.push(Instruction {
            address,
            predicate,
            opcode: opcode.to_owned(),
            operands: operands.to_owned(),
            encoding: immediate << 32,
            control: Control::default(),
            source: Arc::default(),
        });
    }
    code
}

/// Each lane's words, of four inputs and an output.
type Words = [[u32; 5]; 32];

/// Runs `body` with the lane's words in R4 to R7 and its number in R0; R8 is the output, R2 the address of its words.
#[track_caller]
fn run(body: &str, inputs: impl Fn(u32) -> [u32; 4]) -> [u32; 32] {
    run_on(90, body, inputs)
}

#[track_caller]
fn run_on(arch: u32, body: &str, inputs: impl Fn(u32) -> [u32; 4]) -> [u32; 32] {
    let params = params_at(arch);
    let text = format!(
        "LDC.64 R2, c[0x0][{params:#x}]
         S2R R0, SR_LANEID
         IMAD.WIDE.U32 R2, R0, 0x14, R2
         LDG.E R4, desc[UR4][R2.64]
         LDG.E R5, desc[UR4][R2.64+0x4]
         LDG.E R6, desc[UR4][R2.64+0x8]
         LDG.E R7, desc[UR4][R2.64+0xc]
         MOV R8, 0xdeadbeef
         {body}
         STG.E desc[UR4][R2.64+0x10], R8
         EXIT"
    );
    let program = lower(&entry_of(arch), &code(&text)).unwrap_or_else(|error| panic!("{error}"));
    let mut machine = Machine::new(device::find("H200").expect("a device"));
    let module = machine.load(&[]).expect("no variables");
    let kernel = machine.prepare(module, &program).unwrap_or_else(|error| panic!("{error}"));
    let words: Words = std::array::from_fn(|lane| {
        let [a, b, c, d] = inputs(lane as u32);
        [a, b, c, d, 0]
    });
    let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let address = machine.alloc(bytes.len() as u64).expect("memory");
    machine.write(address, &bytes).expect("in bounds");
    let report = machine.launch(&kernel, &Launch::new([1, 1, 1], [32, 1, 1], address.to_le_bytes().to_vec()));
    let report = report.expect("admitted");
    assert!(report.fault.is_none(), "{:?}", report.fault);
    let mut out = vec![0; bytes.len()];
    machine.read(address, &mut out).expect("in bounds");
    std::array::from_fn(|lane| u32::from_le_bytes(out[20 * lane + 16..][..4].try_into().expect("a word")))
}

/// Words at the edges of their range, in pairs that meet in every way.
const EDGES: [u32; 8] = [0, 1, 2, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

fn edges(lane: u32) -> [u32; 4] {
    let pick = |shift: u32| EDGES[((lane * 37 + (lane >> shift) * 11) % 8) as usize];
    [EDGES[(lane % 8) as usize], pick(3), pick(1), pick(2)]
}

/// Checks one body against a function of the lane's words.
#[track_caller]
fn check(body: &str, expected: impl Fn(u32, u32, u32, u32) -> u32) {
    let found = run(body, edges);
    for lane in 0..32 {
        let [a, b, c, d] = edges(lane);
        let wanted = expected(a, b, c, d);
        assert_eq!(found[lane as usize], wanted, "{body}\nlane {lane}: a {a:#x}, b {b:#x}, c {c:#x}, d {d:#x}");
    }
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[test]
fn sums_of_three_negate_and_carry() {
    check("IADD3 R8, R4, R5, R6", |a, b, c, _| a.wrapping_add(b).wrapping_add(c));
    check("IADD3 R8, -R4, R5, RZ", |a, b, _, _| b.wrapping_sub(a));
    check("IADD3 R8, R4, 0x7, -R6", |a, _, c, _| a.wrapping_add(7).wrapping_sub(c));
    // 64-bit additions and subtractions in two steps.
    let high = |sum: u64| (sum >> 32) as u32;
    // In one, of uniform registers: 32 bits of ones and 1.
    check(
        "UMOV UR4, 0xffffffff
         UMOV UR5, 0x7
         UIADD3.64 UR4, UPT, UPT, UR4, 0x1, URZ
         MOV R8, UR5",
        |_, _, _, _| 8,
    );
    check(
        "IADD3 R9, P0, R4, R6, RZ
         IADD3.X R8, R5, R7, RZ, P0, !PT",
        |a, b, c, d| high(pair(a, b).wrapping_add(pair(c, d))),
    );
    check(
        "IADD3 R9, P0, R4, -R6, RZ
         IADD3.X R8, R5, ~R7, RZ, P0, !PT",
        |a, b, c, d| high(pair(a, b).wrapping_sub(pair(c, d))),
    );
    // Two carries of one sum.
    check(
        "IADD3 R9, P0, P1, R4, R5, R6
         IADD3.X R8, RZ, RZ, RZ, P0, P1",
        |a, b, c, _| high(u64::from(a) + u64::from(b) + u64::from(c)),
    );
    check("VIADD R8, R4, 0xfffffff0", |a, _, _, _| a.wrapping_sub(16));
    check("IADD.64 R8, R4, -R6", |a, b, c, d| pair(a, b).wrapping_sub(pair(c, d)) as u32);
    // As a filter's pointers and counters step on sm_120.
    check(
        "MOV.64 R10, 0xfffffffffffffff8
         IADD3.64 R10, PT, PT, R10, R4, RZ
         MOV R8, R11",
        |a, b, _, _| high(pair(a, b).wrapping_sub(8)),
    );
    check(
        "IADD3.64 R10, PT, PT, R4, R6, RZ
         MOV R8, R11",
        |a, b, c, d| high(pair(a, b).wrapping_add(pair(c, d))),
    );
    check(
        "IADD3.64 R10, PT, PT, R4, 0x10, RZ
         MOV R8, R11",
        |a, b, _, _| high(pair(a, b).wrapping_add(16)),
    );
}

#[test]
fn products_have_low_high_and_wide_forms() {
    check("IMAD R8, R4, R5, R6", |a, b, c, _| a.wrapping_mul(b).wrapping_add(c));
    check("IMAD R8, R4, R5, -R6", |a, b, c, _| a.wrapping_mul(b).wrapping_sub(c));
    check("IMAD.MOV R8, RZ, RZ, -R6", |_, _, c, _| c.wrapping_neg());
    check("IMAD.SHL.U32 R8, R4, 0x8, RZ", |a, _, _, _| a << 3);
    // The addend has 64 bits.
    let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
    check("IMAD.HI.U32 R8, R4, R5, R6", move |a, b, c, d| (product(a, b).wrapping_add(pair(c, d)) >> 32) as u32);
    let signed = |a: u32, b: u32| i64::from(a as i32) * i64::from(b as i32);
    check("IMAD.HI R8, R4, R5, RZ", move |a, b, _, _| (signed(a, b) >> 32) as u32);
    // The result overlaps a source by half.
    check(
        "IMAD.WIDE.U32 R4, R5, R4, R6
         MOV R8, R5",
        |a, b, c, d| ((u64::from(a) * u64::from(b)).wrapping_add(pair(c, d)) >> 32) as u32,
    );
    check(
        "IMAD.WIDE R10, R4, R5, RZ
         MOV R8, R11",
        move |a, b, _, _| (signed(a, b) >> 32) as u32,
    );
    check(
        "IADD3 R9, P0, R4, R6, RZ
         IMAD.X R8, R5, 0x1, R7, P0",
        |a, b, c, d| (pair(a, b).wrapping_add(pair(c, d)) >> 32) as u32,
    );
}

#[test]
fn scaled_sums_have_a_high_half_with_the_carry() {
    check("LEA R8, R4, R5, 0x3", |a, b, _, _| (a << 3).wrapping_add(b));
    // The address of element R4:R5 of 8 bytes behind R6:R7.
    check(
        "LEA R9, P0, R4, R6, 0x3
         LEA.HI.X R8, R4, R7, R5, 0x3, P0",
        |a, b, c, d| ((pair(a, b) << 3).wrapping_add(pair(c, d)) >> 32) as u32,
    );
    check("LEA.HI.X.SX32 R8, R4, R7, 0x2, PT", |a, _, _, d| {
        (((i64::from(a as i32) << 2) >> 32) as u32).wrapping_add(d).wrapping_add(1)
    });
}

#[test]
fn logic_goes_by_its_table() {
    check("LOP3.LUT R8, R4, R5, R6, 0x96, !PT", |a, b, c, _| a ^ b ^ c);
    check("LOP3.LUT R8, R4, R5, R6, 0xe8, !PT", |a, b, c, _| (a & b) | (a & c) | (b & c));
    check("LOP3.LUT R8, R4, ~R5, RZ, 0xc0, !PT", |a, b, _, _| a & !b);
    check(
        "LOP3.LUT P0, R9, R4, R5, RZ, 0xc0, !PT
         SEL R8, 0x1, RZ, P0",
        |a, b, _, _| u32::from(a & b != 0),
    );
    check(
        "ISETP.GT.AND P0, PT, R4, R5, PT
         ISETP.GT.AND P1, PT, R5, R6, PT
         PLOP3.LUT P2, P3, P0, P1, !P0, 0x80, 0x6
         SEL R8, 0x2, RZ, P2
         SEL R9, 0x1, RZ, P3
         LOP3.LUT R8, R8, R9, RZ, 0xfc, !PT",
        |a, b, c, _| {
            let (p, q) = ((a as i32) > (b as i32), (b as i32) > (c as i32));
            let row = u32::from(p) << 2 | u32::from(q) << 1 | u32::from(!p);
            let (first, second) = (0x80 >> row & 1, 0x6 >> row & 1);
            first << 1 | second
        },
    );
}

#[test]
fn shifts_funnel_and_stop_at_the_width() {
    check("SHF.L.U32 R8, R4, R5, RZ", |a, b, _, _| a.checked_shl(b).unwrap_or(0));
    check("SHF.R.U32.HI R8, RZ, R5, R4", |a, b, _, _| a.checked_shr(b).unwrap_or(0));
    check("SHF.R.S32.HI R8, RZ, R5, R4", |a, b, _, _| ((a as i32) >> b.min(31)) as u32);
    check("SHF.L.U64.HI R8, R4, 0xc, R5", |a, b, _, _| ((pair(a, b) << 12) >> 32) as u32);
    check("SHF.R.U64 R8, R4, 0xc, R5", |a, b, _, _| (pair(a, b) >> 12) as u32);
    check("SHF.R.S64 R8, R4, 0x2c, R5", |a, b, _, _| ((pair(a, b) as i64) >> 44) as u32);
    check("SHF.L.W.U32.HI R8, R4, R6, R4", |a, _, c, _| a.rotate_left(c & 31));
    check("PRMT R8, R4, 0x5410, R5", |a, b, _, _| (a & 0xffff) | b << 16);
    check("SGXT.U32 R8, R4, 0x7", |a, _, _, _| a & 0x7f);
    check("SGXT R8, R4, 0x7", |a, _, _, _| ((a << 25) as i32 >> 25) as u32);
    check("FLO.U32 R8, R4", |a, _, _, _| if a == 0 { u32::MAX } else { 31 - a.leading_zeros() });
    check("FLO.U32.SH R8, R4", |a, _, _, _| if a == 0 { u32::MAX } else { a.leading_zeros() });
    check("BREV R8, R4", |a, _, _, _| a.reverse_bits());
    check("POPC R8, R4", |a, _, _, _| a.count_ones());
}

#[test]
fn comparisons_of_high_words_go_on_from_the_low_ones() {
    let both = "SEL R8, 0x1, RZ, P0";
    check(&format!("ISETP.GE.U32.AND P0, PT, R4, R5, PT\n{both}"), |a, b, _, _| u32::from(a >= b));
    check(&format!("ISETP.LT.OR P0, PT, R4, R5, !PT\n{both}"), |a, b, _, _| u32::from((a as i32) < (b as i32)));
    for (name, holds) in [
        ("LT", (|a, b| a < b) as fn(i64, i64) -> bool),
        ("LE", |a, b| a <= b),
        ("GE", |a, b| a >= b),
        ("EQ", |a, b| a == b),
        ("NE", |a, b| a != b),
    ] {
        let body = format!(
            "ISETP.{name}.U32.AND P1, PT, R4, R6, PT
             ISETP.{name}.AND.EX P0, PT, R5, R7, PT, P1
             {both}"
        );
        check(&body, |a, b, c, d| u32::from(holds(pair(a, b) as i64, pair(c, d) as i64)));
    }
    check("IMNMX R8, R4, R5, PT", |a, b, _, _| (a as i32).min(b as i32) as u32);
    check("VIMNMX.U32 R8, R4, R5, !PT", |a, b, _, _| a.max(b));
    check("IABS R8, R4", |a, _, _, _| (a as i32).wrapping_abs() as u32);
}

/// Floats of all sorts, by lane.
fn floats(lane: u32) -> [u32; 4] {
    const VALUES: [f32; 8] = [0.0, -1.5, 3.25, -1.0e-3, 7.0e8, -2.5e-39, f32::INFINITY, 0.5];
    let pick = |step: u32| VALUES[((lane * step + lane / 8) % 8) as usize].to_bits();
    [pick(1), pick(3), pick(5), pick(7)]
}

#[track_caller]
fn check_floats(body: &str, expected: impl Fn(f32, f32, f32) -> f32) {
    let found = run(body, floats);
    for lane in 0..32 {
        let [a, b, c, _] = floats(lane).map(f32::from_bits);
        let wanted = expected(a, b, c);
        let wanted = if wanted.is_nan() { 0x7fff_ffff } else { wanted.to_bits() };
        assert_eq!(found[lane as usize], wanted, "{body}\nlane {lane}: {a:e}, {b:e}, {c:e}");
    }
}

#[test]
fn float_sources_are_negated_and_made_absolute() {
    check_floats("FADD R8, R4, -R5", |a, b, _| a - b);
    check_floats("FADD R8, -|R4|, R5", |a, b, _| b - a.abs());
    check_floats("FMUL R8, R4, |R5|", |a, b, _| a * b.abs());
    check_floats("FFMA R8, R4, -R5, R6", |a, b, c| a.mul_add(-b, c));
    check_floats("FFMA R8, R4, R5, -R6", |a, b, c| a.mul_add(b, -c));
    check_floats("FMNMX R8, R4, R5, PT", |a, b, _| a.min(b));
    check_floats("FADD R8, R4, 0.25 = 0x3e800000", |a, _, _| a + 0.25);
    check_floats("FADD.FTZ R8, R4, -RZ", |a, _, _| if a.is_subnormal() { -0.0 } else { a });
    check_floats(
        "FSETP.GEU.AND P0, PT, |R4|, R5, PT
         FSEL R8, R4, R6, P0",
        |a, b, c| if a.abs() >= b { a } else { c },
    );
    check_floats(
        "FSETP.GT.AND P0, PT, R4, R5, PT
         FSEL R8, -R4, |R6|, P0",
        |a, b, c| if a > b { -a } else { c.abs() },
    );
    let truncated = |a: f32| a as i32 as f32;
    check_floats(
        "F2I.TRUNC.NTZ R9, R4
         I2F R8, R9",
        |a, _, _| truncated(a),
    );
    check_floats(
        "F2F.F64.F32 R10, R4
         DADD R10, R10, 0.5 = 0x3fe00000
         F2F.F32.F64 R8, R10",
        |a, _, _| (f64::from(a) + 0.5) as f32,
    );
}

#[test]
fn halves_move_constants_and_convert() {
    // How ptxas moves a constant: 0 × 0 plus two halves.
    check("HFMA2.MMA R8, -RZ, RZ, 1.875, 0.5 = 0x3f803800", |_, _, _, _| 0x3f80_3800);
    check_floats("HADD2.F32 R8, -RZ, R4.H0_H0", |a, _, _| {
        // The low half of the bits of a float, as a half.
        half::f16::from_bits(a.to_bits() as u16).to_f32()
    });
}

#[test]
fn predicates_go_to_a_register_and_back() {
    check(
        "ISETP.LT.U32.AND P0, PT, R4, R5, PT
         ISETP.LT.U32.AND P3, PT, R5, R6, PT
         P2R R9, PR, RZ, 0x7f
         ISETP.EQ.AND P0, PT, RZ, 0x1, PT
         ISETP.EQ.AND P3, PT, RZ, 0x1, PT
         R2P PR, R9, 0x8
         SEL R8, 0x10, RZ, P0
         SEL R10, 0x20, RZ, P3
         IADD3 R8, R8, R10, R9",
        |a, b, c, _| u32::from(a < b) + if b < c { 8 + 0x20 } else { 0 },
    );
}

#[test]
fn shared_memory_starts_behind_what_the_system_reserves_and_local_memory_below_the_stack_pointer() {
    // A reversal through shared memory at 0x400.
    check(
        "SHF.L.U32 R9, R0, 0x2, RZ
         STS [R9+0x400], R0
         BAR.SYNC.DEFER_BLOCKING 0x0
         IADD3 R10, -R0, 0x1f, RZ
         LDS R8, [R10.X4+0x400]
         STS.64 [R9.X2+0x400], R4
         LDS R9, [R9.X2+0x404]
         IADD3 R8, R8, R0, RZ
         IADD3 R8, R8, R9, RZ",
        |_, b, _, _| b.wrapping_add(31),
    );
    check(
        "LDC R1, c[0x0][0x28]
         IADD3 R1, R1, -0x10, RZ
         STL.64 [R1+0x8], R4
         STL [R1], R6
         LDL.LU R8, [R1+0xc]
         LDL R9, [R1]
         IADD3 R8, R8, R9, RZ",
        |_, b, c, _| b.wrapping_add(c),
    );
    // By a generic address of the stack.
    check(
        "LDC R1, c[0x0][0x28]
         ULDC.64 UR6, c[0x0][0x20]
         IADD3 R1, R1, -0x10, RZ
         IADD3 R10, P0, R1, UR6, RZ
         IADD3.X R11, RZ, UR7, RZ, P0, !PT
         ST.E desc[UR4][R10.64+0x4], R4
         LDL R8, [R1+0x4]",
        |a, _, _, _| a,
    );
}

#[test]
fn a_generic_address_of_the_stack_is_local_on_every_architecture() {
    // As ptxas writes `cvta.local`: the stack pointer plus the window, which bank 0 has elsewhere on each.
    for (arch, stack, window) in [(80, 0x28, 0x20), (90, 0x28, 0x20), (120, 0x37c, 0x2f8)] {
        let body = format!(
            "LDC R1, c[0x0][{stack:#x}]
             LDC.64 R12, c[0x0][{window:#x}]
             IADD3 R1, R1, -0x10, RZ
             IADD3 R10, P0, R1, R12, RZ
             IADD3.X R11, RZ, R13, RZ, P0, !PT
             ST.E desc[UR4][R10.64+0x4], R4
             LDL R8, [R1+0x4]"
        );
        let found = run_on(arch, &body, edges);
        assert_eq!(found, std::array::from_fn(|lane| edges(lane as u32)[0]), "sm_{arch}");
    }
}

#[test]
fn atomics_return_what_was_there() {
    // Lanes take numbers from one counter in shared memory; the sum of all is known.
    let found = run(
        "STS [0x400], RZ
         BAR.SYNC.DEFER_BLOCKING 0x0
         MOV R9, 0x400
         MOV R10, 0x1
         ATOMS.ADD R8, [R9], R10",
        edges,
    );
    let mut sorted = found;
    sorted.sort_unstable();
    assert_eq!(sorted, std::array::from_fn(|lane| lane as u32));
    check(
        "ATOMG.E.CAS.STRONG.GPU PT, R8, [R2.64+0x4], R5, R6
         LDG.E R9, desc[UR4][R2.64+0x4]
         IADD3 R8, R8, R9, RZ",
        |_, b, c, _| b.wrapping_add(c),
    );
    check(
        "RED.E.MAX.S32.STRONG.GPU [R2.64], R5
         LDG.E R8, desc[UR4][R2.64]",
        |a, b, _, _| (a as i32).max(b as i32) as u32,
    );
}

#[test]
fn divergent_lanes_meet_at_their_convergence_barrier() {
    // A loop of as many rounds as the lane's number, then a ballot of those who have come.
    check(
        "MOV R9, RZ
         BSSY B0, `(.L_join)
         ISETP.EQ.AND P0, PT, R0, RZ, PT
         @P0 BRA `(.L_out)
         .L_loop:
         IADD3 R9, R9, 0x1, RZ
         ISETP.NE.AND P0, PT, R9, R0, PT
         @P0 BRA `(.L_loop)
         .L_out:
         BSYNC B0
         .L_join:
         VOTE.ANY R8, PT, PT
         ISETP.EQ.AND P0, PT, R9, R0, PT
         SEL R8, R8, RZ, P0",
        |_, _, _, _| u32::MAX,
    );
    // Lanes that break out of the barrier are not waited for.
    let found = run(
        "BSSY B0, `(.L_join)
         ISETP.LT.AND P0, PT, R0, 0x10, PT
         @P0 BRA `(.L_low)
         BREAK B0
         MOV R8, 0x7
         BRA `(.L_end)
         .L_low:
         BSYNC B0
         .L_join:
         VOTE.ANY R8, PT, PT
         .L_end:",
        edges,
    );
    assert_eq!((found[0], found[15], found[16], found[31]), (0xffff, 0xffff, 7, 7));
}

#[test]
fn calls_return_to_where_each_lane_came_from() {
    let text = "BSSY B1, `(.L_join)
         ISETP.LT.AND P0, PT, R0, 0x8, PT
         @P0 BRA `(.L_first)
         MOV R20, 0x130
         MOV R21, 0x0
         CALL.REL.NOINC `(double)
         IADD3 R8, R9, 0x1, RZ
         BRA `(.L_meet)
         .L_first:
         MOV R20, 0x170
         CALL.REL.NOINC `(double)
         IADD3 R8, R9, 0x2, RZ
         BRA `(.L_meet)
         double:
         IADD3 R9, R4, R4, RZ
         RET.REL.NODEC R20 `(k)
         .L_meet:
         BSYNC B1
         .L_join:";
    // The body starts at instruction 8: the first call is at 13, the second at 17.
    let text = text.replace("0x130", &format!("{:#x}", 16 * 14)).replace("0x170", &format!("{:#x}", 16 * 18));
    let found = run(&text, edges);
    for lane in 0..32u32 {
        let more = if lane < 8 { 2 } else { 1 };
        assert_eq!(found[lane as usize], edges(lane)[0].wrapping_mul(2).wrapping_add(more), "lane {lane}");
    }
}

#[test]
fn the_warp_votes_shuffles_and_reduces() {
    check(
        "ISETP.GT.U32.AND P0, PT, R0, 0x1b, PT
         VOTE.ANY R8, PT, P0",
        |_, _, _, _| 0xf000_0000,
    );
    let found = run("SHFL.BFLY PT, R8, R0, 0x1, 0x1f", edges);
    assert_eq!(found, std::array::from_fn(|lane| lane as u32 ^ 1));
    let found = run("REDUX.SUM UR4, R0\nMOV R8, UR4", edges);
    assert_eq!(found, [496; 32]);
    let found = run(
        "BAR.RED.POPC.DEFER_BLOCKING 0x0, PT
         B2R.RESULT R8",
        edges,
    );
    assert_eq!(found, [32; 32]);
}

#[test]
fn what_the_machine_does_not_know_is_refused_by_its_text() {
    #[track_caller]
    fn refused(text: &str, reason: &str) {
        let error = lower(&entry(), &code(&format!("NOP\n{text}\nEXIT"))).expect_err("it is unknown");
        let SassError::Unsupported { address, text: shown, what, .. } = &error else { panic!("{error}") };
        assert_eq!((*address, shown.as_str()), (16, text));
        assert!(what.contains(reason), "{error}");
    }
    refused("HMMA.16816.F32 R4, R8, R12, R4", "the opcode HMMA");
    refused("FADD.SUPER R4, R5, R6", "the modifier .SUPER");
    refused("IADD3 R4, R5, c[0x3][0x8], R6", "nobody knows what is at c[0x3][0x8]");
    refused("MOV R4, c[0x0][0x1f0]", "nobody knows what is at c[0x0][0x1f0]");
    refused("BRA `(.L_nowhere)", "the label .L_nowhere is nowhere");
    refused("@R3 EXIT", "a predicate was expected");
    refused("IADD3 R4, R5", "operand");
}
