// The environment variables of the emulated device, and the failures that they ask for. kernels/README.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace emulator {

// One failure of EMULATOR_INJECT: what happens to the `count`-th of its kind, counted from 1.
struct Injection {
    enum Kind { ALLOCATION, LAUNCH, COPY, HANG, FLIP } kind;
    uint64_t count;
    // The result code, or of FLIP the bit.
    uint64_t value;
};

struct Settings {
    enum Order { FORWARD, BACKWARD, RANDOM } order = FORWARD;
    std::mt19937 random{1};
    bool lazy = false;
    int devices = 2;
    size_t memory = size_t(1) << 30;
    unsigned char poison = 0xA5;
    // Whether copies to the host of memory that nothing wrote are faults.
    bool unwritten_is_fault = true;
    std::vector<Injection> injections;
};

extern Settings settings;

// Reads the variables; false, after a line on standard error, where one of them is not understood.
bool read_settings();

// Counts one more of `kind` and returns its injection, if it has one.
const Injection *next_of(Injection::Kind kind);

}  // namespace emulator
