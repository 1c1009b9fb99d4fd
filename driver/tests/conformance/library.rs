//! The library under test, and a context of a test's own.

use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::Library;

/// `CUresult` numbers that tests expect.
pub mod code {
    pub const OK: u32 = 0;
    pub const INVALID_VALUE: u32 = 1;
    pub const INVALID_IMAGE: u32 = 200;
    pub const INVALID_CONTEXT: u32 = 201;
    pub const INVALID_PTX: u32 = 218;
    pub const UNSUPPORTED_PTX_VERSION: u32 = 222;
    pub const FILE_NOT_FOUND: u32 = 301;
    pub const INVALID_HANDLE: u32 = 400;
    pub const NOT_FOUND: u32 = 500;
    pub const NOT_READY: u32 = 600;
    pub const ILLEGAL_ADDRESS: u32 = 700;
    pub const LAUNCH_OUT_OF_RESOURCES: u32 = 701;
    pub const CONTEXT_IS_DESTROYED: u32 = 709;
    pub const HOST_MEMORY_ALREADY_REGISTERED: u32 = 712;
    pub const HOST_MEMORY_NOT_REGISTERED: u32 = 713;
    pub const MISALIGNED_ADDRESS: u32 = 716;
    pub const LAUNCH_FAILED: u32 = 719;
    pub const COOPERATIVE_LAUNCH_TOO_LARGE: u32 = 720;
    pub const NOT_SUPPORTED: u32 = 801;
}

/// Any function of the driver: integers and pointers, each in a place of its own, whatever their width.
type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

pub struct Cuda(Library);

/// The address of a place, for C.
pub fn at<T>(place: &mut T) -> u64 {
    std::ptr::from_mut(place).expose_provenance() as u64
}

/// The address of values that C only reads.
pub fn of<T: ?Sized>(values: &T) -> u64 {
    std::ptr::from_ref(values).cast::<u8>().expose_provenance() as u64
}

impl Cuda {
    /// The library, started.
    pub fn get() -> &'static Self {
        static CUDA: OnceLock<Cuda> = OnceLock::new();
        CUDA.get_or_init(|| {
            let cuda = Self::open();
            cuda.ok("cuInit", &[0]);
            cuda
        })
    }

    /// The library as it is loaded.
    pub fn open() -> Self {
        // SAFETY: the library under test has no initialisers that matter.
        Self(unsafe { Library::new(path()) }.expect("the library under test loads"))
    }

    /// Calls a function by name.
    pub fn call(&self, name: &str, arguments: &[u64]) -> u32 {
        let mut a = [0; 12];
        a[..arguments.len()].copy_from_slice(arguments);
        // SAFETY: tests pass the arguments that the function has; more than it has do no harm in the C conventions of x86-64 and
        // aarch64 Linux, where the caller cleans up.
        unsafe {
            let function = self.0.get::<Function>(name.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
            function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11])
        }
    }

    /// Calls a function that must succeed.
    #[track_caller]
    pub fn ok(&self, name: &str, arguments: &[u64]) {
        let result = self.call(name, arguments);
        assert_eq!(result, code::OK, "{name}");
    }

    /// Calls a function that must succeed, whose first argument is where it puts its answer.
    #[track_caller]
    pub fn make(&self, name: &str, rest: &[u64]) -> u64 {
        let mut answer = 0;
        let arguments = [&[at(&mut answer)], rest].concat();
        self.ok(name, &arguments);
        answer
    }

    pub fn has(&self, name: &str) -> bool {
        // SAFETY: only the address is looked up.
        unsafe { self.0.get::<Function>(name.as_bytes()) }.is_ok()
    }

    /// Whether this is Warpwise's driver.
    pub fn is_modelled(&self) -> bool {
        self.has("warpwise_driver_version")
    }
}

/// The library that cargo built beside the tests, or the one that the environment names.
pub fn path() -> PathBuf {
    if let Some(path) = std::env::var_os("WARPWISE_TEST_LIBCUDA") {
        return path.into();
    }
    let mut path = std::env::current_exe().expect("a test knows its own path");
    path.set_file_name("libcuda.so");
    path
}

/// A context of a test's own, current in its thread.
pub struct Scope {
    pub cuda: &'static Cuda,
    pub context: u64,
}

impl Scope {
    pub fn new() -> Self {
        let cuda = Cuda::get();
        Self { cuda, context: cuda.make("cuCtxCreate_v2", &[0, 0]) }
    }

    /// Loads PTX and gives one of its kernels.
    #[track_caller]
    pub fn kernel(&self, ptx: &str, name: &str) -> u64 {
        let (ptx, name) = (format!("{ptx}\0"), format!("{name}\0"));
        let module = self.cuda.make("cuModuleLoadData", &[of(ptx.as_str())]);
        self.cuda.make("cuModuleGetFunction", &[module, of(name.as_str())])
    }

    #[track_caller]
    pub fn alloc(&self, bytes: usize) -> u64 {
        self.cuda.make("cuMemAlloc_v2", &[bytes as u64])
    }

    /// Device memory with these values.
    #[track_caller]
    pub fn upload<T: Copy>(&self, values: &[T]) -> u64 {
        let address = self.alloc(size_of_val(values));
        self.cuda.ok("cuMemcpyHtoD_v2", &[address, of(values), size_of_val(values) as u64]);
        address
    }

    #[track_caller]
    pub fn download<T: Copy + Default>(&self, address: u64, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        self.cuda.ok(
            "cuMemcpyDtoH_v2",
            &[values.as_mut_ptr().expose_provenance() as u64, address, size_of_val(&values[..]) as u64],
        );
        values
    }

    /// Launches on a line of blocks, arguments as pointers to each.
    pub fn launch(&self, function: u64, blocks: u32, threads: u32, stream: u64, arguments: &mut [u64]) -> u32 {
        let pointers: Vec<u64> = arguments.iter_mut().map(at).collect();
        let shape = [function, blocks.into(), 1, 1, threads.into(), 1, 1, 0, stream, of(&pointers[..]), 0];
        self.cuda.call("cuLaunchKernel", &shape)
    }

    #[track_caller]
    pub fn synchronize(&self) {
        self.cuda.ok("cuCtxSynchronize", &[]);
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let result = self.cuda.call("cuCtxDestroy_v2", &[self.context]);
        if !std::thread::panicking() {
            assert!([code::OK, code::INVALID_CONTEXT].contains(&result), "cuCtxDestroy: {result}");
        }
    }
}
