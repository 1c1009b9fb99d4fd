// Peers of kernels-gpu/src/access.rs: copies, near and far.

extern "C" __global__ void copy_stride_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n,
                                           unsigned stride) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i * stride];
    }
}

extern "C" __global__ void copy_vec4_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned fours = n / 4;
    if (i < fours) {
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i];
    } else if (i - fours < n % 4) {
        unsigned k = 4 * fours + (i - fours);
        y[k] = x[k];
    }
}

extern "C" __global__ void relu_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
    }
}

extern "C" __global__ void blur_cpp(const float *__restrict__ input, float *__restrict__ output, unsigned width,
                                    unsigned height) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < height && column < width) {
        unsigned columns[3] = {column == 0 ? 0 : column - 1, column, column + 1 == width ? column : column + 1};
        unsigned rows[3] = {row == 0 ? 0 : row - 1, row, row + 1 == height ? row : row + 1};
        float sum = 0.0f;
        for (unsigned r = 0; r < 3; r++) {
            for (unsigned c = 0; c < 3; c++) {
                sum += input[rows[r] * width + columns[c]];
            }
        }
        output[row * width + column] = sum * (1.0f / 9.0f);
    }
}

extern "C" __global__ void leaky_relu_cpp(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] > 0.0f ? x[i] : 0.1f * x[i];
    }
}

extern "C" __global__ void gather_cpp(const float *__restrict__ x, const unsigned *__restrict__ index,
                                      float *__restrict__ y, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[index[i] & mask];
    }
}

// How many of the sorted values are less than the key; there is a power of two of them.
extern "C" __global__ void binary_search_cpp(const unsigned *__restrict__ sorted, const unsigned *__restrict__ keys,
                                             unsigned *__restrict__ found, unsigned n, unsigned len) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned key = keys[i], below = 0;
        for (unsigned step = len / 2; step > 0; step /= 2) {
            if (sorted[below + step - 1] < key) {
                below += step;
            }
        }
        found[i] = below;
    }
}
