// Points in XYZZ coordinates: x / zz and y / zzz with zz^3 = zzz^2; infinity has zz = 0. The formulas are those of the
// Explicit-Formulas Database, "XYZZ coordinates for short Weierstrass curves", for a = 0; sums are complete: infinity on
// either side, equal points, opposite points. Products of F: 10 to add an affine point, 14 to add another, 9 to double.
//
// Sums work in place, on points in memory (a thread's own, or the device's), and are calls: one addition in G2 is some twelve
// thousand instructions, and with its points in registers there are none left. In G1 alone the addition of an affine point, of
// which sums mostly consist, is inlined: with the sum in registers.
#pragma once

#include "affine.cuh"

template <class F>
struct Xyzz {
    F x, y, zz, zzz;

    __device__ __forceinline__ static Xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }

    __device__ __forceinline__ bool is_infinity() const { return zz.is_zero(); }

    __device__ __forceinline__ Xyzz operator-() const { return {x, -y, zz, zzz}; }
};

using G1Xyzz = Xyzz<Fp>;
using G2Xyzz = Xyzz<Fp2>;
static_assert(sizeof(G1Xyzz) == 192 && sizeof(G2Xyzz) == 384, "mirrored in Rust");

// p = 2 q: mdbl-2008-s-1. A point of order two has y = 0, which makes zz = 0. So has infinity.
template <class F>
CALLED void set_twice(Xyzz<F>& p, const Affine<F>& q) {
    const F u = q.y.doubled();
    const F v = u.squared();
    const F w = u * v;
    const F s = q.x * v;
    const F square = q.x.squared();
    const F m = square.doubled() + square;
    const F x = m.squared() - s.doubled();
    p = {x, m * (s - x) - w * q.y, v, w};
}

// p = 2 p: dbl-2008-s-1. As above for points of order two; infinity keeps zz = 0.
template <class F>
CALLED void twice(Xyzz<F>& p) {
    const F u = p.y.doubled();
    const F v = u.squared();
    const F w = u * v;
    p.zz = v * p.zz;
    p.zzz = w * p.zzz;
    const F s = p.x * v;
    const F wy = w * p.y;
    const F square = p.x.squared();
    const F m = square.doubled() + square;
    p.x = m.squared() - s.doubled();
    p.y = m * (s - p.x) - wy;
}

// p += q, or p -= q: madd-2008-s.
template <class F>
DEVICE void add_inline(Xyzz<F>& p, const Affine<F>& q, bool negative) {
    if (q.is_infinity()) return;
    const F y = F::select(negative, -q.y, q.y);
    if (p.is_infinity()) {
        p = {q.x, y, F::one(), F::one()};
        return;
    }
    const F dx = q.x * p.zz - p.x;
    const F dy = y * p.zzz - p.y;
    if (dx.is_zero()) {
        Xyzz<F> r = Xyzz<F>::infinity();
        const Affine<F> copy = {q.x, y};
        if (dy.is_zero()) set_twice(r, copy);
        p = r;
        return;
    }
    const F square = dx.squared();
    const F cube = dx * square;
    const F s = p.x * square;
    const F t = p.y * cube;
    p.zz = p.zz * square;
    p.zzz = p.zzz * cube;
    p.x = dy.squared() - cube - s.doubled();
    p.y = dy * (s - p.x) - t;
}
DEVICE void add(G1Xyzz& p, const G1Affine& q, bool negative = false) { add_inline(p, q, negative); }
CALLED void add(G2Xyzz& p, const G2Affine& q, bool negative = false) { add_inline(p, q, negative); }

// p += q: add-2008-s. They may be the same object.
template <class F>
CALLED void add(Xyzz<F>& p, const Xyzz<F>& q) {
    if (q.is_infinity()) return;
    if (p.is_infinity()) {
        p = q;
        return;
    }
    const F s = p.x * q.zz;
    const F t = p.y * q.zzz;
    const F dx = q.x * p.zz - s;
    const F dy = q.y * p.zzz - t;
    if (dx.is_zero()) {
        if (dy.is_zero()) {
            twice(p);
        } else {
            p = Xyzz<F>::infinity();
        }
        return;
    }
    const F square = dx.squared();
    const F cube = dx * square;
    p.zz = p.zz * q.zz * square;
    p.zzz = p.zzz * q.zzz * cube;
    const F v = s * square;
    const F ty = t * cube;
    p.x = dy.squared() - cube - v.doubled();
    p.y = dy * (v - p.x) - ty;
}
