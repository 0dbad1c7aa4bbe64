//! From a blank circuit to its constraints, in one pass over the rows.

use bellperson::Circuit;
use blstrs::Scalar as Fr;

use super::chunks::{Chunker, Symbol};
use super::compactor::Compactor;
use super::field_rows::{self, RowParts};
use super::recorder::{self, Variables};
use super::tables::{Child, Tables};
use super::tiles::{self, Extent};
use super::validate::Constraints;
use crate::error::{Fault, OrFault, Result};
use crate::fail;

impl Constraints {
    /// Takes the constraints of `circuit`; blank will do, and gives the same as one with values. Memory follows what is distinct
    /// in the circuit, not its length.
    ///
    /// # Errors
    /// [`Fault::Internal`]: the circuit itself fails, or it has more than 2^32 - 1 rows, 2^30 inputs or aux variables or 2^24
    /// different coefficients.
    pub fn build(circuit: impl Circuit<Fr>) -> Result<Self> {
        let (variables, compactor) = recorder::run(circuit, Compactor::new())
            .or_fault(Fault::Internal, || "synthesis of the circuit for its constraints".into())?;
        Self::of(variables, compactor)
    }

    pub(super) fn of(variables: Variables, mut compactor: Compactor) -> Result<Self> {
        if let Some(fault) = compactor.fault() {
            fail!(Fault::Internal, "constraints of the circuit: {fault}, which the compact form cannot hold");
        }
        compactor.chunker.finish();
        // What is distinct in a row goes by its number from here on; the tables grow while the rows go.
        let Compactor { coefficients, rows, chunker, count, nonzeros, .. } = compactor;
        let coefficients = coefficients.into_values();
        let parts = RowParts::new(&rows, &coefficients);
        let distinct_rows = rows.len();
        drop(rows);
        let (field_terms, field_row_starts) = field_rows::flatten(&parts.field_rows);
        let mut tables = Tables {
            rows: count,
            inputs: variables.inputs,
            aux: variables.aux,
            nonzeros,
            distinct_rows,
            coefficients,
            field_terms,
            field_row_starts,
            chunk_starts: vec![0],
            superchunk_starts: vec![0],
            ..Tables::default()
        };
        place(&mut tables, &parts, chunker);
        Self::new(tables).map_err(|error| error.context("constraints of the circuit"))
    }
}

/// Chunks to tiles, superchunks to children.
fn place(tables: &mut Tables, parts: &RowParts, chunker: Chunker) {
    let extents: Vec<Extent> = chunker.chunks.iter().map(|chunk| tiles::push_chunk(tables, parts, chunk)).collect();
    for superchunk in chunker.superchunks.iter() {
        let mut at = Extent::default();
        for word in superchunk {
            let Symbol { number: chunk, step } = Symbol::unpack(*word);
            let (aux, inputs) = (at.aux + step.aux as u32, at.inputs + step.inputs as u32);
            tables.children.push(Child { chunk, row: at.rows, aux, inputs });
            let extent = extents[chunk as usize];
            at = Extent { rows: at.rows + extent.rows, aux: aux + extent.aux, inputs: inputs + extent.inputs };
        }
        tables.superchunk_starts.push(tables.children.len() as u32);
    }
    tables.instances = chunker.instances;
    tables.shrink();
}
