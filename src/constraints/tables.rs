//! The flat arrays that A and B are stored in, ready for a loop on the CPU or to be copied to a device.
//!
//! ```text
//! instances: superchunk, where it starts           one for each piece of the circuit, in row order
//!   superchunk: its children                       distinct
//!     child: chunk, where it starts within
//!       chunk: its tiles                           distinct
//!         tile: up to 64 rows, and for each of A and B
//!           groups: rows of one shape with small coefficients, evaluated together
//!           entries: the other rows, each by its field row
//!             field row: terms                     distinct
//! ```
//!
//! All places are relative: those of a child to its instance, of a tile to its chunk, of an entry to its tile. Rows that are
//! in no group and no entry are zero.

use blstrs::Scalar as Fr;

use super::columns::RelativeColumn;

/// Rows of a tile at most.
pub(super) const TILE_ROWS: usize = 64;

/// One superchunk in its place. 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Instance {
    pub superchunk: u32,
    /// Its first row.
    pub row: u32,
    /// Aux variables when that row is made.
    pub aux: u32,
    /// Inputs then.
    pub inputs: u32,
}

/// One chunk of a superchunk. 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Child {
    pub chunk: u32,
    /// From here on, counted from the superchunk's first row.
    pub row: u32,
    pub aux: u32,
    pub inputs: u32,
}

/// Up to 64 consecutive rows. 32 bytes; pairs are A's and B's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Tile {
    /// From here on, counted from the chunk's first row.
    pub aux: u32,
    pub inputs: u32,
    /// First group.
    pub group: [u32; 2],
    /// First entry.
    pub entry: [u32; 2],
    pub groups: [u8; 2],
    pub entries: [u8; 2],
    pub rows: u8,
    pub unused: [u8; 3],
}

/// Rows of a tile with the same constant and coefficients, whose columns advance evenly: the i-th of them is
/// `constant + sum over terms of coefficient * z[column + i * stride]`. 16 bytes.
///
/// The absolute values of constant and coefficients add up to 127 at most, so bits give a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Group {
    /// Bit i: row i of the tile.
    pub rows: u64,
    /// First term.
    pub term: u32,
    pub terms: u8,
    pub constant: i8,
    pub unused: u16,
}

/// 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct GroupTerm {
    /// Column for the group's first row, counted from the aux variables there are at the tile, or from the first one.
    pub offset: i32,
    pub coefficient: i8,
    /// 0, 1 or 2; with 2 the group has 32 rows at most.
    pub stride: u8,
    /// 1 where the offset counts from the first variable, else 0.
    pub absolute: u8,
    pub unused: u8,
}

/// A row of a tile that takes field arithmetic. 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FieldEntry {
    pub field_row: u32,
    /// From here on, counted from the tile's first row.
    pub aux: u16,
    pub inputs: u8,
    /// Which row of the tile.
    pub row: u8,
}

/// `coefficient * sum over j < length of 2^j z[column + j * stride]`. 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct FieldTerm {
    /// The first column; of aux variables where the length is more than 1.
    pub column: RelativeColumn,
    /// Place of the coefficient in the low 24 bits, then 7 bits of length, then one for a stride of 2.
    pub(super) packed: u32,
}

impl FieldTerm {
    /// Number of coefficients that can be told apart.
    pub const COEFFICIENTS: usize = 1 << 24;
    /// Longest runs: their bits fit a window of 64.
    pub(super) const MAX_LENGTH: [usize; 2] = [63, 32];

    pub(super) fn new(column: RelativeColumn, coefficient: u32, length: usize, stride: usize) -> Self {
        let packed = coefficient | (length as u32) << 24 | (stride as u32 - 1) << 31;
        Self { column, packed }
    }

    /// Place in [`Tables::coefficients`].
    #[inline(always)]
    pub fn coefficient(self) -> usize {
        self.packed as usize % Self::COEFFICIENTS
    }

    /// Number of variables, at least 1.
    #[inline(always)]
    pub fn length(self) -> usize {
        (self.packed >> 24 & 127) as usize
    }

    /// 1 or 2.
    #[inline(always)]
    pub fn stride(self) -> usize {
        1 + (self.packed >> 31) as usize
    }
}

/// All of it. Where lists of lists are flat, `x_starts` holds where each begins and, last, where all end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// Rows, the inputs' own at the end.
    pub rows: usize,
    /// ONE among them.
    pub inputs: usize,
    pub aux: usize,
    /// Nonzeros of A and of B.
    pub nonzeros: [u64; 2],
    /// Different rows, columns being relative.
    pub distinct_rows: usize,
    /// 1 and -1 first.
    pub coefficients: Vec<Fr>,
    pub field_terms: Vec<FieldTerm>,
    pub field_row_starts: Vec<u32>,
    pub group_terms: Vec<GroupTerm>,
    pub groups: Vec<Group>,
    pub entries: Vec<FieldEntry>,
    pub tiles: Vec<Tile>,
    /// Tiles of each chunk.
    pub chunk_starts: Vec<u32>,
    pub children: Vec<Child>,
    /// Children of each superchunk.
    pub superchunk_starts: Vec<u32>,
    pub instances: Vec<Instance>,
}

/// A tile in its place, for a device that has no use for superchunks. 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Placement {
    pub tile: u32,
    /// Its first row.
    pub row: u32,
    /// Aux variables when that row is made.
    pub aux: u32,
    /// Inputs then.
    pub inputs: u32,
}

/// A tile in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub tile: &'a Tile,
    /// Which one it is.
    pub index: usize,
    /// Its first row.
    pub row: usize,
    /// Aux variables when that row is made.
    pub aux: usize,
    pub inputs: usize,
}

/// The part of a flat list of lists that belongs to item `i`.
#[inline(always)]
pub(super) fn part<'a, T>(items: &'a [T], starts: &[u32], i: u32) -> &'a [T] {
    &items[starts[i as usize] as usize..starts[i as usize + 1] as usize]
}

impl Tables {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.coefficients[..])
            + size_of_val(&self.field_terms[..])
            + size_of_val(&self.field_row_starts[..])
            + size_of_val(&self.group_terms[..])
            + size_of_val(&self.groups[..])
            + size_of_val(&self.entries[..])
            + size_of_val(&self.tiles[..])
            + size_of_val(&self.chunk_starts[..])
            + size_of_val(&self.children[..])
            + size_of_val(&self.superchunk_starts[..])
            + size_of_val(&self.instances[..])
    }

    /// Gives back what growing has left over.
    pub(super) fn shrink(&mut self) {
        self.coefficients.shrink_to_fit();
        self.group_terms.shrink_to_fit();
        self.groups.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.tiles.shrink_to_fit();
        self.chunk_starts.shrink_to_fit();
        self.children.shrink_to_fit();
        self.superchunk_starts.shrink_to_fit();
        self.instances.shrink_to_fit();
    }

    /// Number of distinct chunks.
    pub fn chunks(&self) -> usize {
        self.chunk_starts.len().saturating_sub(1)
    }

    /// Number of distinct superchunks.
    pub fn superchunks(&self) -> usize {
        self.superchunk_starts.len().saturating_sub(1)
    }

    /// Number of distinct field rows.
    pub fn field_rows(&self) -> usize {
        self.field_row_starts.len().saturating_sub(1)
    }

    /// The terms of a field row.
    #[inline(always)]
    pub fn field_row(&self, i: u32) -> &[FieldTerm] {
        part(&self.field_terms, &self.field_row_starts, i)
    }

    /// The groups of a tile in A (0) or B (1).
    #[inline(always)]
    pub fn tile_groups(&self, tile: &Tile, matrix: usize) -> &[Group] {
        &self.groups[tile.group[matrix] as usize..][..tile.groups[matrix].into()]
    }

    /// The entries of a tile in A (0) or B (1), in row order.
    #[inline(always)]
    pub fn tile_entries(&self, tile: &Tile, matrix: usize) -> &[FieldEntry] {
        &self.entries[tile.entry[matrix] as usize..][..tile.entries[matrix].into()]
    }

    #[inline(always)]
    pub fn group_terms(&self, group: &Group) -> &[GroupTerm] {
        &self.group_terms[group.term as usize..][..group.terms.into()]
    }

    /// Every tile of the circuit in its place, in row order: 44 MB for a 32 GiB partition.
    pub fn placements(&self) -> Vec<Placement> {
        let mut placements = Vec::new();
        self.for_each_tile(&self.instances, |placed| {
            let [tile, row, aux, inputs] = [placed.index, placed.row, placed.aux, placed.inputs].map(|n| n as u32);
            placements.push(Placement { tile, row, aux, inputs });
        });
        placements
    }

    /// Every tile of `instances` in its place, in row order.
    #[inline(always)]
    pub(super) fn for_each_tile<'a>(&'a self, instances: &[Instance], mut f: impl FnMut(Placed<'a>)) {
        for instance in instances {
            for child in part(&self.children, &self.superchunk_starts, instance.superchunk) {
                let mut row = instance.row as usize + child.row as usize;
                let aux = instance.aux as usize + child.aux as usize;
                let inputs = instance.inputs as usize + child.inputs as usize;
                let first = self.chunk_starts[child.chunk as usize] as usize;
                for (i, tile) in part(&self.tiles, &self.chunk_starts, child.chunk).iter().enumerate() {
                    f(Placed {
                        tile,
                        index: first + i,
                        row,
                        aux: aux + tile.aux as usize,
                        inputs: inputs + tile.inputs as usize,
                    });
                    row += tile.rows as usize;
                }
            }
        }
    }
}

// The sizes that devices and the file rely on.
const _: () = assert!(size_of::<Instance>() == 16 && size_of::<Child>() == 16 && size_of::<Tile>() == 32);
const _: () = assert!(size_of::<Placement>() == 16 && size_of::<Group>() == 16 && size_of::<GroupTerm>() == 8);
const _: () = assert!(size_of::<FieldEntry>() == 8 && size_of::<FieldTerm>() == 8);
