// Fibers: a switch saves and restores the registers that a called function has to keep, on the fibers' own stacks.
// x86-64 and aarch64 have theirs written out; others, or all with EMULATOR_UCONTEXT, take the C library's ucontext, whose
// two system calls a switch make it about 20 times slower.

#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tsan.h"

namespace emulator {

static size_t page() { return size_t(sysconf(_SC_PAGESIZE)); }

char *new_stack() {
    void *map = mmap(nullptr, STACK_BYTES + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED || mprotect(map, page(), PROT_NONE) != 0) {
        perror("emulator: no memory for a thread's stack");
        abort();
    }
    return static_cast<char *>(map) + page();
}

bool in_guard_page(const char *stack, const char *address) { return address >= stack - page() && address < stack; }

#if defined(EMULATOR_UCONTEXT)

void prepare(Fiber &fiber, char *stack, void (*entry)()) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
}

void switch_fibers(Fiber &from, Fiber &to) {
    TSAN(__tsan_switch_to_fiber(to.tsan, TSAN_NO_SYNC);)
    swapcontext(&from.context, &to.context);
}

#else

extern "C" void emulator_switch(void **from, void *to);

#if defined(__x86_64__)

// rbx, rbp and r12-r15, below the return address. Kernels use no floating point: its control words stay as they are.
asm(R"(
.text
.p2align 4
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, @function
emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulator_switch, . - emulator_switch
)");

void prepare(Fiber &fiber, char *stack, void (*entry)()) {
    // A function begins with the stack 8 bytes off a multiple of 16, as a call leaves it.
    uint64_t *top = reinterpret_cast<uint64_t *>(stack + STACK_BYTES) - 1;
    *--top = reinterpret_cast<uint64_t>(entry);
    for (int saved = 0; saved < 6; saved++) *--top = 0;
    fiber.stack_pointer = top;
}

#else

// x19-x30 and the lower halves of v8-v15.
asm(R"(
.text
.p2align 4
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, %function
emulator_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size emulator_switch, . - emulator_switch
)");

void prepare(Fiber &fiber, char *stack, void (*entry)()) {
    uint64_t *frame = reinterpret_cast<uint64_t *>(stack + STACK_BYTES) - 20;
    for (int saved = 0; saved < 20; saved++) frame[saved] = 0;
    frame[11] = reinterpret_cast<uint64_t>(entry);  // x30, where ret goes
    fiber.stack_pointer = frame;
}

#endif

void switch_fibers(Fiber &from, Fiber &to) {
    TSAN(__tsan_switch_to_fiber(to.tsan, TSAN_NO_SYNC);)
    emulator_switch(&from.stack_pointer, to.stack_pointer);
}

#endif

}  // namespace emulator
