//! What tests that cross crates share: a context of the machine with the kernels loaded, by either front end, inputs, comparison.

pub mod api;
pub mod program;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use warpwise::backend::{Gpu, IsaChoice, MachineOptions, sim};
use warpwise::kernels::{Code, KernelFiles, Sass};
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::{Listing, ListingOptions};
use warpwise_simt::checks::Checks;
use warpwise_simt::device::{self, Device};
use warpwise_simt::exec::Divergence;

/// What the machine runs the kernels from, on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    Ptx(&'static str),
    /// The SASS of the device's architecture.
    Sass(&'static str),
    /// PTX with all checks, which must find nothing.
    Checked(&'static str),
    /// PTX in an order drawn from a seed: lanes that have parted stay apart.
    AnyOrder(&'static str),
}

impl FrontEnd {
    /// PTX, SASS of every architecture that the machine is held to, and PTX watched closely.
    pub const ALL: [Self; 6] = [
        Self::Ptx("RTX 5070"),
        Self::Sass("A100"),
        Self::Sass("H200"),
        Self::Sass("RTX 5070"),
        Self::Checked("RTX 5070"),
        Self::AnyOrder("RTX 5070"),
    ];

    fn device(self) -> &'static Device {
        let (Self::Ptx(name) | Self::Sass(name) | Self::Checked(name) | Self::AnyOrder(name)) = self;
        device::find(name).unwrap_or_else(|error| panic!("{error}"))
    }
}

thread_local! {
    static FRONT_END: Cell<FrontEnd> = const { Cell::new(FrontEnd::ALL[0]) };
}

/// Runs a test with [`machine`] giving contexts of one front end.
pub fn with(front_end: FrontEnd, test: impl FnOnce()) {
    FRONT_END.set(front_end);
    test();
    FRONT_END.set(FrontEnd::ALL[0]);
}

/// Makes a test of each function for every front end: modules `ptx`, `sm_80`, `sm_90`, `sm_120`, `checked` and `any_order`.
#[macro_export]
macro_rules! on_every_front_end {
    ($($name:ident),+ $(,)?) => {
        $crate::on_every_front_end!(@ ptx, $crate::FrontEnd::ALL[0], $($name),+);
        $crate::on_every_front_end!(@ sm_80, $crate::FrontEnd::ALL[1], $($name),+);
        $crate::on_every_front_end!(@ sm_90, $crate::FrontEnd::ALL[2], $($name),+);
        $crate::on_every_front_end!(@ sm_120, $crate::FrontEnd::ALL[3], $($name),+);
        $crate::on_every_front_end!(@ checked, $crate::FrontEnd::ALL[4], $($name),+);
        $crate::on_every_front_end!(@ any_order, $crate::FrontEnd::ALL[5], $($name),+);
    };
    (@ $module:ident, $front_end:expr, $($name:ident),+) => {
        mod $module {
            $(#[test] fn $name() { $crate::with($front_end, super::$name); })+
        }
    };
}

/// A fresh context of the machine: of the front end that [`with`] names, on a device that it suits.
///
/// # Panics
/// If the kernels' PTX was not built (`cargo xtask test` builds it), or NVIDIA's tools are missing.
pub fn machine() -> Gpu {
    let front_end = FRONT_END.get();
    let ptx = MachineOptions { isa: IsaChoice::Ptx, ..MachineOptions::default() };
    let options = match front_end {
        FrontEnd::Ptx(_) => ptx,
        FrontEnd::Sass(_) => MachineOptions { isa: IsaChoice::Sass, ..ptx },
        FrontEnd::Checked(_) => MachineOptions { checks: Checks::ALL, ..ptx },
        FrontEnd::AnyOrder(_) => MachineOptions { divergence: Divergence::Adversarial(1), ..ptx },
    };
    let device = front_end.device();
    let sim = sim::Sim::new(device, code(), options).unwrap_or_else(|error| panic!("{error}"));
    match front_end {
        FrontEnd::Sass(_) => Gpu::new(Arc::new(sim.with_sass(sass(&device.arch())))),
        _ => Gpu::new(Arc::new(sim)),
    }
}

/// The kernels' PTX, parsed once.
fn code() -> Arc<Code> {
    static PARSED: LazyLock<Arc<Code>> = LazyLock::new(|| {
        let code = Code::parse("kernels.ptx", &kernels().ptx);
        Arc::new(code.unwrap_or_else(|error| panic!("{error}")))
    });
    PARSED.clone()
}

fn kernels() -> KernelFiles {
    KernelFiles::open().unwrap_or_else(|error| panic!("{error}"))
}

fn tools(files: &KernelFiles) -> Toolbox {
    let folder: &Path = &files.folder;
    Toolbox::open(Some(folder), &|line| eprintln!("{line}"))
}

/// The disassembly of all kernels for one architecture.
///
/// # Panics
/// As [`machine`].
pub fn listing(arch: &str) -> Listing {
    listing_with(arch, ListingOptions::default())
}

/// As [`listing`], with what is asked for.
///
/// # Panics
/// As [`machine`].
pub fn listing_with(arch: &str, options: ListingOptions) -> Listing {
    let files = kernels();
    let listing = tools(&files).sass(&files.ptx, arch, options);
    listing.unwrap_or_else(|error| panic!("{arch}: {error}"))
}

/// The kernels' SASS for one architecture, made once.
///
/// # Panics
/// As [`machine`].
pub fn sass(arch: &str) -> Arc<Sass> {
    static MADE: Mutex<Option<HashMap<String, Arc<Sass>>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_default();
    if let Some(sass) = made.get(arch) {
        return sass.clone();
    }
    let files = kernels();
    let compiled = tools(&files).compile(&files.ptx, &Target::arch(arch));
    let compiled = compiled.unwrap_or_else(|error| panic!("{arch}: {error}"));
    let listing = listing(arch);
    let sass = Arc::new(Sass::new(&compiled.cubin, listing).unwrap_or_else(|error| panic!("{arch}: {error}")));
    made.insert(arch.to_owned(), sass.clone());
    sass
}

/// `n` numbers from -1 to 1.
pub fn noise(n: u32, seed: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| random.random_range(-1.0..=1.0)).collect()
}

/// For comparison: all NaNs alike, since PTX has one NaN and a CPU has many; zeros of two signs apart.
pub fn bits(value: f32) -> u32 {
    if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }
}
