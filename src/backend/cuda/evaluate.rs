//! a = A z and b = B z on the device, from a compact witness and the constraints' flat tables: kernels/evaluate.

use blstrs::Scalar as Fr;

use crate::constraints::{
    check_witness, Constraints, FieldEntry, FieldTerm, Group, GroupTerm, Placement, RowValues, Tile,
};
use crate::error::{Fault, Result};
use crate::fail;
use crate::gpu::{kernels, Buffer, Plain, Shape, Stream};
use crate::witness::{CompactWitness, PADDING};

/// Threads of a block: eight warps, each of which takes a tile.
const THREADS: u32 = 256;
const WARP: usize = 32;

// That of kernels/evaluate/tables.cuh.
const _: () = assert!(PADDING == 2);

macro_rules! plain {
    ($($rust:ident)+) => {$(
        // SAFETY: repr(C) of integers without padding, whose size is asserted in src/constraints/tables.rs, and the same in
        // kernels/evaluate/tables.cuh.
        unsafe impl Plain for $rust {
            const NAME: &'static str = stringify!($rust);
        }
    )+};
}

plain! { Placement Tile Group GroupTerm FieldEntry FieldTerm }

/// A circuit's constraints on the device: about 2 MB, and 16 bytes for each tile in its place, 44 MB for a 32 GiB partition.
#[derive(Debug)]
pub struct Evaluator {
    rows: usize,
    inputs: usize,
    aux: usize,
    placements: Buffer<Placement>,
    tiles: Buffer<Tile>,
    groups: Buffer<Group>,
    group_terms: Buffer<GroupTerm>,
    entries: Buffer<FieldEntry>,
    field_row_starts: Buffer<u32>,
    field_terms: Buffer<FieldTerm>,
    coefficients: Buffer<Fr>,
    /// [`RowValues::table`].
    integers: Buffer<Fr>,
}

/// A compact witness on the device, in the arrays that it consists of.
#[derive(Debug)]
pub struct DeviceWitness {
    /// Words of [`CompactWitness::bits`], padding included.
    pub bits: Buffer<u64>,
    /// Words of [`Layout::mask`](crate::witness::Layout::mask), padding included.
    pub mask: Buffer<u64>,
    /// [`Layout::ranks`](crate::witness::Layout::ranks).
    pub ranks: Buffer<u32>,
    /// [`CompactWitness::wide`].
    pub elements: Buffer<Fr>,
    /// ONE first.
    pub inputs: Buffer<Fr>,
}

impl DeviceWitness {
    /// # Errors
    /// The device's failures.
    pub fn upload(stream: &Stream, witness: &CompactWitness) -> Result<Self> {
        Ok(Self {
            bits: sent(stream, "bits of the witness", witness.bits())?,
            mask: sent(stream, "mask of the witness", witness.layout().mask())?,
            ranks: sent(stream, "ranks of the witness", witness.layout().ranks())?,
            elements: sent(stream, "elements of the witness", witness.wide())?,
            inputs: sent(stream, "inputs of the witness", witness.inputs())?,
        })
    }
}

/// A buffer with these elements.
fn sent<T: Plain>(stream: &Stream, name: &'static str, from: &[T]) -> Result<Buffer<T>> {
    let mut buffer = stream.buffer(name, from.len())?;
    stream.upload(name, buffer.view_mut(), from)?;
    Ok(buffer)
}

impl Evaluator {
    /// Sends the tables, once for all witnesses of the circuit.
    ///
    /// # Errors
    /// The device's failures.
    pub fn new(stream: &Stream, constraints: &Constraints) -> Result<Self> {
        let tables = constraints.tables();
        Ok(Self {
            rows: tables.rows,
            inputs: tables.inputs,
            aux: tables.aux,
            placements: sent(stream, "placements of tiles", &tables.placements())?,
            tiles: sent(stream, "tiles", &tables.tiles)?,
            groups: sent(stream, "groups", &tables.groups)?,
            group_terms: sent(stream, "terms of groups", &tables.group_terms)?,
            entries: sent(stream, "entries of tiles", &tables.entries)?,
            field_row_starts: sent(stream, "starts of field rows", &tables.field_row_starts)?,
            field_terms: sent(stream, "terms of field rows", &tables.field_terms)?,
            coefficients: sent(stream, "coefficients", &tables.coefficients)?,
            integers: sent(stream, "small integers", RowValues::table())?,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The values of A's and B's rows for a witness, and zeros past the last row: vectors of `2^log_size` elements, in row order. Work is
    /// enqueued when this returns.
    ///
    /// # Errors
    /// As [`Constraints::evaluate`]; a domain that has fewer elements than there are rows; the device's failures.
    pub fn evaluate(
        &self,
        stream: &Stream,
        witness: &CompactWitness,
        log_size: u32,
    ) -> Result<(Buffer<Fr>, Buffer<Fr>)> {
        check_witness((self.inputs, self.aux), witness)?;
        let size = 1usize.checked_shl(log_size).unwrap_or(0);
        if self.rows > size {
            fail!(Fault::Internal, "{} rows in a domain of {size}", self.rows);
        }
        let witness = DeviceWitness::upload(stream, witness)?;
        let (mut a, mut b) = (stream.buffer("a", size)?, stream.buffer("b", size)?);
        for (name, vector) in [("a", &mut a), ("b", &mut b)] {
            stream.zero(name, vector.view_mut().slice(self.rows..size))?;
        }
        self.launch(stream, &witness, &mut a, &mut b)?;
        Ok((a, b))
    }

    fn launch(&self, stream: &Stream, witness: &DeviceWitness, a: &mut Buffer<Fr>, b: &mut Buffer<Fr>) -> Result<()> {
        let count = self.placements.len();
        kernels::evaluate_tiles(
            stream,
            Shape::of(count * WARP, THREADS),
            self.placements.view(),
            // Each has a row at least, and rows are counted in 32 bits.
            count as u32,
            self.tiles.view(),
            self.groups.view(),
            self.group_terms.view(),
            self.entries.view(),
            self.field_row_starts.view(),
            self.field_terms.view(),
            self.coefficients.view(),
            self.integers.view(),
            witness.bits.view(),
            witness.mask.view(),
            witness.ranks.view(),
            witness.elements.view(),
            witness.inputs.view(),
            a.view_mut(),
            b.view_mut(),
        )
    }
}
