//! a = A z and b = B z from the constraints and a compact witness.

mod accumulator;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lanes;
mod operands;
mod tile;

use std::sync::LazyLock;

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::row_values::RowValues;
use super::tables::{part, Instance, Tables, Tile};
use super::validate::Constraints;
use crate::error::{Fault, Result};
use crate::fail;
use crate::processor;
use crate::witness::CompactWitness;
use lanes::Portable;
use operands::Operands;
use tile::Piece;

/// Which instructions evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Any processor.
    Portable,
    /// AVX-512BW with BMI2 and ADX; the portable ones where the processor lacks any of it.
    Avx512,
}

impl Arithmetic {
    /// The best that this processor has and may use.
    pub fn detect() -> Self {
        if Self::avx512_available() {
            Self::Avx512
        } else {
            Self::Portable
        }
    }

    fn avx512_available() -> bool {
        processor::has_avx512_bytes()
    }

    /// # Safety
    /// That of [`tile::evaluate`]; AVX-512 only where it is available.
    unsafe fn evaluate(self, tables: &Tables, operands: Operands, piece: &mut Piece) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => avx512::evaluate_avx512(tables, operands, piece),
                _ => tile::evaluate::<Portable>(tables, operands, piece),
            }
        }
    }
}

/// Pieces for each thread: enough that the last ones to finish are near each other.
const PIECES_PER_THREAD: usize = 8;

/// Threads that can run at once.
static CORES: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

impl Constraints {
    /// The values of A's and B's rows for a witness, on the current rayon pool.
    ///
    /// # Errors
    /// [`Fault::Internal`] where the witness is of another circuit: other numbers of variables, or a first input that is not 1.
    pub fn evaluate(&self, witness: &CompactWitness) -> Result<[RowValues; 2]> {
        let mut values = <[RowValues; 2]>::default();
        self.evaluate_into(witness, Arithmetic::detect(), &mut values)?;
        Ok(values)
    }

    /// The same into values whose memory is used again.
    ///
    /// # Errors
    /// As [`Constraints::evaluate`].
    pub fn evaluate_into(
        &self,
        witness: &CompactWitness,
        arithmetic: Arithmetic,
        [a, b]: &mut [RowValues; 2],
    ) -> Result<()> {
        let tables = self.tables();
        check_witness((tables.inputs, tables.aux), witness)?;
        let arithmetic = if Arithmetic::avx512_available() { arithmetic } else { Arithmetic::Portable };
        let operands = Operands::new(witness);
        let ((a_small, a_wide), (b_small, b_wide)) = (a.reset(tables.rows), b.reset(tables.rows));
        let mut pieces = self.pieces([a_small, b_small]);
        // The lists grow where there was room before.
        if let Some(first) = pieces.first_mut() {
            first.wide = [a_wide, b_wide];
        }
        pieces.par_iter_mut().with_max_len(1).for_each(|piece| {
            // SAFETY: the tables are those of checked constraints, the witness has their variables, and AVX-512 is here.
            unsafe { arithmetic.evaluate(tables, operands, piece) }
        });
        let (a_wide, b_wide) = pieces.into_iter().map(|piece| piece.wide.into()).unzip();
        rayon::join(|| a.finish(a_wide), || b.finish(b_wide));
        Ok(())
    }

    /// The instances in pieces of about equal cost, with the bytes of their rows.
    fn pieces<'a>(&'a self, [mut a, mut b]: [&'a mut [i8]; 2]) -> Vec<Piece<'a>> {
        let instances = &self.tables().instances[..];
        let cost = |instance: &Instance| self.costs()[instance.superchunk as usize];
        let goal = piece_cost(instances.iter().map(cost).sum(), rayon::current_num_threads(), *CORES);
        let mut pieces = Vec::new();
        let (mut rest, mut row) = (instances, 0);
        while !rest.is_empty() {
            let mut spent = 0;
            let taken = rest.iter().take_while(|instance| {
                let more = spent < goal;
                spent += cost(instance);
                more
            });
            let (here, after) = rest.split_at(taken.count());
            let end = after.first().map_or(self.tables().rows, |next| next.row as usize);
            let (a_here, a_after) = a.split_at_mut(end - row);
            let (b_here, b_after) = b.split_at_mut(end - row);
            pieces.push(Piece { instances: here, small: [a_here, b_here], wide: Default::default() });
            (rest, row, a, b) = (after, end, a_after, b_after);
        }
        pieces
    }
}

/// The cost that ends a piece, of `total`: one piece for one thread. For threads that only take turns on the cores there are no
/// more pieces: each of them costs lists of its own, and a thread that must be woken.
fn piece_cost(total: u64, threads: usize, cores: usize) -> u64 {
    let count = if threads == 1 { 1 } else { threads.min(cores) * PIECES_PER_THREAD };
    total.div_ceil(count.max(1) as u64).max(1)
}

/// Is the witness one of a circuit of so many inputs and aux variables?
///
/// # Errors
/// As [`Constraints::evaluate`].
pub(crate) fn check_witness((inputs, aux): (usize, usize), witness: &CompactWitness) -> Result<()> {
    let found = (witness.inputs().len(), witness.layout().aux());
    if found != (inputs, aux) {
        fail!(
            Fault::Internal,
            "a witness of {} inputs and {} aux variables for constraints over {inputs} and {aux}",
            found.0,
            found.1
        );
    }
    if witness.inputs()[0] != Fr::ONE {
        fail!(Fault::Internal, "the first input of the witness is not 1");
    }
    Ok(())
}

/// What it costs to evaluate each superchunk, in about nanoseconds. Pieces of equal row counts would not do: field rows, of
/// which Poseidon has most, take a hundred times as long as others.
pub(super) fn superchunk_costs(tables: &Tables) -> Vec<u64> {
    let chunk = |i: u32| part(&tables.tiles, &tables.chunk_starts, i).iter().map(|tile| tile_cost(tables, tile)).sum();
    let chunks: Vec<u64> = (0..tables.chunks() as u32).map(chunk).collect();
    let children = |i: u32| part(&tables.children, &tables.superchunk_starts, i);
    (0..tables.superchunks() as u32)
        .map(|i| children(i).iter().map(|child| chunks[child.chunk as usize]).sum())
        .collect()
}

fn tile_cost(tables: &Tables, tile: &Tile) -> u64 {
    let of_matrix = |matrix: usize| {
        let groups: usize = tables.tile_groups(tile, matrix).iter().map(|group| 2 + 2 * usize::from(group.terms)).sum();
        let entries = tables.tile_entries(tile, matrix).iter();
        let entries: usize = entries.map(|entry| 40 + 10 * tables.field_row(entry.field_row).len()).sum();
        (groups + entries) as u64
    };
    10 + of_matrix(0) + of_matrix(1)
}

#[cfg(test)]
mod tests {
    use super::piece_cost;

    #[test]
    fn there_are_pieces_for_the_cores_and_not_for_all_threads() {
        const TOTAL: u64 = 6_375_904;
        let pieces = |threads, cores| TOTAL.div_ceil(piece_cost(TOTAL, threads, cores));
        assert_eq!(pieces(1, 64), 1);
        for cores in [1, 2, 64] {
            assert_eq!(pieces(1024, cores), 8 * cores as u64);
        }
        assert_eq!(pieces(4, 64), 32);
        assert_eq!((piece_cost(0, 2, 2), piece_cost(3, 2, 64), piece_cost(u64::MAX, usize::MAX, 1)), (1, 1, 1 << 61));
    }
}
