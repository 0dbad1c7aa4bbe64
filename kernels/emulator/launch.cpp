#include "launch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "block.h"
#include "faults.h"
#include "memory.h"
#include "settings.h"

namespace emulator {

namespace {

// Dynamic shared memory, ending at a guard page.
class SharedMemory {
  public:
    explicit SharedMemory(size_t bytes) {
        const size_t page = size_t(sysconf(_SC_PAGESIZE));
        body_ = (bytes + page - 1) / page * page;
        span_ = body_ + page;
        map_ = static_cast<char *>(mmap(nullptr, span_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        valid_ = map_ != MAP_FAILED && (!body_ || mprotect(map_, body_, PROT_READ | PROT_WRITE) == 0);
        start_ = map_ + (body_ - bytes) / 16 * 16;
    }
    ~SharedMemory() {
        if (map_ != MAP_FAILED) munmap(map_, span_);
    }
    SharedMemory(const SharedMemory &) = delete;

    bool valid() const { return valid_; }
    char *start() const { return start_; }
    void poison() { memset(map_, settings.poison, body_); }

  private:
    char *map_, *start_;
    size_t body_, span_;
    bool valid_;
};

// A pointer has to point into memory of the launch's device, or into pinned memory; the end of an allocation, and null, are
// fine as long as nothing is accessed there.
bool parameters_are_sound(const Launch &launch) {
    for (uint32_t i = 0; i < launch.kernel->parameters; i++) {
        if (!launch.kernel->pointers[i]) continue;
        const char *pointer;
        memcpy(&pointer, launch.parameters[i].data(), sizeof pointer);
        if (!pointer) continue;
        const Allocation *a = allocation_of(pointer, 0);
        if (a && (a->device == launch.device || a->device == HOST)) continue;
        bool known = false;
        const std::string where = describe(pointer, known);
        report(("kernel " + std::string(launch.kernel->name) + " on device " + std::to_string(launch.device) + ": parameter " +
                std::to_string(i + 1) + " points " + (known ? "to " + where : "to host memory or nowhere"))
                   .c_str());
        return false;
    }
    return true;
}

// The order of the blocks.
std::vector<uint64_t> block_order(uint64_t count) {
    std::vector<uint64_t> order(count);
    for (uint64_t i = 0; i < count; i++) order[i] = settings.order == Settings::BACKWARD ? count - 1 - i : i;
    if (settings.order == Settings::RANDOM) std::shuffle(order.begin(), order.end(), settings.random);
    return order;
}

void run_blocks(const Launch &launch, SharedMemory &shared) {
    const dim3 &grid = launch.grid;
    Block block{grid, launch.block, {}, shared.start()};
    for (uint64_t i : block_order(uint64_t(grid.x) * grid.y * grid.z)) {
        block.id = {unsigned(i % grid.x), unsigned(i / grid.x % grid.y), unsigned(i / grid.x / grid.y)};
        shared.poison();
        run_block(block);
        if (running.fault) return;
    }
}

}  // namespace

int run(Launch &launch) {
    if (!parameters_are_sound(launch)) return ILLEGAL_ADDRESS;
    SharedMemory shared(launch.dynamic_shared);
    if (!shared.valid()) {
        report("the host has no memory for a block's dynamic shared memory");
        return LAUNCH_FAILED;
    }
    std::vector<void *> parameters;
    for (auto &bytes : launch.parameters) parameters.push_back(bytes.data());
    running = {launch.kernel, parameters.data(), 0};
    catch_signals();
    {
        Opened memory(launch.device);
        run_blocks(launch, shared);
        report_signal();
        if (const Allocation *a = written_beside(launch.device); a && !running.fault) {
            report(("kernel " + std::string(launch.kernel->name) + " wrote just beside an allocation of " +
                    std::to_string(a->size) + " bytes of device " + std::to_string(a->device))
                       .c_str());
            running.fault = ILLEGAL_ADDRESS;
        }
    }
    const int result = running.fault;
    running = {};
    return result;
}

}  // namespace emulator
