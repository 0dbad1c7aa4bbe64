// The fields' operations over arrays, one element a thread, for tests of the arithmetic itself. Operands are loaded to
// registers as a whole first: those that stay in memory keep the compiler from forming whole products (IMAD.WIDE).

#include "fp2.cuh"

// out[i] = EXPRESSION of x = a[i], or of x = a[i] and y = b[i], for i below count.
#define UNARY(ELEMENT, EXPRESSION)                                      \
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;           \
    if (i >= count) return;                                             \
    const ELEMENT x = a[i];                                             \
    out[i] = EXPRESSION;
#define BINARY(ELEMENT, EXPRESSION)                                     \
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;           \
    if (i >= count) return;                                             \
    const ELEMENT x = a[i], y = b[i];                                   \
    out[i] = EXPRESSION;

// Fr, eight words an element in Montgomery form: out[i] = the operation that the name says, for i below count. One thread one
// element; `out` may be an operand, since nobody else reads what a thread writes. Products and conversions are one Montgomery
// multiplication (field.cuh), sums and differences a carry chain and a subtraction of the modulus behind a mask, comparisons a
// choice between two values without a branch.
extern "C" __global__ void fr_add(const Fr* a, const Fr* b, Fr* out, uint32_t count) { BINARY(Fr, x + y) }
KERNEL(fr_add)
extern "C" __global__ void fr_sub(const Fr* a, const Fr* b, Fr* out, uint32_t count) { BINARY(Fr, x - y) }
KERNEL(fr_sub)
extern "C" __global__ void fr_mul(const Fr* a, const Fr* b, Fr* out, uint32_t count) { BINARY(Fr, x * y) }
KERNEL(fr_mul)
extern "C" __global__ void fr_from_canonical(const Fr* a, Fr* out, uint32_t count) { UNARY(Fr, Fr::from_canonical(x)) }
KERNEL(fr_from_canonical)
extern "C" __global__ void fr_to_canonical(const Fr* a, Fr* out, uint32_t count) { UNARY(Fr, x.to_canonical()) }
KERNEL(fr_to_canonical)
extern "C" __global__ void fr_negate(const Fr* a, Fr* out, uint32_t count) { UNARY(Fr, -x) }
KERNEL(fr_negate)
// a where it is b or zero, else 2 a.
extern "C" __global__ void fr_compare(const Fr* a, const Fr* b, Fr* out, uint32_t count) { BINARY(Fr, Fr::select(x == y || x.is_zero(), x, x.doubled())) }
KERNEL(fr_compare)

// The same in Fp, of twelve words an element, and a sum of two products.
extern "C" __global__ void fp_add(const Fp* a, const Fp* b, Fp* out, uint32_t count) { BINARY(Fp, x + y) }
KERNEL(fp_add)
extern "C" __global__ void fp_sub(const Fp* a, const Fp* b, Fp* out, uint32_t count) { BINARY(Fp, x - y) }
KERNEL(fp_sub)
extern "C" __global__ void fp_mul(const Fp* a, const Fp* b, Fp* out, uint32_t count) { BINARY(Fp, x * y) }
KERNEL(fp_mul)
extern "C" __global__ void fp_from_canonical(const Fp* a, Fp* out, uint32_t count) { UNARY(Fp, Fp::from_canonical(x)) }
KERNEL(fp_from_canonical)
extern "C" __global__ void fp_to_canonical(const Fp* a, Fp* out, uint32_t count) { UNARY(Fp, x.to_canonical()) }
KERNEL(fp_to_canonical)
extern "C" __global__ void fp_negate(const Fp* a, Fp* out, uint32_t count) { UNARY(Fp, -x) }
KERNEL(fp_negate)
// a b + b b, by one reduction.
extern "C" __global__ void fp_sum_of_products(const Fp* a, const Fp* b, Fp* out, uint32_t count) { BINARY(Fp, Fp::sum_of_products(x, y, y, y)) }
KERNEL(fp_sum_of_products)
// a where it is b or zero, else 2 a.
extern "C" __global__ void fp_compare(const Fp* a, const Fp* b, Fp* out, uint32_t count) { BINARY(Fp, Fp::select(x == y || x.is_zero(), x, x.doubled())) }
KERNEL(fp_compare)

// The same in Fp2 over Fp: 24 words, c0 first. A product is two sums of two products each, a square two products (fp2.cuh).
extern "C" __global__ void fp2_add(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) { BINARY(Fp2, x + y) }
KERNEL(fp2_add)
extern "C" __global__ void fp2_sub(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) { BINARY(Fp2, x - y) }
KERNEL(fp2_sub)
extern "C" __global__ void fp2_mul(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) { BINARY(Fp2, x * y) }
KERNEL(fp2_mul)
extern "C" __global__ void fp2_negate(const Fp2* a, Fp2* out, uint32_t count) { UNARY(Fp2, -x) }
KERNEL(fp2_negate)
extern "C" __global__ void fp2_square(const Fp2* a, Fp2* out, uint32_t count) { UNARY(Fp2, x.squared()) }
KERNEL(fp2_square)
// a where it is b or zero, else 2 a.
extern "C" __global__ void fp2_compare(const Fp2* a, const Fp2* b, Fp2* out, uint32_t count) { BINARY(Fp2, Fp2::select(x == y || x.is_zero(), x, x.doubled())) }
KERNEL(fp2_compare)

#undef BINARY
#undef UNARY
