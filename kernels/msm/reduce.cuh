// Sums of runs of points by one thread.
#pragma once

#include "../ec/xyzz.cuh"

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

}  // namespace reduce
