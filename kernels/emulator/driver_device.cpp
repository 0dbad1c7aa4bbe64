// Driver calls: initialisation, devices, contexts, error texts.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "driver.h"
#include "faults.h"
#include "memory.h"
#include "stream.h"

namespace emulator {

Context contexts[MOST_DEVICES];
thread_local Context *current_context;
bool initialized;
std::recursive_mutex lock;
static thread_local std::vector<Context *> below_current;

bool is_sticky(int code) { return code == 214 || code == 700 || code == 702 || (code >= 714 && code <= 719); }

int not_ready_for_calls() {
    if (!initialized) return NOT_INITIALIZED;
    if (!current_context) return INVALID_CONTEXT;
    if (!current_context->retained) return CONTEXT_IS_DESTROYED;
    return current_context->sticky;
}

// The context as it is before the device's first use.
static void reset(int device) {
    drop_work(device);
    release_all(device);
    contexts[device].sticky = 0;
}

static bool is_device(int device) { return device >= 0 && device < settings.devices; }

}  // namespace emulator

using namespace emulator;

API(cuInit)(unsigned flags) {
    LOCKED;
    if (flags) return INVALID_VALUE;
    if (!initialized && !read_settings()) return INVALID_VALUE;
    for (int i = 0; i < MOST_DEVICES; i++) contexts[i].device = i;
    initialized = true;
    catch_signals();
    return settings.devices ? SUCCESS : NO_DEVICE;
}

API(cuDriverGetVersion)(int *version) { return *version = 13000, SUCCESS; }

API(cuDeviceGetCount)(int *count) {
    if (!initialized) return NOT_INITIALIZED;
    return *count = settings.devices, SUCCESS;
}

API(cuDeviceGet)(int *device, int ordinal) {
    if (!initialized) return NOT_INITIALIZED;
    if (!is_device(ordinal)) return INVALID_DEVICE;
    return *device = ordinal, SUCCESS;
}

API(cuDeviceGetName)(char *name, int length, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    return snprintf(name, size_t(length), "Emulated CUDA device %d", device), SUCCESS;
}

API(cuDeviceGetUuid_v2)(unsigned char *uuid, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(0xe0 + i);
    return uuid[15] = (unsigned char)device, SUCCESS;
}

API(cuDeviceTotalMem_v2)(size_t *bytes, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    return *bytes = settings.memory, SUCCESS;
}

// CUdevice_attribute: limits as an H200 has them, so that what launches here launches there. Others answer 0.
API(cuDeviceGetAttribute)(int *value, int attribute, int device) {
    if (!is_device(device)) return INVALID_DEVICE;
    static const std::map<int, int> values = {
        {1, 1024},       // threads per block
        {2, 1024},       // block x
        {3, 1024},       // block y
        {4, 64},         // block z
        {5, 0x7fffffff}, // grid x
        {6, 65535},      // grid y
        {7, 65535},      // grid z
        {8, 49152},      // shared memory per block
        {10, 32},        // warp size
        {12, 65536},     // registers per block
        {16, 4},         // multiprocessors: few, so that small tests fill them
        {31, 1},         // concurrent kernels
        {39, 2048},      // threads per multiprocessor
        {40, 3},         // asynchronous copy units
        {41, 1},         // unified addressing
        {75, 9},         // compute capability, major
        {76, 0},         // compute capability, minor
        {81, 233472},    // shared memory per multiprocessor
        {82, 65536},     // registers per multiprocessor
        {97, 232448},    // shared memory per block, opted in to
        {106, 32},       // blocks per multiprocessor
        {111, 1024},     // shared memory per block that the system takes
    };
    const auto found = values.find(attribute);
    return *value = found == values.end() ? 0 : found->second, SUCCESS;
}

API(cuDeviceCanAccessPeer)(int *can, int, int) { return *can = 0, SUCCESS; }

API(cuDevicePrimaryCtxRetain)(void **context, int device) {
    LOCKED;
    if (!initialized) return NOT_INITIALIZED;
    if (!is_device(device)) return INVALID_DEVICE;
    contexts[device].retained++;
    return *context = &contexts[device], SUCCESS;
}

API(cuDevicePrimaryCtxRelease_v2)(int device) {
    LOCKED;
    if (!is_device(device)) return INVALID_DEVICE;
    if (!contexts[device].retained) return INVALID_CONTEXT;
    // The driver waits for the device before it destroys the context.
    if (contexts[device].retained == 1) finish_device(device);
    if (--contexts[device].retained == 0) reset(device);
    return SUCCESS;
}

API(cuDevicePrimaryCtxReset_v2)(int device) {
    LOCKED;
    if (!is_device(device)) return INVALID_DEVICE;
    return reset(device), SUCCESS;
}

API(cuDevicePrimaryCtxSetFlags_v2)(int, unsigned) { return SUCCESS; }

API(cuDevicePrimaryCtxGetState)(int device, unsigned *flags, int *active) {
    LOCKED;
    if (!is_device(device)) return INVALID_DEVICE;
    *flags = 0;
    return *active = contexts[device].retained > 0, SUCCESS;
}

API(cuCtxSetCurrent)(void *context) { return current_context = static_cast<Context *>(context), SUCCESS; }
API(cuCtxGetCurrent)(void **context) { return *context = current_context, SUCCESS; }

API(cuCtxPushCurrent_v2)(void *context) {
    if (!context) return INVALID_CONTEXT;
    below_current.push_back(current_context);
    return current_context = static_cast<Context *>(context), SUCCESS;
}

API(cuCtxPopCurrent_v2)(void **context) {
    if (!current_context) return INVALID_CONTEXT;
    if (context) *context = current_context;
    current_context = below_current.empty() ? nullptr : below_current.back();
    if (!below_current.empty()) below_current.pop_back();
    return SUCCESS;
}

API(cuCtxGetDevice)(int *device) {
    if (!current_context) return INVALID_CONTEXT;
    return *device = current_context->device, SUCCESS;
}

API(cuCtxSynchronize)() {
    IN_CONTEXT;
    return finish_device(current_context->device);
}

API(cuCtxGetApiVersion)(void *, unsigned *version) { return *version = 13000, SUCCESS; }
API(cuCtxGetFlags)(unsigned *flags) { return *flags = 0, SUCCESS; }
API(cuCtxGetStreamPriorityRange)(int *least, int *greatest) { return *least = 0, *greatest = -5, SUCCESS; }
API(cuCtxGetCacheConfig)(int *config) { return *config = 0, SUCCESS; }
API(cuCtxSetCacheConfig)(int) { return SUCCESS; }

// As the public header has them; the program's forwarders name those that are not here.
static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static int describe_error(int code, const char **answer, bool name) {
    for (const auto &error : errors) {
        if (error.code == code) return *answer = name ? error.name : error.text, SUCCESS;
    }
    return *answer = nullptr, INVALID_VALUE;
}

API(cuGetErrorName)(int code, const char **answer) { return describe_error(code, answer, true); }
API(cuGetErrorString)(int code, const char **answer) { return describe_error(code, answer, false); }
