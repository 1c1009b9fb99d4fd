//! Launches: what is refused, who each thread is, what is counted.

mod support;

use support::{Bench, counter, run};
use warpwise_simt::device::Device;
use warpwise_simt::isa::{Relocation, Space, Variable};
use warpwise_simt::machine::{BlockOrder, Launch, LaunchRefused, Machine};
use warpwise_simt::ptx::Module;

#[test]
fn what_breaks_a_limit_is_refused_with_limit_and_value() {
    let cases = [
        ([1, 1, 1], [0, 1, 1], "a block of 0 × 1 × 1 threads"),
        ([0, 1, 1], [1, 1, 1], "a grid of 0 × 1 × 1 blocks"),
        ([1, 1, 1], [1025, 1, 1], "1,025 threads a block (1025 × 1 × 1); RTX 5070 allows at most 1,024"),
        ([1, 1, 1], [1, 1, 65], "block.z = 65; RTX 5070 allows at most 64"),
        ([1, 1, 1], [32, 32, 2], "2,048 threads a block (32 × 32 × 2); RTX 5070 allows at most 1,024"),
        ([1, 65_536, 1], [1, 1, 1], "grid.y = 65,536; RTX 5070 allows at most 65,535"),
    ];
    let mut bench = Bench::new("", "", 1);
    for (grid, block, sentence) in cases {
        let launch = Launch { grid, block, ..bench.launch(1, 1, 0) };
        let refused = bench.machine.launch(&bench.kernel, &launch).unwrap_err();
        assert!(refused.to_string().starts_with(sentence), "{refused}");
    }
    let launch = Launch { dynamic_shared_bytes: 101_377, ..bench.launch(1, 32, 0) };
    let refused = bench.machine.launch(&bench.kernel, &launch).unwrap_err().to_string();
    assert!(refused.starts_with("101,377 bytes of shared memory a block (0 static, 101377 dynamic)"), "{refused}");
    let launch = Launch { params: vec![0; 11], ..bench.launch(1, 32, 0) };
    let refused = bench.machine.launch(&bench.kernel, &launch).unwrap_err();
    assert!(matches!(refused, LaunchRefused::ParameterBytes { given: 11, expected: 12, .. }), "{refused}");
    let launch = Launch { registers: Some(255), ..bench.launch(1, 1024, 0) };
    let refused = bench.machine.launch(&bench.kernel, &launch).unwrap_err().to_string();
    assert!(refused.contains("255 registers a thread for 1024 threads"), "{refused}");
}

#[test]
fn a_kernel_compiled_for_fewer_threads_refuses_more() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() .maxntid 128 { ret; }\n\
        .visible .entry exact() .reqntid 8, 4 { ret; }";
    let module = Module::parse("t", text).unwrap();
    let mut machine = Machine::new(Device::default_device());
    let loaded = machine.load(&[]).unwrap();
    let kernel = machine.prepare(loaded, &module.lower("k").unwrap()).unwrap();
    assert!(machine.launch(&kernel, &Launch::new([1, 1, 1], [128, 1, 1], Vec::new())).is_ok());
    let refused = machine.launch(&kernel, &Launch::new([1, 1, 1], [129, 1, 1], Vec::new())).unwrap_err();
    assert!(matches!(refused, LaunchRefused::KernelMaxThreads { given: 129, limit: 128, .. }));
    let exact = machine.prepare(loaded, &module.lower("exact").unwrap()).unwrap();
    assert!(machine.launch(&exact, &Launch::new([1, 1, 1], [8, 4, 1], Vec::new())).is_ok());
    assert!(machine.launch(&exact, &Launch::new([1, 1, 1], [32, 1, 1], Vec::new())).is_err());
}

#[test]
fn every_thread_of_a_three_dimensional_launch_knows_who_it_is() {
    let body = "mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y;
        mov.u32 %r8, %ctaid.z; mov.u32 %r9, %laneid; mad.lo.u32 %r10, %r4, 10, %r3; mad.lo.u32 %r10, %r5, 100, %r10;
        mad.lo.u32 %r10, %r6, 1000, %r10; mad.lo.u32 %r10, %r7, 10000, %r10; mad.lo.u32 %r10, %r8, 100000, %r10;
        mad.lo.u32 %r10, %r9, 1000000, %r10;
        mov.u32 %r11, %nctaid.x; mov.u32 %r12, %nctaid.y; mad.lo.u32 %r13, %r8, %r12, %r7; mad.lo.u32 %r13, %r13, %r11, %r6;
        mov.u32 %r14, %ntid.x; mov.u32 %r15, %ntid.y; mov.u32 %r16, %ntid.z; mul.lo.u32 %r14, %r14, %r15;
        mul.lo.u32 %r14, %r14, %r16; mad.lo.u32 %r13, %r13, %r14, %t; mul.wide.u32 %d1, %r13, 4; add.u64 %d1, %out, %d1;
        st.global.u32 [%d1], %r10;";
    let (grid, block): ([u32; 3], [u32; 3]) = ([2, 3, 2], [5, 3, 4]);
    let threads = block.iter().product::<u32>();
    let mut bench = Bench::new("", body, (threads * 12) as usize);
    let mut expected = Vec::new();
    for index in 0..12 * threads {
        let (b, t) = (index / threads, index % threads);
        let thread = t % 5 + t / 5 % 3 * 10 + t / 15 * 100;
        expected.push(thread + b % 2 * 1000 + b / 2 % 3 * 10_000 + b / 6 * 100_000 + t % 32 * 1_000_000);
    }
    for block_order in [BlockOrder::Forward, BlockOrder::Reverse, BlockOrder::Random(3)] {
        let launch = Launch { grid, block, block_order, ..bench.launch(1, 1, 0) };
        assert_eq!(bench.output(&launch), expected, "{block_order:?}");
    }
}

#[test]
fn lane_masks_follow_the_lane() {
    let body = "mov.u32 %r3, %lanemask_eq; mov.u32 %r4, %lanemask_le; mov.u32 %r5, %lanemask_lt; mov.u32 %r6, %lanemask_ge;
        mov.u32 %r7, %lanemask_gt; popc.b32 %r4, %r4; popc.b32 %r5, %r5; popc.b32 %r6, %r6; popc.b32 %r7, %r7; bfind.u32 %r3, %r3;
        shl.b32 %r4, %r4, 6; shl.b32 %r5, %r5, 12; shl.b32 %r6, %r6, 18; shl.b32 %r7, %r7, 24; or.b32 %r3, %r3, %r4;
        or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, %r6; or.b32 %r3, %r3, %r7; st.global.u32 [%mine], %r3;";
    let expected = (0..32).map(|l| l | (l + 1) << 6 | l << 12 | (32 - l) << 18 | (31 - l) << 24);
    assert_eq!(run(body, 32), expected.collect::<Vec<u32>>());
}

#[test]
fn an_atomic_ticket_is_drawn_once_whatever_the_order_of_blocks() {
    let body =
        "atom.global.add.u32 %r3, [%out], 1; add.u32 %r3, %r3, 1; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %out, %d1;
        red.global.add.u32 [%d1], %i; red.global.add.u32 [%d1], 1;";
    for block_order in [BlockOrder::Forward, BlockOrder::Reverse, BlockOrder::Random(11)] {
        let mut bench = Bench::new("", body, 1 + 50 * 96);
        let launch = Launch { block_order, ..bench.launch(50, 96, 0) };
        let mut output = bench.output(&launch);
        assert_eq!(output[0], 50 * 96);
        output[1..].sort();
        assert!(output[1..].iter().copied().eq(1..=50 * 96), "{block_order:?}: a permutation");
    }
}

/// The chapters' vector addition, as a compiler writes it.
const VECADD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
    .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r1, %r2; @%p1 bra DONE;
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6]; add.rn.f32 %f3, %f1, %f2; st.global.f32 [%rd7], %f3;
    DONE: ret; }";

#[test]
fn counters_of_a_vector_addition_over_1_000_003_elements() {
    const N: u32 = 1_000_003;
    let module = Module::parse("vecadd.ptx", VECADD).unwrap();
    let mut machine = Machine::new(Device::default_device());
    let loaded = machine.load(&[]).unwrap();
    let kernel = machine.prepare(loaded, &module.lower("vecadd").unwrap()).unwrap();
    let [a, b, c] = std::array::from_fn(|_| machine.alloc(4 * u64::from(N)).unwrap());
    let bytes = |value: fn(u32) -> f32| (0..N).flat_map(|i| value(i).to_le_bytes()).collect::<Vec<_>>();
    machine.write(a, &bytes(|i| i as f32)).unwrap();
    machine.write(b, &bytes(|i| 0.5 * i as f32)).unwrap();
    let params = [&a.to_le_bytes()[..], &b.to_le_bytes(), &c.to_le_bytes(), &N.to_le_bytes()].concat();
    let report = machine.launch(&kernel, &Launch::new([N.div_ceil(256), 1, 1], [256, 1, 1], params)).unwrap();
    assert_eq!(report.fault, None);
    let mut sums = vec![0; 4 * N as usize];
    machine.read(c, &mut sums).unwrap();
    assert_eq!(sums, bytes(|i| i as f32 + 0.5 * i as f32));
    // An H200 counts the same sectors. Of 31,256 warps 31,251 have work, the last of these in 3 lanes.
    let expect = [
        ("sm__ctas_launched.sum", 3907.0),
        ("sm__warps_launched.sum", 31_256.0),
        ("sm__threads_launched.sum", 1_000_192.0),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 2.0 * 31_251.0),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 250_002.0),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 125_001.0),
        ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1_000_003.0),
        ("smsp__sass_branch_targets_threads_divergent.sum", 1.0),
        ("smsp__inst_executed.sum", 31_256.0 * 11.0 + 31_251.0 * 8.0),
    ];
    for (name, value) in expect {
        assert_eq!(counter(&report, name), value, "{name}");
    }
    let lanes = report.counters.lanes_histogram();
    assert_eq!(lanes[3], 8, "the eight instructions behind the guard, in the last warp with work");
    assert_eq!(lanes[29], 0, "its other 29 lanes are done");
    assert_eq!(
        lanes.iter().zip(0..).filter(|(count, _)| **count > 0).map(|(_, lanes)| lanes).collect::<Vec<_>>(),
        [3, 32]
    );
}

#[test]
fn guarded_instructions_count_as_executed_and_their_lanes_as_off() {
    let body = "setp.lt.u32 %p1, %t, 10; @%p1 add.u32 %r3, %t, 1; setp.lt.u32 %p2, %t, 0; @%p2 add.u32 %r4, %t, 2;";
    let mut bench = Bench::new("", body, 1);
    let launch = bench.launch(1, 32, 0);
    let report = bench.run(&launch);
    let off = counter(&report, "smsp__thread_inst_executed_pred_off.sum");
    assert_eq!(off, 22.0 + 32.0);
    let on = counter(&report, "smsp__thread_inst_executed_pred_on.sum");
    assert_eq!(counter(&report, "smsp__thread_inst_executed.sum"), on + off);
    assert_eq!(counter(&report, "smsp__average_thread_inst_executed_per_inst_executed.ratio"), 32.0);
}

#[test]
fn bank_conflicts_are_wavefronts_beyond_the_fewest() {
    let declarations = ".shared .align 4 .b8 tile[4096];";
    let body = "mov.u32 %r3, tile; shl.b32 %r4, %t, %n; and.b32 %r4, %r4, 4095; add.u32 %r3, %r3, %r4;
        st.shared.u32 [%r3], %t; ld.shared.u32 %r5, [%r3];";
    for (shift, wavefronts) in [(2, 1.0), (3, 2.0), (4, 4.0), (7, 32.0)] {
        let mut bench = Bench::new(declarations, body, 1);
        let launch = bench.launch(1, 32, shift);
        let report = bench.run(&launch);
        assert_eq!(
            counter(&report, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
            wavefronts,
            "shift {shift}"
        );
        assert_eq!(counter(&report, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"), 2.0 * (wavefronts - 1.0));
    }
}

#[test]
fn local_memory_is_counted_as_it_is_interleaved() {
    let body = ".local .align 4 .b8 mine[64]; mov.u64 %d1, mine; st.local.u32 [%d1+8], %t; ld.local.u32 %r3, [%d1+8];
        mul.wide.u32 %d2, %t, 4; and.b64 %d2, %d2, 60; add.u64 %d1, %d1, %d2; st.local.u32 [%d1], %r3; st.global.u32 [%mine], %r3;";
    let mut bench = Bench::new("", body, 32);
    let launch = bench.launch(1, 32, 0);
    let report = bench.run(&launch);
    assert_eq!(bench.read(), (0..32).collect::<Vec<_>>());
    assert_eq!(counter(&report, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"), 4.0, "a uniform index");
    assert_eq!(
        counter(&report, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"),
        4.0 + 32.0,
        "and one that differs by lane"
    );
}

#[test]
fn module_variables_have_contents_addresses_and_relocations() {
    let variable = |name: &str, bytes, init: &[u8]| Variable {
        name: name.to_owned(),
        space: Space::Global,
        bytes,
        align: 8,
        init: init.to_vec(),
        relocations: Vec::new(),
    };
    let mut pointer = variable("pointer", 8, &[]);
    pointer.relocations.push(Relocation { offset: 0, symbol: "table".to_owned(), addend: 4, generic: true });
    let mut machine = Machine::new(Device::default_device());
    let table = Variable { align: 1024, ..variable("table", 16, &[1, 2, 3]) };
    let module = machine.load(&[pointer.clone(), table]).unwrap();
    let symbol = machine.symbol(module, "table").unwrap();
    assert_eq!((symbol.address % 1024, symbol.bytes), (0, 16));
    let mut contents = [0xff; 16];
    machine.read(symbol.address, &mut contents).unwrap();
    assert_eq!(contents, [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut address = [0; 8];
    machine.read(machine.symbol(module, "pointer").unwrap().address, &mut address).unwrap();
    assert_eq!(u64::from_le_bytes(address), symbol.address + 4);
    let used = machine.memory().used_bytes();
    assert!(machine.load(&[pointer]).unwrap_err().to_string().contains("address of `table`"));
    assert_eq!(machine.memory().used_bytes(), used, "a module that fails to load leaves nothing behind");
    machine.unload(module);
    assert_eq!(machine.memory().used_bytes(), 0);
}
