// Runs the threads of one block, each on a fiber of its own, to their end or to the first fault.
#pragma once

#include "device.h"

namespace emulator {

// The most threads that a block may have.
constexpr unsigned MOST_THREADS = 1024;

// What the running launch is. Valid while it runs.
struct Running {
    const Kernel *kernel = nullptr;
    void *const *parameters = nullptr;
    // The CUDA result of the launch's first fault; 0 while there was none.
    int fault = 0;
};
extern Running running;

// The block's threads in the order of the settings; nothing where `running.fault` is set already.
void run_block(const Block &block);

// Gives the running thread up and ends the launch with `code`. Called on the thread's own stack or in a signal handler.
[[noreturn]] void abandon(int code);

// Whether the calling thread of the operating system is in a kernel right now.
bool in_kernel();
// Whether the address is in the guard page of the running thread's stack.
bool beyond_stack(const char *address);

// How often a fiber was continued, over all launches.
uint64_t switches();

}  // namespace emulator
