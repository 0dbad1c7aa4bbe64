// Affine points on the curves y^2 = x^3 + b over F: blst's memory, in which infinity is all zeros. (0, 0) is on neither curve.
#pragma once

#include "../ff/fp2.cuh"

template <class F>
struct Affine {
    F x, y;

    __device__ __forceinline__ static Affine infinity() { return {F::zero(), F::zero()}; }

    __device__ __forceinline__ bool is_infinity() const { return x.is_zero() && y.is_zero(); }

    __device__ __forceinline__ Affine operator-() const { return {x, -y}; }
};

using G1Affine = Affine<Fp>;
using G2Affine = Affine<Fp2>;
static_assert(sizeof(G1Affine) == 96 && sizeof(G2Affine) == 192, "blst's memory");
