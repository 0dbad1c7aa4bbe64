//! The loop over tiles: a window of bits and a byte addition per term of a group, field arithmetic for what is left.

use blstrs::Scalar as Fr;

use super::accumulator::Accumulator;
use super::lanes::Lanes;
use super::operands::{every_second, Operands};
use crate::constraints::columns::{ColumnKind, RelativeColumn};
use crate::constraints::row_values::{RowValues, Wide};
use crate::constraints::tables::{FieldEntry, FieldTerm, Group, GroupTerm, Instance, Placed, Tables};

/// Consecutive instances, and where the values of their rows go. Pairs are A's and B's.
pub(super) struct Piece<'a> {
    pub instances: &'a [Instance],
    pub small: [&'a mut [i8]; 2],
    pub wide: [Wide; 2],
}

/// Evaluates the rows of a piece.
///
/// # Safety
/// The tables are those of constraints that passed their check; the witness behind `operands` has as many inputs and aux
/// variables as they; the processor has what `L` needs.
#[inline(always)]
pub(super) unsafe fn evaluate<L: Lanes>(tables: &Tables, operands: Operands, piece: &mut Piece) {
    let start = piece.instances.first().map_or(0, |instance| instance.row as usize);
    let Piece { instances, small, wide } = piece;
    tables.for_each_tile(instances, |placed| {
        let first = placed.row - start;
        for matrix in 0..2 {
            let values = &mut small[matrix][first..first + usize::from(placed.tile.rows)];
            // SAFETY: the caller's.
            unsafe { evaluate_tile::<L>(tables, operands, &placed, matrix, values, &mut wide[matrix]) }
        }
    });
}

/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn evaluate_tile<L: Lanes>(
    tables: &Tables,
    operands: Operands,
    placed: &Placed,
    matrix: usize,
    values: &mut [i8],
    wide: &mut Wide,
) {
    let groups = tables.tile_groups(placed.tile, matrix);
    let mut lanes = L::zero();
    let mut elements = 0;
    for group in groups {
        if group.constant != 0 {
            lanes.add(group.rows, group.constant);
        }
        for term in tables.group_terms(group) {
            let (bits, mask) = spread::<L>(operands.window(column(term, placed.aux)), term.stride, group.rows);
            lanes.add(bits, term.coefficient);
            elements |= mask;
        }
    }
    lanes.store(values);
    let entries = tables.tile_entries(placed.tile, matrix);
    if elements != 0 || !entries.is_empty() {
        evaluate_fields(tables, operands, placed, (groups, elements), entries, values, wide);
    }
}

/// Column of a group's term for the group's first row, `aux` variables being there at the tile.
#[inline(always)]
fn column(term: &GroupTerm, aux: usize) -> usize {
    let base = if term.absolute == 0 { aux } else { 0 };
    (base as isize + term.offset as isize) as usize
}

/// Each row's operand in its lane.
///
/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn spread<L: Lanes>((bits, mask): (u64, u64), stride: u8, rows: u64) -> (u64, u64) {
    let place = |window: u64| match stride {
        1 => L::deposit(window, rows),
        0 => rows & (window & 1).wrapping_neg(),
        _ => L::deposit(every_second(window), rows),
    };
    (place(bits), if mask == 0 { 0 } else { place(mask) })
}

/// The rows of a tile that are no bytes: entries, and the rows of groups that have an element among their operands.
///
/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn evaluate_fields(
    tables: &Tables,
    operands: Operands,
    placed: &Placed,
    (groups, mut elements): (&[Group], u64),
    entries: &[FieldEntry],
    values: &mut [i8],
    wide: &mut Wide,
) {
    let mut entries = entries.iter().peekable();
    loop {
        let next = entries.peek().map_or(64, |entry| u32::from(entry.row));
        let row = elements.trailing_zeros().min(next);
        if row == 64 {
            return;
        }
        let value = if row == next {
            entries.next().map(|entry| field_row(tables, operands, placed, entry))
        } else {
            elements &= elements - 1;
            let group = groups.iter().find(|group| group.rows >> row & 1 == 1);
            group.map(|group| group_row(tables, operands, placed, group, row))
        };
        // Neither is ever missing: `elements` has rows of groups alone.
        let Some(value) = value else { return };
        values[row as usize] = RowValues::WIDE;
        wide.places.push((placed.row + row as usize) as u32);
        wide.elements.push(value);
    }
}

/// A group's row in the field.
///
/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn group_row(tables: &Tables, operands: Operands, placed: &Placed, group: &Group, row: u32) -> Fr {
    let terms = tables.group_terms(group);
    let place = (group.rows & ((1 << row) - 1)).count_ones() as usize;
    let mut sum = 0i64;
    let mut value: Option<Fr> = None;
    for term in terms {
        let column = column(term, placed.aux) + place * usize::from(term.stride);
        let (bits, mask) = operands.window(column);
        if mask & 1 == 0 {
            sum += i64::from(term.coefficient) * (bits & 1) as i64;
            continue;
        }
        let element = operands.element(column);
        let scaled = match term.coefficient {
            1 => *element,
            -1 => -element,
            other => *element * integer(other.into()),
        };
        value = Some(value.map_or(scaled, |value| value + scaled));
    }
    let sum = sum + i64::from(group.constant);
    match value {
        Some(value) if sum == 0 => value,
        Some(value) => value + integer(sum),
        None => integer(sum),
    }
}

/// A byte's worth as an element.
#[inline(always)]
fn integer(value: i64) -> Fr {
    RowValues::table()[usize::from(value as u8)]
}

/// A field row in its place.
///
/// # Safety
/// As [`evaluate`].
#[inline(always)]
unsafe fn field_row(tables: &Tables, operands: Operands, placed: &Placed, entry: &FieldEntry) -> Fr {
    let (aux, inputs) = (placed.aux + usize::from(entry.aux), placed.inputs + usize::from(entry.inputs));
    let mut sum = Accumulator::new();
    for term in tables.field_row(entry.field_row) {
        let coefficient = &tables.coefficients[term.coefficient()];
        let distance = term.column.distance();
        match term.column.kind() {
            ColumnKind::AuxBack => add_term(&mut sum, operands, *term, coefficient, aux - 1 - distance),
            ColumnKind::Aux => add_term(&mut sum, operands, *term, coefficient, distance),
            ColumnKind::InputBack => sum.add_product(coefficient, &operands.inputs[inputs - 1 - distance]),
            ColumnKind::Input if term.column == RelativeColumn::ONE => sum.add(coefficient),
            ColumnKind::Input => sum.add_product(coefficient, &operands.inputs[distance]),
        }
    }
    sum.total()
}

/// A term of aux variables.
///
/// # Safety
/// As [`evaluate`]; `column` is the term's first.
#[inline(always)]
unsafe fn add_term(sum: &mut Accumulator, operands: Operands, term: FieldTerm, coefficient: &Fr, column: usize) {
    let (mut bits, mut mask) = operands.window(column);
    let length = term.length();
    if length == 1 {
        if mask & 1 == 1 {
            add_element(sum, operands.element(column), term, coefficient);
        } else if bits & 1 == 1 {
            sum.add(coefficient);
        }
        return;
    }
    if term.stride() == 2 {
        (bits, mask) = (every_second(bits), every_second(mask));
    }
    // At most 63 of them.
    let run = (1 << length) - 1;
    if mask & run == 0 {
        // The bits, lowest first, are the number that the coefficient is taken times.
        match bits & run {
            0 => {}
            1 => sum.add(coefficient),
            times => sum.add_times(coefficient, times),
        }
        return;
    }
    let mut coefficient = *coefficient;
    for i in 0..length {
        if mask >> i & 1 == 1 {
            sum.add_product(&coefficient, operands.element(column + i * term.stride()));
        } else if bits >> i & 1 == 1 {
            sum.add(&coefficient);
        }
        coefficient = coefficient + coefficient;
    }
}

/// An element times its coefficient, of which 1 and -1 are the first two.
#[inline(always)]
fn add_element(sum: &mut Accumulator, element: &Fr, term: FieldTerm, coefficient: &Fr) {
    match term.coefficient() {
        0 => sum.add(element),
        1 => sum.subtract(element),
        _ => sum.add_product(coefficient, element),
    }
}
