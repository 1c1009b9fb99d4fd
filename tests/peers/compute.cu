// Peers of kernels-gpu/src/occupancy.rs, divergence.rs, compute.rs and atomics.rs: arithmetic in registers, branches, counting.
//
// nvcc fuses a product and the sum behind it unless told otherwise; Rust fuses where the source says so. Where the kernel in Rust rounds
// twice, `__fmul_rn` and `__fadd_rn` do so here, so that both compute the same numbers.

constexpr float FACTOR = 0.999f;
constexpr float SUMMAND = 0.001f;

// Sums of outer products: a tile of 7 x 8 in registers.
extern "C" __global__ void heavy_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n, unsigned steps) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float column[7], row[8], tile[7][8] = {};
        for (unsigned k = 0; k < 7; k++) {
            column[k] = x[k * n + i];
        }
        for (unsigned k = 0; k < 8; k++) {
            row[k] = x[(7 + k) * n + i];
        }
        for (unsigned step = 0; step < steps; step++) {
#pragma unroll
            for (unsigned r = 0; r < 7; r++) {
#pragma unroll
                for (unsigned c = 0; c < 8; c++) {
                    tile[r][c] = fmaf(column[r], row[c], tile[r][c]);
                }
                column[r] *= FACTOR;
            }
        }
        float sum = 0.0f;
#pragma unroll
        for (unsigned r = 0; r < 7; r++) {
#pragma unroll
            for (unsigned c = 0; c < 8; c++) {
                sum += tile[r][c];
            }
        }
        y[i] = sum;
    }
}

// Even elements fuse, odd ones round twice.
extern "C" __global__ void by_lane_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n,
                                       unsigned steps) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = x[i];
        if (i % 2 == 0) {
            for (unsigned step = 0; step < steps; step++) {
                value = fmaf(value, FACTOR, SUMMAND);
            }
        } else {
            for (unsigned step = 0; step < steps; step++) {
                value = __fadd_rn(__fmul_rn(value, FACTOR), SUMMAND);
            }
        }
        y[i] = value;
    }
}

extern "C" __global__ void mandelbrot_cpp(unsigned *__restrict__ escapes, unsigned width, unsigned limit) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < width) {
        // The width is a power of two.
        float scale = 2.5f * __int_as_float((127 - (__ffs(width) - 1)) << 23);
        float re = fmaf(float(column), scale, -2.0f), im = fmaf(float(row), scale, -1.25f);
        float x = 0.0f, y = 0.0f;
        unsigned turns = 0;
        while (turns < limit && __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 4.0f) {
            float next = __fadd_rn(__fsub_rn(__fmul_rn(x, x), __fmul_rn(y, y)), re);
            y = fmaf(x + x, y, im);
            x = next;
            turns++;
        }
        escapes[row * width + column] = turns;
    }
}

extern "C" __global__ void histogram_cpp(const unsigned *__restrict__ values, unsigned *__restrict__ bins, unsigned n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[values[i] >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// As heavy, with a tile of 3 x 2.
extern "C" __global__ void light_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n, unsigned steps) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float column[3], row[2], tile[3][2] = {};
        for (unsigned k = 0; k < 3; k++) {
            column[k] = x[k * n + i];
        }
        for (unsigned k = 0; k < 2; k++) {
            row[k] = x[(3 + k) * n + i];
        }
        for (unsigned step = 0; step < steps; step++) {
#pragma unroll
            for (unsigned r = 0; r < 3; r++) {
#pragma unroll
                for (unsigned c = 0; c < 2; c++) {
                    tile[r][c] = fmaf(column[r], row[c], tile[r][c]);
                }
                column[r] *= FACTOR;
            }
        }
        float sum = 0.0f;
#pragma unroll
        for (unsigned r = 0; r < 3; r++) {
#pragma unroll
            for (unsigned c = 0; c < 2; c++) {
                sum += tile[r][c];
            }
        }
        y[i] = sum;
    }
}

// Reads of shared memory with a stride: banks meet or do not.
extern "C" __global__ void shared_stride_cpp(float *__restrict__ out, unsigned steps, unsigned stride,
                                             unsigned swizzle) {
    __shared__ float words[1056];
    unsigned lane = threadIdx.x % 32;
    for (unsigned word = threadIdx.x; word < 1056; word += blockDim.x) {
        words[word] = float(word);
    }
    __syncthreads();
    float sum = 0.0f;
    for (unsigned step = 0; step < steps; step++) {
        sum += words[stride * lane + ((step % 32) ^ (lane & swizzle))];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The acceleration of each body by all of them, through tiles of 256.
extern "C" __global__ void nbody_cpp(const float4 *__restrict__ bodies, float4 *__restrict__ accelerations,
                                     unsigned n) {
    __shared__ float4 tile[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = bodies[i];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (unsigned first = 0; first < n; first += 256) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < 256; k++) {
            float4 body = tile[k];
            float dx = body.x - own.x, dy = body.y - own.y, dz = body.z - own.z;
            float squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)));
            float inverse;
            asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(squared));
            float pull = body.w * inverse * (inverse * inverse);
            x = fmaf(dx, pull, x);
            y = fmaf(dy, pull, y);
            z = fmaf(dz, pull, z);
        }
        __syncthreads();
    }
    accelerations[i] = make_float4(x, y, z, 0.0f);
}
