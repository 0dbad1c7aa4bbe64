// One launch, from its parameters to its result.
#pragma once

#include <vector>

#include "device.h"

namespace emulator {

struct Launch {
    const Kernel *kernel;
    dim3 grid, block;
    unsigned dynamic_shared;
    int device;
    // The parameters' bytes, as they were when the launch was asked for.
    std::vector<std::vector<char>> parameters;
};

// Runs all blocks, one after the other, and returns the CUDA result. With the lock of driver.h held.
int run(Launch &launch);

}  // namespace emulator
