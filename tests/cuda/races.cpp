// The product's kernels whose threads share memory, for kernels/emulator/tsan.sh: what they compute is checked by tests/cuda; here
// ThreadSanitizer looks on. Vectors are zeros where no address depends on a value.
#include "../../kernels/emulator/program.h"
#include "../../kernels/evaluate/tables.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace emulator::program;

// Elements of Fr.
static std::vector<uint32_t> zeros(size_t count) { return std::vector<uint32_t>(8 * count); }

// A case that comes to nothing to race for must not pass.
static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static bool is_zero(const std::vector<uint32_t> &words, size_t item, size_t length) {
    const auto begin = words.begin() + item * length;
    return std::all_of(begin, begin + length, [](uint32_t word) { return word == 0; });
}

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

// Scalars of which many have the same digits: the threads of a block add to the same buckets.
CASE(msm_count_and_scatter) {
    constexpr uint32_t COUNT = 300, BITS = 4, WINDOWS = 65, BUCKETS = WINDOWS << (BITS - 1);
    std::vector<uint32_t> scalars = zeros(COUNT);
    for (uint32_t i = 0; i < COUNT; i++) scalars[8 * i] = 1 + i % 3;
    Buffer<uint32_t> elements(scalars), sizes{std::vector<uint32_t>(BUCKETS)};
    uint32_t *const none = nullptr;
    launch("msm_count", (COUNT + 255) / 256, 256, 0, elements.get(), none, uint64_t(0), uint32_t(0), COUNT, BITS, WINDOWS,
           sizes.get());
    std::vector<uint64_t> begins, ends;
    uint64_t total = 0;
    for (uint32_t size : sizes.download()) {
        begins.push_back(total);
        ends.push_back(total += size);
    }
    require(total > 30 * COUNT, "msm_count has counted no digits");
    Buffer<uint64_t> starts(begins), entries{std::vector<uint64_t>(total)};
    launch("msm_scatter", (COUNT + 255) / 256, 256, 0, elements.get(), none, none, uint64_t(0), uint32_t(0), COUNT, BITS, WINDOWS,
           starts.get(), entries.get());
    require(starts.download() == ends, "msm_scatter has not filled the buckets");
}

// Runs of 1 to 13 entries, three entries a thread: within one thread, over two, over many. What a launch leaves the next one
// takes, as in src/backend/cuda/msm/buckets.rs, until one thread takes all. Points are any numbers, of `words` words a coordinate.
static void accumulate(const char *add_entries, const char *add_partials, uint32_t words) {
    constexpr uint32_t BUCKETS = 40, BASES = 13, EACH = 3, PARTIALS_EACH = 16;
    std::vector<uint64_t> sorted;
    for (uint64_t bucket = 0; bucket < BUCKETS; bucket++) {
        for (uint32_t i = 0; i < 1 + bucket * 5 % BASES; i++) sorted.push_back(bucket << 32 | i);
    }
    std::vector<uint32_t> points(2 * words * BASES);
    for (uint32_t i = 0; i < BASES; i++) points[2 * words * i] = points[2 * words * i + words] = i + 1;
    uint32_t threads = uint32_t(sorted.size() + EACH - 1) / EACH;
    const auto sums_of = [&](uint32_t count) { return std::vector<uint32_t>(4 * words * count); };
    Buffer<uint64_t> entries(sorted), total{std::vector<uint64_t>{sorted.size()}};
    Buffer<uint32_t> bases(points), buckets(sums_of(BUCKETS));
    Buffer<uint32_t> sums[2] = {Buffer<uint32_t>(sums_of(2 * threads)), Buffer<uint32_t>(sums_of(2 * threads))};
    const std::vector<uint32_t> none(2 * threads);
    Buffer<uint32_t> which[2] = {Buffer<uint32_t>(none), Buffer<uint32_t>(none)};
    require(threads > 64 && threads <= 128, "the entries are not one block's");
    launch(add_entries, 1, 128, 0, entries.get(), total.get(), bases.get(), threads, EACH, buckets.get(), sums[0].get(),
           which[0].get());
    for (int from = 0; threads > 1; from = 1 - from) {
        const uint64_t left = 2 * threads;
        threads = uint32_t(left + PARTIALS_EACH - 1) / PARTIALS_EACH;
        launch(add_partials, 1, 128, 0, sums[from].get(), which[from].get(), left, threads, PARTIALS_EACH, buckets.get(),
               sums[1 - from].get(), which[1 - from].get());
    }
    const std::vector<uint32_t> filled = buckets.download();
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        require(!is_zero(filled, bucket, 4 * words), "a bucket was left empty");
    }
}

CASE(g1_add_entries_and_partials) { accumulate("g1_add_entries", "g1_add_partials", 12); }
CASE(g2_add_entries_and_partials) { accumulate("g2_add_entries", "g2_add_partials", 24); }

// Three warps with a tile each: every row is in a group first, and another lane writes some of the rows over.
CASE(evaluate_tiles) {
    constexpr uint32_t TILES = 3, ROWS = 64, ENTRIES = 40;
    std::vector<Placement> placed;
    for (uint32_t i = 0; i < TILES; i++) placed.push_back({0, ROWS * i, 0, 0});
    std::vector<FieldEntry> rows_of_entries;
    for (uint32_t e = 0; e < ENTRIES; e++) rows_of_entries.push_back({0, 0, 0, uint8_t((7 * e + 1) % ROWS)});
    Buffer<Placement> placements(placed);
    Buffer<Tile> tiles(std::vector<Tile>{{0, 0, {0, 0}, {0, 0}, {1, 1}, {ENTRIES, ENTRIES}, ROWS, {}}});
    Buffer<Group> groups(std::vector<Group>{{~uint64_t(0), 0, 0, 1, 0}});
    Buffer<GroupTerm> group_terms(std::vector<GroupTerm>(1));
    Buffer<FieldEntry> entries(rows_of_entries);
    Buffer<FieldTerm> field_terms(std::vector<FieldTerm>(1));
    // The groups' constant is 1; the entries' field row has no terms, so that it is 0.
    std::vector<uint32_t> numbers = zeros(256);
    numbers[8] = 1;
    Buffer<uint32_t> field_row_starts{std::vector<uint32_t>(2)}, integers(numbers), none(zeros(1));
    Buffer<uint64_t> words{std::vector<uint64_t>(1)};
    Buffer<uint32_t> a(zeros(TILES * ROWS)), b(zeros(TILES * ROWS));
    launch("evaluate_tiles", 1, 256, 0, placements.get(), TILES, tiles.get(), groups.get(), group_terms.get(), entries.get(),
           field_row_starts.get(), field_terms.get(), none.get(), integers.get(), words.get(), words.get(), none.get(), none.get(),
           none.get(), a.get(), b.get());
    for (const std::vector<uint32_t> &values : {a.download(), b.download()}) {
        uint32_t over = 0;
        for (uint32_t row = 0; row < TILES * ROWS; row++) over += is_zero(values, row, 8);
        require(over == TILES * ENTRIES, "the rows are not those of the groups and entries");
    }
}
