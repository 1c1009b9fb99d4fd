// Peers of kernels-gpu/src/msda/forward.rs: deformable attention, a thread a point and in tiles.

constexpr unsigned HEADS = 8, CHANNELS = 32, LEVELS = 4, POINTS = 4, SAMPLES = LEVELS * POINTS;

struct Axis {
    unsigned at[2];
    float weights[2];
};

struct Sample {
    unsigned pixels[4];
    float weights[4];
};

// The two columns (or rows) that a coordinate lies between, and their weights: nothing beyond the image.
__device__ inline Axis axis(float coordinate, unsigned len) {
    float length = float(len);
    float place = fminf(fmaxf(fmaf(coordinate, length, -0.5f), -1.0f), length);
    float below = floorf(place);
    float share = place - below;
    int first = int(below), last = int(len) - 1;
    bool has_first = first >= 0 && first <= last, has_second = first < last;
    int nearest = min(max(first, 0), last);
    return {{unsigned(nearest), unsigned(has_second ? first + 1 : nearest)},
            {has_first ? 1.0f - share : 0.0f, has_second ? share : 0.0f}};
}

__device__ inline Sample sample(const unsigned *level, float at_x, float at_y) {
    unsigned height = level[0], width = level[1], first_pixel = level[2];
    Axis x = axis(at_x, width), y = axis(at_y, height);
    unsigned upper = first_pixel + y.at[0] * width, lower = first_pixel + y.at[1] * width;
    return {{upper + x.at[0], upper + x.at[1], lower + x.at[0], lower + x.at[1]},
            {y.weights[0] * x.weights[0], y.weights[0] * x.weights[1], y.weights[1] * x.weights[0],
             y.weights[1] * x.weights[1]}};
}

extern "C" __global__ void msda_point_cpp(const float *__restrict__ value, const unsigned *__restrict__ levels,
                                          const float *__restrict__ locations, const float *__restrict__ weights,
                                          float *__restrict__ output, unsigned queries) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < queries * HEADS * SAMPLES) {
        unsigned result = i / SAMPLES, level = i % SAMPLES / POINTS;
        Sample point = sample(levels + 3 * level, locations[2 * i], locations[2 * i + 1]);
        float weight = weights[i];
        const float *from[4];
        float share[4];
        for (unsigned corner = 0; corner < 4; corner++) {
            from[corner] = value + (point.pixels[corner] * HEADS + result % HEADS) * CHANNELS;
            share[corner] = point.weights[corner] * weight;
        }
        for (unsigned channel = 0; channel < CHANNELS; channel++) {
            float sum = from[0][channel] * share[0];
            for (unsigned corner = 1; corner < 4; corner++) {
                sum = fmaf(from[corner][channel], share[corner], sum);
            }
            atomicAdd(&output[result * CHANNELS + channel], sum);
        }
    }
}

constexpr unsigned TILE_CHANNELS = 4, TILE_THREADS = CHANNELS / TILE_CHANNELS;

extern "C" __global__ void msda_tile_cpp(const float *__restrict__ value, const unsigned *__restrict__ levels,
                                         const float *__restrict__ locations, const float *__restrict__ weights,
                                         float *__restrict__ output, unsigned queries) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned result = i / TILE_THREADS;
    if (result < queries * HEADS) {
        unsigned channel = i % TILE_THREADS * TILE_CHANNELS;
        float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (unsigned level = 0; level < LEVELS; level++) {
            unsigned first = result * SAMPLES + level * POINTS;
            float4 places[2];
            float weight[4];
            places[0] = *reinterpret_cast<const float4 *>(locations + 2 * first);
            places[1] = *reinterpret_cast<const float4 *>(locations + 2 * first + 4);
            *reinterpret_cast<float4 *>(weight) = *reinterpret_cast<const float4 *>(weights + first);
            Sample points[4] = {sample(levels + 3 * level, places[0].x, places[0].y),
                                sample(levels + 3 * level, places[0].z, places[0].w),
                                sample(levels + 3 * level, places[1].x, places[1].y),
                                sample(levels + 3 * level, places[1].z, places[1].w)};
            float4 values[4][4];
#pragma unroll
            for (unsigned point = 0; point < 4; point++) {
#pragma unroll
                for (unsigned corner = 0; corner < 4; corner++) {
                    unsigned at = (points[point].pixels[corner] * HEADS + result % HEADS) * CHANNELS + channel;
                    values[point][corner] = *reinterpret_cast<const float4 *>(value + at);
                }
            }
#pragma unroll
            for (unsigned point = 0; point < 4; point++) {
#pragma unroll
                for (unsigned corner = 0; corner < 4; corner++) {
                    float share = points[point].weights[corner] * weight[point];
                    sums.x = fmaf(values[point][corner].x, share, sums.x);
                    sums.y = fmaf(values[point][corner].y, share, sums.y);
                    sums.z = fmaf(values[point][corner].z, share, sums.z);
                    sums.w = fmaf(values[point][corner].w, share, sums.w);
                }
            }
        }
        *reinterpret_cast<float4 *>(output + result * CHANNELS + channel) = sums;
    }
}
