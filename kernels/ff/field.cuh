// Prime fields in Montgomery form on 32-bit limbs, for a modulus whose top bit is free: Fr (8 limbs) and Fp (12 limbs) of
// BLS12-381. Elements are what blst keeps in memory: a * 2^(32 * LIMBS) mod p, least limb first, always below p.
//
// Multiplication is Montgomery's by rows (coarsely integrated operand scanning). A row's 64-bit products a[j] * b[i] overlap
// their neighbours' by 32 bits, so those of even j and those of odd j are summed apart, each in one carry chain of whole
// products, which is what IMAD.WIDE computes. Dividing by 2^32 after each row swaps the two sums' parts. A sum of two products
// adds both rows before it divides: one reduction for the two.
#pragma once

#include "carry.cuh"
#include "constants.cuh"

template <class Constants>
struct alignas(16) Field {
    static constexpr int LIMBS = Constants::LIMBS;
    static_assert(LIMBS % 4 == 0, "sums of even and odd limbs, and 16-byte loads");

    uint32_t limbs[LIMBS];

    __device__ __forceinline__ static Field zero() {
        Field r;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) r.limbs[j] = 0;
        return r;
    }

    // 1, in Montgomery form: 2^(32 * LIMBS) mod p.
    __device__ __forceinline__ static Field one() {
        Field r;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) r.limbs[j] = Constants::one(j);
        return r;
    }

    // From an integer below 2^(32 * LIMBS), which need not be below p: one multiplication.
    __device__ __forceinline__ static Field from_canonical(const Field& integer) {
        Field r2;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) r2.limbs[j] = Constants::r2(j);
        return r2 * integer;
    }

    // The integer below p: one multiplication.
    __device__ __forceinline__ Field to_canonical() const {
        Field integer = zero();
        integer.limbs[0] = 1;
        return *this * integer;
    }

    __device__ __forceinline__ friend Field operator+(const Field& a, const Field& b) {
        Field r;
        r.limbs[0] = add_cc(a.limbs[0], b.limbs[0]);
#pragma unroll
        for (int j = 1; j < LIMBS - 1; j++) r.limbs[j] = addc_cc(a.limbs[j], b.limbs[j]);
        r.limbs[LIMBS - 1] = addc(a.limbs[LIMBS - 1], b.limbs[LIMBS - 1]);
        return r.reduced();
    }

    __device__ __forceinline__ friend Field operator-(const Field& a, const Field& b) {
        Field r;
        r.limbs[0] = sub_cc(a.limbs[0], b.limbs[0]);
#pragma unroll
        for (int j = 1; j < LIMBS; j++) r.limbs[j] = subc_cc(a.limbs[j], b.limbs[j]);
        const uint32_t borrowed = subc(0, 0);
        r.limbs[0] = add_cc(r.limbs[0], Constants::modulus(0) & borrowed);
#pragma unroll
        for (int j = 1; j < LIMBS - 1; j++) r.limbs[j] = addc_cc(r.limbs[j], Constants::modulus(j) & borrowed);
        r.limbs[LIMBS - 1] = addc(r.limbs[LIMBS - 1], Constants::modulus(LIMBS - 1) & borrowed);
        return r;
    }

    __device__ __forceinline__ Field operator-() const { return zero() - *this; }

    __device__ __forceinline__ Field doubled() const { return *this + *this; }

    __device__ __forceinline__ Field squared() const { return *this * *this; }

    __device__ __forceinline__ bool is_zero() const {
        uint32_t any = 0;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) any |= limbs[j];
        return any == 0;
    }

    __device__ __forceinline__ friend bool operator==(const Field& a, const Field& b) {
        uint32_t differ = 0;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) differ |= a.limbs[j] ^ b.limbs[j];
        return differ == 0;
    }

    // `yes` where `which`, else `no`, without a branch.
    __device__ __forceinline__ static Field select(bool which, const Field& yes, const Field& no) {
        Field r;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) r.limbs[j] = which ? yes.limbs[j] : no.limbs[j];
        return r;
    }

    // Whether this, any integer below 2^(32 * LIMBS), is below p.
    __device__ __forceinline__ bool is_below_modulus() const {
        sub_cc(limbs[0], Constants::modulus(0));
#pragma unroll
        for (int j = 1; j < LIMBS; j++) subc_cc(limbs[j], Constants::modulus(j));
        return subc(0, 0) != 0;
    }

    // `a` is below p; `b` may be any integer below 2^(32 * LIMBS).
    __device__ __forceinline__ friend Field operator*(const Field& a, const Field& b) {
        // The sum is even + odd * 2^32.
        uint32_t even[LIMBS], odd[LIMBS];
        first_row(even, odd, a, b.limbs[0]);
        add_multiple_of_modulus(even, odd);
#pragma unroll
        for (int i = 1; i < LIMBS; i++) {
            add_row(even, odd, a, b.limbs[i]);
            add_multiple_of_modulus(even, odd);
        }
        return joined(even, odd);
    }

    // a * b + c * d by one reduction, where 3p is below R = 2^(32 * LIMBS): between rows the sum is below 3p, which has to have
    // room. (Fr has none.) The result, before it is reduced, is below (2p * p + R * p) / R, which is below 2p.
    __device__ __forceinline__ static Field sum_of_products(const Field& a, const Field& b, const Field& c, const Field& d) {
        static_assert(Constants::modulus(LIMBS - 1) < 0x55555555, "3p is below R");
        uint32_t even[LIMBS], odd[LIMBS];
        first_row(even, odd, a, b.limbs[0]);
        add_to_row(even, odd, c, d.limbs[0]);
        add_multiple_of_modulus(even, odd);
#pragma unroll
        for (int i = 1; i < LIMBS; i++) {
            add_row(even, odd, a, b.limbs[i]);
            add_to_row(even, odd, c, d.limbs[i]);
            add_multiple_of_modulus(even, odd);
        }
        return joined(even, odd);
    }

private:
    // This, below 2p, modulo p.
    __device__ __forceinline__ Field reduced() const {
        Field less;
        less.limbs[0] = sub_cc(limbs[0], Constants::modulus(0));
#pragma unroll
        for (int j = 1; j < LIMBS; j++) less.limbs[j] = subc_cc(limbs[j], Constants::modulus(j));
        const bool below = subc(0, 0) != 0;
        Field r;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) r.limbs[j] = below ? limbs[j] : less.limbs[j];
        return r;
    }

    // even + odd * 2^32 = a * b.
    __device__ __forceinline__ static void first_row(uint32_t* even, uint32_t* odd, const Field& a, uint32_t b) {
#pragma unroll
        for (int j = 0; j < LIMBS; j += 2) {
            even[j] = mul_lo(a.limbs[j], b);
            even[j + 1] = mul_hi(a.limbs[j], b);
            odd[j] = mul_lo(a.limbs[j + 1], b);
            odd[j + 1] = mul_hi(a.limbs[j + 1], b);
        }
    }

    // The sum, whose lowest limb is 0, divided by 2^32, modulo p: it is below 2p.
    __device__ __forceinline__ static Field joined(const uint32_t* even, const uint32_t* odd) {
        Field r;
        r.limbs[0] = add_cc(odd[0], even[1]);
#pragma unroll
        for (int j = 1; j < LIMBS - 1; j++) r.limbs[j] = addc_cc(odd[j], even[j + 1]);
        r.limbs[LIMBS - 1] = addc(odd[LIMBS - 1], 0);
        return r.reduced();
    }

    // Divides the sum, whose lowest limb is 0, by 2^32 and adds a * b.
    //
    // With a below p the sum stays below 2p * 2^32 before each division (3p * 2^32 where a row is of two products), so no
    // chain carries out of `odd`; what the chain of `even` carries out belongs to the last limb of `odd`.
    __device__ __forceinline__ static void add_row(uint32_t* even, uint32_t* odd, const Field& a, uint32_t b) {
        uint32_t down[LIMBS];
        down[0] = add_cc(odd[0], even[1]);
#pragma unroll
        for (int j = 1; j < LIMBS; j++) down[j] = odd[j];
#pragma unroll
        for (int j = 0; j < LIMBS - 2; j += 2) {
            odd[j] = madc_lo_cc(a.limbs[j + 1], b, even[j + 2]);
            odd[j + 1] = madc_hi_cc(a.limbs[j + 1], b, even[j + 3]);
        }
        odd[LIMBS - 2] = madc_lo_cc(a.limbs[LIMBS - 1], b, 0);
        odd[LIMBS - 1] = madc_hi(a.limbs[LIMBS - 1], b, 0);

        even[0] = mad_lo_cc(a.limbs[0], b, down[0]);
        even[1] = madc_hi_cc(a.limbs[0], b, down[1]);
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) {
            even[j] = madc_lo_cc(a.limbs[j], b, down[j]);
            even[j + 1] = madc_hi_cc(a.limbs[j], b, down[j + 1]);
        }
        odd[LIMBS - 1] = addc(odd[LIMBS - 1], 0);
    }

    // Adds a * b to the sum.
    __device__ __forceinline__ static void add_to_row(uint32_t* even, uint32_t* odd, const Field& a, uint32_t b) {
        odd[0] = mad_lo_cc(a.limbs[1], b, odd[0]);
        odd[1] = madc_hi_cc(a.limbs[1], b, odd[1]);
#pragma unroll
        for (int j = 2; j < LIMBS - 2; j += 2) {
            odd[j] = madc_lo_cc(a.limbs[j + 1], b, odd[j]);
            odd[j + 1] = madc_hi_cc(a.limbs[j + 1], b, odd[j + 1]);
        }
        odd[LIMBS - 2] = madc_lo_cc(a.limbs[LIMBS - 1], b, odd[LIMBS - 2]);
        odd[LIMBS - 1] = madc_hi(a.limbs[LIMBS - 1], b, odd[LIMBS - 1]);

        even[0] = mad_lo_cc(a.limbs[0], b, even[0]);
        even[1] = madc_hi_cc(a.limbs[0], b, even[1]);
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) {
            even[j] = madc_lo_cc(a.limbs[j], b, even[j]);
            even[j + 1] = madc_hi_cc(a.limbs[j], b, even[j + 1]);
        }
        odd[LIMBS - 1] = addc(odd[LIMBS - 1], 0);
    }

    // -x is the complement of x - 1. Written as -x, or as a product, the assembler moves the sign into the products that
    // follow, and splits each in two instructions: 48 of Fr's multiplication (nvcc 13.0, sm_80).
    __device__ __forceinline__ static uint32_t complement(uint32_t x) {
#if defined(__CUDACC__)
        uint32_t r;
        asm volatile("not.b32 %0, %1;" : "=r"(r) : "r"(x));
        return r;
#else
        return ~x;
#endif
    }

    // Adds the multiple of p that makes the lowest limb of the sum 0.
    __device__ __forceinline__ static void add_multiple_of_modulus(uint32_t* even, uint32_t* odd) {
        const uint32_t m = Constants::NEGATIVE_INVERSE == 0xffffffff ? complement(even[0] - 1)
                                                                     : mul_lo(even[0], Constants::NEGATIVE_INVERSE);
        odd[0] = mad_lo_cc(m, Constants::modulus(1), odd[0]);
        odd[1] = madc_hi_cc(m, Constants::modulus(1), odd[1]);
#pragma unroll
        for (int j = 2; j < LIMBS - 2; j += 2) {
            odd[j] = madc_lo_cc(m, Constants::modulus(j + 1), odd[j]);
            odd[j + 1] = madc_hi_cc(m, Constants::modulus(j + 1), odd[j + 1]);
        }
        odd[LIMBS - 2] = madc_lo_cc(m, Constants::modulus(LIMBS - 1), odd[LIMBS - 2]);
        odd[LIMBS - 1] = madc_hi(m, Constants::modulus(LIMBS - 1), odd[LIMBS - 1]);

        even[0] = mad_lo_cc(m, Constants::modulus(0), even[0]);
        even[1] = madc_hi_cc(m, Constants::modulus(0), even[1]);
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) {
            even[j] = madc_lo_cc(m, Constants::modulus(j), even[j]);
            even[j + 1] = madc_hi_cc(m, Constants::modulus(j), even[j + 1]);
        }
        odd[LIMBS - 1] = addc(odd[LIMBS - 1], 0);
    }
};

using Fr = Field<FrConstants>;
using Fp = Field<FpConstants>;
