//! Distinct chunks as tiles: rows of one shape whose columns advance evenly are evaluated together.
//!
//! Strides other than 1 matter: in SHA-256's maj each row allocates two variables and its operands advance by one.

use super::chunks::Symbol;
use super::columns::{ColumnKind, RelativeColumn};
use super::field_rows::{RowPart, RowParts, SmallTerm};
use super::recorder::Variables;
use super::tables::{FieldEntry, Group, GroupTerm, Tables, Tile, TILE_ROWS};

/// Rows and variables of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub rows: u32,
    pub aux: u32,
    pub inputs: u32,
}

/// A row of a chunk: its number, and the variables since the chunk's first row.
struct Row {
    number: u32,
    at: Variables,
}

/// Appends a chunk's tiles to the tables.
pub(super) fn push_chunk(tables: &mut Tables, parts: &RowParts, symbols: &[u64]) -> Extent {
    let mut at = Variables::default();
    let rows: Vec<Row> = symbols
        .iter()
        .map(|word| {
            let Symbol { number, step } = Symbol::unpack(*word);
            at = Variables { aux: at.aux + step.aux, inputs: at.inputs + step.inputs };
            Row { number, at }
        })
        .collect();
    let mut rest = &rows[..];
    while let Some(first) = rest.first() {
        // Entries count from their tile in 16 and 8 bits.
        let near = |row: &&Row| row.at.aux - first.at.aux < 1 << 16 && row.at.inputs - first.at.inputs < 1 << 8;
        let (tile, after) = rest.split_at(rest.iter().take(TILE_ROWS).take_while(near).count());
        push_tile(tables, parts, tile);
        rest = after;
    }
    tables.chunk_starts.push(tables.tiles.len() as u32);
    Extent { rows: symbols.len() as u32, aux: at.aux as u32, inputs: at.inputs as u32 }
}

fn push_tile(tables: &mut Tables, parts: &RowParts, rows: &[Row]) {
    let start = rows[0].at;
    let mut tile =
        Tile { aux: start.aux as u32, inputs: start.inputs as u32, rows: rows.len() as u8, ..Tile::default() };
    for matrix in 0..2 {
        (tile.group[matrix], tile.entry[matrix]) = (tables.groups.len() as u32, tables.entries.len() as u32);
        let mut open: Vec<OpenGroup> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let aux = row.at.aux - start.aux;
            match parts.rows[row.number as usize][matrix] {
                RowPart::Field(field_row) => {
                    let inputs = (row.at.inputs - start.inputs) as u8;
                    tables.entries.push(FieldEntry { field_row, aux: aux as u16, inputs, row: i as u8 });
                }
                RowPart::Small { constant: 0, terms: 0, .. } => {}
                RowPart::Small { constant, first, terms } => {
                    let terms = parts.small_terms[first..first + terms].iter();
                    add_row(&mut open, i, constant, terms.map(|term| placed(term, aux)).collect());
                }
            }
        }
        tile.groups[matrix] = open.len() as u8;
        tile.entries[matrix] = (tables.entries.len() - tile.entry[matrix] as usize) as u8;
        open.into_iter().for_each(|group| group.close(tables));
    }
    tables.tiles.push(tile);
}

/// A term with its column counted from the tile, for a row made `aux` variables later.
fn placed(term: &SmallTerm, aux: usize) -> GroupTerm {
    let SmallTerm { column, coefficient } = *term;
    let absolute = column.kind() == ColumnKind::Aux;
    // Distances are below 2^30, and a row is less than 2^16 variables from its tile.
    let offset = if absolute { column.distance() as i32 } else { aux as i32 - 1 - column.distance() as i32 };
    GroupTerm { offset, coefficient, stride: 1, absolute: absolute.into(), unused: 0 }
}

/// A group that may still grow.
struct OpenGroup {
    rows: u64,
    constant: i8,
    terms: Vec<GroupTerm>,
}

fn add_row(open: &mut Vec<OpenGroup>, row: usize, constant: i8, terms: Vec<GroupTerm>) {
    // The latest first: most rows go on where the one before was put.
    if !open.iter_mut().rev().any(|group| group.take(row, constant, &terms)) {
        open.push(OpenGroup { rows: 1 << row, constant, terms });
    }
}

impl OpenGroup {
    /// Takes the row in if it has this group's shape and goes on evenly.
    fn take(&mut self, row: usize, constant: i8, terms: &[GroupTerm]) -> bool {
        if constant != self.constant || terms.len() != self.terms.len() {
            return false;
        }
        let count = self.rows.count_ones() as i32;
        let goes_on = |ours: &GroupTerm, theirs: &GroupTerm| {
            let alike = (ours.coefficient, ours.absolute) == (theirs.coefficient, theirs.absolute);
            let steps = theirs.offset - ours.offset;
            alike
                && match count {
                    1 => (0..=2).contains(&steps),
                    // 32 operands two apart fill a window of 64.
                    _ => steps == count * i32::from(ours.stride) && (ours.stride < 2 || count < 32),
                }
        };
        if !self.terms.iter().zip(terms).all(|(ours, theirs)| goes_on(ours, theirs)) {
            return false;
        }
        if count == 1 {
            for (ours, theirs) in self.terms.iter_mut().zip(terms) {
                ours.stride = (theirs.offset - ours.offset) as u8;
            }
        }
        self.rows |= 1 << row;
        true
    }

    fn close(self, tables: &mut Tables) {
        let (term, terms) = (tables.group_terms.len() as u32, self.terms.len() as u8);
        tables.groups.push(Group { rows: self.rows, term, terms, constant: self.constant, unused: 0 });
        tables.group_terms.extend(self.terms);
    }
}

// A small part has 127 terms at most, a tile 64 groups and entries.
const _: () = assert!(TILE_ROWS <= u8::MAX as usize && RelativeColumn::LIMIT <= 1 << 30);
