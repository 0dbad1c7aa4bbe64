// Conversion of bases from the parameter file's form.

#include "bases.cuh"

// points[i] from the i-th 96 bytes of `raw`, which is aligned to 16 bytes, for i below count: a point a thread. Bytes are
// reversed, flags and ranges checked (bases.cuh), coordinates multiplied into Montgomery form. `bad` is lowered to
// `first + i` where bytes are not a point's; that point is then of no use.
extern "C" __global__ void __launch_bounds__(128)
    g1_convert(const uint8_t* raw, G1Affine* points, uint32_t count, uint64_t first, uint64_t* bad) {
    bases::convert(raw, points, count, first, bad);
}
KERNEL(g1_convert, 128)

// The same in G2, of 192 bytes each.
extern "C" __global__ void __launch_bounds__(128)
    g2_convert(const uint8_t* raw, G2Affine* points, uint32_t count, uint64_t first, uint64_t* bad) {
    bases::convert(raw, points, count, first, bad);
}
KERNEL(g2_convert, 128)
