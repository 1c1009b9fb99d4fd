// Peers of kernels-gpu/src/transpose.rs: rows become columns.

constexpr unsigned TILE = 32;
constexpr unsigned ROWS = 8;

extern "C" __global__ void transpose_naive_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned column = blockIdx.x * TILE + threadIdx.x;
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    for (unsigned k = 0; k < TILE; k += ROWS) {
        y[column * n + row + k] = x[(row + k) * n + column];
    }
}

extern "C" __global__ void transpose_padded_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    __shared__ float tile[TILE][TILE + 1];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned bx = blockIdx.x * TILE, by = blockIdx.y * TILE;
    for (unsigned k = 0; k < TILE; k += ROWS) {
        tile[ty + k][tx] = x[(by + ty + k) * n + bx + tx];
    }
    __syncthreads();
    for (unsigned k = 0; k < TILE; k += ROWS) {
        y[(bx + ty + k) * n + by + tx] = tile[tx][ty + k];
    }
}
