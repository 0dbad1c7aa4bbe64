// What the driver calls share: result codes, contexts, the lock, and the beginning of each call.
//
// The calls have the names and types of NVIDIA's cuda.h (its version 13), with handles as plain pointers and enums as int.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "settings.h"

namespace emulator {

// CUresult, as far as the calls answer it.
enum : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    CONTEXT_IS_DESTROYED = 709,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    NOT_SUPPORTED = 801,
};

using DevicePointer = uint64_t;

// A device's primary context, the only kind there is.
struct Context {
    int device = 0;
    int retained = 0;
    // The first fault: every later call in the context answers it.
    int sticky = 0;
};

constexpr int MOST_DEVICES = 16;
extern Context contexts[MOST_DEVICES];
extern thread_local Context *current_context;
extern bool initialized;

// Held by every call while it looks at or changes anything, and while kernels run.
extern std::recursive_mutex lock;
// Lets other threads of the program in for a moment.
void wait_a_moment();

// Whether a result stays in the context, as those of kernels' faults do.
bool is_sticky(int code);

// Why a call cannot even begin; SUCCESS where it can.
int not_ready_for_calls();

}  // namespace emulator

#define API(name) extern "C" __attribute__((visibility("default"))) int name
#define LOCKED std::lock_guard<std::recursive_mutex> locked(emulator::lock)
#define IN_CONTEXT \
    LOCKED;        \
    if (int refused = emulator::not_ready_for_calls()) return refused
