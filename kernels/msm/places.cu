// The index arithmetic of the sums' kernels on its own, for tests at sizes that are not allocated.

#include "../threads.cuh"
#include "accumulate.cuh"
#include "bases.cuh"

// For each of `count` pairs of a block of 128 threads and a thread in it, six numbers to `out`: the thread's number t; the byte
// offsets of the first of its `each` entries, of its partial sums in G2, of point t of a file in G2, and of scalar `first + t`
// among 2^log_size in bit-reversed order; and how many of `total` entries are its.
extern "C" __global__ void __launch_bounds__(128)
    msm_places(const uint32_t* blocks, const uint32_t* threads_in, uint64_t* out, uint32_t count, uint32_t each, uint64_t total,
                uint64_t first, uint32_t log_size) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint64_t t = threads::number(blocks[i], 128, threads_in[i]);
    const uint64_t entry = accumulate::first_of(t, each);
    const digits::Scalars scalars{nullptr, nullptr, nullptr, first, log_size};
    const auto offset = [](const void* address) { return reinterpret_cast<uint64_t>(address); };
    out[6 * i] = t;
    out[6 * i + 1] = offset(static_cast<const uint64_t*>(nullptr) + entry);
    out[6 * i + 2] = offset(static_cast<const G2Xyzz*>(nullptr) + 2 * t);
    out[6 * i + 3] = offset(bases::bytes_of<Fp2>(nullptr, uint32_t(t)));
    out[6 * i + 4] = offset(static_cast<const Fr*>(nullptr) + scalars.place(uint32_t(t)));
    out[6 * i + 5] = accumulate::length_of(entry, each, total);
}
KERNEL(msm_places, 128)
