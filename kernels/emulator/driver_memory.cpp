// Driver calls: allocation, copies, fills.

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver.h"
#include "faults.h"
#include "memory.h"
#include "stream.h"

namespace emulator {

// Ranges of the program's own memory that it has registered: beginning and bytes.
static std::map<uintptr_t, size_t> &registered = *new std::map<uintptr_t, size_t>;

static char *pointer(DevicePointer address) { return reinterpret_cast<char *>(address); }

static bool on_device(const void *address, size_t bytes) {
    const Allocation *a = allocation_of(address, bytes);
    return a && a->device != HOST;
}

static bool is_pinned(const void *address, size_t bytes) {
    if (const Allocation *a = allocation_of(address, bytes)) return a->device == HOST;
    const uintptr_t from = reinterpret_cast<uintptr_t>(address);
    auto after = registered.upper_bound(from);
    if (after == registered.begin()) return false;
    --after;
    return from + bytes <= after->first + after->second;
}

struct Copy {
    char *to;
    const char *from;
    size_t bytes;
    // Which ends the device's side are, and which have to be allocated when the copy runs.
    bool to_device, from_device, to_pinned, from_pinned;
    const Injection *failure, *flip;
};

static bool valid_end(const void *address, size_t bytes, bool device, bool pinned) {
    return device ? on_device(address, bytes) : !pinned || is_pinned(address, bytes);
}

static int end_is_gone(const char *which, const void *address) {
    bool known = false;
    report((std::string("a copy's ") + which + " is gone when it runs: " + describe(address, known)).c_str());
    return ILLEGAL_ADDRESS;
}

static int run(const Copy &c) {
    if (c.failure) return int(c.failure->value);
    if (!valid_end(c.to, c.bytes, c.to_device, c.to_pinned)) return end_is_gone("target", c.to);
    if (!valid_end(c.from, c.bytes, c.from_device, c.from_pinned)) return end_is_gone("source", c.from);
    copy(c.to, c.from, c.bytes);
    if (!c.to_device && settings.unwritten_is_fault) {
        if (const char *found = unwritten(c.to, c.bytes)) {
            bool known = false;
            report(("copy to the host of the poison of memory that nothing wrote: " + describe(c.from + (found - c.to), known)).c_str());
            return LAUNCH_FAILED;
        }
    }
    if (c.flip && c.flip->value / 8 < c.bytes) {
        char byte, *target = c.to + c.flip->value / 8;
        copy(&byte, target, 1);
        byte = char(byte ^ 1 << c.flip->value % 8);
        copy(target, &byte, 1);
    }
    return SUCCESS;
}

// A copy whose ends are allocated. What the program's pageable memory holds is taken at once, and what goes there has
// arrived when the call returns, as with the real driver.
static int enqueue_copy(Stream &stream, Copy c) {
    c.failure = next_of(Injection::COPY);
    c.flip = next_of(Injection::FLIP);
    if (c.failure && !is_sticky(int(c.failure->value))) return int(c.failure->value);
    if (c.bytes == 0) return SUCCESS;
    c.to_pinned = !c.to_device && is_pinned(c.to, c.bytes);
    c.from_pinned = !c.from_device && is_pinned(c.from, c.bytes);
    auto held = std::make_shared<std::vector<char>>();
    if (!c.from_device && !c.from_pinned) {
        held->assign(c.from, c.from + c.bytes);
        c.from = held->data();
    }
    enqueue(stream, {[c, held] { return run(c); }});
    return !c.to_device && !c.to_pinned ? finish(stream) : SUCCESS;
}

static int refuse(const char *call, const void *address, size_t bytes) {
    bool known = false;
    const std::string where = describe(address, known);
    report((std::string(call) + " of " + std::to_string(bytes) + " bytes: not all in one allocation: " + where).c_str());
    return INVALID_VALUE;
}

static int upload(const char *call, DevicePointer to, const void *from, size_t bytes, void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (bytes && !on_device(pointer(to), bytes)) return refuse(call, pointer(to), bytes);
    return enqueue_copy(*stream, {pointer(to), static_cast<const char *>(from), bytes, true, false, false, false, 0, 0});
}

static int download(const char *call, void *to, DevicePointer from, size_t bytes, void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (bytes && !on_device(pointer(from), bytes)) return refuse(call, pointer(from), bytes);
    return enqueue_copy(*stream, {static_cast<char *>(to), pointer(from), bytes, false, true, false, false, 0, 0});
}

static int across(const char *call, DevicePointer to, DevicePointer from, size_t bytes, void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (bytes && !on_device(pointer(to), bytes)) return refuse(call, pointer(to), bytes);
    if (bytes && !on_device(pointer(from), bytes)) return refuse(call, pointer(from), bytes);
    return enqueue_copy(*stream, {pointer(to), pointer(from), bytes, true, true, false, false, 0, 0});
}

// The result of a call that returns when its copy is done.
static int finished(int code) { return code ? code : finish(default_stream(current_context->device)); }

template <class T>
static int fill(DevicePointer to, T value, size_t count, void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (count > SIZE_MAX / sizeof value || to % sizeof value) return INVALID_VALUE;
    const size_t bytes = count * sizeof value;
    if (bytes && !on_device(pointer(to), bytes)) return refuse("fill", pointer(to), bytes);
    enqueue(*stream, {[=] {
        if (bytes && !on_device(pointer(to), bytes)) return end_is_gone("target", pointer(to));
        const std::vector<T> values(count, value);
        return copy(pointer(to), values.data(), bytes), int(SUCCESS);
    }});
    return SUCCESS;
}

static int allocate_here(void **start, size_t bytes, int device) {
    const Injection *failure = next_of(Injection::ALLOCATION);
    if (failure) return int(failure->value);
    if (!bytes) return INVALID_VALUE;
    const size_t used = allocated(device);
    if (device != HOST && (bytes > settings.memory || used > settings.memory - bytes)) return OUT_OF_MEMORY;
    *start = allocate(bytes, device);
    return *start ? SUCCESS : OUT_OF_MEMORY;
}

static int free_it(const void *start, bool pinned) {
    const Allocation *a = allocation_at(start);
    if (!start) return SUCCESS;
    if (!a || (a->device == HOST) != pinned) return refuse("free", start, 0);
    release(start);
    return SUCCESS;
}

}  // namespace emulator

using namespace emulator;

API(cuMemGetInfo_v2)(size_t *free, size_t *total) {
    IN_CONTEXT;
    *total = settings.memory;
    return *free = settings.memory - allocated(current_context->device), SUCCESS;
}

API(cuMemAlloc_v2)(DevicePointer *start, size_t bytes) {
    IN_CONTEXT;
    return allocate_here(reinterpret_cast<void **>(start), bytes, current_context->device);
}

API(cuMemAllocAsync)(DevicePointer *start, size_t bytes, void *) { return cuMemAlloc_v2(start, bytes); }

API(cuMemFree_v2)(DevicePointer start) {
    IN_CONTEXT;
    // The driver waits for the device before it frees. Managed memory is freed here too.
    if (int failed = finish_device(current_context->device)) return failed;
    const Allocation *a = allocation_at(pointer(start));
    return free_it(pointer(start), a && a->device == HOST);
}

API(cuMemFreeAsync)(DevicePointer start, void *handle) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (!allocation_at(pointer(start))) return refuse("free", pointer(start), 0);
    return enqueue(*stream, {[=] { return free_it(pointer(start), false); }}), SUCCESS;
}

API(cuMemAllocHost_v2)(void **start, size_t bytes) {
    IN_CONTEXT;
    return allocate_here(start, bytes, HOST);
}

API(cuMemHostAlloc)(void **start, size_t bytes, unsigned) { return cuMemAllocHost_v2(start, bytes); }

API(cuMemAllocManaged)(DevicePointer *start, size_t bytes, unsigned) {
    return cuMemAllocHost_v2(reinterpret_cast<void **>(start), bytes);
}

API(cuMemFreeHost)(void *start) {
    IN_CONTEXT;
    return free_it(start, true);
}

API(cuMemHostGetDevicePointer_v2)(DevicePointer *device, void *host, unsigned) {
    IN_CONTEXT;
    if (!is_pinned(host, 1)) return INVALID_VALUE;
    return *device = reinterpret_cast<DevicePointer>(host), SUCCESS;
}

API(cuMemHostRegister_v2)(void *start, size_t bytes, unsigned) {
    IN_CONTEXT;
    if (!start || !bytes) return INVALID_VALUE;
    return registered.emplace(reinterpret_cast<uintptr_t>(start), bytes).second ? SUCCESS : ALREADY_REGISTERED;
}

API(cuMemHostUnregister)(void *start) {
    IN_CONTEXT;
    return registered.erase(reinterpret_cast<uintptr_t>(start)) ? SUCCESS : NOT_REGISTERED;
}

API(cuMemcpyHtoDAsync_v2)(DevicePointer to, const void *from, size_t bytes, void *stream) {
    IN_CONTEXT;
    return upload("cuMemcpyHtoDAsync", to, from, bytes, stream);
}
API(cuMemcpyDtoHAsync_v2)(void *to, DevicePointer from, size_t bytes, void *stream) {
    IN_CONTEXT;
    return download("cuMemcpyDtoHAsync", to, from, bytes, stream);
}
API(cuMemcpyDtoDAsync_v2)(DevicePointer to, DevicePointer from, size_t bytes, void *stream) {
    IN_CONTEXT;
    return across("cuMemcpyDtoDAsync", to, from, bytes, stream);
}
API(cuMemcpyPeerAsync)(DevicePointer to, void *, DevicePointer from, void *, size_t bytes, void *stream) {
    IN_CONTEXT;
    return across("cuMemcpyPeerAsync", to, from, bytes, stream);
}
API(cuMemcpyHtoD_v2)(DevicePointer to, const void *from, size_t bytes) {
    IN_CONTEXT;
    return finished(upload("cuMemcpyHtoD", to, from, bytes, nullptr));
}
API(cuMemcpyDtoH_v2)(void *to, DevicePointer from, size_t bytes) {
    IN_CONTEXT;
    return finished(download("cuMemcpyDtoH", to, from, bytes, nullptr));
}
API(cuMemcpyDtoD_v2)(DevicePointer to, DevicePointer from, size_t bytes) {
    IN_CONTEXT;
    return finished(across("cuMemcpyDtoD", to, from, bytes, nullptr));
}

#define FILL(name, T)                                                    \
    API(name##Async)(DevicePointer to, T value, size_t n, void *stream) { \
        IN_CONTEXT;                                                      \
        return fill(to, value, n, stream);                               \
    }                                                                    \
    API(name##_v2)(DevicePointer to, T value, size_t n) {                \
        IN_CONTEXT;                                                      \
        return fill(to, value, n, nullptr);                              \
    }
FILL(cuMemsetD8, uint8_t)
FILL(cuMemsetD16, uint16_t)
FILL(cuMemsetD32, uint32_t)
