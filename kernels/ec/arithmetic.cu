// The points' operations over arrays, one point a thread, for tests of the arithmetic itself: in G1, then in G2.

#include "xyzz.cuh"

// A thread loads its operands, which stay in its own memory or registers as xyzz.cuh says, and writes one point, for i below
// count. The formulas are complete, so that any points are good operands: infinity, equal and opposite ones. `out` may be an
// operand.
namespace arithmetic {

// out[i] = a[i] + b[i], where b is affine or not.
template <class F, class Point>
DEVICE void add_points(const Xyzz<F>* a, const Point* b, Xyzz<F>* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Xyzz<F> sum = a[i];
    add(sum, b[i]);
    out[i] = sum;
}

// out[i] = 2 in[i].
template <class F>
DEVICE void double_points(const Xyzz<F>* in, Xyzz<F>* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Xyzz<F> p = in[i];
    twice(p);
    out[i] = p;
}

// out[i] = -in[i].
template <class F>
DEVICE void negate_points(const Xyzz<F>* in, Xyzz<F>* out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = -in[i];
}

}  // namespace arithmetic

extern "C" __global__ void __launch_bounds__(128) g1_add_affine(const G1Xyzz* a, const G1Affine* b, G1Xyzz* out, uint32_t count) {
    arithmetic::add_points(a, b, out, count);
}
KERNEL(g1_add_affine, 128)

extern "C" __global__ void __launch_bounds__(128) g1_add(const G1Xyzz* a, const G1Xyzz* b, G1Xyzz* out, uint32_t count) {
    arithmetic::add_points(a, b, out, count);
}
KERNEL(g1_add, 128)

extern "C" __global__ void __launch_bounds__(128) g1_double(const G1Xyzz* in, G1Xyzz* out, uint32_t count) {
    arithmetic::double_points(in, out, count);
}
KERNEL(g1_double, 128)

extern "C" __global__ void __launch_bounds__(128) g1_negate(const G1Xyzz* in, G1Xyzz* out, uint32_t count) {
    arithmetic::negate_points(in, out, count);
}
KERNEL(g1_negate, 128)

extern "C" __global__ void __launch_bounds__(128) g2_add_affine(const G2Xyzz* a, const G2Affine* b, G2Xyzz* out, uint32_t count) {
    arithmetic::add_points(a, b, out, count);
}
KERNEL(g2_add_affine, 128)

extern "C" __global__ void __launch_bounds__(128) g2_add(const G2Xyzz* a, const G2Xyzz* b, G2Xyzz* out, uint32_t count) {
    arithmetic::add_points(a, b, out, count);
}
KERNEL(g2_add, 128)

extern "C" __global__ void __launch_bounds__(128) g2_double(const G2Xyzz* in, G2Xyzz* out, uint32_t count) {
    arithmetic::double_points(in, out, count);
}
KERNEL(g2_double, 128)

extern "C" __global__ void __launch_bounds__(128) g2_negate(const G2Xyzz* in, G2Xyzz* out, uint32_t count) {
    arithmetic::negate_points(in, out, count);
}
KERNEL(g2_negate, 128)
