// Arithmetic on 32-bit words with the carry flag, one instruction a function.
//
// On the device each is one `asm volatile` statement: without `volatile` the compiler moves statements between a producer
// of the carry and its consumer. For the same reason no call, barrier or 128-bit arithmetic belongs inside a chain, and
// operands are copies, not references into memory. In the emulated device the carry is a variable that is dead unless the
// thread's last carry instruction wrote it; reading a dead carry is a fault.
//
// Suffixes as in PTX: `_cc` writes the carry (of `sub`: the borrow); `addc`, `subc` and `madc` read it. A name without
// either does neither. lo and hi are the halves of the 64-bit product a * b. PTX ISA, "Extended-Precision Integer
// Arithmetic Instructions".
#pragma once

#include "../emulator/kernel.cuh"

#if defined(__CUDACC__)

#define CARRY_TWO(name, instruction, reads, writes, value)                              \
    DEVICE uint32_t name(uint32_t a, uint32_t b) {                                      \
        uint32_t r;                                                                     \
        asm volatile(instruction ".u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));        \
        return r;                                                                       \
    }
#define CARRY_THREE(name, instruction, reads, writes, value)                                   \
    DEVICE uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                 \
        uint32_t r;                                                                            \
        asm volatile(instruction ".u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));   \
        return r;                                                                              \
    }

#else

enum class Carry { ADDS, SUBTRACTS };

// `wide` is the result without the incoming carry; its bits from 32 up are the carry that goes out.
template <bool reads, bool writes>
__forceinline__ uint32_t carry_step(uint64_t wide, Carry carry, ::emulator::Where at) {
    ::emulator::Self &self = *::emulator::self;
    if constexpr (reads) {
        if (__builtin_expect(!self.carry_lives, 0)) ::emulator::fault("carry read without a producer", at);
        wide = carry == Carry::ADDS ? wide + self.carry : wide - self.carry;
    }
    if constexpr (writes) self.carry = uint32_t(wide >> 32) & 1;
    if constexpr (reads != writes) self.carry_lives = writes;
    return uint32_t(wide);
}

#define CARRY_SIGN(instruction) (instruction[0] == 's' ? Carry::SUBTRACTS : Carry::ADDS)
#define CARRY_TWO(name, instruction, reads, writes, value)                                       \
    DEVICE uint32_t name(uint32_t a, uint32_t b, EMULATOR_WHERE) {                               \
        return carry_step<reads, writes>(value, CARRY_SIGN(instruction), at);                    \
    }
#define CARRY_THREE(name, instruction, reads, writes, value)                                     \
    DEVICE uint32_t name(uint32_t a, uint32_t b, uint32_t c, EMULATOR_WHERE) {                   \
        return carry_step<reads, writes>(value, CARRY_SIGN(instruction), at);                    \
    }

#endif

#define CARRY_LO (uint64_t(uint32_t(a * b)))
#define CARRY_HI ((uint64_t(a) * b) >> 32)

//         name        instruction    reads  writes value
CARRY_TWO(add_cc,      "add.cc",      false, true,  uint64_t(a) + b)
CARRY_TWO(addc_cc,     "addc.cc",     true,  true,  uint64_t(a) + b)
CARRY_TWO(addc,        "addc",        true,  false, uint64_t(a) + b)
CARRY_TWO(sub_cc,      "sub.cc",      false, true,  uint64_t(a) - b)
CARRY_TWO(subc_cc,     "subc.cc",     true,  true,  uint64_t(a) - b)
CARRY_TWO(subc,        "subc",        true,  false, uint64_t(a) - b)
CARRY_TWO(mul_lo,      "mul.lo",      false, false, CARRY_LO)
CARRY_TWO(mul_hi,      "mul.hi",      false, false, CARRY_HI)
CARRY_THREE(mad_lo_cc,  "mad.lo.cc",  false, true,  CARRY_LO + c)
CARRY_THREE(madc_lo_cc, "madc.lo.cc", true,  true,  CARRY_LO + c)
CARRY_THREE(madc_lo,    "madc.lo",    true,  false, CARRY_LO + c)
CARRY_THREE(mad_hi_cc,  "mad.hi.cc",  false, true,  CARRY_HI + c)
CARRY_THREE(madc_hi_cc, "madc.hi.cc", true,  true,  CARRY_HI + c)
CARRY_THREE(madc_hi,    "madc.hi",    true,  false, CARRY_HI + c)

#undef CARRY_TWO
#undef CARRY_THREE
#undef CARRY_LO
#undef CARRY_HI
#if defined(CARRY_SIGN)
#undef CARRY_SIGN
#endif
