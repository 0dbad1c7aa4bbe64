// The value of one row of a tile: of a group, or by its field row.
#pragma once

#include "tables.cuh"

namespace evaluate {

// The tables that rows are made of.
struct Tables {
    const Group* groups;
    const GroupTerm* group_terms;
    const FieldEntry* entries;
    const uint32_t* field_row_starts;
    const FieldTerm* field_terms;
    // 1 and -1 first.
    const Fr* coefficients;
    // The elements -127 to 127, each at its byte.
    const Fr* integers;

    __device__ __forceinline__ Fr integer(int value) const { return integers[uint8_t(value)]; }
};

// A sum of field elements of which most are never there.
struct Sum {
    Fr value;
    bool empty;

    __device__ __forceinline__ void add(const Fr& x) {
        value = empty ? x : value + x;
        empty = false;
    }
};

// The aux variable that a term names in a group's `place`-th row, where `aux` of them come before the tile.
DEVICE uint32_t column_of(const GroupTerm& term, uint32_t aux, uint32_t place) {
    return (term.absolute ? 0 : aux) + uint32_t(term.offset) + place * term.stride;
}

// Row `row` of a tile, in the group that it belongs to. Bits add up to a byte; elements are rare.
DEVICE Fr group_row(const Tables& tables, const Witness& witness, const Group& group, uint32_t row, uint32_t aux) {
    const uint32_t place = uint32_t(__popcll(group.rows & ((uint64_t(1) << row) - 1)));
    Sum elements{Fr::zero(), true};
    int sum = group.constant;
    for (uint32_t t = 0; t < group.terms; t++) {
        const GroupTerm term = tables.group_terms[group.term + t];
        const uint32_t column = column_of(term, aux, place);
        if (!witness.is_element(column)) {
            sum += witness.is_one(column) ? term.coefficient : 0;
            continue;
        }
        Fr x = witness.element(column);
        if (term.coefficient != 1) {
            const Fr coefficient = tables.integer(term.coefficient);
            x = x * coefficient;
        }
        elements.add(x);
    }
    if (elements.empty || sum != 0) elements.add(tables.integer(sum));
    return elements.value;
}

// Adds a field row's term of aux variables: coefficient * sum over j < length of 2^j z[column + j * stride].
DEVICE void add_run(Sum& sum, const Witness& witness, const FieldTerm& term, Fr coefficient, uint32_t column) {
    const uint32_t length = term.packed >> 24 & 127, stride = 1 + (term.packed >> 31);
    uint64_t bits = Witness::window(witness.bits, column), mask = Witness::window(witness.mask, column);
    if (stride == 2) {
        bits = every_second(bits);
        mask = every_second(mask);
    }
    // At most 63 of them.
    const uint64_t run = (uint64_t(1) << length) - 1;
    bits &= run;
    mask &= run;
    if (mask == 0) {
        if (bits > 1) {
            // The bits, lowest first, are the number that the coefficient is taken times.
            Fr number = Fr::zero();
            number.limbs[0] = uint32_t(bits);
            number.limbs[1] = uint32_t(bits >> 32);
            coefficient = coefficient * Fr::from_canonical(number);
        }
        if (bits != 0) sum.add(coefficient);
        return;
    }
    for (uint32_t j = 0; j < length; j++) {
        if (mask >> j & 1) {
            const Fr x = witness.element(column + j * stride);
            sum.add(coefficient * x);
        } else if (bits >> j & 1) {
            sum.add(coefficient);
        }
        coefficient = coefficient + coefficient;
    }
}

// A field row of a tile, in its place: so many aux variables and inputs being there.
DEVICE Fr field_row(const Tables& tables, const Witness& witness, uint32_t row, uint32_t aux, uint32_t inputs) {
    Sum sum{Fr::zero(), true};
    const uint32_t end = tables.field_row_starts[row + 1];
    for (uint32_t t = tables.field_row_starts[row]; t < end; t++) {
        const FieldTerm term = tables.field_terms[t];
        const Fr coefficient = tables.coefficients[term.packed & 0xffffff];
        const uint32_t kind = term.column >> 30, distance = term.column & 0x3fffffff;
        switch (kind) {
            case 0:
            case 1:
                add_run(sum, witness, term, coefficient, kind == 0 ? aux - 1 - distance : distance);
                break;
            default:
                const uint32_t input = kind == 2 ? inputs - 1 - distance : distance;
                // The first is 1.
                if (input == 0) {
                    sum.add(coefficient);
                } else {
                    const Fr x = witness.inputs[input];
                    sum.add(coefficient * x);
                }
        }
    }
    return sum.value;
}

}  // namespace evaluate
