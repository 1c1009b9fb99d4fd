// Peers of kernels-gpu/src/vecadd.rs: sums of two arrays.

extern "C" __global__ void vecadd_cpp(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                      unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

extern "C" __global__ void vecadd4_cpp(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                       unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned fours = n / 4;
    if (i < fours) {
        float4 x = reinterpret_cast<const float4 *>(a)[i];
        float4 y = reinterpret_cast<const float4 *>(b)[i];
        reinterpret_cast<float4 *>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (i == fours) {
#pragma unroll 1
        for (unsigned k = 4 * fours; k < n; k++) {
            c[k] = a[k] + b[k];
        }
    }
}
