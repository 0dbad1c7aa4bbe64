// Device and pinned memory: each allocation ends at a guard page, is poisoned when new, and device memory can be accessed
// only while a launch or a copy of its own device runs. All calls are made with the lock of driver.h held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulator {

// The device of pinned host memory.
constexpr int HOST = -1;

struct Allocation {
    // With a guard page on either side; `start` is aligned to 16 bytes and as near to the second one as that allows.
    char *map;
    size_t span;
    char *start;
    size_t size;
    int device;

    bool holds(const char *address, size_t bytes) const {
        return address >= start && bytes <= size && size_t(address - start) <= size - bytes;
    }
};

// nullptr where the host has no memory.
char *allocate(size_t bytes, int device);
// The allocation that begins at `start`; nullptr where none does.
const Allocation *allocation_at(const void *start);
// The allocation that holds all of the bytes; nullptr where none does.
const Allocation *allocation_of(const void *address, size_t bytes);
// Makes the allocation inaccessible for good: its addresses are not given out again.
void release(const void *start);
void release_all(int device);
size_t allocated(int device);

// Opens the device's memory while it lives.
class Opened {
  public:
    explicit Opened(int device);
    ~Opened();
    Opened(const Opened &) = delete;

  private:
    int device_;
};

// Copies between any two kinds of memory, each opened for it.
void copy(void *to, const void *from, size_t bytes);

// The first allocation of the device beside which something was written; nullptr where none was.
const Allocation *written_beside(int device);
// The first of 16 bytes or more, aligned as they are in the copy, that nothing wrote; nullptr where there are none.
const char *unwritten(const char *data, size_t bytes);

// What lies at an address, in words; false in `known` where no allocation is or was near.
std::string describe(const void *address, bool &known);

}  // namespace emulator
