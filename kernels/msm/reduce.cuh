// Sums of runs of points by one thread.
#pragma once

#include "../ec/xyzz.cuh"
#include "../threads.cuh"

namespace reduce {

template <class F>
DEVICE Xyzz<F> plain(const Xyzz<F>* points, uint32_t count) {
    Xyzz<F> acc = points[0];
    for (uint32_t i = 1; i < count; i++) add(acc, points[i]);
    return acc;
}

// `factor` times p, by doublings from the highest bit.
template <class F>
DEVICE Xyzz<F> multiple(const Xyzz<F>& p, uint32_t factor) {
    Xyzz<F> acc = Xyzz<F>::infinity();
    for (int bit = 31 - __clz(int(factor)); bit >= 0; bit--) {
        twice(acc);
        if (factor >> bit & 1) add(acc, p);
    }
    return acc;
}

// The sum of (before + 1 + i) * points[i].
template <class F>
DEVICE Xyzz<F> weighted(const Xyzz<F>* points, uint32_t count, uint32_t before) {
    Xyzz<F> running = points[count - 1], acc = running;
    for (uint32_t i = count - 1; i-- > 0;) {
        add(running, points[i]);
        add(acc, running);
    }
    const Xyzz<F> rest = multiple(running, before);
    add(acc, rest);
    return acc;
}

// The kernels' bodies (buckets.cu): a segment, or a group, a thread.
template <class F>
DEVICE void segments(const Xyzz<F>* buckets, uint32_t window, uint32_t segment, uint32_t count, Xyzz<F>* sums) {
    const uint64_t t = threads::current();
    if (t >= count) return;
    sums[t] = weighted(buckets + t * segment, segment, uint32_t(t * segment % window));
}

template <class F>
DEVICE void groups(const Xyzz<F>* in, Xyzz<F>* out, uint64_t total, uint32_t group) {
    const uint64_t t = threads::current();
    if (t * group >= total) return;
    out[t] = plain(in + t * group, total - t * group < group ? uint32_t(total - t * group) : group);
}

}  // namespace reduce
