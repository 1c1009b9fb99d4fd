//! Code: PTX right and wrong, its log, its variables.

use crate::kernels;
use crate::library::{Scope, at, code, of};

fn load(scope: &Scope, image: &[u8]) -> u32 {
    let mut module = 0u64;
    let image = [image, b"\0"].concat();
    scope.cuda.call("cuModuleLoadData", &[at(&mut module), of(&image[..])])
}

#[test]
fn text_that_is_no_ptx_is_refused_and_the_log_says_where() {
    let scope = Scope::new();
    let wrong = kernels::small().replace("atom.add.u32", "atom.sdd.u32");
    let text = format!("{wrong}\0");
    let mut log = [0u8; 4096];
    let mut module = 0u64;
    // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES.
    let names = [5u32, 6];
    let mut values = [at(&mut log), 4096];
    let result =
        scope.cuda.call("cuModuleLoadDataEx", &[at(&mut module), of(text.as_str()), 2, of(&names), at(&mut values)]);
    assert_eq!(result, code::INVALID_PTX);
    let length = log.iter().position(|byte| *byte == 0).unwrap();
    let text = String::from_utf8_lossy(&log[..length]);
    let line = 1 + wrong.lines().position(|line| line.contains("sdd")).unwrap();
    assert!(text.contains(&line.to_string()), "line {line}: {text}");
    assert!(values[1] > 0, "the length used");
}

#[test]
fn what_is_neither_text_nor_code_is_an_invalid_image() {
    let scope = Scope::new();
    let mut module = 0u64;
    assert_eq!(scope.cuda.call("cuModuleLoadData", &[at(&mut module), 0]), code::INVALID_VALUE);
    assert_eq!(load(&scope, b"\x01\x02\x03\x04"), code::INVALID_IMAGE);
    assert_eq!(load(&scope, b"not PTX at all"), code::INVALID_IMAGE);
    assert_eq!(load(&scope, b"// a comment\n .target sm_70\n"), code::INVALID_IMAGE, "PTX begins with its version");
    assert_eq!(load(&scope, b"// a comment\n/* another */ .version 7.0\n.tarket sm_70\n"), code::INVALID_PTX);
}

#[test]
fn ptx_for_a_later_device_or_a_later_compiler_is_refused() {
    let scope = Scope::new();
    assert_eq!(load(&scope, kernels::nothing_for("7.0", "sm_70").as_bytes()), code::OK);
    assert_eq!(load(&scope, kernels::nothing_for("99.9", "sm_70").as_bytes()), code::UNSUPPORTED_PTX_VERSION);
    assert_eq!(load(&scope, kernels::nothing_for("8.8", "sm_121").as_bytes()), code::INVALID_PTX);
    assert_eq!(load(&scope, kernels::nothing_for("8.6", "sm_100a").as_bytes()), code::INVALID_PTX, "of another family");
    if scope.cuda.is_modelled() {
        assert_eq!(load(&scope, b"\x7fELF\x02\x01\x01"), code::NOT_SUPPORTED, "machine code does not run here");
    }
}

#[test]
fn a_file_is_loaded_and_one_that_is_not_there_is_not_found() {
    let scope = Scope::new();
    let path = std::env::temp_dir().join(format!("warpwise-driver-{}.ptx", std::process::id()));
    std::fs::write(&path, kernels::vecadd()).unwrap();
    let name = format!("{}\0", path.display());
    let module = scope.cuda.make("cuModuleLoad", &[of(name.as_str())]);
    std::fs::remove_file(&path).unwrap();
    scope.cuda.make("cuModuleGetFunction", &[module, of("vecadd\0")]);
    let mut other = 0u64;
    assert_eq!(scope.cuda.call("cuModuleLoad", &[at(&mut other), of(name.as_str())]), code::FILE_NOT_FOUND);
}

#[test]
fn variables_have_their_initial_values_and_are_read_and_written_by_both_sides() {
    let scope = Scope::new();
    let text = format!("{}\0", kernels::small());
    let module = scope.cuda.make("cuModuleLoadData", &[of(text.as_str())]);
    let globals = scope.cuda.make("cuModuleGetFunction", &[module, of("globals\0")]);
    let (mut address, mut bytes) = (0u64, 0u64);
    scope.cuda.ok("cuModuleGetGlobal_v2", &[at(&mut address), at(&mut bytes), module, of("counter\0")]);
    assert_eq!(bytes, 4);
    let out = scope.alloc(8);
    assert_eq!(scope.launch(globals, 1, 1, 0, &mut [out]), code::OK);
    assert_eq!(scope.download::<u32>(out, 2), [41, 3f32.to_bits()]);
    assert_eq!(scope.download::<u32>(address, 1), [42]);
    scope.cuda.ok("cuMemsetD32_v2", &[address, 7, 1]);
    assert_eq!(scope.launch(globals, 1, 1, 0, &mut [out]), code::OK);
    assert_eq!(scope.download::<u32>(out, 1), [7]);
    scope.cuda.ok("cuModuleGetGlobal_v2", &[0, at(&mut bytes), module, of("factor\0")]);
    assert_eq!(bytes, 8);
    let missing = scope.cuda.call("cuModuleGetGlobal_v2", &[at(&mut address), 0, module, of("no_such\0")]);
    assert_eq!(missing, code::NOT_FOUND);
}

#[test]
fn two_modules_of_the_same_text_have_variables_of_their_own() {
    let scope = Scope::new();
    let (first, second) = (scope.kernel(&kernels::small(), "globals"), scope.kernel(&kernels::small(), "globals"));
    let out = scope.alloc(8);
    for (kernel, expected) in [(first, 41), (first, 42), (second, 41), (first, 43)] {
        assert_eq!(scope.launch(kernel, 1, 1, 0, &mut [out]), code::OK);
        assert_eq!(scope.download::<u32>(out, 1), [expected]);
    }
}

#[test]
fn a_kernel_is_found_by_its_name_until_its_module_is_unloaded() {
    let scope = Scope::new();
    let text = format!("{}\0", kernels::small());
    let module = scope.cuda.make("cuModuleLoadData", &[of(text.as_str())]);
    let mut function = 0u64;
    let get =
        |name: &str, function: &mut u64| scope.cuda.call("cuModuleGetFunction", &[at(function), module, of(name)]);
    assert_eq!(get("no_such\0", &mut function), code::NOT_FOUND);
    assert_eq!(get("nothing\0", &mut function), code::OK);
    let again = scope.cuda.make("cuModuleGetFunction", &[module, of("nothing\0")]);
    assert_eq!(function, again);
    scope.cuda.ok("cuModuleUnload", &[module]);
    if scope.cuda.is_modelled() {
        // NVIDIA's driver follows dead handles.
        assert_eq!(scope.launch(function, 1, 1, 0, &mut []), code::INVALID_HANDLE);
        assert_eq!(scope.cuda.call("cuModuleUnload", &[module]), code::INVALID_HANDLE);
    }
}
