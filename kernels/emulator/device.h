// Between kernels compiled for the host and the runtime that runs them: the running thread, its carry, what it can ask
// the runtime for, and the registration of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

namespace emulator {

// A place in a kernel's source. As a default argument it is the caller's.
struct Where {
    const char *file = "?";
    int line = 0;
    static constexpr Where here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
    bool operator==(const Where &) const = default;
};

struct Block {
    dim3 grid, size;
    uint3 id;
    char *dynamic_shared;
};

// What a kernel sees of its own thread.
struct Self {
    const Block *block;
    uint3 id;
    unsigned index, warp, lane;
    // The carry flag (CC.CF). It lives from an instruction that writes it to the last one that reads it: a barrier, another
    // thread or a read that does not write it again end it, and reading a dead one is a fault.
    uint32_t carry;
    bool carry_lives;
};

// The running thread. One launch runs at a time, so a plain global will do.
extern Self *self;

// Reports a fault of the running thread and ends its launch.
[[noreturn]] void fault(const char *what, Where at);

// How many threads of the block came to the barrier with `predicate`.
unsigned barrier(bool predicate, Where at);

enum class WarpOperation { SYNC, SHUFFLE, BALLOT };
// Meets the other lanes of the mask. Of SHUFFLE the value that lane `source` brought, of BALLOT the lanes whose value is odd.
uint64_t meet(WarpOperation operation, unsigned mask, uint64_t value, unsigned source, Where at);

// Before an atomic operation: in random order another thread may run first.
void before_atomic();

// A kernel by name, with what a launch needs to know of it.
struct Kernel {
    const char *name;
    unsigned most_threads;
    void (*call)(void *const *parameters);
    const uint32_t *sizes;
    const bool *pointers;
    uint32_t parameters;
};
void add_kernel(const Kernel &kernel);

template <auto function>
struct Registration;

template <class... A, void (*function)(A...)>
struct Registration<function> {
    static_assert((std::is_trivially_copyable_v<A> && ...), "kernel parameters are copied bytewise");
    // One more than there are: C++ has no arrays of length zero.
    static constexpr uint32_t sizes[] = {uint32_t(sizeof(A))..., 0};
    static constexpr bool pointers[] = {std::is_pointer_v<A>..., false};

    template <size_t... I>
    static void spread([[maybe_unused]] void *const *parameters, std::index_sequence<I...>) {
        function(*static_cast<std::remove_const_t<A> *>(parameters[I])...);
    }
    static void call(void *const *parameters) { spread(parameters, std::index_sequence_for<A...>{}); }

    explicit Registration(const char *name, unsigned most_threads = 1024) {
        add_kernel({name, most_threads, &call, sizes, pointers, uint32_t(sizeof...(A))});
    }
};

}  // namespace emulator

#define KERNEL(name, ...) \
    static const ::emulator::Registration<&name> registration_of_##name{#name __VA_OPT__(, ) __VA_ARGS__};
