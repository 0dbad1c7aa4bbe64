#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "settings.h"

namespace emulator {

// Never destroyed: a program may free memory in destructors of its own that run after the library's.
static std::map<uintptr_t, Allocation> &allocations = *new std::map<uintptr_t, Allocation>;
static std::map<uintptr_t, Allocation> &released = *new std::map<uintptr_t, Allocation>;
static int opened_device = HOST;

static size_t page() {
    static const size_t size = size_t(sysconf(_SC_PAGESIZE));
    return size;
}
static uintptr_t number(const void *address) { return reinterpret_cast<uintptr_t>(address); }
static char *body(const Allocation &a) { return a.map + page(); }
static char *body_end(const Allocation &a) { return a.map + a.span - page(); }

static void set_access(const Allocation &a, bool open) {
    if (a.device == HOST || a.device == opened_device) return;
    mprotect(body(a), size_t(body_end(a) - body(a)), open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

char *allocate(size_t bytes, int device) {
    const size_t inner = (bytes + page() - 1) / page() * page(), span = inner + 2 * page();
    if (inner < bytes || span < inner) return nullptr;
    void *map = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return nullptr;
    Allocation a{static_cast<char *>(map), span, nullptr, bytes, device};
    a.start = body(a) + (inner - bytes) / 16 * 16;
    if (mprotect(body(a), inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, span);
        return nullptr;
    }
    memset(body(a), settings.poison, inner);
    set_access(a, false);
    allocations[number(a.start)] = a;
    return a.start;
}

const Allocation *allocation_at(const void *start) {
    const auto found = allocations.find(number(start));
    return found == allocations.end() ? nullptr : &found->second;
}

const Allocation *allocation_of(const void *address, size_t bytes) {
    auto after = allocations.upper_bound(number(address));
    if (after == allocations.begin()) return nullptr;
    const Allocation &a = std::prev(after)->second;
    return a.holds(static_cast<const char *>(address), bytes) ? &a : nullptr;
}

void release(const void *start) {
    const auto found = allocations.find(number(start));
    if (found == allocations.end()) return;
    const Allocation a = found->second;
    allocations.erase(found);
    // A fresh mapping in its place gives the pages back and keeps the addresses.
    mmap(a.map, a.span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    released[number(a.start)] = a;
}

void release_all(int device) {
    for (auto next = allocations.begin(); next != allocations.end();) {
        const Allocation &a = (next++)->second;
        if (a.device == device) release(a.start);
    }
}

size_t allocated(int device) {
    size_t bytes = 0;
    for (const auto &[start, a] : allocations) bytes += a.device == device ? a.size : 0;
    return bytes;
}

static void set_access_of_all(int device, bool open) {
    for (const auto &[start, a] : allocations) {
        if (a.device == device) set_access(a, open);
    }
}

Opened::Opened(int device) : device_(device) {
    set_access_of_all(device, true);
    opened_device = device;
}

Opened::~Opened() {
    opened_device = HOST;
    set_access_of_all(device_, false);
}

void copy(void *to, const void *from, size_t bytes) {
    const Allocation *target = allocation_of(to, bytes), *source = allocation_of(from, bytes);
    if (target) set_access(*target, true);
    if (source) set_access(*source, true);
    memmove(to, from, bytes);
    if (target) set_access(*target, false);
    if (source) set_access(*source, false);
}

static bool poisoned(const char *from, const char *to) {
    while (from < to && *from == char(settings.poison)) from++;
    return from == to;
}

const Allocation *written_beside(int device) {
    for (const auto &[start, a] : allocations) {
        if (a.device == device && !(poisoned(body(a), a.start) && poisoned(a.start + a.size, body_end(a)))) return &a;
    }
    return nullptr;
}

const char *unwritten(const char *data, size_t bytes) {
    char poison[16];
    memset(poison, settings.poison, sizeof poison);
    for (size_t at = 0; at + sizeof poison <= bytes; at += sizeof poison) {
        if (memcmp(data + at, poison, sizeof poison) == 0) return data + at;
    }
    return nullptr;
}

static std::string place(const Allocation &a, const char *address, const char *state) {
    const std::string of = "an allocation of " + std::to_string(a.size) + " bytes of " +
                           (a.device == HOST ? std::string("pinned memory") : "device " + std::to_string(a.device)) + state;
    if (address < a.start) return std::to_string(a.start - address) + " bytes before " + of;
    if (address >= a.start + a.size) return std::to_string(address - a.start - a.size) + " bytes past the end of " + of;
    return "byte " + std::to_string(address - a.start) + " of " + of;
}

static const Allocation *around(const std::map<uintptr_t, Allocation> &all, const char *address) {
    for (const auto &[start, a] : all) {
        if (address >= a.map && address < a.map + a.span) return &a;
    }
    return nullptr;
}

std::string describe(const void *address, bool &known) {
    const char *at = static_cast<const char *>(address);
    known = true;
    if (const Allocation *a = around(allocations, at)) return place(*a, at, "");
    if (const Allocation *a = around(released, at)) return place(*a, at, ", which was freed");
    known = false;
    return "in no device memory";
}

}  // namespace emulator
