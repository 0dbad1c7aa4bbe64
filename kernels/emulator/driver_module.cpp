// Driver calls: modules, kernels, launches, occupancy.

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "driver.h"
#include "faults.h"
#include "launch.h"
#include "stream.h"

namespace emulator {

struct Module {
    int device;
};

// A kernel in a device's context.
struct Function {
    const Kernel *kernel;
    int device;
    unsigned most_dynamic_shared = 48 << 10;
};

constexpr unsigned MOST_DYNAMIC_SHARED = 232448, THREADS_PER_MULTIPROCESSOR = 2048, SHARED_PER_MULTIPROCESSOR = 233472;

// Filled by the kernels' static objects, whose order is open: made at its first use.
static std::map<std::string, Kernel> &kernels() {
    static auto &all = *new std::map<std::string, Kernel>;
    return all;
}

void add_kernel(const Kernel &kernel) {
    if (!kernels().emplace(kernel.name, kernel).second) report((std::string("two kernels named ") + kernel.name).c_str());
}

// Fat binaries and cubins (ELF) by their first bytes. What follows is not looked at: the kernels are this library's own.
static bool is_image(const void *image) {
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba}, elf[] = {0x7f, 'E', 'L', 'F'};
    return memcmp(image, fatbin, 4) == 0 || memcmp(image, elf, 4) == 0;
}

static bool may_launch(const Function &f, dim3 grid, dim3 block, unsigned dynamic_shared) {
    const uint64_t threads = uint64_t(block.x) * block.y * block.z;
    return block.x <= 1024 && block.y <= 1024 && block.z <= 64 && threads && threads <= f.kernel->most_threads && grid.x &&
           grid.x <= 0x7fffffff && grid.y && grid.y <= 65535 && grid.z && grid.z <= 65535 &&
           dynamic_shared <= f.most_dynamic_shared;
}

static int launch(const Function &f, dim3 grid, dim3 block, unsigned dynamic_shared, Stream &stream, void **parameters) {
    const Injection *failure = next_of(Injection::LAUNCH), *hang = next_of(Injection::HANG);
    if (failure && !is_sticky(int(failure->value))) return int(failure->value);
    Launch launch{f.kernel, grid, block, dynamic_shared, f.device, {}};
    for (uint32_t i = 0; i < f.kernel->parameters; i++) {
        const char *bytes = static_cast<const char *>(parameters[i]);
        launch.parameters.emplace_back(bytes, bytes + f.kernel->sizes[i]);
    }
    const int code = failure ? int(failure->value) : SUCCESS;
    enqueue(stream, {[launch, code]() mutable { return code ? code : run(launch); }, {}, hang != nullptr});
    return SUCCESS;
}

}  // namespace emulator

using namespace emulator;

// By this symbol a program can tell that it does not run on a real device, and that the kernels are built in.
extern "C" __attribute__((visibility("default"))) const int cuzk_emulated_device = 1;

// The byte that stands for memory that nothing has written: a program that gives memory again without freeing it fills it with this.
extern "C" __attribute__((visibility("default"))) uint8_t cuzk_emulated_poison() { return uint8_t(settings.poison); }

API(cuModuleLoadData)(void **module, const void *image) {
    IN_CONTEXT;
    if (!is_image(image)) return INVALID_IMAGE;
    return *module = new Module{current_context->device}, SUCCESS;
}

API(cuModuleLoadDataEx)(void **module, const void *image, unsigned, int *, void **) { return cuModuleLoadData(module, image); }
API(cuModuleLoadFatBinary)(void **module, const void *image) { return cuModuleLoadData(module, image); }

API(cuModuleUnload)(void *module) {
    LOCKED;
    // The driver waits for the device, whose kernels may be the module's.
    finish_device(static_cast<Module *>(module)->device);
    return delete static_cast<Module *>(module), SUCCESS;
}

API(cuModuleGetFunction)(void **function, void *module, const char *name) {
    IN_CONTEXT;
    const auto found = kernels().find(name);
    if (found == kernels().end()) return NOT_FOUND;
    static auto &functions = *new std::map<std::pair<const Kernel *, int>, Function>;
    const int device = static_cast<Module *>(module)->device;
    auto &made = functions.try_emplace({&found->second, device}, Function{&found->second, device}).first->second;
    return *function = &made, SUCCESS;
}

API(cuModuleGetGlobal_v2)(DevicePointer *, size_t *, void *, const char *) { return NOT_FOUND; }

// CUfunction_attribute.
enum { MAX_THREADS_PER_BLOCK = 0, NUM_REGS = 4, MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

API(cuFuncGetAttribute)(int *value, int attribute, void *function) {
    LOCKED;
    const Function &f = *static_cast<Function *>(function);
    *value = attribute == MAX_THREADS_PER_BLOCK           ? int(f.kernel->most_threads)
             : attribute == NUM_REGS                      ? 64
             : attribute == MAX_DYNAMIC_SHARED_SIZE_BYTES ? int(f.most_dynamic_shared)
                                                          : 0;
    return SUCCESS;
}

API(cuFuncSetAttribute)(void *function, int attribute, int value) {
    LOCKED;
    if (attribute != MAX_DYNAMIC_SHARED_SIZE_BYTES) return SUCCESS;
    if (value < 0 || unsigned(value) > MOST_DYNAMIC_SHARED) return INVALID_VALUE;
    return static_cast<Function *>(function)->most_dynamic_shared = unsigned(value), SUCCESS;
}

API(cuFuncSetCacheConfig)(void *, int) { return SUCCESS; }

API(cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                    unsigned block_z, unsigned dynamic_shared, void *handle, void **parameters, void **extra) {
    IN_CONTEXT;
    if (extra) return NOT_SUPPORTED;
    const Function &f = *static_cast<Function *>(function);
    Stream *stream = stream_of(handle);
    if (!stream || f.device != stream->device) return INVALID_HANDLE;
    const dim3 grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
    if (!may_launch(f, grid, block, dynamic_shared)) return INVALID_VALUE;
    return launch(f, grid, block, dynamic_shared, *stream, parameters);
}

API(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, void *function, int threads, size_t dynamic_shared) {
    LOCKED;
    const Function &f = *static_cast<Function *>(function);
    if (threads <= 0) return INVALID_VALUE;
    const int by_threads = int(THREADS_PER_MULTIPROCESSOR) / std::max(threads, 32);
    const int by_shared = int(SHARED_PER_MULTIPROCESSOR / (dynamic_shared + 1024));
    return *blocks = unsigned(threads) > f.kernel->most_threads ? 0 : std::min({by_threads, by_shared, 32}), SUCCESS;
}

API(cuOccupancyMaxPotentialBlockSize)(int *grid, int *threads, void *function, size_t (*)(int), size_t, int limit) {
    LOCKED;
    const int most = int(static_cast<Function *>(function)->kernel->most_threads);
    *threads = limit > 0 ? std::min(limit, most) : most;
    return *grid = 4 * int(THREADS_PER_MULTIPROCESSOR) / *threads, SUCCESS;
}

API(cuOccupancyAvailableDynamicSMemPerBlock)(size_t *bytes, void *, int blocks, int) {
    if (blocks <= 0) return INVALID_VALUE;
    const size_t share = SHARED_PER_MULTIPROCESSOR / unsigned(blocks);
    return *bytes = share > 1024 ? share - 1024 : 0, SUCCESS;
}
