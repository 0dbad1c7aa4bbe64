// The index arithmetic of the evaluation on its own, for tests at sizes that are not allocated.

#include "../threads.cuh"
#include "rows.cuh"

// For each of `count` threads of blocks of 256, and tiles that stand behind rows[i] rows and aux[i] variables, five numbers to `out`:
// the placement that the thread's warp takes; the byte offset of the tile's first row; the variable that a term of this offset and
// stride names in a group's 64th row; and the byte offsets of its bit's word and of that word's rank.
extern "C" __global__ void __launch_bounds__(256)
    evaluate_places(const uint32_t* blocks, const uint32_t* threads_in, const uint32_t* rows, const uint32_t* aux, uint64_t* out,
                    uint32_t count, uint32_t term_offset, uint32_t stride) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const GroupTerm term{int32_t(term_offset), 1, uint8_t(stride), 0, 0};
    const uint32_t column = evaluate::column_of(term, aux[i], 63);
    const auto offset = [](const void* address) { return reinterpret_cast<uint64_t>(address); };
    out[5 * i] = threads::number(blocks[i], 256, threads_in[i]) / 32;
    out[5 * i + 1] = offset(static_cast<const Fr*>(nullptr) + rows[i]);
    out[5 * i + 2] = column;
    out[5 * i + 3] = offset(evaluate::Witness::item(static_cast<const uint64_t*>(nullptr), column));
    out[5 * i + 4] = offset(evaluate::Witness::item(static_cast<const uint32_t*>(nullptr), column));
}
KERNEL(evaluate_places, 256)
