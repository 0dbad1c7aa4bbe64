// Numbers of threads among all of a launch.
#pragma once

#include "emulator/kernel.cuh"

namespace threads {

DEVICE uint64_t number(uint32_t block, uint32_t size, uint32_t thread) { return uint64_t(block) * size + thread; }

DEVICE uint64_t current() { return number(blockIdx.x, blockDim.x, threadIdx.x); }

}  // namespace threads
