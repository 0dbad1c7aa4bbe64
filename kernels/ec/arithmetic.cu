// The points' operations over arrays, one point a thread, for tests of the arithmetic itself. (In G1, then in G2.)

#include "xyzz.cuh"

// out[i] = a[i] + b[i], for i below count.
extern "C" __global__ void __launch_bounds__(128) g1_add_affine(const G1Xyzz* a, const G1Affine* b, G1Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    G1Xyzz sum = a[i];
    add(sum, b[i]);
    out[i] = sum;
}
KERNEL(g1_add_affine, 128)

extern "C" __global__ void __launch_bounds__(128) g1_add(const G1Xyzz* a, const G1Xyzz* b, G1Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    G1Xyzz sum = a[i];
    add(sum, b[i]);
    out[i] = sum;
}
KERNEL(g1_add, 128)

// out[i] = 2 in[i], for i below count.
extern "C" __global__ void __launch_bounds__(128) g1_double(const G1Xyzz* in, G1Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    G1Xyzz p = in[i];
    twice(p);
    out[i] = p;
}
KERNEL(g1_double, 128)

// out[i] = -in[i], for i below count.
extern "C" __global__ void __launch_bounds__(128) g1_negate(const G1Xyzz* in, G1Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = -in[i];
}
KERNEL(g1_negate, 128)

extern "C" __global__ void __launch_bounds__(128) g2_add_affine(const G2Xyzz* a, const G2Affine* b, G2Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    G2Xyzz sum = a[i];
    add(sum, b[i]);
    out[i] = sum;
}
KERNEL(g2_add_affine, 128)

extern "C" __global__ void __launch_bounds__(128) g2_add(const G2Xyzz* a, const G2Xyzz* b, G2Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    G2Xyzz sum = a[i];
    add(sum, b[i]);
    out[i] = sum;
}
KERNEL(g2_add, 128)

extern "C" __global__ void __launch_bounds__(128) g2_double(const G2Xyzz* in, G2Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    G2Xyzz p = in[i];
    twice(p);
    out[i] = p;
}
KERNEL(g2_double, 128)

extern "C" __global__ void __launch_bounds__(128) g2_negate(const G2Xyzz* in, G2Xyzz* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = -in[i];
}
KERNEL(g2_negate, 128)
