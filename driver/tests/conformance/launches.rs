//! Launches: every way to say the arguments, and every limit.

use crate::kernels;
use crate::library::{Scope, at, code, of};

const COUNT: usize = 10_003;

#[test]
fn vecadd_over_an_odd_number_of_elements_is_exact() {
    let scope = Scope::new();
    let vecadd = scope.kernel(&kernels::vecadd(), "vecadd");
    let a: Vec<f32> = (0..COUNT).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..COUNT).map(|i| 1e6 - i as f32).collect();
    let (da, db, dc) = (scope.upload(&a), scope.upload(&b), scope.alloc(COUNT * 4));
    assert_eq!(scope.launch(vecadd, 79, 127, 0, &mut [da, db, dc, COUNT as u64]), code::OK);
    let c = scope.download::<f32>(dc, COUNT);
    assert!(c.iter().zip(a.iter().zip(&b)).all(|(c, (a, b))| *c == a + b));
}

/// The parameter buffer of `mixed`: a at 0, b at 2, p at 8, c at 16, d at 24.
fn packed(p: u64) -> Vec<u8> {
    let mut buffer = vec![0xcc; 32];
    buffer[0] = 3;
    buffer[2..4].copy_from_slice(&4u16.to_le_bytes());
    buffer[8..16].copy_from_slice(&p.to_le_bytes());
    buffer[16..20].copy_from_slice(&5u32.to_le_bytes());
    buffer[24..32].copy_from_slice(&(6u64 << 32).to_le_bytes());
    buffer
}

#[test]
fn parameters_of_all_widths_arrive_by_pointer_and_packed() {
    let scope = Scope::new();
    let mixed = scope.kernel(&kernels::small(), "mixed");
    let out = scope.upload(&[0u32; 2]);
    let (mut a, mut b, mut p, mut c, mut d) = (3u8, 4u16, out, 5u32, 6u64 << 32);
    let each = [at(&mut a), at(&mut b), at(&mut p), at(&mut c), at(&mut d)];
    let shape = [mixed, 1, 1, 1, 1, 1, 1, 0, 0];
    scope.cuda.ok("cuLaunchKernel", &[&shape[..], &[of(&each), 0]].concat());
    let mut buffer = packed(out + 4);
    let mut bytes = buffer.len();
    let extra = [1, buffer.as_mut_ptr().expose_provenance() as u64, 2, at(&mut bytes), 0];
    scope.cuda.ok("cuLaunchKernel", &[&shape[..], &[0, of(&extra)]].concat());
    assert_eq!(scope.download::<u32>(out, 2), [6543, 6543]);
}

#[test]
fn arguments_that_are_missing_or_said_twice_are_refused() {
    let scope = Scope::new();
    let (mixed, nothing) = (scope.kernel(&kernels::small(), "mixed"), scope.kernel(&kernels::small(), "nothing"));
    let shape = |function| [function, 1, 1, 1, 1, 1, 1, 0, 0];
    let mut buffer = packed(0);
    let mut bytes = buffer.len();
    let extra = [1, buffer.as_mut_ptr().expose_provenance() as u64, 2, at(&mut bytes), 0];
    let each = [at(&mut buffer[0]); 5];
    let both = scope.cuda.call("cuLaunchKernel", &[&shape(mixed)[..], &[of(&each), of(&extra)]].concat());
    assert_eq!(both, code::INVALID_VALUE, "both");
    let none = scope.cuda.call("cuLaunchKernel", &[&shape(mixed)[..], &[0, 0]].concat());
    assert_eq!(none, code::INVALID_VALUE, "neither");
    let mut too_few = 16usize;
    let short = [extra[0], extra[1], 2, at(&mut too_few), 0];
    let short = scope.cuda.call("cuLaunchKernel", &[&shape(mixed)[..], &[0, of(&short)]].concat());
    // NVIDIA's driver takes a buffer that is too short, and the kernel reads what happens to lie there.
    assert_eq!(short == code::INVALID_VALUE, scope.cuda.is_modelled(), "short");
    scope.cuda.ok("cuLaunchKernel", &[&shape(nothing)[..], &[0, 0]].concat());
    scope.synchronize();
}

#[test]
fn a_shape_that_no_device_has_is_refused_at_the_launch_and_nothing_else_happens() {
    let scope = Scope::new();
    let text = kernels::small();
    let [nothing, bounded, exact] = ["nothing", "bounded", "exact"].map(|name| scope.kernel(&text, name));
    let mut argument = 0u64;
    let arguments = [at(&mut argument)];
    let launch = |function, grid: [u64; 3], block: [u64; 3], shared: u64| {
        let shape = [function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, 0, of(&arguments), 0];
        scope.cuda.call("cuLaunchKernel", &shape)
    };
    let one = [1, 1, 1];
    for (grid, block, shared) in [
        (one, [0, 1, 1], 0),
        (one, [1025, 1, 1], 0),
        (one, [1, 1, 65], 0),
        (one, [32, 32, 2], 0),
        ([0, 1, 1], one, 0),
        ([1, 65_536, 1], one, 0),
        ([1, 1, 65_536], one, 0),
        ([1 << 31, 1, 1], one, 0),
        (one, one, (48 << 10) + 1),
    ] {
        assert_eq!(launch(nothing, grid, block, shared), code::INVALID_VALUE, "{grid:?} {block:?} {shared}");
    }
    assert_eq!(launch(bounded, one, [65, 1, 1], 0), code::INVALID_VALUE, "more threads than its bound");
    assert_eq!(launch(exact, one, [64, 1, 1], 0), code::INVALID_VALUE, "another shape than it requires");
    assert_eq!(launch(bounded, one, [64, 1, 1], 0), code::OK);
    assert_eq!(launch(exact, one, [32, 2, 1], 0), code::OK);
    scope.synchronize();
}

#[test]
fn dynamic_shared_memory_beyond_48_kib_needs_leave() {
    let scope = Scope::new();
    let reverse = scope.kernel(&kernels::reverse(), "reverse");
    let (mut out, mut words) = (scope.alloc(4096), 1024u32);
    let arguments = [at(&mut out), at(&mut words)];
    let launch =
        |bytes: u64| scope.cuda.call("cuLaunchKernel", &[reverse, 1, 1, 1, 1024, 1, 1, bytes, 0, of(&arguments), 0]);
    assert_eq!(launch(60 << 10), code::INVALID_VALUE);
    scope.cuda.ok("cuFuncSetAttribute", &[reverse, 8, 60 << 10]);
    assert_eq!(launch(60 << 10), code::OK);
    assert!(scope.download::<u32>(out, 1024).into_iter().eq((0..1024).rev()));
}

#[test]
fn the_extended_form_takes_attributes_and_a_cooperative_grid_must_fit() {
    #[repr(C)]
    struct Config {
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        stream: u64,
        attributes: u64,
        count: u32,
    }
    #[repr(C)]
    struct Attribute {
        id: u32,
        padding: u32,
        value: [u32; 16],
    }
    let scope = Scope::new();
    let count = scope.kernel(&kernels::small(), "count");
    let mut out = scope.upload(&[0u32]);
    let arguments = [at(&mut out)];
    let attribute = |id: u32, first: u32| {
        let mut value = [0; 16];
        value[0] = first;
        Attribute { id, padding: 0, value }
    };
    let launch = |blocks: u32, attributes: &[Attribute]| {
        let mut config = Config {
            grid: [blocks, 1, 1],
            block: [64, 1, 1],
            shared_bytes: 0,
            stream: 0,
            attributes: of(attributes),
            count: attributes.len() as u32,
        };
        scope.cuda.call("cuLaunchKernelEx", &[at(&mut config), count, of(&arguments), 0])
    };
    assert_eq!(launch(2, &[]), code::OK);
    assert_eq!(launch(2, &[attribute(0, 0), attribute(2, 1)]), code::OK, "ignored, cooperative");
    assert_eq!(launch(1 << 20, &[attribute(2, 1)]), code::COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_eq!(scope.download::<u32>(out, 1), [256]);
}

#[test]
fn a_cap_on_registers_is_kept_and_too_many_registers_for_a_block_are_out_of_resources() {
    let scope = Scope::new();
    // Two hundred values alive at once: volatile loads stay where they are, and all before the barrier.
    let regs: String = (0..200).map(|i| format!("ld.volatile.global.u32 %r{i}, [%rd+{}];\n", 4 * i)).collect();
    let sums: String = (1..200).map(|i| format!("add.u32 %r0, %r0, %r{i};\n")).collect();
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry wide(.param .u64 p) {{\n.reg .b64 %rd; .reg .b32 %r<200>;\n\
         ld.param.u64 %rd, [p];\n{regs}bar.sync 0;\n{sums}st.global.u32 [%rd], %r0;\nret;\n}}\n"
    );
    let wide = scope.kernel(&text, "wide");
    let mut registers = 0i32;
    scope.cuda.ok("cuFuncGetAttribute", &[at(&mut registers), 4, wide]);
    assert!(registers > 128, "{registers}");
    let memory = scope.alloc(800);
    assert_eq!(scope.launch(wide, 1, 1024, 0, &mut [memory]), code::LAUNCH_OUT_OF_RESOURCES);
    assert_eq!(scope.launch(wide, 1, 128, 0, &mut [memory]), code::OK);
    scope.synchronize();
}
