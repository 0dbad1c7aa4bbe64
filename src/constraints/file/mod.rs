//! Constraints as bytes.
//!
//! ```text
//! 8 bytes   "cuzkA,B\n"
//! u32       version
//! 32 bytes  BLAKE2b-256 of the circuit's identity
//! u64 x 6   rows, inputs, aux, nonzeros of A and of B, distinct rows
//! u64 x 11  lengths of the arrays, in the order of [`Tables`]
//! ...       the arrays: coefficients as 32 bytes little-endian, canonical; all else as u32
//! 32 bytes  BLAKE2b-256 of everything before
//! ```
//!
//! All numbers are little-endian. The checksum tells damage; what a whole file says is checked when it becomes [`Constraints`].

use std::io::{self, Read};

use blake2b_simd::Params;
use blstrs::Scalar as Fr;
use ff::PrimeField;

use super::columns::RelativeColumn;
use super::tables::{Child, FieldEntry, FieldTerm, Group, GroupTerm, Instance, Tables, Tile};
use super::validate::Constraints;

const MAGIC: &[u8; 8] = b"cuzkA,B\n";
/// Of the format, and of what the numbers in it mean.
const VERSION: u32 = 1;
const DIGEST: usize = 32;
const ARRAYS: usize = 11;
/// Where the counts begin.
const COUNTS: usize = MAGIC.len() + 4 + DIGEST;
const HEADER: usize = COUNTS + 8 * 6 + 8 * ARRAYS;
/// Bytes of an item of each array.
const RECORDS: [usize; ARRAYS] = [
    Fr::BYTES,
    FieldTerm::BYTES,
    u32::BYTES,
    GroupTerm::BYTES,
    Group::BYTES,
    FieldEntry::BYTES,
    Tile::BYTES,
    u32::BYTES,
    Child::BYTES,
    u32::BYTES,
    Instance::BYTES,
];
/// A file for a circuit of ten million rows without any repetition is smaller.
const LIMIT: u64 = 4 << 30;

/// The file of a circuit's constraints.
pub(super) fn encode(constraints: &Constraints, identity: &str) -> Vec<u8> {
    let tables = constraints.tables();
    let mut bytes = Vec::with_capacity(tables.bytes() + HEADER + DIGEST);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&digest(identity.as_bytes()));
    let [of_a, of_b] = tables.nonzeros;
    let counts = [tables.rows, tables.inputs, tables.aux].map(|n| n as u64);
    for count in counts.into_iter().chain([of_a, of_b, tables.distinct_rows as u64]) {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    for length in lengths(tables) {
        bytes.extend_from_slice(&(length as u64).to_le_bytes());
    }
    put(&mut bytes, &tables.coefficients);
    put(&mut bytes, &tables.field_terms);
    put(&mut bytes, &tables.field_row_starts);
    put(&mut bytes, &tables.group_terms);
    put(&mut bytes, &tables.groups);
    put(&mut bytes, &tables.entries);
    put(&mut bytes, &tables.tiles);
    put(&mut bytes, &tables.chunk_starts);
    put(&mut bytes, &tables.children);
    put(&mut bytes, &tables.superchunk_starts);
    put(&mut bytes, &tables.instances);
    let digest = digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

/// The constraints in a file of `length` bytes, or what is wrong with it. Nothing after the header is read of a file that is
/// not one of this circuit's constraints, or is not of the length that its header says.
pub(super) fn read(file: impl Read, length: u64, identity: &str) -> Result<Constraints, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {error}");
    let mut bytes = Vec::new();
    // A file that grows meanwhile is read no further.
    let mut file = file.take(length);
    file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    check_header(&bytes, length, identity)?;
    if length > LIMIT {
        return Err(format!("{length} bytes, expected at most {LIMIT}"));
    }
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    decode(&bytes, identity)
}

/// The constraints in the bytes of a file, or what is wrong with it.
fn decode(bytes: &[u8], identity: &str) -> Result<Constraints, String> {
    check_header(bytes, bytes.len() as u64, identity)?;
    let (content, checksum) = bytes.split_at(bytes.len() - DIGEST);
    if digest(content) != checksum {
        return Err("the checksum is wrong".into());
    }
    let mut reader = Reader(content);
    reader.bytes(COUNTS)?;
    let tables = tables(&mut reader)?;
    Constraints::new(tables).map_err(|error| error.to_string())
}

/// Whether a file of `length` bytes that begins with `bytes`, its header or more, can be one of this circuit's constraints.
fn check_header(bytes: &[u8], length: u64, identity: &str) -> Result<(), String> {
    let Some(header) = bytes.get(..HEADER).filter(|_| length >= (HEADER + DIGEST) as u64) else {
        return Err(format!("{length} bytes are too few"));
    };
    let mut reader = Reader(header);
    if reader.bytes(MAGIC.len())? != MAGIC {
        return Err("not a file of constraints".into());
    }
    let version = u32::read(&mut reader)?;
    if version != VERSION {
        return Err(format!("version {version}, expected {VERSION}"));
    }
    if reader.bytes(DIGEST)? != digest(identity.as_bytes()) {
        return Err("it is of another circuit".into());
    }
    reader.bytes(8 * 6)?;
    // Wide enough for any sum of lengths.
    let mut expected = (HEADER + DIGEST) as u128;
    for bytes in RECORDS {
        expected += u128::from(reader.u64()?) * bytes as u128;
    }
    match u128::from(length) {
        length if length < expected => Err(format!("it ends early: {length} bytes, its header says {expected}")),
        length if length > expected => Err(format!("{} bytes too many: its header says {expected}", length - expected)),
        _ => Ok(()),
    }
}

fn digest(bytes: &[u8]) -> [u8; DIGEST] {
    let hash = Params::new().hash_length(DIGEST).hash(bytes);
    let mut digest = [0; DIGEST];
    digest.copy_from_slice(hash.as_bytes());
    digest
}

fn lengths(tables: &Tables) -> [usize; ARRAYS] {
    [
        tables.coefficients.len(),
        tables.field_terms.len(),
        tables.field_row_starts.len(),
        tables.group_terms.len(),
        tables.groups.len(),
        tables.entries.len(),
        tables.tiles.len(),
        tables.chunk_starts.len(),
        tables.children.len(),
        tables.superchunk_starts.len(),
        tables.instances.len(),
    ]
}

fn tables(reader: &mut Reader) -> Result<Tables, String> {
    let mut counts = [0; 6 + ARRAYS];
    for count in &mut counts {
        *count = reader.u64()?;
    }
    let [rows, inputs, aux, of_a, of_b, distinct_rows, lengths @ ..] = counts;
    let size = |n: u64| usize::try_from(n).map_err(|_| format!("a count of {n}"));
    let mut lengths = lengths.into_iter().map(size);
    let mut next = || lengths.next().unwrap_or(Ok(0));
    // In the order of the file: a literal's fields are evaluated as they are written.
    Ok(Tables {
        rows: size(rows)?,
        inputs: size(inputs)?,
        aux: size(aux)?,
        nonzeros: [of_a, of_b],
        distinct_rows: size(distinct_rows)?,
        coefficients: take(reader, next()?)?,
        field_terms: take(reader, next()?)?,
        field_row_starts: take(reader, next()?)?,
        group_terms: take(reader, next()?)?,
        groups: take(reader, next()?)?,
        entries: take(reader, next()?)?,
        tiles: take(reader, next()?)?,
        chunk_starts: take(reader, next()?)?,
        children: take(reader, next()?)?,
        superchunk_starts: take(reader, next()?)?,
        instances: take(reader, next()?)?,
    })
}

/// What is left of a file.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or("it ends early")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        let (low, high) = (u32::read(self)?, u32::read(self)?);
        Ok(u64::from(low) | u64::from(high) << 32)
    }
}

/// An item of an array.
trait Record: Sized {
    /// Bytes in the file.
    const BYTES: usize;
    fn write(&self, bytes: &mut Vec<u8>);
    fn read(reader: &mut Reader) -> Result<Self, String>;
}

fn put<T: Record>(bytes: &mut Vec<u8>, items: &[T]) {
    items.iter().for_each(|item| item.write(bytes));
}

/// An array; nothing is allocated for one that the file is too short for.
fn take<T: Record>(reader: &mut Reader, length: usize) -> Result<Vec<T>, String> {
    let size = length.checked_mul(T::BYTES).ok_or("it ends early")?;
    let mut part = Reader(reader.bytes(size)?);
    (0..length).map(|_| T::read(&mut part)).collect()
}

impl Record for Fr {
    const BYTES: usize = 32;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_repr());
    }

    fn read(reader: &mut Reader) -> Result<Self, String> {
        let mut repr = [0; 32];
        repr.copy_from_slice(reader.bytes(32)?);
        Option::from(Fr::from_repr(repr)).ok_or_else(|| "a coefficient is not below the order of the field".into())
    }
}

impl Record for u32 {
    const BYTES: usize = 4;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    #[inline]
    fn read(reader: &mut Reader) -> Result<Self, String> {
        let (word, rest) = reader.0.split_first_chunk().ok_or("it ends early")?;
        reader.0 = rest;
        Ok(Self::from_le_bytes(*word))
    }
}

/// Records of so many words, with how they turn into words and back.
macro_rules! record {
    ($type:ty, $words:literal, |$item:ident| $into:expr, |$read:ident| $from:expr) => {
        impl Record for $type {
            const BYTES: usize = 4 * $words;

            fn write(&self, bytes: &mut Vec<u8>) {
                let $item = self;
                let words: [u32; $words] = $into;
                words.iter().for_each(|word| word.write(bytes));
            }

            #[inline]
            fn read(reader: &mut Reader) -> Result<Self, String> {
                let mut $read = [0u32; $words];
                for word in &mut $read {
                    *word = u32::read(reader)?;
                }
                Ok($from)
            }
        }
    };
}

/// The bytes of a word, lowest first, as a word.
const fn word(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

record!(FieldTerm, 2, |t| [t.column.0, t.packed], |w| FieldTerm { column: RelativeColumn(w[0]), packed: w[1] });

record!(GroupTerm, 2, |t| [t.offset as u32, word([t.coefficient as u8, t.stride, t.absolute, 0])], |w| {
    let [coefficient, stride, absolute, unused] = w[1].to_le_bytes();
    GroupTerm { offset: w[0] as i32, coefficient: coefficient as i8, stride, absolute, unused }
});

record!(Group, 4, |g| [g.rows as u32, (g.rows >> 32) as u32, g.term, word([g.terms, g.constant as u8, 0, 0])], |w| {
    let [terms, constant, ..] = w[3].to_le_bytes();
    let rows = u64::from(w[0]) | u64::from(w[1]) << 32;
    Group { rows, term: w[2], terms, constant: constant as i8, unused: 0 }
});

record!(FieldEntry, 2, |e| [e.field_row, u32::from(e.aux) | u32::from(e.inputs) << 16 | u32::from(e.row) << 24], |w| {
    let [_, _, inputs, row] = w[1].to_le_bytes();
    FieldEntry { field_row: w[0], aux: w[1] as u16, inputs, row }
});

record!(
    Tile,
    8,
    |t| {
        let [[group_a, group_b], [entry_a, entry_b]] = [t.group, t.entry];
        let counts = word([t.groups[0], t.groups[1], t.entries[0], t.entries[1]]);
        [t.aux, t.inputs, group_a, group_b, entry_a, entry_b, counts, t.rows.into()]
    },
    |w| {
        let [groups_a, groups_b, entries_a, entries_b] = w[6].to_le_bytes();
        let [rows, unused @ ..] = w[7].to_le_bytes();
        Tile {
            aux: w[0],
            inputs: w[1],
            group: [w[2], w[3]],
            entry: [w[4], w[5]],
            groups: [groups_a, groups_b],
            entries: [entries_a, entries_b],
            rows,
            unused,
        }
    }
);

record!(Child, 4, |c| [c.chunk, c.row, c.aux, c.inputs], |w| Child { chunk: w[0], row: w[1], aux: w[2], inputs: w[3] });

record!(Instance, 4, |i| [i.superchunk, i.row, i.aux, i.inputs], |w| Instance {
    superchunk: w[0],
    row: w[1],
    aux: w[2],
    inputs: w[3]
});

#[cfg(test)]
mod tests;
