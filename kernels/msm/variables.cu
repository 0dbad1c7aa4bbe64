// Variables of a compact witness: sums of the bases whose variable is one, and which of them are elements.

#include "variables.cuh"

// places[k], bases[k] = where the k-th of the variables that are elements and scalars stands among the elements, and which base it
// has: of `count` words, a word a thread.
extern "C" __global__ void __launch_bounds__(256)
    msm_gather(const VariableWord* words, uint32_t* places, uint32_t* bases, uint32_t count) {
    const uint32_t w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= count) return;
    const VariableWord word = words[w];
    uint32_t k = word.scalar;
    for (uint64_t left = word.mask & word.selected; left != 0; left &= left - 1, k++) {
        const uint64_t below = (left & (~left + 1)) - 1;
        places[k] = word.element + __popcll(word.mask & below);
        bases[k] = word.base + __popcll(word.selected & below);
    }
}
KERNEL(msm_gather, 256)

// sums[t] = the sum of the bases whose variable is one, among the t-th 32 variables of `count` words: partial sums of `bucket`
// (accumulate.cuh), so which[t] = bucket. 32 additions a thread at most, and in a witness about half of them.
extern "C" __global__ void __launch_bounds__(128)
    g1_sum_ones(const G1Affine* bases, const VariableWord* words, uint32_t count, uint32_t bucket, G1Xyzz* sums, uint32_t* which) {
    variables::sum_ones(bases, words, count, bucket, sums, which);
}
KERNEL(g1_sum_ones, 128)

// The same in G2.
extern "C" __global__ void __launch_bounds__(128)
    g2_sum_ones(const G2Affine* bases, const VariableWord* words, uint32_t count, uint32_t bucket, G2Xyzz* sums, uint32_t* which) {
    variables::sum_ones(bases, words, count, bucket, sums, which);
}
KERNEL(g2_sum_ones, 128)
