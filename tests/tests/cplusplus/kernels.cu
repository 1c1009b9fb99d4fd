// Kernels in C++ as people write them, each with the signature (const float* in, float* out, int n) and blocks of 128 threads:
// what nvcc makes of them, as PTX and as SASS, runs on the machine. `nvcc -arch=sm_80 -ptx kernels.cu -o kernels.ptx`.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

constexpr int BLOCK = 128;

__constant__ float coefficients[16] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16};
__constant__ short steps[5] = {1, 3, 9, 27, 81};
__device__ unsigned int launches = 40;
__device__ float scratch[256];

struct Pair {
    float value;
    int index;
    __device__ Pair max(const Pair& other) const { return other.value > value ? other : *this; }
};

template <typename T, int N>
struct Ring {
    T items[N];
    int head = 0;
    __device__ void push(T item) {
        items[head] = item;
        head = (head + 1) % N;
    }
    __device__ T oldest(int back) const { return items[(head + N - 1 - back) % N]; }
};

// A constant array chosen from by a value of the thread.
extern "C" __global__ void horner(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < (i & 15); k++) sum = fmaf(sum, in[i], coefficients[(k + i) & 15]);
    out[i] = sum + coefficients[3] + steps[i % 5];
}

// A switch that becomes a jump table.
extern "C" __global__ void interpreter(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = in[i], b = 1;
    unsigned program = i * 2654435761u;
    for (int step = 0; step < 8; step++, program >>= 3) {
        switch (program & 7) {
            case 0: a = a + b; break;
            case 1: b = a * 0.5f; break;
            case 2: a = fabsf(a) + out[(i * 7) % n]; break;
            case 3: b = sqrtf(fabsf(a)); break;
            case 4: a = fminf(a, b) - 1; break;
            case 5: b = rintf(b * 3); break;
            case 6: a = __int_as_float(__float_as_int(a) ^ 0x80000000); break;
            default: a = a * b;
        }
    }
    out[n + i] = a;
}

// Globals of the module.
extern "C" __global__ void globals(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) out[n] = float(launches);
    if (i < 256) scratch[i] = in[i] * 2;
    __syncthreads();
    if (i < n) out[i] = i < 256 ? scratch[i ^ 1] : 0;
    if (i < n) atomicAdd(&launches, 1u);
}

// Dynamic shared memory, a block's maximum and where it is.
extern "C" __global__ void argmax(const float* in, float* out, int n) {
    __shared__ Pair best[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    best[threadIdx.x] = i < n ? Pair{in[i], i} : Pair{-1e30f, -1};
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) best[threadIdx.x] = best[threadIdx.x].max(best[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = best[0].value;
        out[2 * blockIdx.x + 1] = best[0].index;
    }
}

// Tiles of a warp, by cooperative groups.
extern "C" __global__ void tiles(const float* in, float* out, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    float sum = i < n ? in[i] : 0;
    for (int delta = tile.size() / 2; delta > 0; delta /= 2) sum += tile.shfl_down(sum, delta);
    sum = tile.shfl(sum, 0);
    unsigned positive = tile.ballot(sum > 0);
    if (i < n) out[i] = sum + __popc(positive) + tile.any(sum > 2);
}

// An array of a thread with an index that only the run knows, in local memory.
extern "C" __global__ void ring(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Ring<float, 12> last;
    for (int k = 0; k < 12; k++) last.items[k] = k;
    for (int k = 0; k < 30; k++) last.push(in[(i + k) % n] + last.oldest((i + k) % 7));
    out[i] = last.oldest(i % 12);
}

__device__ __noinline__ double newton(double x, int rounds) {
    for (; rounds > 0; rounds--) x -= (x * x - 2) / (2 * x + 1e-3);
    return fmax(x, fmin(1.0, sqrt(x)));
}

// Doubles, and a function that is called from two places.
extern "C" __global__ void calls(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = i % 3 ? newton(1.5 + in[i], i % 5) : 0.25;
    out[i] = float(x + newton(x + 1, 2));
}

// Halves, one by one and in pairs.
extern "C" __global__ void halves(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 a = __floats2half2_rn(in[i], in[(i + 1) % n]);
    __half2 b = __float2half2_rn(0.25f * (i % 9));
    __half2 c = __hfma2(a, b, __hmul2(a, a));
    __half low = __low2half(c), high = __high2half(c);
    if (__hgt(low, high)) low = __hadd(low, __float2half(1.5f));
    c = __hmax2(c, __hneg2(b));
    out[i] = __half2float(low) + __half2float(__hsub(high, low)) + (__hbeq2(a, b) ? 1 : 0) + __low2float(c) + __high2float(c);
}

// 64-bit integers, divisions, bit tricks.
extern "C" __global__ void integers(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long a = (long long)(in[i] * 1e12f) + i;
    unsigned long long b = __umul64hi(a * 0x9e3779b97f4a7c15ull, i * 77ull + 5);
    int c = __clz(i) + __ffs(i) + __popcll(b) + (int)(a / (i + 3)) + (int)(b % (i * 11ull + 7));
    unsigned d = __byte_perm(c, i, 0x5140) + __funnelshift_l(c, i, i & 31) + __brev(i) + __dp4a(c, i, 3);
    out[i] = float(c % 1000) + float(d % 4093) + float(a >> (i & 63)) * 1e-9f;
}

// Functions of the library.
extern "C" __global__ void library(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    float s, c;
    sincosf(x * 30, &s, &c);
    out[i] = s + c + expf(x) + logf(fabsf(x) + 1) + powf(fabsf(x), 1.7f) + tanhf(x) + erff(x) + atan2f(x, c) + fmodf(x, 0.3f) + cbrtf(x) + float(exp(double(x))) + tgammaf(x + 2);
}

// Vectors, and memory that is only read.
extern "C" __global__ void vectors(const float* __restrict__ in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 >= n) return;
    float4 v = __ldg(reinterpret_cast<const float4*>(in) + i);
    v.x += v.w, v.y *= v.z;
    reinterpret_cast<float4*>(out)[i] = v;
}

// Warps that vote, match and reduce; lanes that leave early.
extern "C" __global__ void __launch_bounds__(BLOCK) warps(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned here = __ballot_sync(0xffffffff, i < n);
    if (i >= n) return;
    int bin = int(fabsf(in[i]) * 5);
    unsigned peers = __match_any_sync(here, bin);
    int rank = __popc(peers & ((1u << (threadIdx.x & 31)) - 1));
    int sum = __reduce_add_sync(here, bin);
    if (rank == 0) atomicAdd(out + n + bin, float(__popc(peers)));
    out[i] = rank + 100 * sum + __shfl_xor_sync(here, bin, 1 & here);
}

// Atomics of many kinds.
extern "C" __global__ void atomics(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        int bin = int(fabsf(in[i]) * 15) & 15;
        atomicAdd(bins + bin, 1);
        atomicMax(bins + (bin ^ 1), i & 3);
        atomicMin(reinterpret_cast<int*>(out) + bin, -i);
        atomicOr(reinterpret_cast<unsigned*>(out) + 16 + bin, 1u << (i & 31));
        atomicCAS(reinterpret_cast<unsigned*>(out) + 32 + bin, 0u, 7u);
    }
    __syncthreads();
    if (threadIdx.x < 16) out[64 + blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}
