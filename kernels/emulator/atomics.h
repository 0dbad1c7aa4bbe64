// CUDA's atomic functions: relaxed, as on the device.
#pragma once

#include "device.h"

namespace emulator {

// Replaces the value by `update` of it, and returns the one it replaced.
template <class T, class Update>
T atomically(T *address, Update update) {
    before_atomic();
    T held = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(address, &held, update(held), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return held;
}

template <class T>
constexpr bool has_atomics = std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>;

}  // namespace emulator

#define EMULATOR_ATOMIC(name, result)                                               \
    template <class T>                                                              \
    T name(T *address, std::type_identity_t<T> value) {                             \
        static_assert(::emulator::has_atomics<T>, "CUDA has no " #name " of this type"); \
        return ::emulator::atomically(address, [value]([[maybe_unused]] T held) { return T(result); }); \
    }

EMULATOR_ATOMIC(atomicAdd, held + value)
EMULATOR_ATOMIC(atomicAnd, held & value)
EMULATOR_ATOMIC(atomicOr, held | value)
EMULATOR_ATOMIC(atomicXor, held ^ value)
EMULATOR_ATOMIC(atomicMin, value < held ? value : held)
EMULATOR_ATOMIC(atomicMax, value > held ? value : held)
EMULATOR_ATOMIC(atomicExch, value)

// CUDA has these two for 32 bits only.
inline unsigned atomicSub(unsigned *address, unsigned value) { return atomicAdd(address, 0u - value); }
inline int atomicSub(int *address, int value) {
    return ::emulator::atomically(address, [value](int held) { return int(unsigned(held) - unsigned(value)); });
}

template <class T>
T atomicCAS(T *address, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
    static_assert(::emulator::has_atomics<T>, "CUDA has no atomicCAS of this type");
    return ::emulator::atomically(address, [=](T held) { return held == expected ? desired : held; });
}
