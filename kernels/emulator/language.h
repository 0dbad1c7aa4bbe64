// CUDA's qualifiers, vector types, built-in variables, barriers and warp operations for the host's C++ compiler.
#pragma once

#include <cstring>

#include "device.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __restrict__ __restrict

// Static shared memory: one place for all blocks, which run one after the other, poisoned before each. Each declaration has
// a section of its own, because a compiler does not put a template's variables into the section of a plain function's;
// shared.ld joins them.
#define EMULATOR_TEXT_OF(x) #x
#define EMULATOR_TEXT(x) EMULATOR_TEXT_OF(x)
#define __shared__ static __attribute__((section("emulated_shared_" EMULATOR_TEXT(__LINE__)), aligned(16)))
#define DYNAMIC_SHARED(T, name) T *const name = reinterpret_cast<T *>(::emulator::self->block->dynamic_shared)

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

#define threadIdx (::emulator::self->id)
#define blockIdx (::emulator::self->block->id)
#define blockDim (::emulator::self->block->size)
#define gridDim (::emulator::self->block->grid)
static const int warpSize = 32;

#define EMULATOR_WHERE ::emulator::Where at = ::emulator::Where::here()

inline void __syncthreads(EMULATOR_WHERE) { ::emulator::barrier(false, at); }
inline int __syncthreads_count(int p, EMULATOR_WHERE) { return int(::emulator::barrier(p != 0, at)); }
inline int __syncthreads_or(int p, EMULATOR_WHERE) { return ::emulator::barrier(p != 0, at) != 0; }
inline int __syncthreads_and(int p, EMULATOR_WHERE) { return ::emulator::barrier(p == 0, at) == 0; }
inline void __syncwarp(unsigned mask = ~0u, EMULATOR_WHERE) {
    ::emulator::meet(::emulator::WarpOperation::SYNC, mask, 0, 0, at);
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

namespace emulator {
template <class T>
T shuffle(unsigned mask, T value, unsigned source, Where at) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 32 and 64 bits");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = meet(WarpOperation::SHUFFLE, mask, bits, source, at);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
// The last lane of the running lane's group of `width` lanes.
inline unsigned last_of_group(int width) { return self->lane | unsigned(width - 1); }
}  // namespace emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, EMULATOR_WHERE) {
    const unsigned within = unsigned(width - 1), first = ::emulator::self->lane & ~within;
    return ::emulator::shuffle(mask, value, first | (unsigned(source) & within), at);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATOR_WHERE) {
    const unsigned lane = ::emulator::self->lane, source = lane + delta;
    return ::emulator::shuffle(mask, value, source > ::emulator::last_of_group(width) ? lane : source, at);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATOR_WHERE) {
    const unsigned lane = ::emulator::self->lane;
    return ::emulator::shuffle(mask, value, (lane & unsigned(width - 1)) < delta ? lane : lane - delta, at);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, EMULATOR_WHERE) {
    const unsigned lane = ::emulator::self->lane, source = lane ^ unsigned(bits);
    return ::emulator::shuffle(mask, value, source > ::emulator::last_of_group(width) ? lane : source, at);
}
inline unsigned __ballot_sync(unsigned mask, int p, EMULATOR_WHERE) {
    return unsigned(::emulator::meet(::emulator::WarpOperation::BALLOT, mask, p != 0, 0, at));
}
inline int __any_sync(unsigned mask, int p, EMULATOR_WHERE) { return __ballot_sync(mask, p, at) != 0; }
inline int __all_sync(unsigned mask, int p, EMULATOR_WHERE) { return __ballot_sync(mask, !p, at) == 0; }
// Which lanes run together is the hardware's affair; a kernel that asks cannot be right on all of it.
inline unsigned __activemask(EMULATOR_WHERE) { ::emulator::fault("__activemask is not emulated", at); }
