// Buckets filled from sorted entries, with as much work for each thread whatever the scalars are.
//
// Each thread takes `each` consecutive values. Runs of one bucket that lie wholly among them are added to their bucket. The
// run that has begun before them, and the one that goes on behind them, are a partial sum each: two a thread, in the order of
// the buckets again, so the same kernel's other source takes those next, and what it leaves, until one thread takes all.
// No two threads of a launch write the same bucket: its values are one run.
#pragma once

#include "../ec/xyzz.cuh"
#include "../threads.cuh"
#include "digits.cuh"

namespace accumulate {

// The bucket of partial sums behind the last value.
constexpr uint32_t NONE = 0xffffffff;

// Digits' entries: bases, to be added or subtracted.
template <class F>
struct Entries {
    const uint64_t* entries;
    const Affine<F>* bases;

    __device__ __forceinline__ uint32_t bucket(uint64_t i) const { return digits::bucket_of(entries[i]); }

    __device__ __forceinline__ void add_to(Xyzz<F>& acc, uint64_t i) const {
        const uint64_t entry = entries[i];
        add(acc, bases[digits::base_of(entry)], digits::is_negative(entry));
    }
};

// Partial sums.
template <class F>
struct Partials {
    const uint32_t* buckets;
    const Xyzz<F>* sums;

    __device__ __forceinline__ uint32_t bucket(uint64_t i) const { return buckets[i]; }

    __device__ __forceinline__ void add_to(Xyzz<F>& acc, uint64_t i) const {
        if (buckets[i] != NONE) add(acc, sums[i]);
    }
};

// A run that no other thread has a part of.
template <class F>
DEVICE void finish(Xyzz<F>* buckets, uint32_t bucket, const Xyzz<F>& run) {
    const Xyzz<F> copy = run;  // or the run itself would be in memory from its first addition
    if (bucket != NONE) add(buckets[bucket], copy);
}

// The first of `each` values of a thread, and how many there are of `total`.
DEVICE uint64_t first_of(uint64_t thread, uint32_t each) { return thread * each; }
DEVICE uint32_t length_of(uint64_t first, uint32_t each, uint64_t total) {
    return first >= total ? 0 : total - first < each ? uint32_t(total - first) : each;
}

// One thread's part. Its partial sums are sums[0] and sums[1], of which[0] and which[1]; where there is none, infinity.
template <class F, class Source>
DEVICE void accumulate(const Source& source, uint64_t total, uint64_t first, uint32_t each, Xyzz<F>* buckets,
                       Xyzz<F>* sums, uint32_t* which) {
    const uint32_t length = length_of(first, each, total);
    if (length == 0) {
        which[0] = which[1] = NONE;
        return;
    }
    uint32_t bucket = source.bucket(first);
    bool began_before = first > 0 && source.bucket(first - 1) == bucket;
    which[0] = bucket;
    if (!began_before) sums[0] = Xyzz<F>::infinity();
    Xyzz<F> acc = Xyzz<F>::infinity();
    for (uint64_t i = first; i < first + length; i++) {
        const uint32_t next = source.bucket(i);
        if (next != bucket) {
            if (began_before) {
                sums[0] = acc;
            } else {
                finish(buckets, bucket, acc);
            }
            began_before = false;
            acc = Xyzz<F>::infinity();
            bucket = next;
        }
        source.add_to(acc, i);
    }
    const bool goes_on = first + length < total && source.bucket(first + length) == bucket;
    which[1] = bucket;
    if (began_before) sums[0] = acc;
    if (!began_before && !goes_on) finish(buckets, bucket, acc);
    sums[1] = !began_before && goes_on ? acc : Xyzz<F>::infinity();
}

// The kernels' bodies (buckets.cu): `threads` threads of a launch take a part each.
template <class F>
DEVICE void add_entries(const uint64_t* entries, const uint64_t* total, const Affine<F>* bases, uint32_t threads, uint32_t each,
                        Xyzz<F>* buckets, Xyzz<F>* sums, uint32_t* which) {
    const uint64_t t = threads::current();
    if (t >= threads) return;
    const Entries<F> source{entries, bases};
    accumulate(source, *total, first_of(t, each), each, buckets, sums + 2 * t, which + 2 * t);
}

template <class F>
DEVICE void add_partials(const Xyzz<F>* sums_in, const uint32_t* which_in, uint64_t total, uint32_t threads, uint32_t each,
                         Xyzz<F>* buckets, Xyzz<F>* sums, uint32_t* which) {
    const uint64_t t = threads::current();
    if (t >= threads) return;
    const Partials<F> source{which_in, sums_in};
    accumulate(source, total, first_of(t, each), each, buckets, sums + 2 * t, which + 2 * t);
}

}  // namespace accumulate
