// Fp2 = Fp[u] / (u^2 + 1), the field of G2's coordinates. An element is c0 + c1 u; in memory c0 is first, as in blst.
//
// A product's two coordinates are sums of two products each, with one reduction each: as many 32-bit products as Karatsuba's
// three multiplications (864), without their five additions.
#pragma once

#include "field.cuh"

struct Fp2 {
    Fp c0, c1;

    __device__ __forceinline__ static Fp2 zero() { return {Fp::zero(), Fp::zero()}; }

    __device__ __forceinline__ static Fp2 one() { return {Fp::one(), Fp::zero()}; }

    __device__ __forceinline__ friend Fp2 operator+(const Fp2& a, const Fp2& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }

    __device__ __forceinline__ friend Fp2 operator-(const Fp2& a, const Fp2& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }

    __device__ __forceinline__ Fp2 operator-() const { return {-c0, -c1}; }

    __device__ __forceinline__ Fp2 doubled() const { return {c0.doubled(), c1.doubled()}; }

    __device__ __forceinline__ friend Fp2 operator*(const Fp2& a, const Fp2& b);

    __device__ __forceinline__ Fp2 squared() const;

    __device__ __forceinline__ bool is_zero() const { return c0.is_zero() && c1.is_zero(); }

    __device__ __forceinline__ friend bool operator==(const Fp2& a, const Fp2& b) { return a.c0 == b.c0 && a.c1 == b.c1; }

    __device__ __forceinline__ static Fp2 select(bool which, const Fp2& yes, const Fp2& no) {
        return {Fp::select(which, yes.c0, no.c0), Fp::select(which, yes.c1, no.c1)};
    }
};
static_assert(sizeof(Fp2) == 96, "blst's memory");

namespace fp2 {

// Products are calls: a sum of points has a dozen of them, of a thousand instructions each.

// (a0 b0 - a1 b1) + (a0 b1 + a1 b0) u
CALLED Fp2 product(Fp2 a, Fp2 b) {
    return {Fp::sum_of_products(a.c0, b.c0, -a.c1, b.c1), Fp::sum_of_products(a.c0, b.c1, a.c1, b.c0)};
}

// (c0 + c1) (c0 - c1) + 2 c0 c1 u
CALLED Fp2 square(Fp2 a) { return {(a.c0 + a.c1) * (a.c0 - a.c1), (a.c0 * a.c1).doubled()}; }

}  // namespace fp2

__device__ __forceinline__ Fp2 operator*(const Fp2& a, const Fp2& b) { return fp2::product(a, b); }

__device__ __forceinline__ Fp2 Fp2::squared() const { return fp2::square(*this); }
