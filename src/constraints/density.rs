//! Which variables occur in A and B: the prover's queries hold points for these alone.

use super::columns::ColumnKind;
use super::tables::{FieldEntry, Group, Placed, Tables};
use super::validate::Constraints;
use crate::witness::Density;

/// As in [`crate::witness::Assignment`]. (All inputs occur in A, by their own rows.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Densities {
    pub a_aux: Density,
    pub b_input: Density,
    pub b_aux: Density,
}

impl Constraints {
    /// Goes through all tiles once for each matrix: a third of a second for a 32 GiB partition on one thread.
    pub fn densities(&self) -> Densities {
        let ((a_aux, _), (b_aux, b_input)) = rayon::join(|| self.density(0), || self.density(1));
        Densities { a_aux, b_input, b_aux }
    }

    fn density(&self, matrix: usize) -> (Density, Density) {
        let tables = self.tables();
        let (mut aux, mut inputs) = (Bits::new(tables.aux), Bits::new(tables.inputs));
        tables.for_each_tile(&tables.instances, |placed| {
            for group in tables.tile_groups(placed.tile, matrix) {
                mark_group(tables, group, &placed, &mut aux, &mut inputs);
            }
            for entry in tables.tile_entries(placed.tile, matrix) {
                mark_entry(tables, entry, &placed, &mut aux, &mut inputs);
            }
        });
        (Density::from_words(aux.words, tables.aux), Density::from_words(inputs.words, tables.inputs))
    }
}

/// Bits, with a word to spare for windows that begin in the last one.
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64) + 1] }
    }

    /// `mask` from bit `i` on.
    #[inline(always)]
    fn set(&mut self, i: usize, mask: u64) {
        let shift = i % 64;
        self.words[i / 64] |= mask << shift;
        // In two steps: a shift by 64 is none.
        self.words[i / 64 + 1] |= mask >> 1 >> (63 - shift);
    }

    /// `count` bits, 64 at most, from `i` on, `stride` apart.
    #[inline(always)]
    fn set_run(&mut self, i: usize, count: usize, stride: usize) {
        match stride {
            0 => self.set(i, 1),
            1 => self.set(i, !0 >> (64 - count)),
            _ => (0..count).for_each(|j| self.set(i + j * stride, 1)),
        }
    }
}

#[inline(always)]
fn mark_group(tables: &Tables, group: &Group, placed: &Placed, aux: &mut Bits, inputs: &mut Bits) {
    if group.constant != 0 {
        // A constant is a coefficient of ONE.
        inputs.set(0, 1);
    }
    let count = group.rows.count_ones() as usize;
    for term in tables.group_terms(group) {
        let base = if term.absolute == 0 { placed.aux } else { 0 };
        aux.set_run((base as isize + term.offset as isize) as usize, count, term.stride.into());
    }
}

#[inline(always)]
fn mark_entry(tables: &Tables, entry: &FieldEntry, placed: &Placed, aux: &mut Bits, inputs: &mut Bits) {
    let (aux_here, inputs_here) = (placed.aux + usize::from(entry.aux), placed.inputs + usize::from(entry.inputs));
    for term in tables.field_row(entry.field_row) {
        let distance = term.column.distance();
        match term.column.kind() {
            ColumnKind::AuxBack => aux.set_run(aux_here - 1 - distance, term.length(), term.stride()),
            ColumnKind::Aux => aux.set_run(distance, term.length(), term.stride()),
            ColumnKind::InputBack => inputs.set(inputs_here - 1 - distance, 1),
            ColumnKind::Input => inputs.set(distance, 1),
        }
    }
}
