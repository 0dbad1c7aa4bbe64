// Sums of the digits of each bucket, and the sums of each window's buckets with their weights.

#include "accumulate.cuh"
#include "reduce.cuh"

// Adds the bases of sorted entries, whose number is *total, to their buckets (accumulate.cuh), by `threads` threads that take
// `each` entries each, all of them together at least *total. Thread t leaves sums[2 t], sums[2 t + 1] of the buckets which[2 t],
// which[2 t + 1] for g1_add_partials.
extern "C" __global__ void __launch_bounds__(128)
    g1_add_entries(const uint64_t* entries, const uint64_t* total, const G1Affine* bases, uint32_t threads, uint32_t each,
                   G1Xyzz* buckets, G1Xyzz* sums, uint32_t* which) {
    accumulate::add_entries(entries, total, bases, threads, each, buckets, sums, which);
}
KERNEL(g1_add_entries, 128)

// The same in G2.
extern "C" __global__ void __launch_bounds__(128)
    g2_add_entries(const uint64_t* entries, const uint64_t* total, const G2Affine* bases, uint32_t threads, uint32_t each,
                   G2Xyzz* buckets, G2Xyzz* sums, uint32_t* which) {
    accumulate::add_entries(entries, total, bases, threads, each, buckets, sums, which);
}
KERNEL(g2_add_entries, 128)

// Adds `total` partial sums of the buckets which_in, in the order of the buckets, to these (accumulate.cuh); otherwise as
// g1_add_entries. One thread that takes all leaves nothing.
extern "C" __global__ void __launch_bounds__(128)
    g1_add_partials(const G1Xyzz* sums_in, const uint32_t* which_in, uint64_t total, uint32_t threads, uint32_t each,
                    G1Xyzz* buckets, G1Xyzz* sums, uint32_t* which) {
    accumulate::add_partials(sums_in, which_in, total, threads, each, buckets, sums, which);
}
KERNEL(g1_add_partials, 128)

// The same in G2.
extern "C" __global__ void __launch_bounds__(128)
    g2_add_partials(const G2Xyzz* sums_in, const uint32_t* which_in, uint64_t total, uint32_t threads, uint32_t each,
                    G2Xyzz* buckets, G2Xyzz* sums, uint32_t* which) {
    accumulate::add_partials(sums_in, which_in, total, threads, each, buckets, sums, which);
}
KERNEL(g2_add_partials, 128)

// sums[t] = the t-th segment's share of its window's sum: weights 1, 2, ... of the buckets of a window, whose number is a
// multiple of `segment`; `count` segments in all. Running sums from the last bucket of the segment to its first, then as many
// times the sum of all as there are buckets before it in the window. 2 * segment + 2 lg(window) sums at most.
extern "C" __global__ void __launch_bounds__(128)
    g1_reduce(const G1Xyzz* buckets, uint32_t window, uint32_t segment, uint32_t count, G1Xyzz* sums) {
    reduce::segments(buckets, window, segment, count, sums);
}
KERNEL(g1_reduce, 128)

// The same in G2.
extern "C" __global__ void __launch_bounds__(128)
    g2_reduce(const G2Xyzz* buckets, uint32_t window, uint32_t segment, uint32_t count, G2Xyzz* sums) {
    reduce::segments(buckets, window, segment, count, sums);
}
KERNEL(g2_reduce, 128)

// out[t] = the sum of in[t * group..][..group], the last group as far as there are points, of which there are `total`: a thread a
// group, from its first point to its last, group - 1 additions. Launched again and again on what it leaves, until each window
// has one point: then a group is never of two windows, since the segments of a window are a power of two, and so is `group`.
// `in` and `out` are different memory.
extern "C" __global__ void __launch_bounds__(128)
    g1_sum_groups(const G1Xyzz* in, G1Xyzz* out, uint64_t total, uint32_t group) {
    reduce::groups(in, out, total, group);
}
KERNEL(g1_sum_groups, 128)

// The same in G2.
extern "C" __global__ void __launch_bounds__(128)
    g2_sum_groups(const G2Xyzz* in, G2Xyzz* out, uint64_t total, uint32_t group) {
    reduce::groups(in, out, total, group);
}
KERNEL(g2_sum_groups, 128)
