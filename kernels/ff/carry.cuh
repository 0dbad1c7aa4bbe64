// Carry chains: one instruction each, on the carry flag that the one before it left.
//
// `_cc` writes the carry flag, a leading `addc`, `subc` or `madc` reads it. A chain begins with a `_cc` that does not read,
// ends with a form that does not write, and holds nothing in between that could use the flag: no call, no barrier, no
// 64-bit sum. `volatile` keeps the order: without it the compiler takes the statements for independent. Products are of
// 32 by 32 bits, `lo` and `hi` their halves; after `sub` the flag is the borrow. PTX ISA, "Extended-precision integer
// arithmetic instructions".
#pragma once

#include <cstdint>

#define CARRY_BINARY(NAME, INSTRUCTION)                                                        \
    __device__ __forceinline__ uint32_t NAME(uint32_t a, uint32_t b) {                         \
        uint32_t r;                                                                            \
        asm volatile(INSTRUCTION " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                   \
        return r;                                                                              \
    }

// a * b + c
#define CARRY_TERNARY(NAME, INSTRUCTION)                                                       \
    __device__ __forceinline__ uint32_t NAME(uint32_t a, uint32_t b, uint32_t c) {             \
        uint32_t r;                                                                            \
        asm volatile(INSTRUCTION " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));       \
        return r;                                                                              \
    }

CARRY_BINARY(add_cc, "add.cc.u32")
CARRY_BINARY(addc_cc, "addc.cc.u32")
CARRY_BINARY(addc, "addc.u32")
CARRY_BINARY(sub_cc, "sub.cc.u32")
CARRY_BINARY(subc_cc, "subc.cc.u32")
CARRY_BINARY(subc, "subc.u32")
CARRY_BINARY(mul_lo, "mul.lo.u32")
CARRY_BINARY(mul_hi, "mul.hi.u32")
CARRY_TERNARY(mad_lo_cc, "mad.lo.cc.u32")
CARRY_TERNARY(madc_lo_cc, "madc.lo.cc.u32")
CARRY_TERNARY(madc_lo, "madc.lo.u32")
CARRY_TERNARY(mad_hi_cc, "mad.hi.cc.u32")
CARRY_TERNARY(madc_hi_cc, "madc.hi.cc.u32")
CARRY_TERNARY(madc_hi, "madc.hi.u32")

#undef CARRY_BINARY
#undef CARRY_TERNARY
