// Digits sorted by bucket, by counting: sizes of the buckets, where each begins, entries put there. The order of entries
// within a bucket is whatever the atomic additions make it; their sum does not depend on it.

#include "digits.cuh"
#include "scan.cuh"

// sizes[bucket] += 1 for each digit of `count` scalars (digits.cuh has the arguments), a scalar a thread.
extern "C" __global__ void __launch_bounds__(256)
    msm_count(const Fr* elements, const uint32_t* places, uint64_t first, uint32_t log_size, uint32_t count, uint32_t bits,
              uint32_t windows, uint32_t* sizes) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const digits::Scalars scalars{elements, places, nullptr, first, log_size};
    digits::each(elements[scalars.place(i)], bits, windows, [&](uint32_t window, uint32_t magnitude, bool) {
        atomicAdd(&sizes[digits::bucket(window, bits, magnitude)], 1u);
    });
}
KERNEL(msm_count, 256)

// A block a tile of 2048 sizes: starts[k] = the sum of the sizes before k within the tile, tiles[block] = the tile's sum.
extern "C" __global__ void __launch_bounds__(256)
    msm_scan_tiles(const uint32_t* sizes, uint64_t* starts, uint64_t* tiles, uint32_t count) {
    const uint32_t first = blockIdx.x * scan::TILE;
    const uint64_t sum = scan::exclusive(sizes + first, starts + first, scan::length(first, count));
    if (threadIdx.x == 0) tiles[blockIdx.x] = sum;
}
KERNEL(msm_scan_tiles, 256)

// One block: tiles[k] becomes the sum of those before it, for k up to and with `count`, tile after tile.
extern "C" __global__ void __launch_bounds__(256) msm_scan_sums(uint64_t* tiles, uint32_t count) {
    uint64_t before = 0;
    for (uint32_t first = 0; first < count; first += scan::TILE) {
        const uint32_t here = scan::length(first, count);
        const uint64_t sum = scan::exclusive(tiles + first, tiles + first, here);
        for (uint32_t k = threadIdx.x; k < here; k += scan::THREADS) tiles[first + k] += before;
        before += sum;
    }
    if (threadIdx.x == 0) tiles[count] = before;
}
KERNEL(msm_scan_sums, 256)

// starts[k] += what was before its tile, for k below `count`; starts[count] = the sum of all. `tiles` is what msm_scan_sums
// leaves.
extern "C" __global__ void __launch_bounds__(256) msm_scan_add(uint64_t* starts, const uint64_t* tiles, uint32_t count) {
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) starts[k] += tiles[k / scan::TILE];
    if (k == count) starts[k] = tiles[(count + scan::TILE - 1) / scan::TILE];
}
KERNEL(msm_scan_add, 256)

// Puts an entry for each digit of `count` scalars (digits.cuh has the arguments) where its bucket begins, and moves that
// beginning on: starts[bucket] is the bucket's end afterwards.
extern "C" __global__ void __launch_bounds__(256)
    msm_scatter(const Fr* elements, const uint32_t* places, const uint32_t* bases, uint64_t first, uint32_t log_size,
                uint32_t count, uint32_t bits, uint32_t windows, uint64_t* starts, uint64_t* entries) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const digits::Scalars scalars{elements, places, bases, first, log_size};
    const uint32_t base = scalars.base(i);
    digits::each(elements[scalars.place(i)], bits, windows, [&](uint32_t window, uint32_t magnitude, bool is_negative) {
        const uint32_t bucket = digits::bucket(window, bits, magnitude);
        const uint64_t at = atomicAdd(reinterpret_cast<unsigned long long*>(&starts[bucket]), 1ull);
        entries[at] = digits::entry(bucket, is_negative, base);
    });
}
KERNEL(msm_scatter, 256)
