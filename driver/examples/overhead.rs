//! What the driver itself costs: `cargo build --release -p warpwise-driver`, then
//! `cargo run --release -p warpwise-driver --example overhead [-- LIBCUDA]`.
//!
//! Prints the time of a launch call (an empty kernel of one thread, launched again and again), of a launch with the wait for it, of an
//! allocation with its release, and the speed of copies of 1 GiB beside that of a plain copy. All are medians.

use std::time::Instant;

use libloading::Library;

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n\0";
const COPIES: usize = 7;
const LAUNCHES: usize = 5000;
const COPY_BYTES: u64 = 1 << 30;

type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

struct Cuda(Library);

impl Cuda {
    fn call(&self, name: &str, arguments: &[u64]) {
        let mut a = [0; 11];
        a[..arguments.len()].copy_from_slice(arguments);
        // SAFETY: each call below passes what the function takes; more does no harm in the C convention.
        let result = unsafe {
            let function = self.0.get::<Function>(name.as_bytes()).expect("the driver has the function");
            function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10])
        };
        assert_eq!(result, 0, "{name}");
    }

    fn make(&self, name: &str, rest: &[u64]) -> u64 {
        let mut answer = 0u64;
        let place = (&raw mut answer).expose_provenance() as u64;
        self.call(name, &[&[place], rest].concat());
        answer
    }
}

/// Seconds of a round, the median of many.
fn median(rounds: usize, mut round: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    };
    let mut seconds: Vec<f64> = (0..rounds).map(time).collect();
    seconds.sort_unstable_by(f64::total_cmp);
    seconds[rounds / 2]
}

fn main() {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| {
        let mut path = std::env::current_exe().expect("a program knows its path");
        path.pop();
        path.set_file_name("libcuda.so");
        path.into()
    });
    // SAFETY: a driver's library has no initialisers that matter.
    let cuda = Cuda(unsafe { Library::new(path) }.expect("the driver loads; build it, or give its path"));
    cuda.call("cuInit", &[0]);
    cuda.make("cuCtxCreate_v2", &[0, 0]);
    let module = cuda.make("cuModuleLoadData", &[PTX.as_ptr().expose_provenance() as u64]);
    let kernel = cuda.make("cuModuleGetFunction", &[module, c"nothing".as_ptr().expose_provenance() as u64]);
    let launch = || cuda.call("cuLaunchKernel", &[kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    let per_launch = median(LAUNCHES, launch);
    cuda.call("cuCtxSynchronize", &[]);
    let per_wait = median(LAUNCHES, || {
        launch();
        cuda.call("cuCtxSynchronize", &[]);
    });
    let per_alloc = median(LAUNCHES, || {
        let address = cuda.make("cuMemAlloc_v2", &[4096]);
        cuda.call("cuMemFree_v2", &[address]);
    });
    println!("launch call           {:8.2} µs", per_launch * 1e6);
    println!("launch and wait       {:8.2} µs", per_wait * 1e6);
    println!("allocate and free     {:8.2} µs", per_alloc * 1e6);

    let gbs = |seconds: f64| COPY_BYTES as f64 / seconds / 1e9;
    let mut host = vec![1u8; COPY_BYTES as usize];
    let mut other = vec![2u8; COPY_BYTES as usize];
    let plain = median(COPIES, || std::hint::black_box(&mut other).copy_from_slice(&host));
    drop(other);
    println!("memcpy, host to host  {:8.2} GB/s", gbs(plain));
    let pointer = host.as_mut_ptr().expose_provenance() as u64;
    let a = cuda.make("cuMemAlloc_v2", &[COPY_BYTES]);
    let to_device = median(COPIES, || cuda.call("cuMemcpyHtoD_v2", &[a, pointer, COPY_BYTES]));
    println!("host to device        {:8.2} GB/s", gbs(to_device));
    let to_host = median(COPIES, || cuda.call("cuMemcpyDtoH_v2", &[pointer, a, COPY_BYTES]));
    println!("device to host        {:8.2} GB/s", gbs(to_host));
    drop(host);
    let b = cuda.make("cuMemAlloc_v2", &[COPY_BYTES]);
    let on_device = median(COPIES, || cuda.call("cuMemcpyDtoD_v2", &[b, a, COPY_BYTES]));
    println!("device to device      {:8.2} GB/s", gbs(on_device));
}
