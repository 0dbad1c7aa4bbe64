// Points as the parameter file holds them: each coordinate 48 bytes, canonical, big-endian; in G2 that of u first. The first
// byte's upper three bits are flags: compressed, infinity, sort. Of these an uncompressed point may have infinity alone, and
// then nothing else. Layout: zcash's, as in blst and blstrs.
#pragma once

#include "../ec/affine.cuh"

namespace bases {

constexpr uint32_t COMPRESSED = 0x80, INFINITY_FLAG = 0x40, SORT = 0x20;

// A coordinate's integer, of 48 bytes at a multiple of 16.
DEVICE Fp big_endian(const uint8_t* bytes) {
    const uint4* quads = reinterpret_cast<const uint4*>(bytes);
    Fp r;
#pragma unroll
    for (int q = 0; q < Fp::LIMBS / 4; q++) {
        const uint4 quad = quads[q];
        const uint32_t words[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t w = words[j];
            r.limbs[Fp::LIMBS - 1 - 4 * q - j] = w << 24 | (w & 0xff00) << 8 | (w >> 8 & 0xff00) | w >> 24;
        }
    }
    return r;
}

// Reads one element of the field, in Montgomery form, with its flags taken off by the caller. `good` becomes false when a
// coordinate is not below p.
DEVICE Fp element(const Fp& integer, bool& good) {
    good &= integer.is_below_modulus();
    return Fp::from_canonical(integer);
}

DEVICE void read(const Fp* integers, bool& good, Fp& r) { r = element(integers[0], good); }

DEVICE void read(const Fp* integers, bool& good, Fp2& r) {
    r.c1 = element(integers[0], good);
    r.c0 = element(integers[1], good);
}

// The point at `bytes`; whether it is one in form. That it lies on the curve is not looked at.
template <class F>
DEVICE bool read_point(const uint8_t* bytes, Affine<F>& point) {
    constexpr int EACH = sizeof(F) / sizeof(Fp), COORDINATES = 2 * EACH;
    Fp integers[COORDINATES];
#pragma unroll
    for (int k = 0; k < COORDINATES; k++) integers[k] = big_endian(bytes + k * sizeof(Fp));
    uint32_t& top = integers[0].limbs[Fp::LIMBS - 1];
    const uint32_t flags = top >> 24 & (COMPRESSED | INFINITY_FLAG | SORT);
    top &= 0x1fffffff;

    bool good = (flags & ~INFINITY_FLAG) == 0;
    read(integers, good, point.x);
    read(integers + EACH, good, point.y);
    // (0, 0), which stands for infinity in memory, comes with the flag, and no other point does.
    return good && point.is_infinity() == (flags == INFINITY_FLAG);
}

// The bytes of point i.
template <class F>
DEVICE const uint8_t* bytes_of(const uint8_t* raw, uint32_t i) {
    return raw + uint64_t(i) * sizeof(Affine<F>);
}

// points[i] from the i-th point of `raw`, for i below count. Of those that are none, the least `first + i` is left in `bad`.
template <class F>
DEVICE void convert(const uint8_t* raw, Affine<F>* points, uint32_t count, uint64_t first, uint64_t* bad) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Affine<F> point;
    if (!read_point(bytes_of<F>(raw, i), point)) {
        atomicMin(reinterpret_cast<unsigned long long*>(bad), static_cast<unsigned long long>(first + i));
    }
    points[i] = point;
}

}  // namespace bases
