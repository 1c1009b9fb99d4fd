// Peers of kernels-gpu/src/total.rs and reduce.rs: sums of arrays, softmax of rows.

constexpr unsigned THREADS = 256;
constexpr unsigned WARPS = THREADS / 32;
constexpr unsigned STEP = 16 * THREADS;

__device__ inline float sum_over_warp(float value) {
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ inline float greatest_over_warp(float value) {
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    return value;
}

// What a thread reads: four times 16 bytes at a time, then what is left of the array.
__device__ inline float sum_over_thread(const float *__restrict__ x, unsigned n) {
    unsigned steps = n / STEP;
    float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (unsigned step = blockIdx.x; step < steps; step += gridDim.x) {
        const float4 *from = reinterpret_cast<const float4 *>(x + step * STEP) + threadIdx.x;
        float4 fours[4];
        for (unsigned k = 0; k < 4; k++) {
            fours[k] = from[k * THREADS];
        }
        for (unsigned k = 0; k < 4; k++) {
            sums.x += fours[k].x;
            sums.y += fours[k].y;
            sums.z += fours[k].z;
            sums.w += fours[k].w;
        }
    }
    for (unsigned i = steps * STEP + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        sums.x += x[i];
    }
    return (sums.x + sums.y) + (sums.z + sums.w);
}

extern "C" __global__ void reduce_shared_cpp(const float *__restrict__ x, float *__restrict__ sums, unsigned n) {
    __shared__ float totals[THREADS];
    unsigned thread = threadIdx.x;
    float sum = sum_over_thread(x, n);
    totals[thread] = sum;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            sum += totals[thread + half];
            totals[thread] = sum;
        }
    }
    if (thread == 0) {
        sums[blockIdx.x] = sum;
    }
}

extern "C" __global__ void reduce_shuffle_cpp(const float *__restrict__ x, float *__restrict__ sums, unsigned n) {
    __shared__ float totals[WARPS];
    unsigned thread = threadIdx.x;
    float sum = sum_over_warp(sum_over_thread(x, n));
    if (thread % 32 == 0) {
        totals[thread / 32] = sum;
    }
    __syncthreads();
    if (thread < 32) {
        sum = sum_over_warp(thread < WARPS ? totals[thread] : 0.0f);
        if (thread == 0) {
            sums[blockIdx.x] = sum;
        }
    }
}

extern "C" __global__ void reduce_atomic_cpp(const float *__restrict__ x, float *__restrict__ total, unsigned n) {
    float sum = sum_over_warp(sum_over_thread(x, n));
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}

// The hardware's approximations, as the kernels in Rust ask for them.
__device__ inline float exponential(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
}

__device__ inline float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

extern "C" __global__ void softmax_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned rows,
                                       unsigned columns) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row < rows) {
        unsigned lane = threadIdx.x % 32;
        float greatest = -INFINITY;
        for (unsigned column = lane; column < columns; column += 32) {
            greatest = fmaxf(greatest, x[row * columns + column]);
        }
        greatest = greatest_over_warp(greatest);
        float sum = 0.0f;
        for (unsigned column = lane; column < columns; column += 32) {
            sum += exponential(x[row * columns + column] - greatest);
        }
        float scale = reciprocal(sum_over_warp(sum));
        for (unsigned column = lane; column < columns; column += 32) {
            y[row * columns + column] = exponential(x[row * columns + column] - greatest) * scale;
        }
    }
}

// Running sums within a block: within warps, then over the warps before.
extern "C" __global__ void block_scan_cpp(const float *__restrict__ x, float *__restrict__ y) {
    __shared__ float totals[WARPS];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = x[i];
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        float before = __shfl_up_sync(0xffffffff, sum, distance);
        if (lane >= distance) {
            sum += before;
        }
    }
    if (lane == 31) {
        totals[warp] = sum;
    }
    __syncthreads();
    float before = 0.0f;
    for (unsigned other = 0; other < WARPS - 1; other++) {
        if (other < warp) {
            before += totals[other];
        }
    }
    y[i] = sum + before;
}
