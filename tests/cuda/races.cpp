// The product's kernels whose threads share memory, for kernels/emulator/tsan.sh: what they compute is checked by tests/cuda; here
// ThreadSanitizer looks on. Every vector is zeros: no address depends on a value.
#include "../../kernels/emulator/program.h"

using namespace emulator::program;

// Elements of Fr.
static std::vector<uint32_t> zeros(size_t count) { return std::vector<uint32_t>(8 * count); }

// A transform of 2^11 elements: a pass of one level on 512 columns, then one of ten levels on one.
static constexpr uint32_t LOG_SIZE = 11, TILES = 2, THREADS = 256;
struct Pass {
    uint32_t depth, levels, log_columns;
};
static constexpr Pass COLUMNS{0, 1, 9}, LAST{1, 10, 0};

CASE(ntt_inverse_pass) {
    Buffer<uint32_t> values(zeros(1 << LOG_SIZE)), roots(zeros(1 << 10)), powers(zeros(1 << 8));
    for (const Pass &pass : {COLUMNS, LAST}) {
        launch("ntt_inverse_pass", TILES, THREADS, 0, (uint32_t *)nullptr, values.get(), values.get(), roots.get(), powers.get(),
               roots.get(), uint32_t(0), (uint32_t *)nullptr, LOG_SIZE, pass.depth, pass.levels, pass.log_columns, uint32_t(1));
    }
}

CASE(ntt_forward_pass) {
    Buffer<uint32_t> values(zeros(1 << LOG_SIZE)), roots(zeros(1 << 10)), powers(zeros(1 << 8));
    for (const Pass &pass : {LAST, COLUMNS}) {
        launch("ntt_forward_pass", TILES, THREADS, 0, values.get(), roots.get(), powers.get(), LOG_SIZE, pass.depth, pass.levels,
               pass.log_columns);
    }
}

CASE(ntt_inverse_forward_pass) {
    Buffer<uint32_t> values(zeros(1 << LOG_SIZE)), roots(zeros(1 << 10)), powers(zeros(1 << 8));
    launch("ntt_inverse_forward_pass", TILES, THREADS, 0, values.get(), roots.get(), roots.get(), powers.get(), roots.get(),
           LOG_SIZE, LAST.depth, LAST.levels);
}

CASE(ntt_forward_inverse_pass) {
    Buffer<uint32_t> values(zeros(1 << LOG_SIZE)), roots(zeros(1 << 10));
    launch("ntt_forward_inverse_pass", TILES, THREADS, 0, values.get(), values.get(), roots.get(), roots.get(), LOG_SIZE,
           COLUMNS.levels, COLUMNS.log_columns);
}

CASE(msm_scan) {
    constexpr uint32_t COUNT = 5000, SCANNED = 3;
    Buffer<uint32_t> sizes(std::vector<uint32_t>(COUNT, 1));
    Buffer<uint64_t> starts{std::vector<uint64_t>(COUNT + 1)}, tiles{std::vector<uint64_t>(SCANNED + 1)};
    launch("msm_scan_tiles", SCANNED, 256, 0, sizes.get(), starts.get(), tiles.get(), COUNT);
    launch("msm_scan_sums", 1, 256, 0, tiles.get(), SCANNED);
    launch("msm_scan_add", (COUNT + 256) / 256, 256, 0, starts.get(), tiles.get(), COUNT);
}
