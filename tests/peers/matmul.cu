// Peers of kernels-gpu/src/matmul.rs, matmul_register.rs and gemv.rs: products of matrices.

extern "C" __global__ void matmul_naive_cpp(const float *__restrict__ a, const float *__restrict__ b,
                                            float *__restrict__ c, unsigned n) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        float sum = 0.0f;
        for (unsigned k = 0; k < n; k++) {
            sum = fmaf(a[row * n + k], b[k * n + column], sum);
        }
        c[row * n + column] = sum;
    }
}

// A block of TILE x TILE threads goes through both matrices in tiles.
template <unsigned TILE>
__device__ inline void tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                             unsigned n) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    unsigned x = threadIdx.x;
    unsigned y = threadIdx.y;
    unsigned column = blockIdx.x * blockDim.x + x;
    unsigned row = blockIdx.y * blockDim.y + y;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < n; tile += TILE) {
        tile_a[y][x] = a[row * n + tile + x];
        tile_b[y][x] = b[(tile + y) * n + column];
        __syncthreads();
        for (unsigned k = 0; k < TILE; k++) {
            sum = fmaf(tile_a[y][k], tile_b[k][x], sum);
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void matmul_tiled_16_cpp(const float *__restrict__ a, const float *__restrict__ b,
                                               float *__restrict__ c, unsigned n) {
    tiled<16>(a, b, c, n);
}

extern "C" __global__ void __launch_bounds__(1024)
    matmul_tiled_cpp(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, unsigned n) {
    tiled<32>(a, b, c, n);
}

constexpr unsigned TILE = 128;
constexpr unsigned DEPTH = 8;
constexpr unsigned PADDED = TILE + 4;

// A thread has 8 x 8 elements of c; one set of operands is read while the next is on its way.
extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_register_cpp(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, unsigned n) {
    __shared__ __align__(16) float columns_of_a[2][DEPTH][PADDED];
    __shared__ __align__(16) float rows_of_b[2][DEPTH][TILE];
    unsigned thread = threadIdx.x;
    unsigned a_row = thread / 2, a_column = thread % 2 * 4;
    unsigned b_row = thread / 32, b_column = thread % 32 * 4;
    unsigned warp = thread / 32, lane = thread % 32;
    unsigned row = warp / 2 * 32 + lane / 8 * 4;
    unsigned column = warp % 2 * 64 + lane % 8 * 4;
    unsigned first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    unsigned from_a = (first_row + a_row) * n + a_column;
    unsigned from_b = b_row * n + first_column + b_column;
    float sums[8][8] = {};
    float4 next_a = *reinterpret_cast<const float4 *>(a + from_a);
    float4 next_b = *reinterpret_cast<const float4 *>(b + from_b);
    unsigned set = 0;
    for (unsigned left = n / DEPTH;; left--) {
        columns_of_a[set][a_column + 0][a_row] = next_a.x;
        columns_of_a[set][a_column + 1][a_row] = next_a.y;
        columns_of_a[set][a_column + 2][a_row] = next_a.z;
        columns_of_a[set][a_column + 3][a_row] = next_a.w;
        *reinterpret_cast<float4 *>(&rows_of_b[set][b_row][b_column]) = next_b;
        __syncthreads();
        if (left > 1) {
            from_a += DEPTH;
            from_b += DEPTH * n;
            next_a = *reinterpret_cast<const float4 *>(a + from_a);
            next_b = *reinterpret_cast<const float4 *>(b + from_b);
        }
#pragma unroll
        for (unsigned k = 0; k < DEPTH; k++) {
            float of_a[8], of_b[8];
            *reinterpret_cast<float4 *>(of_a) = *reinterpret_cast<float4 *>(&columns_of_a[set][k][row]);
            *reinterpret_cast<float4 *>(of_a + 4) = *reinterpret_cast<float4 *>(&columns_of_a[set][k][row + 16]);
            *reinterpret_cast<float4 *>(of_b) = *reinterpret_cast<float4 *>(&rows_of_b[set][k][column]);
            *reinterpret_cast<float4 *>(of_b + 4) = *reinterpret_cast<float4 *>(&rows_of_b[set][k][column + 32]);
#pragma unroll
            for (unsigned r = 0; r < 8; r++) {
#pragma unroll
                for (unsigned s = 0; s < 8; s++) {
                    sums[r][s] = fmaf(of_a[r], of_b[s], sums[r][s]);
                }
            }
        }
        if (left == 1) {
            break;
        }
        set ^= 1;
    }
    unsigned first = (first_row + row) * n + first_column + column;
#pragma unroll
    for (unsigned r = 0; r < 8; r++) {
        unsigned to = first + (r / 4 * 16 + r % 4) * n;
        *reinterpret_cast<float4 *>(c + to) = make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
        *reinterpret_cast<float4 *>(c + to + 32) = make_float4(sums[r][4], sums[r][5], sums[r][6], sums[r][7]);
    }
}

// A warp has four rows of the matrix.
extern "C" __global__ void gemv_cpp(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y,
                                    unsigned rows, unsigned columns) {
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 4;
    if (first < rows) {
        unsigned lane = threadIdx.x % 32;
        float sums[4] = {};
        for (unsigned column = 4 * lane; column < columns; column += 128) {
            float4 values = *reinterpret_cast<const float4 *>(x + column);
            float4 of_row[4];
            for (unsigned r = 0; r < 4; r++) {
                of_row[r] = *reinterpret_cast<const float4 *>(a + (first + r) * columns + column);
            }
            for (unsigned r = 0; r < 4; r++) {
                sums[r] = fmaf(of_row[r].x, values.x, sums[r]);
                sums[r] = fmaf(of_row[r].y, values.y, sums[r]);
                sums[r] = fmaf(of_row[r].z, values.z, sums[r]);
                sums[r] = fmaf(of_row[r].w, values.w, sums[r]);
            }
        }
        for (unsigned r = 0; r < 4; r++) {
            for (unsigned distance = 16; distance > 0; distance /= 2) {
                sums[r] += __shfl_xor_sync(0xffffffff, sums[r], distance);
            }
        }
        if (lane == 0) {
            for (unsigned r = 0; r < 4; r++) {
                y[first + r] = sums[r];
            }
        }
    }
}
