// Exclusive prefix sums of a tile by one block.
#pragma once

#include "../emulator/kernel.cuh"

namespace scan {

constexpr uint32_t THREADS = 256, EACH = 8, TILE = THREADS * EACH;

// Values of the tile that begins at `first`, of `count` in all.
DEVICE uint32_t length(uint32_t first, uint32_t count) { return count - first < TILE ? count - first : TILE; }

// starts[k] = the sum of values[..k], for k below `count`, which is at most TILE; answers the sum of all, to every thread.
// Hillis and Steele's scan over the threads' own sums. All threads of the block call it.
template <class T>
DEVICE uint64_t exclusive(const T* values, uint64_t* starts, uint32_t count) {
    __shared__ uint64_t ends[THREADS];
    const uint32_t first = threadIdx.x * EACH;
    uint64_t own[EACH], sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) {
        own[k] = sum;
        if (first + k < count) sum += values[first + k];
    }
    // The values are read before `starts`, which may be the same memory, is written: own[k] are registers.
    ends[threadIdx.x] = sum;
    __syncthreads();
    for (uint32_t reach = 1; reach < THREADS; reach *= 2) {
        const uint64_t before = threadIdx.x >= reach ? ends[threadIdx.x - reach] : 0;
        __syncthreads();
        ends[threadIdx.x] += before;
        __syncthreads();
    }
    const uint64_t start = ends[threadIdx.x] - sum, total = ends[THREADS - 1];
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) {
        if (first + k < count) starts[first + k] = start + own[k];
    }
    // The next call writes `ends`.
    __syncthreads();
    return total;
}

}  // namespace scan
