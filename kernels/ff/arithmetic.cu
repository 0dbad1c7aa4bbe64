// The fields' operations over arrays, one element a thread, for tests of the arithmetic itself. Operands are loaded to
// registers as a whole first: those that stay in memory keep the compiler from forming whole products (IMAD.WIDE).

#include "field.cuh"

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

#undef BINARY
#undef UNARY
