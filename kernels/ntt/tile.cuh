// One pass of a transform: some levels of its tree, done on tiles of up to 2^10 elements in shared memory.
//
// A vector of 2^log_size elements is at depth 0 one block; each level halves the blocks. A pass takes the blocks at its
// depth through `levels` levels. Rows of such a block are its 2^levels equal parts, columns what is at the same place in
// all rows: each column is transformed by itself. A tile holds 2^log_columns neighbouring columns of one block, row by row.
// In the last pass of the inverse transform, and the first of the forward one, a block is one column.
//
// The inverse transform evaluates V = sum of values[i] X^i at the powers of 1/w, w being the root of order 2^log_size.
// Block B at depth s holds V modulo X^N - w^(-N rev(B)), where N is the block's length and rev reverses s bits. With
// X^M = w^(-M rev(B)) Y, M being the length of a row, what a column has to be taken modulo is Y^rows - 1, whatever B is:
// so a pass multiplies row p by w^(-M rev(B) p), and then all blocks' levels take the same few roots, those that begin
// every larger table in bit-reversed order. The forward transform undoes all that in reverse.
#pragma once

#include "../ff/field.cuh"

namespace ntt {

constexpr uint32_t MAX_LOG_TILE = 10;
constexpr uint32_t TILE = 1u << MAX_LOG_TILE;
// Four elements a thread.
constexpr uint32_t THREADS = TILE / 4;

// The lowest `bits` of i, at most 32, reversed; i has no others.
DEVICE uint32_t reversed(uint32_t i, uint32_t bits) { return bits == 0 ? 0 : __brev(i) >> (32 - bits); }

// Which pass. log_size <= 28; depth + levels + log_columns <= log_size; levels + log_columns <= MAX_LOG_TILE.
struct Pass {
    uint32_t log_size, depth, levels, log_columns;

    __device__ __forceinline__ uint32_t log_tile() const { return levels + log_columns; }
    // Of a row's length.
    __device__ __forceinline__ uint32_t log_row() const { return log_size - depth - levels; }
    // The row of a tile's element.
    __device__ __forceinline__ uint32_t row(uint32_t i) const { return i >> log_columns; }
    // The block, counted from the vector's start, that a tile belongs to.
    __device__ __forceinline__ uint32_t block(uint32_t tile) const { return tile >> (log_row() - log_columns); }

    // Place in the vector of a tile's element.
    __device__ __forceinline__ uint64_t position(uint32_t tile, uint32_t i) const {
        const uint32_t tiles = (1u << (log_row() - log_columns)) - 1, columns = (1u << log_columns) - 1;
        const uint64_t first = (uint64_t(block(tile)) << (log_size - depth)) + (uint64_t(tile & tiles) << log_columns);
        return first + (uint64_t(row(i)) << log_row()) + (i & columns);
    }

    // What an element's row is multiplied by, as a power of g, w's square root: g^2 is w, so 2 M rev(B) p of the above.
    // With a twist of 1 it is M rev(B) (2 p + 1): in blocks of one column that is g^rev(B) more. Below 2^(log_size + 1).
    __device__ __forceinline__ uint32_t exponent(uint32_t tile, uint32_t i, uint32_t twist) const {
        return (reversed(block(tile), depth) << log_row()) * (2 * row(i) + twist);
    }
};

// Powers of g, a root of order 2^(log_size + 1), from two tables of about the root of that size, one behind the other:
// g^i for i < 2^split, and g^(i 2^split).
struct Powers {
    const Fr* tables;
    uint32_t log_size;

    __device__ __forceinline__ Fr power(uint32_t exponent) const {
        const uint32_t split = (log_size + 2) / 2, low = (1u << split) - 1;
        const Fr x = tables[exponent & low], y = tables[low + 1 + (exponent >> split)];
        return x * y;
    }
    __device__ __forceinline__ Fr inverse_power(uint32_t exponent) const {
        const uint32_t order = 2u << log_size;
        return power((order - exponent) & (order - 1));
    }
};

// A tile in shared memory: the low halves of the elements, then the high ones, so that neighbours are 16 bytes apart.
// Within that, places are permuted so that the eight lanes that are served at once meet eight different groups of banks
// whichever two bits of the index a step runs over: each step's threads take elements 1, 2, 4, ... apart.
struct Shared {
    uint4* halves;

    __device__ __forceinline__ static uint32_t place(uint32_t i) { return i ^ (i >> 3 & 1) * 3 ^ (i >> 4 & 1) * 6; }
    __device__ __forceinline__ Fr load(uint32_t i) const {
        const uint4 low = halves[place(i)], high = halves[TILE + place(i)];
        return Fr{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    }
    __device__ __forceinline__ void store(uint32_t i, const Fr& x) const {
        halves[place(i)] = make_uint4(x.limbs[0], x.limbs[1], x.limbs[2], x.limbs[3]);
        halves[TILE + place(i)] = make_uint4(x.limbs[4], x.limbs[5], x.limbs[6], x.limbs[7]);
    }
};

// (x, y) to (x + y w, x - y w), w being the block's root of `roots`, which are inverses; that of block 0 is 1.
DEVICE void split_pair(Fr& x, Fr& y, const Fr* roots, uint32_t block) {
    if (block != 0) {
        const Fr w = roots[block];
        y = y * w;
    }
    const Fr difference = x - y;
    x = x + y;
    y = difference;
}

// (x, y) to (x + y, (x - y) w): undoes split_pair but for a factor of 2; `roots` are no inverses.
DEVICE void merge_pair(Fr& x, Fr& y, const Fr* roots, uint32_t block) {
    Fr difference = x - y;
    x = x + y;
    if (block != 0) {
        const Fr w = roots[block];
        difference = difference * w;
    }
    y = difference;
}

// Levels `level` and `level + 1` of each column, four elements of which are in registers at a time.
template <bool INVERSE>
DEVICE void two_levels(const Pass& pass, const Shared& shared, const Fr* roots, uint32_t level) {
    const uint32_t shift = pass.log_tile() - level - 2;
    for (uint32_t i = threadIdx.x; i < (1u << pass.log_tile()) / 4; i += blockDim.x) {
        const uint32_t block = i >> shift, first = (block << (shift + 2)) + (i & ((1u << shift) - 1));
        Fr x[4];
#pragma unroll
        for (int q = 0; q < 4; q++) x[q] = shared.load(first + (uint32_t(q) << shift));
        if (INVERSE) {
            split_pair(x[0], x[2], roots, block);
            split_pair(x[1], x[3], roots, block);
            split_pair(x[0], x[1], roots, 2 * block);
            split_pair(x[2], x[3], roots, 2 * block + 1);
        } else {
            merge_pair(x[0], x[1], roots, 2 * block);
            merge_pair(x[2], x[3], roots, 2 * block + 1);
            merge_pair(x[0], x[2], roots, block);
            merge_pair(x[1], x[3], roots, block);
        }
#pragma unroll
        for (int q = 0; q < 4; q++) shared.store(first + (uint32_t(q) << shift), x[q]);
    }
    __syncthreads();
}

// The last level of each column.
template <bool INVERSE>
DEVICE void last_level(const Pass& pass, const Shared& shared, const Fr* roots) {
    const uint32_t shift = pass.log_columns;
    for (uint32_t i = threadIdx.x; i < (1u << pass.log_tile()) / 2; i += blockDim.x) {
        const uint32_t block = i >> shift, first = (block << (shift + 1)) + (i & ((1u << shift) - 1));
        Fr x = shared.load(first), y = shared.load(first + (1u << shift));
        if (INVERSE) {
            split_pair(x, y, roots, block);
        } else {
            merge_pair(x, y, roots, block);
        }
        shared.store(first, x);
        shared.store(first + (1u << shift), y);
    }
    __syncthreads();
}

// All levels of a tile that is in shared memory: its columns from natural to bit-reversed order. Ends with a barrier.
DEVICE void inverse_levels(const Pass& pass, const Shared& shared, const Fr* inverse_roots) {
    for (uint32_t level = 0; level + 2 <= pass.levels; level += 2) two_levels<true>(pass, shared, inverse_roots, level);
    if (pass.levels & 1) last_level<true>(pass, shared, inverse_roots);
}

// And back, times the number of rows.
DEVICE void forward_levels(const Pass& pass, const Shared& shared, const Fr* roots) {
    if (pass.levels & 1) last_level<false>(pass, shared, roots);
    for (uint32_t level = pass.levels & ~1u; level != 0; level -= 2) {
        two_levels<false>(pass, shared, roots, level - 2);
    }
}

// Calls `f(i, place in the vector)` for each element of this block's tile, neighbours by neighbouring threads. No barrier.
template <class F>
DEVICE void for_each_element(const Pass& pass, F f) {
    for (uint32_t i = threadIdx.x; i < 1u << pass.log_tile(); i += blockDim.x) f(i, pass.position(blockIdx.x, i));
}

}  // namespace ntt
