// What the passes compute of indices, for tests at sizes that nobody allocates.

#include "tile.cuh"

// For element elements[i] of tile tiles[i], i below count: its place in the vector in bytes, and the exponent of its row's
// factor with a twist of 0 and of 1. One thread each.
extern "C" __global__ void ntt_places(const uint32_t* tiles, const uint32_t* elements, uint64_t* bytes, uint32_t* exponents,
                                      uint32_t* twisted, uint32_t count, uint32_t log_size, uint32_t depth,
                                      uint32_t levels, uint32_t log_columns) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const ntt::Pass pass{log_size, depth, levels, log_columns};
    bytes[i] = pass.position(tiles[i], elements[i]) * sizeof(Fr);
    exponents[i] = pass.exponent(tiles[i], elements[i], 0);
    twisted[i] = pass.exponent(tiles[i], elements[i], 1);
}
KERNEL(ntt_places)
