// For programs in C++ that run kernels on the emulated device without a driver library in between: cases by name, buffers
// and launches. The first call that fails ends the program.
//
//     CASE(vector_add) {
//         Buffer<uint32_t> a({1, 2, 3}), sum(std::vector<uint32_t>(3));
//         launch("vector_add", 1, 32, 0, a.get(), a.get(), sum.get(), uint32_t(3));
//     }
//
// The program runs the case that its argument names; without an argument it prints the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emulator::program {

using DeviceAddress = uint64_t;

std::map<std::string, void (*)()> &cases();
DeviceAddress allocate(size_t bytes);
void upload(DeviceAddress to, const void *from, size_t bytes);
void download(void *to, DeviceAddress from, size_t bytes);
void release(DeviceAddress start);
// Launches in the default stream and waits.
void launch_with(const char *kernel, unsigned blocks, unsigned threads, unsigned dynamic_shared, void **parameters);

struct Case {
    Case(const char *name, void (*run)()) { cases()[name] = run; }
};

// Device memory with a copy of these values.
template <class T>
class Buffer {
  public:
    explicit Buffer(const std::vector<T> &values) : length_(values.size()), start_(allocate(values.size() * sizeof(T))) {
        upload(start_, values.data(), length_ * sizeof(T));
    }
    ~Buffer() { release(start_); }
    Buffer(const Buffer &) = delete;

    T *get() const { return reinterpret_cast<T *>(start_); }
    std::vector<T> download() const {
        std::vector<T> values(length_);
        program::download(values.data(), start_, length_ * sizeof(T));
        return values;
    }

  private:
    size_t length_;
    DeviceAddress start_;
};

// Arguments have to be of the kernel's own parameter types.
template <class... A>
void launch(const char *kernel, unsigned blocks, unsigned threads, unsigned dynamic_shared, A... arguments) {
    void *parameters[] = {static_cast<void *>(&arguments)...};
    launch_with(kernel, blocks, threads, dynamic_shared, parameters);
}

}  // namespace emulator::program

#define CASE(name)                                                             \
    static void case_##name();                                                 \
    static const ::emulator::program::Case made_case_##name(#name, case_##name); \
    static void case_##name()
