// Kernels without faults, for tests/emulator.rs: what they compute does not depend on the order of threads and blocks.
#include "../../kernels/emulator/kernel.cuh"
#include "../../kernels/ff/carry.cuh"

extern "C" __global__ void vector_add(const uint32_t *a, const uint32_t *b, uint32_t *sum, uint32_t n) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}
KERNEL(vector_add)

constexpr unsigned SUM_THREADS = 256;

// Sums of blocks of 256 elements, by halving in static shared memory.
extern "C" __global__ void __launch_bounds__(256) block_sum(const uint32_t *in, uint32_t *sums, uint32_t n) {
    __shared__ uint32_t partial[SUM_THREADS];
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
KERNEL(block_sum, 256)

// Each block reversed, through dynamic shared memory and, in a template's static one, its first and last element swapped.
template <unsigned N>
__device__ uint32_t swapped_ends(uint32_t value) {
    __shared__ uint32_t ends[N];
    if (threadIdx.x == 0) ends[1] = value;
    if (threadIdx.x == blockDim.x - 1) ends[0] = value;
    __syncthreads();
    return threadIdx.x == 0 ? ends[0] : threadIdx.x == blockDim.x - 1 ? ends[1] : value;
}
extern "C" __global__ void reverse(const uint32_t *in, uint32_t *out) {
    DYNAMIC_SHARED(uint32_t, held);
    const uint32_t base = blockIdx.x * blockDim.x;
    held[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    out[base + threadIdx.x] = swapped_ends<2>(held[blockDim.x - 1 - threadIdx.x]);
}
KERNEL(reverse)

// Of each warp: the sum of its elements, the ballot of its odd ones, and what the other ways to sum say of the sum.
extern "C" __global__ void warp_sum(const uint64_t *in, uint64_t *sums, uint32_t *odd, uint32_t *agree) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned long long down = in[i], butterfly = in[i], up = in[i];
    for (unsigned delta = 16; delta > 0; delta /= 2) down += __shfl_down_sync(~0u, down, delta);
    for (int bit = 1; bit < 32; bit *= 2) butterfly += __shfl_xor_sync(~0u, butterfly, bit);
    for (unsigned delta = 1; delta < 32; delta *= 2) {
        const unsigned long long lower = __shfl_up_sync(~0u, up, delta);
        if (lane >= delta) up += lower;
    }
    const unsigned votes = __ballot_sync(~0u, in[i] & 1);
    const bool same = __shfl_sync(~0u, down, 0) == butterfly && __shfl_sync(~0u, up, 31) == butterfly;
    const bool all = __all_sync(~0u, same) && __any_sync(~0u, same);
    if (lane == 0) {
        sums[i / 32] = down;
        odd[i / 32] = votes;
        agree[i / 32] = all;
    }
}
KERNEL(warp_sum)

// The two halves of a warp in operations of their own, of groups of 8 lanes.
extern "C" __global__ void half_warps(const uint32_t *in, uint32_t *out) {
    const uint32_t i = threadIdx.x;
    uint32_t value = in[i];
    if (i % 32 < 16) {
        value = __shfl_sync(0x0000ffffu, value, 3, 8);
        __syncwarp(0x0000ffffu);
    } else {
        value = __shfl_down_sync(0xffff0000u, value, 1, 8);
    }
    out[i] = value;
}
KERNEL(half_warps)

// Numbers of 8 words, lowest first: a + b, a - b, and the last carry and borrow.
extern "C" __global__ void long_add(const uint32_t *a, const uint32_t *b, uint32_t *sums, uint32_t *differences, uint32_t *ends) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, at = 8 * i;
    sums[at] = add_cc(a[at], b[at]);
    for (unsigned word = 1; word < 8; word++) sums[at + word] = addc_cc(a[at + word], b[at + word]);
    ends[2 * i] = addc(0, 0);
    differences[at] = sub_cc(a[at], b[at]);
    for (unsigned word = 1; word < 8; word++) differences[at + word] = subc_cc(a[at + word], b[at + word]);
    ends[2 * i + 1] = subc(0, 0);
}
KERNEL(long_add)

// Products of 64-bit numbers, from words. Then a * b + c * (1 + 2^32) of words, with the lower addition's carry going up.
extern "C" __global__ void multiply(const uint32_t *a, const uint32_t *b, uint32_t *products, uint64_t *sums) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t a0 = a[2 * i], a1 = a[2 * i + 1], b0 = b[2 * i], b1 = b[2 * i + 1];
    uint32_t r0 = mul_lo(a0, b0), r1 = mul_hi(a0, b0), r2, r3;
    r1 = mad_lo_cc(a0, b1, r1);
    r2 = madc_hi(a0, b1, 0);
    r1 = mad_lo_cc(a1, b0, r1);
    r2 = madc_hi_cc(a1, b0, r2);
    r3 = madc_lo(0, 0, 0);
    r2 = mad_lo_cc(a1, b1, r2);
    r3 = madc_hi(a1, b1, r3);
    products[4 * i] = r0;
    products[4 * i + 1] = r1;
    products[4 * i + 2] = r2;
    products[4 * i + 3] = r3;
    const uint32_t lo = mad_lo_cc(a0, b0, a1);
    const uint32_t hi = madc_hi_cc(a0, b0, a1);
    const uint32_t top = madc_lo_cc(0, 0, 0);
    const uint32_t above = addc(0, 0);
    // The high half alone, then a carry made by it.
    const uint32_t high = mad_hi_cc(a0, b0, a1);
    const uint32_t carried = addc(0, 0);
    const bool consistent = above == 0 && high == mul_hi(a0, b0) + a1 && carried == (high < a1);
    sums[2 * i] = uint64_t(hi) << 32 | lo;
    sums[2 * i + 1] = consistent ? top : ~0ull;
}
KERNEL(multiply)

struct Counts {
    uint32_t bits, most, least, ored, exchanged;
    int32_t signed_sum;
    unsigned long long wide;
    uint32_t toggled, chained;
};

// One atomic of each kind, from all threads of all blocks.
extern "C" __global__ void count(const uint32_t *in, Counts *counts) {
    const uint32_t v = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&counts->bits, uint32_t(__popc(v)));
    atomicMax(&counts->most, v);
    atomicMin(&counts->least, v);
    atomicOr(&counts->ored, v);
    atomicExch(&counts->exchanged, 7u);
    atomicAdd(&counts->signed_sum, v & 1 ? -1 : 2);
    atomicAdd(&counts->wide, (unsigned long long)v << 20);
    atomicXor(&counts->toggled, v);
    for (uint32_t seen = 0;;) {
        const uint32_t before = atomicCAS(&counts->chained, seen, seen + 3);
        if (before == seen) break;
        seen = before;
    }
}
KERNEL(count)

// The predicates of a block of three dimensions: their number, whether any, whether all.
extern "C" __global__ void vote(uint32_t *out) {
    const uint32_t i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int odd = __syncthreads_count(i % 2);
    const int any = __syncthreads_or(i == block);
    const int all = __syncthreads_and(i < 24);
    if (i == 5) out[block] = uint32_t(odd * 100 + any * 10 + all);
}
KERNEL(vote)

extern "C" __global__ void scale(uint32_t *data, uint32_t n, uint32_t factor) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}
KERNEL(scale)
