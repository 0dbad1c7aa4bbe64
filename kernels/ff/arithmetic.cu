// The fields' operations over arrays, one element a thread, for tests of the arithmetic itself. Operands are loaded to
// registers as a whole first: those that stay in memory keep the compiler from forming whole products (IMAD.WIDE).

#include "fp2.cuh"

namespace arithmetic {

// out[i] = of(a[i], b[i]), for i below count.
template <class T, class Of>
DEVICE void binary(const T* a, const T* b, T* out, uint32_t count, Of of) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const T x = a[i], y = b[i];
    out[i] = of(x, y);
}

// out[i] = of(in[i]), for i below count.
template <class T, class Of>
DEVICE void unary(const T* in, T* out, uint32_t count, Of of) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const T x = in[i];
    out[i] = of(x);
}

struct Add {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x, const T& y) const { return x + y; }
};
struct Sub {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x, const T& y) const { return x - y; }
};
struct Mul {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x, const T& y) const { return x * y; }
};
// x^2 + y^2 by one reduction.
struct SumOfSquares {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x, const T& y) const { return T::sum_of_products(x, x, y, y); }
};
// 0 where x is zero, else 2 where x = y, else 1: in the lowest limb, the others are zero.
struct Compare {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x, const T& y) const {
        T r = T::zero();
        limb(r) = x.is_zero() ? 0 : x == y ? 2 : 1;
        return r;
    }
    template <class Constants>
    __device__ __forceinline__ static uint32_t& limb(Field<Constants>& x) { return x.limbs[0]; }
    __device__ __forceinline__ static uint32_t& limb(Fp2& x) { return x.c0.limbs[0]; }
};
struct Negate {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x) const { return -x; }
};
struct Square {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x) const { return x.squared(); }
};
struct FromCanonical {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x) const { return T::from_canonical(x); }
};
struct ToCanonical {
    template <class T>
    __device__ __forceinline__ T operator()(const T& x) const { return x.to_canonical(); }
};

}  // namespace arithmetic

extern "C" __global__ void fr_add(const Fr* a, const Fr* b, Fr* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Add());
}
KERNEL(fr_add)

extern "C" __global__ void fr_sub(const Fr* a, const Fr* b, Fr* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Sub());
}
KERNEL(fr_sub)

extern "C" __global__ void fr_mul(const Fr* a, const Fr* b, Fr* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Mul());
}
KERNEL(fr_mul)

extern "C" __global__ void fr_sum_of_squares(const Fr* a, const Fr* b, Fr* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::SumOfSquares());
}
KERNEL(fr_sum_of_squares)

extern "C" __global__ void fr_compare(const Fr* a, const Fr* b, Fr* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Compare());
}
KERNEL(fr_compare)

extern "C" __global__ void fr_negate(const Fr* in, Fr* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::Negate());
}
KERNEL(fr_negate)

extern "C" __global__ void fr_from_canonical(const Fr* in, Fr* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::FromCanonical());
}
KERNEL(fr_from_canonical)

extern "C" __global__ void fr_to_canonical(const Fr* in, Fr* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::ToCanonical());
}
KERNEL(fr_to_canonical)

extern "C" __global__ void fp_add(const Fp* a, const Fp* b, Fp* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Add());
}
KERNEL(fp_add)

extern "C" __global__ void fp_sub(const Fp* a, const Fp* b, Fp* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Sub());
}
KERNEL(fp_sub)

extern "C" __global__ void fp_mul(const Fp* a, const Fp* b, Fp* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Mul());
}
KERNEL(fp_mul)

extern "C" __global__ void fp_sum_of_squares(const Fp* a, const Fp* b, Fp* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::SumOfSquares());
}
KERNEL(fp_sum_of_squares)

extern "C" __global__ void fp_compare(const Fp* a, const Fp* b, Fp* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Compare());
}
KERNEL(fp_compare)

extern "C" __global__ void fp_negate(const Fp* in, Fp* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::Negate());
}
KERNEL(fp_negate)

extern "C" __global__ void fp_from_canonical(const Fp* in, Fp* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::FromCanonical());
}
KERNEL(fp_from_canonical)

extern "C" __global__ void fp_to_canonical(const Fp* in, Fp* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::ToCanonical());
}
KERNEL(fp_to_canonical)

extern "C" __global__ void fp2_add(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Add());
}
KERNEL(fp2_add)

extern "C" __global__ void fp2_sub(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Sub());
}
KERNEL(fp2_sub)

extern "C" __global__ void fp2_mul(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Mul());
}
KERNEL(fp2_mul)

extern "C" __global__ void fp2_compare(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) {
    arithmetic::binary(a, b, out, count, arithmetic::Compare());
}
KERNEL(fp2_compare)

extern "C" __global__ void fp2_negate(const Fp2* in, Fp2* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::Negate());
}
KERNEL(fp2_negate)

extern "C" __global__ void fp2_square(const Fp2* in, Fp2* out, uint32_t count) {
    arithmetic::unary(in, out, count, arithmetic::Square());
}
KERNEL(fp2_square)
