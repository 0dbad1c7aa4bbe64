// What a kernel's source includes first, for nvcc and for the emulated device alike.
//
//     extern "C" __global__ void add(const unsigned *a, unsigned *b) { ... }
//     KERNEL(add)            or KERNEL(add, 256) for one with __launch_bounds__(256)
//
// Names that CUDA has keep CUDA's spelling. The four below are ours, because CUDA's own way has no counterpart in C++:
// KERNEL makes a kernel known by its name, DYNAMIC_SHARED stands for `extern __shared__ T name[]`, DEVICE for the
// qualifiers of a device function that is always inlined, and CALLED for those of one that never is (`__noinline__` as a
// macro would break the C++ library's own attributes).
#pragma once

#if defined(__CUDACC__)
#include <cstddef>
#include <cstdint>
#define CALLED static __device__ __noinline__
#define KERNEL(...)
#define DYNAMIC_SHARED(T, name)                                            \
    extern __shared__ __align__(16) unsigned char dynamic_shared_memory[]; \
    T *const name = reinterpret_cast<T *>(dynamic_shared_memory)
#else
#include "atomics.h"
#include "intrinsics.h"
#include "language.h"
#define CALLED [[gnu::noinline]] static
#endif

#define DEVICE static __device__ __forceinline__
