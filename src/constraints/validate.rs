//! Tables become constraints once every index in them is known to be good.
//!
//! Whatever the tables came from, a file that someone else wrote included, evaluation then stays within a witness of the
//! right size. The work is that of the distinct parts: what a chunk reaches is computed once, and its places only shift it.

use super::columns::{ColumnKind, RelativeColumn};
use super::evaluate;
use super::tables::{part, FieldTerm, Group, Tables, Tile, TILE_ROWS};
use crate::error::{Error, Fault, Result};
use blstrs::Scalar as Fr;
use ff::Field;

/// A and B of a circuit, what repeats stored once. Made from a circuit by [`Constraints::build`], or loaded from a file
/// that one was saved to ([`super::cache`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Constraints {
    tables: Tables,
    /// What it costs to evaluate each superchunk, in no unit.
    costs: Vec<u64>,
}

impl Constraints {
    /// # Errors
    /// [`Fault::Internal`] for the first thing in the tables that is wrong.
    pub fn new(tables: Tables) -> Result<Self> {
        check(&tables).map_err(|what| Error::new(Fault::Internal, what))?;
        let costs = evaluate::superchunk_costs(&tables);
        Ok(Self { tables, costs })
    }

    /// The flat arrays. In them every index is within its array, every column one of the circuit's, and the instances cover
    /// all rows in order.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    pub(super) fn costs(&self) -> &[u64] {
        &self.costs
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.tables.bytes() + size_of_val(&self.costs[..])
    }
}

type Checked<T = ()> = std::result::Result<T, String>;

/// Ends the check with a message where the condition does not hold.
macro_rules! hold {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

/// The first and last variable of a kind that something reaches, counted from those there are where it stands.
#[derive(Clone, Copy)]
struct Range {
    first: i64,
    last: i64,
}

impl Range {
    const EMPTY: Self = Self { first: i64::MAX, last: i64::MIN };

    fn add(&mut self, first: i64, last: i64) {
        (self.first, self.last) = (self.first.min(first), self.last.max(last));
    }

    /// As seen from `by` variables earlier.
    fn shifted(self, by: u32) -> Self {
        Self { first: self.first.saturating_add(by.into()), last: self.last.saturating_add(by.into()) }
    }

    fn within(self, count: usize) -> bool {
        self.first > self.last || self.first >= 0 && self.last < count as i64
    }
}

/// What a part of the circuit reaches, and how many rows it has.
#[derive(Clone, Copy)]
struct Reach {
    aux: Range,
    inputs: Range,
    rows: u64,
}

impl Reach {
    const NONE: Self = Self { aux: Range::EMPTY, inputs: Range::EMPTY, rows: 0 };

    /// With `other`, which stands so many variables later.
    fn join(&mut self, other: Self, aux: u32, inputs: u32) {
        let (a, i) = (other.aux.shifted(aux), other.inputs.shifted(inputs));
        if other.aux.first <= other.aux.last {
            self.aux.add(a.first, a.last);
        }
        if other.inputs.first <= other.inputs.last {
            self.inputs.add(i.first, i.last);
        }
        self.rows += other.rows;
    }
}

fn check(tables: &Tables) -> Checked {
    check_sizes(tables)?;
    let field_rows: Vec<Reach> =
        (0..tables.field_row_starts.len() as u32 - 1).map(|i| field_row(tables, i)).collect::<Checked<_>>()?;
    let tiles: Vec<Reach> = tables.tiles.iter().map(|t| tile(tables, &field_rows, t)).collect::<Checked<_>>()?;
    let mut chunks = Vec::with_capacity(tables.chunks());
    for bounds in tables.chunk_starts.windows(2) {
        let mut reach = Reach::NONE;
        let chunk = bounds[0] as usize..bounds[1] as usize;
        for (tile, reached) in tables.tiles[chunk.clone()].iter().zip(&tiles[chunk]) {
            reach.join(*reached, tile.aux, tile.inputs);
        }
        chunks.push(reach);
    }
    let superchunks: Vec<Reach> =
        (0..tables.superchunks() as u32).map(|i| superchunk(tables, &chunks, i)).collect::<Checked<_>>()?;
    check_instances(tables, &superchunks)
}

fn check_sizes(tables: &Tables) -> Checked {
    let Tables { rows, inputs, aux, .. } = *tables;
    hold!(u32::try_from(rows).is_ok(), "{rows} rows, at most {} are possible", u32::MAX);
    hold!(aux <= RelativeColumn::LIMIT, "{aux} aux variables, at most {} are possible", RelativeColumn::LIMIT);
    hold!((1..=RelativeColumn::LIMIT).contains(&inputs), "{inputs} inputs, not 1 to {}", RelativeColumn::LIMIT);
    let coefficients = &tables.coefficients;
    hold!(coefficients.len() <= FieldTerm::COEFFICIENTS, "{} coefficients", coefficients.len());
    hold!(coefficients.starts_with(&[Fr::ONE, -Fr::ONE]), "the first coefficients are not 1 and -1");
    check_starts("field rows", &tables.field_row_starts, tables.field_terms.len())?;
    check_starts("chunks", &tables.chunk_starts, tables.tiles.len())?;
    check_starts("superchunks", &tables.superchunk_starts, tables.children.len())?;
    for (what, len) in
        [("groups", tables.groups.len()), ("group terms", tables.group_terms.len()), ("entries", tables.entries.len())]
    {
        hold!(u32::try_from(len).is_ok(), "{len} {what}, at most {} are possible", u32::MAX);
    }
    Ok(())
}

fn check_starts(what: &str, starts: &[u32], len: usize) -> Checked {
    hold!(starts.first() == Some(&0), "{what} do not start at 0");
    hold!(starts.is_sorted(), "{what} overlap");
    hold!(starts.last().is_some_and(|last| *last as usize == len), "{what} do not end at {len}");
    Ok(())
}

fn field_row(tables: &Tables, i: u32) -> Checked<Reach> {
    let mut reach = Reach::NONE;
    for term in part(&tables.field_terms, &tables.field_row_starts, i) {
        let (length, stride, distance) = (term.length(), term.stride(), term.column.distance() as i64);
        hold!(term.coefficient() < tables.coefficients.len(), "field row {i}: coefficient {}", term.coefficient());
        hold!((1..=FieldTerm::MAX_LENGTH[stride - 1]).contains(&length), "field row {i}: run of {length}");
        let more = ((length - 1) * stride) as i64;
        match term.column.kind() {
            ColumnKind::AuxBack => reach.aux.add(-1 - distance, more - 1 - distance),
            ColumnKind::Aux => hold!(distance + more < tables.aux as i64, "field row {i}: variable {distance}"),
            _ if length > 1 => hold!(false, "field row {i}: run of {length} inputs"),
            ColumnKind::InputBack => reach.inputs.add(-1 - distance, -1 - distance),
            ColumnKind::Input => hold!(distance < tables.inputs as i64, "field row {i}: input {distance}"),
        }
    }
    Ok(reach)
}

fn tile(tables: &Tables, field_rows: &[Reach], tile: &Tile) -> Checked<Reach> {
    let rows = usize::from(tile.rows);
    hold!((1..=TILE_ROWS).contains(&rows), "tile of {rows} rows");
    let mut reach = Reach { rows: rows as u64, ..Reach::NONE };
    for matrix in 0..2 {
        // What is not one of the tile's rows counts as taken.
        let mut taken = if rows == TILE_ROWS { 0 } else { !0u64 << rows };
        let (first, count) = (tile.group[matrix] as usize, usize::from(tile.groups[matrix]));
        hold!(first + count <= tables.groups.len(), "tile with group {}", first + count);
        for group in tables.tile_groups(tile, matrix) {
            hold!(group.rows != 0 && group.rows & taken == 0, "tile with a row in two groups");
            taken |= group.rows;
            check_group(tables, group, &mut reach.aux)?;
        }
        let (first, count) = (tile.entry[matrix] as usize, usize::from(tile.entries[matrix]));
        hold!(first + count <= tables.entries.len(), "tile with entry {}", first + count);
        let entries = tables.tile_entries(tile, matrix);
        hold!(entries.windows(2).all(|pair| pair[0].row < pair[1].row), "tile with entries out of order");
        for entry in entries {
            hold!(usize::from(entry.row) < TILE_ROWS && taken >> entry.row & 1 == 0, "tile with a row twice");
            let Some(row) = field_rows.get(entry.field_row as usize) else {
                return Err(format!("field row {} of {}", entry.field_row, field_rows.len()));
            };
            reach.join(*row, entry.aux.into(), entry.inputs.into());
        }
    }
    Ok(reach)
}

fn check_group(tables: &Tables, group: &Group, reach: &mut Range) -> Checked {
    let (first, count) = (group.term as usize, usize::from(group.terms));
    hold!(first + count <= tables.group_terms.len(), "group with term {}", first + count);
    let terms = tables.group_terms(group);
    let absolute = |k: i8| i32::from(k).abs();
    let sum = absolute(group.constant) + terms.iter().map(|term| absolute(term.coefficient)).sum::<i32>();
    hold!(sum <= 127, "group whose values reach {sum}");
    let others = i64::from(group.rows.count_ones()) - 1;
    for term in terms {
        let stride = i64::from(term.stride);
        hold!(term.stride < 2 || term.stride == 2 && others < 32, "group of {} rows, stride {stride}", others + 1);
        let (first, last) = (i64::from(term.offset), i64::from(term.offset) + others * stride);
        match term.absolute {
            0 => reach.add(first, last),
            1 => hold!(first >= 0 && last < tables.aux as i64, "group with variables {first} to {last}"),
            other => return Err(format!("group term of kind {other}")),
        }
    }
    Ok(())
}

fn superchunk(tables: &Tables, chunks: &[Reach], i: u32) -> Checked<Reach> {
    let mut reach = Reach::NONE;
    for child in part(&tables.children, &tables.superchunk_starts, i) {
        let Some(chunk) = chunks.get(child.chunk as usize) else {
            return Err(format!("superchunk {i}: chunk {} of {}", child.chunk, chunks.len()));
        };
        hold!(u64::from(child.row) == reach.rows, "superchunk {i}: row {} after {}", child.row, reach.rows);
        reach.join(*chunk, child.aux, child.inputs);
    }
    Ok(reach)
}

fn check_instances(tables: &Tables, superchunks: &[Reach]) -> Checked {
    let mut rows = 0;
    for instance in &tables.instances {
        let Some(superchunk) = superchunks.get(instance.superchunk as usize) else {
            return Err(format!("superchunk {} of {}", instance.superchunk, superchunks.len()));
        };
        hold!(u64::from(instance.row) == rows, "row {} after {rows}", instance.row);
        rows += superchunk.rows;
        let mut placed = Reach::NONE;
        placed.join(*superchunk, instance.aux, instance.inputs);
        let good = placed.aux.within(tables.aux) && placed.inputs.within(tables.inputs);
        hold!(good, "the superchunk at row {} reaches past the circuit's variables", instance.row);
    }
    hold!(rows == tables.rows as u64, "{rows} rows, expected {}", tables.rows);
    Ok(())
}
