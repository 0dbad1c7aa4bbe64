// Faults: what is printed, and the signals that the processor raises for them.
#pragma once

#include "device.h"

namespace emulator {

// CUDA's results for what a kernel did wrong. Both stay in the context.
enum : int { ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719 };

// One line on standard error: `what`, the place in the source, and the kernel, block and thread that run.
void report(const char *what, Where at);
// One line on standard error, without a place.
void report(const char *what);

// Makes bad accesses and trapped instructions of kernels faults of their launches, and names the program's own accesses to
// device memory before they end it. Before every launch: the signals need a stack of their own in each thread.
void catch_signals();
// After a launch: prints what the signal handler could not, if it ended the launch.
void report_signal();

}  // namespace emulator
