// Peers of kernels-gpu/src/stencil.rs: each cell and three neighbours on each side.

constexpr unsigned RADIUS = 3;
constexpr unsigned THREADS = 256;

__device__ inline float cell(const float *x, unsigned at, unsigned n) {
    return at < n ? x[at] : 0.0f;
}

extern "C" __global__ void stencil_1d_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    __shared__ float tile[THREADS + 2 * RADIUS];
    unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned thread = threadIdx.x;
    tile[thread + RADIUS] = cell(x, own, n);
    if (thread < RADIUS) {
        tile[thread] = cell(x, own - RADIUS, n);
        tile[thread + RADIUS + THREADS] = cell(x, own + THREADS, n);
    }
    __syncthreads();
    if (own < n) {
        float sum = 0.0f;
        for (unsigned k = 0; k < 2 * RADIUS + 1; k++) {
            sum += tile[thread + k];
        }
        y[own] = sum;
    }
}

__device__ inline float4 four(const float *x, unsigned at, unsigned n) {
    if (at < n && n - at >= 4) {
        return *reinterpret_cast<const float4 *>(x + at);
    }
    return make_float4(cell(x, at, n), cell(x, at + 1, n), cell(x, at + 2, n), cell(x, at + 3, n));
}

__device__ inline float sum_of_seven(const float *cells) {
    float sum = 0.0f;
    for (unsigned k = 0; k < 2 * RADIUS + 1; k++) {
        sum += cells[k];
    }
    return sum;
}

extern "C" __global__ void stencil4_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned at = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    unsigned lane = threadIdx.x % 32;
    float4 own = four(x, at, n);
    float4 outer = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (lane == 0) {
        outer = four(x, at - 4, n);
    }
    if (lane == 31) {
        outer = four(x, at + 4, n);
    }
    float left_y = __shfl_up_sync(0xffffffff, own.y, 1);
    float left_z = __shfl_up_sync(0xffffffff, own.z, 1);
    float left_w = __shfl_up_sync(0xffffffff, own.w, 1);
    float right_x = __shfl_down_sync(0xffffffff, own.x, 1);
    float right_y = __shfl_down_sync(0xffffffff, own.y, 1);
    float right_z = __shfl_down_sync(0xffffffff, own.z, 1);
    if (lane == 0) {
        left_y = outer.y;
        left_z = outer.z;
        left_w = outer.w;
    }
    if (lane == 31) {
        right_x = outer.x;
        right_y = outer.y;
        right_z = outer.z;
    }
    float cells[10] = {left_y, left_z, left_w, own.x, own.y, own.z, own.w, right_x, right_y, right_z};
    float4 sums = make_float4(sum_of_seven(cells), sum_of_seven(cells + 1), sum_of_seven(cells + 2),
                              sum_of_seven(cells + 3));
    if (at < n && n - at >= 4) {
        *reinterpret_cast<float4 *>(y + at) = sums;
    } else {
        if (at < n) {
            y[at] = sums.x;
        }
        if (at + 1 < n) {
            y[at + 1] = sums.y;
        }
        if (at + 2 < n) {
            y[at + 2] = sums.z;
        }
    }
}
