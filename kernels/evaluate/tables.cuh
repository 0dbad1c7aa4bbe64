// The constraints' flat arrays and the compact witness, as the host has them: the structures are those of the same names in
// src/constraints/tables.rs, which says what they mean; the witness's arrays are those of src/witness/compact.rs.
#pragma once

#include "../ff/field.cuh"

struct Placement {
    uint32_t tile, row, aux, inputs;
};
struct alignas(8) Tile {
    uint32_t aux, inputs, group[2], entry[2];
    uint8_t groups[2], entries[2], rows, unused[3];
};
struct alignas(8) Group {
    uint64_t rows;
    uint32_t term;
    uint8_t terms;
    int8_t constant;
    uint16_t unused;
};
struct GroupTerm {
    int32_t offset;
    int8_t coefficient;
    uint8_t stride, absolute, unused;
};
struct FieldEntry {
    uint32_t field_row;
    uint16_t aux;
    uint8_t inputs, row;
};
struct FieldTerm {
    uint32_t column, packed;
};
static_assert(sizeof(Placement) == 16 && sizeof(Tile) == 32 && sizeof(Group) == 16, "as in src/constraints/tables.rs");
static_assert(sizeof(GroupTerm) == 8 && sizeof(FieldEntry) == 8 && sizeof(FieldTerm) == 8, "as in src/constraints/tables.rs");

namespace evaluate {

// Zero words before and after those of the variables.
constexpr uint32_t PADDING = 2;

// The aux variables: one bit each, or an element where the mask has a bit.
struct Witness {
    const uint64_t *bits, *mask;
    const uint32_t* ranks;
    const Fr *elements, *inputs;

    // Of an array that has an item for each word of variables: the one of variable `column`.
    template <typename T>
    __device__ __forceinline__ static const T* item(const T* words, uint32_t column) {
        return words + (PADDING + column / 64);
    }

    __device__ __forceinline__ static bool bit(const uint64_t* words, uint32_t column) {
        return *item(words, column) >> (column % 64) & 1;
    }
    __device__ __forceinline__ bool is_one(uint32_t column) const { return bit(bits, column); }
    __device__ __forceinline__ bool is_element(uint32_t column) const { return bit(mask, column); }

    // Of the 64 variables from `column` on, which is one of them: their bits in `words`; past the last variable zeros.
    __device__ __forceinline__ static uint64_t window(const uint64_t* words, uint32_t column) {
        const uint64_t* const word = item(words, column);
        const uint32_t shift = column % 64;
        // In two steps: a shift by 64 is none.
        return word[0] >> shift | word[1] << 1 << (63 - shift);
    }

    // The value of a variable that is an element.
    __device__ __forceinline__ Fr element(uint32_t column) const {
        const uint64_t below = *item(mask, column) & ((uint64_t(1) << (column % 64)) - 1);
        return elements[*item(ranks, column) + uint32_t(__popcll(below))];
    }
};

// Bits 0, 2, 4 and so on, moved together.
DEVICE uint64_t every_second(uint64_t bits) {
    uint64_t x = bits & 0x5555555555555555;
    x = (x | x >> 1) & 0x3333333333333333;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x >> 4) & 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    return (x | x >> 16) & 0x00000000ffffffff;
}

}  // namespace evaluate
