// Stacks that one operating-system thread switches between: one for each CUDA thread of a block.
#pragma once

#include <cstddef>

#if !defined(EMULATOR_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define EMULATOR_UCONTEXT 1
#endif
#if defined(EMULATOR_UCONTEXT)
#include <ucontext.h>
#endif

namespace emulator {

// Where an execution stands while it does not run.
struct Fiber {
#if defined(EMULATOR_UCONTEXT)
    ucontext_t context;
#else
    void *stack_pointer = nullptr;
#endif
    // ThreadSanitizer's own record of it.
    void *tsan = nullptr;
};

// A stack of STACK_BYTES above a guard page.
constexpr size_t STACK_BYTES = 128 << 10;
char *new_stack();
bool in_guard_page(const char *stack, const char *address);

// The next switch to `fiber` begins `entry` at the top of `stack`. `entry` must not return.
void prepare(Fiber &fiber, char *stack, void (*entry)());
// Leaves the running execution in `from` and continues `to`.
void switch_fibers(Fiber &from, Fiber &to);

}  // namespace emulator
