// Digits sorted by bucket, by counting: sizes of the buckets, where each begins, entries put there. The order of entries
// within a bucket is whatever the atomic additions make it; their sum does not depend on it.

#include "digits.cuh"
#include "scan.cuh"

// sizes[bucket] += 1 for each digit of `count` scalars (digits.cuh has the arguments), a scalar a thread. The thread cuts its
// scalar into `windows` digits from the lowest, and counts each that is not zero in its window's part of `sizes` by an atomic
// addition whose outcome nobody waits for. `sizes` has windows << (bits - 1) places and is zeros before. Where many scalars are
// equal, many additions meet at one place: the device makes them one after the other, in its second-level cache.
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

// First of three steps that make starts[k] the sum of all sizes before k. A block takes a tile of 2048 sizes (scan.cuh): each
// thread adds up eight of its own, the block scans the 256 sums in shared memory, and each thread writes its eight beginnings.
// starts[k] = the sum of the sizes before k within the tile; tiles[block] = the tile's sum. The last tile is as long as there are
// sizes, of which there are `count`, at most 2^32 - 2048. Sums have 64 bits: all windows' digits together may be more than 2^32.
extern "C" __global__ void __launch_bounds__(256)
    msm_scan_tiles(const uint32_t* sizes, uint64_t* starts, uint64_t* tiles, uint32_t count) {
    const uint32_t first = blockIdx.x * scan::TILE;
    const uint64_t sum = scan::exclusive(sizes + first, starts + first, scan::length(first, count));
    if (threadIdx.x == 0) tiles[blockIdx.x] = sum;
}
KERNEL(msm_scan_tiles, 256)

// Second step, by one block: tiles[k] becomes the sum of those before it, for k below `count`, and tiles[count] the sum of all.
// The block scans 2048 of them at a time, as msm_scan_tiles does, in place, and adds what all earlier turns have summed up, which
// each thread keeps for itself. 2^19 buckets have 256 tiles: one turn; more than 2^22 have a second one. A thread adds to places
// that others have written: the scan ends with a barrier.
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

// Third step, a thread a bucket and one more: starts[k] += the sum of all tiles before k's own, for k below `count`;
// starts[count] = the sum of all, the number of entries, which msm_scatter leaves as it is and g1_add_entries reads. `tiles` is
// what msm_scan_sums leaves: k's tile is number k / 2048, and the sum of all stands behind the last tile. Threads of a warp mostly
// read one place of `tiles`.
extern "C" __global__ void __launch_bounds__(256) msm_scan_add(uint64_t* starts, const uint64_t* tiles, uint32_t count) {
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) starts[k] += tiles[k / scan::TILE];
    if (k == count) starts[k] = tiles[(count + scan::TILE - 1) / scan::TILE];
}
KERNEL(msm_scan_add, 256)

// Puts an entry for each digit of `count` scalars (digits.cuh has the arguments) into its bucket, a scalar a thread: cuts the
// scalar as msm_count does, takes the bucket's next free place by an atomic addition to starts[bucket], and writes there which
// bucket, base and sign the digit has. No two digits get the same place. starts[bucket], the bucket's beginning before, is its end
// afterwards. `entries` has as many places as msm_count has counted. Writes are 8 bytes each, all over the buckets of a window.
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
