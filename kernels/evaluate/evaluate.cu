// a = A z and b = B z of a compact witness, from the constraints' flat tables.

#include "../threads.cuh"
#include "rows.cuh"

// One warp takes one tile in its place, and each lane two of its 64 rows, of A and then of B. A lane looks for its row's group
// among the tile's, whose loads are the same for all lanes; then all evaluate their rows, of whichever groups, at once. Rows in
// no group are zero; last, lanes take the tile's entries in turn and write those rows over. Relied upon is what
// src/constraints/validate.rs checks: every index is within its array, every column one of the witness's, the tiles' rows
// follow one another below the vectors' length, a row is in one group or entry at most, and a group's values are bytes.
extern "C" __global__ void __launch_bounds__(256, 3)
    evaluate_tiles(const Placement* placements, uint32_t count, const Tile* tiles, const Group* groups,
                   const GroupTerm* group_terms, const FieldEntry* entries, const uint32_t* field_row_starts,
                   const FieldTerm* field_terms, const Fr* coefficients, const Fr* integers, const uint64_t* bits,
                   const uint64_t* mask, const uint32_t* ranks, const Fr* elements, const Fr* inputs, Fr* a, Fr* b) {
    const uint64_t warp = threads::current() / 32;
    const uint32_t lane = threadIdx.x % 32;
    if (warp >= count) return;
    const evaluate::Tables tables{groups, group_terms, entries, field_row_starts, field_terms, coefficients, integers};
    const evaluate::Witness witness{bits, mask, ranks, elements, inputs};
    const Placement placed = placements[warp];
    const Tile tile = tiles[placed.tile];
#pragma unroll 1
    for (int matrix = 0; matrix < 2; matrix++) {
        Fr* const values = (matrix == 0 ? a : b) + placed.row;
        const Group* const own = groups + (matrix == 0 ? tile.group[0] : tile.group[1]);
        const uint32_t group_count = matrix == 0 ? tile.groups[0] : tile.groups[1];
#pragma unroll 1
        for (uint32_t row = lane; row < tile.rows; row += 32) {
            uint32_t g = 0;
            while (g < group_count && (own[g].rows >> row & 1) == 0) g++;
            Fr value = Fr::zero();
            if (g < group_count) value = evaluate::group_row(tables, witness, own[g], row, placed.aux);
            values[row] = value;
        }
        // Other lanes may write the same rows now.
        __syncwarp();
        const uint32_t entry = matrix == 0 ? tile.entry[0] : tile.entry[1];
        const uint32_t entry_count = matrix == 0 ? tile.entries[0] : tile.entries[1];
#pragma unroll 1
        for (uint32_t e = lane; e < entry_count; e += 32) {
            const FieldEntry placed_row = entries[entry + e];
            values[placed_row.row] = evaluate::field_row(tables, witness, placed_row.field_row, placed.aux + placed_row.aux,
                                                         placed.inputs + placed_row.inputs);
        }
    }
}
KERNEL(evaluate_tiles, 256)
