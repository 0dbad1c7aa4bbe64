// Scalars cut into signed digits of `bits` bits, least significant window first: of s and r - s the smaller, each digit above
// half the radix less the radix, with a carry into the next. The host gives as many windows as leave none at the end
// (src/backend/cuda/msm/windows.rs). Bucket `window << (bits - 1) | magnitude - 1` takes the digits of a window that have a
// magnitude; zeros go nowhere.
#pragma once

#include "../ff/field.cuh"

namespace digits {

// Where the scalars are, and whose bases they belong to.
struct Scalars {
    const Fr* elements;
    // Of each scalar: where among the elements it is. Null: scalar i is element `first + i`.
    const uint32_t* places;
    // Of each scalar: the number of its base. Null: i.
    const uint32_t* bases;
    uint64_t first;
    // The elements are 2^log_size in bit-reversed order: element i stands where i's lowest log_size bits are reversed. 0: as
    // they come.
    uint32_t log_size;

    __device__ __forceinline__ uint64_t place(uint32_t i) const {
        const uint64_t natural = places ? places[i] : first + i;
        return log_size == 0 ? natural : __brevll(natural) >> (64 - log_size);
    }

    __device__ __forceinline__ uint32_t base(uint32_t i) const { return bases ? bases[i] : i; }
};

// Of an integer below r and its negative the smaller; whether that is the negative. In place.
DEVICE bool smaller(Fr& integer) {
    // r - integer: of zero it is r, which is not smaller.
    Fr negative;
    negative.limbs[0] = sub_cc(FrConstants::modulus(0), integer.limbs[0]);
#pragma unroll
    for (int j = 1; j < Fr::LIMBS - 1; j++) negative.limbs[j] = subc_cc(FrConstants::modulus(j), integer.limbs[j]);
    negative.limbs[Fr::LIMBS - 1] = subc(FrConstants::modulus(Fr::LIMBS - 1), integer.limbs[Fr::LIMBS - 1]);
    sub_cc(negative.limbs[0], integer.limbs[0]);
#pragma unroll
    for (int j = 1; j < Fr::LIMBS; j++) subc_cc(negative.limbs[j], integer.limbs[j]);
    const bool is_negative = subc(0, 0) != 0;
    integer = Fr::select(is_negative, negative, integer);
    return is_negative;
}

// Calls `take(window, magnitude, is_negative)` for each digit of a scalar in Montgomery form that is not zero. `bits` is
// below 32.
template <class Take>
DEVICE void each(const Fr& scalar, uint32_t bits, uint32_t windows, Take take) {
    Fr rest = scalar.to_canonical();
    const bool is_negative = smaller(rest);
    const uint32_t half = 1u << (bits - 1);
    uint32_t carry = 0;
    for (uint32_t window = 0; window < windows; window++) {
        const uint32_t digit = (rest.limbs[0] & (2 * half - 1)) + carry;
        carry = digit > half;
        const uint32_t magnitude = carry ? 2 * half - digit : digit;
        if (magnitude != 0) take(window, magnitude, is_negative != (carry != 0));
#pragma unroll
        for (int j = 0; j < Fr::LIMBS - 1; j++) rest.limbs[j] = __funnelshift_r(rest.limbs[j], rest.limbs[j + 1], bits);
        rest.limbs[Fr::LIMBS - 1] >>= bits;
    }
}

DEVICE uint32_t bucket(uint32_t window, uint32_t bits, uint32_t magnitude) {
    return (window << (bits - 1)) + magnitude - 1;
}

// A digit's entry in its bucket: which bucket, whether the base counts negatively, which base (below 2^31).
DEVICE uint64_t entry(uint32_t bucket, bool is_negative, uint32_t base) {
    return uint64_t(bucket) << 32 | uint32_t(is_negative) << 31 | base;
}
DEVICE uint32_t bucket_of(uint64_t entry) { return uint32_t(entry >> 32); }
DEVICE bool is_negative(uint64_t entry) { return (entry >> 31 & 1) != 0; }
DEVICE uint32_t base_of(uint64_t entry) { return uint32_t(entry) & 0x7fffffff; }

}  // namespace digits
