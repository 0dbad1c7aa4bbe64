// CUDA's integer intrinsics.
#pragma once

#include <cstdint>

inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((static_cast<unsigned __int128>(a) * b) >> 64);
}

template <class T>
T __ldg(const T *address) {
    return *address;
}

inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }

inline unsigned __brev(unsigned v) {
    v = __builtin_bswap32(v);
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    return (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
}
inline unsigned long long __brevll(unsigned long long v) {
    return (unsigned long long)__brev(unsigned(v)) << 32 | __brev(unsigned(v >> 32));
}

// The upper half of hi:lo shifted left, and the lower half of hi:lo shifted right, by the shift's last five bits.
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
    return unsigned(((uint64_t(hi) << 32 | lo) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
    return unsigned((uint64_t(hi) << 32 | lo) >> (shift & 31));
}
