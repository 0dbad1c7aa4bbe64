//! The rows' values of A, B or C: a byte where one will do, else an element in a list.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::LazyLock;

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::Rows;
use crate::pages::ask_for_huge;

/// Values of a matrix's rows, in row order. About a byte a row for a PoRep circuit, where an element takes 32.
///
/// Flat arrays, so that a device can take them as they are. Not unique: an element in the list may be a small number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowValues {
    /// A row's value, or [`RowValues::WIDE`].
    small: Vec<i8>,
    places: Vec<u32>,
    elements: Vec<Fr>,
    starts: Vec<u32>,
}

/// Rows whose values are elements, and these, both in row order.
#[derive(Clone, Debug, Default)]
pub(super) struct Wide {
    pub places: Vec<u32>,
    pub elements: Vec<Fr>,
}

/// The element for each byte; zero for [`RowValues::WIDE`].
static ELEMENTS: LazyLock<[Fr; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| match byte as u8 as i8 {
        RowValues::WIDE => Fr::ZERO,
        value if value < 0 => -Fr::from(u64::from(value.unsigned_abs())),
        value => Fr::from(value as u64),
    })
});

impl RowValues {
    /// The byte that says: this row's value is in the list.
    pub const WIDE: i8 = i8::MIN;
    /// Rows from one entry of [`RowValues::starts`] to the next.
    pub const BLOCK: usize = 256;

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.small.len()
    }

    pub fn is_empty(&self) -> bool {
        self.small.is_empty()
    }

    /// Each row's value from -127 to 127, or [`RowValues::WIDE`].
    pub fn small(&self) -> &[i8] {
        &self.small
    }

    /// The rows whose value is an element, ascending.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The values of the rows in [`RowValues::places`].
    pub fn elements(&self) -> &[Fr] {
        &self.elements
    }

    /// For each block of [`RowValues::BLOCK`] rows the number of elements before it; one more at the end.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The element for each byte of [`RowValues::small`], by its bits as an unsigned number.
    pub fn table() -> &'static [Fr; 256] {
        &ELEMENTS
    }

    /// Value of a row; zero past the last one, as in the evaluation domain.
    #[inline]
    pub fn get(&self, row: usize) -> Fr {
        match self.small.get(row) {
            None => Fr::ZERO,
            Some(&Self::WIDE) => self.element(row),
            Some(&byte) => ELEMENTS[usize::from(byte as u8)],
        }
    }

    /// The element of a row that has one.
    fn element(&self, row: usize) -> Fr {
        let block = row / Self::BLOCK;
        let (first, end) = (self.starts[block] as usize, self.starts[block + 1] as usize);
        let place = self.places[first..end].partition_point(|place| (*place as usize) < row);
        self.elements[first + place]
    }

    /// As [`Rows::expand_into`].
    pub fn expand_into(&self, rows: Range<usize>, values: &mut [Fr]) {
        assert_eq!(values.len(), rows.len(), "values for {rows:?}");
        let table = &*ELEMENTS;
        let (start, end) = (rows.start.min(self.len()), rows.end.min(self.len()));
        let (known, past) = values.split_at_mut(end - start);
        past.fill(Fr::ZERO);
        for (value, byte) in known.iter_mut().zip(&self.small[start..end]) {
            *value = table[usize::from(*byte as u8)];
        }
        let first = self.starts.get(start / Self::BLOCK).map_or(0, |first| *first as usize);
        let end = self.starts.get(start / Self::BLOCK + 1).map_or(first, |end| *end as usize);
        let first = first + self.places[first..end].partition_point(|place| (*place as usize) < start);
        for (place, element) in self.places[first..].iter().zip(&self.elements[first..]) {
            match known.get_mut(*place as usize - start) {
                Some(value) => *value = *element,
                None => break,
            }
        }
    }

    /// All values, 32 bytes a row.
    pub fn expand(&self) -> Vec<Fr> {
        let mut values = vec![Fr::ZERO; self.len()];
        values.par_chunks_mut(1 << 14).enumerate().for_each(|(i, values)| {
            let start = i << 14;
            self.expand_into(start..start + values.len(), values);
        });
        values
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.small[..])
            + size_of_val(&self.places[..])
            + size_of_val(&self.elements[..])
            + size_of_val(&self.starts[..])
    }

    /// Makes room for `rows` rows and hands out the bytes; their old values are of no meaning.
    pub(super) fn reset(&mut self, rows: usize) -> (&mut [i8], Wide) {
        if self.small.capacity() < rows {
            // Fresh zeros cost nothing until all threads touch them; resizing would write them first.
            self.small = vec![0; rows];
            ask_for_huge(&mut self.small);
        }
        self.small.resize(rows, 0);
        let (mut places, mut elements) = (std::mem::take(&mut self.places), std::mem::take(&mut self.elements));
        places.clear();
        elements.clear();
        (&mut self.small, Wide { places, elements })
    }

    /// Takes in the lists of consecutive pieces. A byte is [`RowValues::WIDE`] where, and only where, a list has its row.
    pub(super) fn finish(&mut self, lists: Vec<Wide>) {
        let (places, elements): (Vec<_>, Vec<_>) = lists.into_iter().map(|list| (list.places, list.elements)).unzip();
        (self.places, self.elements) = (concatenate(places), concatenate(elements));
        self.starts.clear();
        self.starts.reserve_exact(self.small.len() / Self::BLOCK + 2);
        for (i, place) in self.places.iter().enumerate() {
            let blocks = *place as usize / Self::BLOCK + 1;
            self.starts.resize(blocks.max(self.starts.len()), i as u32);
        }
        self.starts.resize(self.small.len().div_ceil(Self::BLOCK) + 1, self.places.len() as u32);
    }
}

/// The vectors one after the other, copied by all threads; the first one is kept where it has room.
fn concatenate<T: Copy + Send + Sync>(vectors: Vec<Vec<T>>) -> Vec<T> {
    let mut vectors = vectors.into_iter();
    let mut all = vectors.next().unwrap_or_default();
    let rest: Vec<Vec<T>> = vectors.collect();
    let more = rest.iter().map(Vec::len).sum();
    all.reserve_exact(more);
    let mut room = &mut all.spare_capacity_mut()[..more];
    let mut copies: Vec<(&mut [MaybeUninit<T>], &Vec<T>)> = Vec::new();
    for vector in &rest {
        let (here, after) = room.split_at_mut(vector.len());
        copies.push((here, vector));
        room = after;
    }
    copies.into_par_iter().for_each(|(room, vector)| {
        for (to, from) in room.iter_mut().zip(vector) {
            to.write(*from);
        }
    });
    // SAFETY: the parts of `room` are disjoint, `more` long together, and each was written in full.
    unsafe { all.set_len(all.len() + more) };
    all
}

impl Rows for RowValues {
    fn len(&self) -> usize {
        self.len()
    }

    fn expand_into(&self, rows: Range<usize>, values: &mut [Fr]) {
        self.expand_into(rows, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(rows: usize, wide: impl Fn(usize) -> bool, pieces: usize) -> (RowValues, Vec<Fr>) {
        let mut all = RowValues::default();
        let mut lists = vec![Wide::default(); pieces];
        let mut expected = Vec::new();
        let (small, _) = all.reset(rows);
        for (row, small) in small.iter_mut().enumerate() {
            let value = (row % 255) as i64 - 127;
            if wide(row) {
                *small = RowValues::WIDE;
                let list = &mut lists[row * pieces / rows];
                list.places.push(row as u32);
                list.elements.push(Fr::from(row as u64 + 1000));
                expected.push(Fr::from(row as u64 + 1000));
            } else {
                *small = value as i8;
                let size = Fr::from(value.unsigned_abs());
                expected.push(if value < 0 { -size } else { size });
            }
        }
        all.finish(lists);
        (all, expected)
    }

    #[test]
    fn rows_and_ranges_are_what_went_in() {
        for rows in [0, 1, 255, 256, 257, 512, 1000, 5000] {
            for pieces in [1, 2, 7] {
                let wides: [fn(usize) -> bool; 4] = [|_| false, |_| true, |row| row % 100 == 99, |row| row > 600];
                for wide in wides {
                    let (all, expected) = values(rows, wide, pieces);
                    assert_eq!(all.len(), rows);
                    assert_eq!(all.expand(), expected);
                    assert_eq!(all.starts().len(), rows.div_ceil(RowValues::BLOCK) + 1);
                    let padded = |row: usize| expected.get(row).copied().unwrap_or(Fr::ZERO);
                    assert!((0..rows + 300).all(|row| all.get(row) == padded(row)));
                    for (start, len) in
                        [(0, 0), (0, 1), (255, 3), (rows / 2, 300), (rows, 5), (rows + 600, 2), (0, rows + 9)]
                    {
                        let mut range = vec![Fr::from(9); len];
                        all.expand_into(start..start + len, &mut range);
                        assert!((0..len).all(|i| range[i] == padded(start + i)), "{start} {len} of {rows}");
                    }
                }
            }
        }
    }
}
