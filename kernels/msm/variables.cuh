// 64 variables of a compact witness, as a sum takes them.
#pragma once

#include "../ec/xyzz.cuh"
#include "../threads.cuh"

// Mirrored in src/backend/cuda/msm/variables.rs.
struct VariableWord {
    // Which variables are scalars of this sum; which of those are one; which variables, scalars or not, are elements.
    uint64_t selected, ones, mask;
    // The place of the word's first element, the number of its first scalar's base, and how many scalars that are elements are
    // before it.
    uint32_t element, base, scalar, padding;
};
static_assert(sizeof(VariableWord) == 40, "mirrored in Rust");

namespace variables {

// The sum of the bases whose variable is one and in `part`.
template <class F>
DEVICE Xyzz<F> sum_of_ones(const Affine<F>* bases, const VariableWord& word, uint64_t part) {
    Xyzz<F> acc = Xyzz<F>::infinity();
    for (uint64_t left = word.ones & part; left != 0; left &= left - 1) {
        const uint64_t below = (left & (~left + 1)) - 1;
        add(acc, bases[word.base + __popcll(word.selected & below)]);
    }
    return acc;
}

// The kernels' body (variables.cu): half a word a thread.
template <class F>
DEVICE void sum_ones(const Affine<F>* bases, const VariableWord* words, uint32_t count, uint32_t bucket, Xyzz<F>* sums,
                     uint32_t* which) {
    const uint64_t t = threads::current();
    if (t >= 2 * uint64_t(count)) return;
    sums[t] = sum_of_ones(bases, words[t / 2], t % 2 == 0 ? 0xffffffffull : 0xffffffffull << 32);
    which[t] = bucket;
}

}  // namespace variables
