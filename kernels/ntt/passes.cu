// Passes of the transforms over Fr, in place, of 2^0 to 2^28 elements; one tile a block. See tile.cuh for what a pass, a
// tile, a row and the roots are. Tables, made by src/backend/cuda/ntt.rs:
//     roots           that of block b of any level: as exp(pi i x), x being b's bits behind the point, the lowest first
//     inverse_roots   their inverses
//     powers          the two tables of ntt::Powers
//     scale           factors of the rows: that of row p is scale[p & scale_mask]

#include "tile.cuh"

// Inverse transform, a pass: x = from * factors, where there are `factors`; each row by its power of 1/g (with its twist, see
// ntt::Pass); the levels by pairs with a barrier after each pair; times the row's scale; and minuend - x, where there is a
// `minuend`. Natural to bit-reversed order over all passes, depth ascending. Writes `to`; reads it where `from` is null;
// where `scale` is, there is none. One multiplication a pair of elements and level; four elements a thread in registers.
extern "C" __global__ void __launch_bounds__(256, 3)
    ntt_inverse_pass(const Fr* from, const Fr* factors, Fr* to, const Fr* inverse_roots, const Fr* powers, const Fr* scale,
                     uint32_t scale_mask, const Fr* minuend, uint32_t log_size, uint32_t depth, uint32_t levels,
                     uint32_t log_columns, uint32_t twist) {
    __shared__ uint4 halves[2 * ntt::TILE];
    const ntt::Shared shared{halves};
    const ntt::Pass pass{log_size, depth, levels, log_columns};
    const ntt::Powers table{powers, log_size};
    const Fr* const source = from ? from : to;
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) {
        Fr x = source[at];
        if (factors) {
            const Fr y = factors[at];
            x = x * y;
        }
        if (depth != 0) x = x * table.inverse_power(pass.exponent(blockIdx.x, i, twist));
        shared.store(i, x);
    });
    __syncthreads();
    ntt::inverse_levels(pass, shared, inverse_roots);
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) {
        Fr x = shared.load(i);
        if (scale) {
            const Fr s = scale[pass.row(i) & scale_mask];
            x = x * s;
        }
        if (minuend) {
            const Fr y = minuend[at];
            x = y - x;
        }
        to[at] = x;
    });
}
KERNEL(ntt_inverse_pass, 256)

// Forward transform, a pass, the inverse's steps in reverse: the levels by pairs, smallest blocks first; each row by its power
// of g. Bit-reversed to natural order over all passes, depth descending. Reads and writes `values`. Those that begin a
// transform onto a coset differ: see ntt_inverse_forward_pass.
extern "C" __global__ void __launch_bounds__(256, 3)
    ntt_forward_pass(Fr* values, const Fr* roots, const Fr* powers, uint32_t log_size, uint32_t depth, uint32_t levels,
                     uint32_t log_columns) {
    __shared__ uint4 halves[2 * ntt::TILE];
    const ntt::Shared shared{halves};
    const ntt::Pass pass{log_size, depth, levels, log_columns};
    const ntt::Powers table{powers, log_size};
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) { shared.store(i, values[at]); });
    __syncthreads();
    ntt::forward_levels(pass, shared, roots);
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) {
        Fr x = shared.load(i);
        if (depth != 0) x = x * table.power(pass.exponent(blockIdx.x, i, 0));
        values[at] = x;
    });
}
KERNEL(ntt_forward_pass, 256)

// The last pass of an inverse transform and, on what it makes, the first of a forward one, whose tiles are the same: values
// to those on the coset of g. Coefficient rev(i) is to be taken times g^rev(i): with i = B rows + p that is the p-th root of
// the table, which `scale` has, over 2^log_size, times g^rev(B), which the twist of 1 adds to the powers after the levels. Of
// blocks of one column. Reads and writes `values`. Two multiplications an element more than the levels, and two for powers.
extern "C" __global__ void __launch_bounds__(256, 3)
    ntt_inverse_forward_pass(Fr* values, const Fr* roots, const Fr* inverse_roots, const Fr* powers, const Fr* scale,
                             uint32_t log_size, uint32_t depth, uint32_t levels) {
    __shared__ uint4 halves[2 * ntt::TILE];
    const ntt::Shared shared{halves};
    const ntt::Pass pass{log_size, depth, levels, 0};
    const ntt::Powers table{powers, log_size};
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) {
        Fr x = values[at];
        if (depth != 0) x = x * table.inverse_power(pass.exponent(blockIdx.x, i, 0));
        shared.store(i, x);
    });
    __syncthreads();
    ntt::inverse_levels(pass, shared, inverse_roots);
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t) {
        const Fr s = scale[pass.row(i)];
        shared.store(i, shared.load(i) * s);
    });
    __syncthreads();
    ntt::forward_levels(pass, shared, roots);
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) {
        Fr x = shared.load(i);
        if (depth != 0) x = x * table.power(pass.exponent(blockIdx.x, i, 1));
        values[at] = x;
    });
}
KERNEL(ntt_inverse_forward_pass, 256)

// The last pass of a forward transform, the product of its values with `factors`, and the first pass of the inverse
// transform of that, whose tiles are the same: those at depth 0, where no powers are needed. Reads and writes `values`.
extern "C" __global__ void __launch_bounds__(256, 3)
    ntt_forward_inverse_pass(Fr* values, const Fr* factors, const Fr* roots, const Fr* inverse_roots, uint32_t log_size,
                             uint32_t levels, uint32_t log_columns) {
    __shared__ uint4 halves[2 * ntt::TILE];
    const ntt::Shared shared{halves};
    const ntt::Pass pass{log_size, 0, levels, log_columns};
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) { shared.store(i, values[at]); });
    __syncthreads();
    ntt::forward_levels(pass, shared, roots);
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) {
        const Fr y = factors[at];
        shared.store(i, shared.load(i) * y);
    });
    __syncthreads();
    ntt::inverse_levels(pass, shared, inverse_roots);
    ntt::for_each_element(pass, [&](uint32_t i, uint64_t at) { values[at] = shared.load(i); });
}
KERNEL(ntt_forward_inverse_pass, 256)
