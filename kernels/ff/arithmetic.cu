// The fields' operations over arrays, one element a thread, for tests of the arithmetic itself. Operands are loaded to
// registers as a whole first: those that stay in memory keep the compiler from forming whole products (IMAD.WIDE).

#include "field.cuh"

// out[i] = EXPRESSION of x = a[i] and y = b[i], for i below count.
#define BINARY(NAME, ELEMENT, EXPRESSION)                                                                   \
    extern "C" __global__ void NAME(const ELEMENT* a, const ELEMENT* b, ELEMENT* out, uint32_t count) {     \
        const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        if (i >= count) return;                                                                             \
        const ELEMENT x = a[i], y = b[i];                                                                   \
        out[i] = EXPRESSION;                                                                                \
    }                                                                                                       \
    KERNEL(NAME)

// out[i] = EXPRESSION of x = in[i], for i below count.
#define UNARY(NAME, ELEMENT, EXPRESSION)                                                                    \
    extern "C" __global__ void NAME(const ELEMENT* in, ELEMENT* out, uint32_t count) {                      \
        const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        if (i >= count) return;                                                                             \
        const ELEMENT x = in[i];                                                                            \
        out[i] = EXPRESSION;                                                                                \
    }                                                                                                       \
    KERNEL(NAME)

BINARY(fr_add, Fr, x + y)
BINARY(fr_sub, Fr, x - y)
BINARY(fr_mul, Fr, x * y)
UNARY(fr_from_canonical, Fr, Fr::from_canonical(x))
UNARY(fr_to_canonical, Fr, x.to_canonical())

BINARY(fp_add, Fp, x + y)
BINARY(fp_sub, Fp, x - y)
BINARY(fp_mul, Fp, x * y)
UNARY(fp_from_canonical, Fp, Fp::from_canonical(x))
UNARY(fp_to_canonical, Fp, x.to_canonical())

#undef BINARY
#undef UNARY
