//! Gives the library the name by which programs that link to NVIDIA's look for it, and tests the folder where they find it.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    if let Err(error) = offer_to_tests() {
        println!("cargo:warning=the tests will not find the driver: {error}");
    }
}

/// Tests are clients: they ask for `libcuda.so` when they are linked, for that or `libcuda.so.1` when they run. Both names stand in a
/// folder of this build, for the library that cargo builds before the tests, and go into the tests as their search path.
/// `DT_RPATH`, unlike `DT_RUNPATH`, comes before `LD_LIBRARY_PATH`: an NVIDIA driver on the machine is not taken by mistake.
fn offer_to_tests() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::var("OUT_DIR")?;
    // OUT_DIR is `PROFILE/build/PACKAGE/out`, the library is `PROFILE/deps/libcuda.so`.
    let library = Path::new("../../../deps/libcuda.so");
    for name in ["libcuda.so", "libcuda.so.1"] {
        let link = Path::new(&folder).join(name);
        if std::fs::read_link(&link).is_ok_and(|place| place == library) {
            continue;
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(library, &link)?;
    }
    println!("cargo:rustc-link-arg-tests={folder}/libcuda.so");
    println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{folder},--disable-new-dtags");
    Ok(())
}
