// The kernels of correct.cu and faulty.cu for kernels/emulator/tsan.sh: each case launches one on small inputs. Results are
// checked by tests/emulator.rs; here ThreadSanitizer looks on.
#include "../../kernels/emulator/program.h"

using namespace emulator::program;

static std::vector<uint32_t> ones(size_t count) { return std::vector<uint32_t>(count, 1); }

CASE(vector_add) {
    Buffer<uint32_t> a(ones(1000)), b(ones(1000)), sum(ones(1000));
    launch("vector_add", 8, 128, 0, a.get(), b.get(), sum.get(), uint32_t(1000));
}

CASE(block_sum) {
    Buffer<uint32_t> in(ones(1000)), sums(ones(4));
    launch("block_sum", 4, 256, 0, in.get(), sums.get(), uint32_t(1000));
}

CASE(reverse) {
    Buffer<uint32_t> in(ones(192)), out(ones(192));
    launch("reverse", 2, 96, 4 * 96, in.get(), out.get());
}

CASE(warp_sum) {
    Buffer<uint64_t> in(std::vector<uint64_t>(256, 3)), sums(std::vector<uint64_t>(8));
    Buffer<uint32_t> odd(ones(8)), agree(ones(8));
    launch("warp_sum", 2, 128, 0, in.get(), sums.get(), odd.get(), agree.get());
}

CASE(half_warps) {
    Buffer<uint32_t> in(ones(64)), out(ones(64));
    launch("half_warps", 1, 64, 0, in.get(), out.get());
}

CASE(long_add) {
    Buffer<uint32_t> a(ones(512)), b(ones(512)), sums(ones(512)), differences(ones(512)), ends(ones(128));
    launch("long_add", 2, 32, 0, a.get(), b.get(), sums.get(), differences.get(), ends.get());
}

CASE(count) {
    Buffer<uint32_t> in(ones(384)), counts(ones(10));
    launch("count", 4, 96, 0, in.get(), counts.get());
}

// A race in each that starts with `race_`.
CASE(race_lacks_barrier) {
    Buffer<uint32_t> in(ones(64)), out(ones(64));
    launch("lacks_barrier", 1, 64, 0, in.get(), out.get());
}

CASE(race_loses_updates) {
    Buffer<uint32_t> sum(ones(1));
    launch("loses_updates", 1, 64, 0, sum.get());
}

CASE(race_lacks_syncwarp) {
    Buffer<uint32_t> out(ones(32));
    launch("lacks_syncwarp", 1, 32, 0, out.get());
}
