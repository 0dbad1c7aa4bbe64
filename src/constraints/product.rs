//! c = a * b, row by row: for a satisfying witness the values of C.

use rayon::prelude::*;

use super::row_values::{RowValues, Wide};

/// Rows that one task multiplies; whole blocks.
const TASK: usize = 64 * RowValues::BLOCK;

impl RowValues {
    /// The values of `a` times those of `b`. A byte times a byte stays one where it fits.
    ///
    /// # Panics
    /// When they have not the same number of rows.
    pub fn product(a: &Self, b: &Self) -> Self {
        assert_eq!(a.len(), b.len(), "rows of a and b");
        let mut c = Self::default();
        let (small, _) = c.reset(a.len());
        let task = |(i, small): (usize, &mut [i8])| multiply(a, b, i * TASK, small);
        let lists = small.par_chunks_mut(TASK).enumerate().map(task).collect();
        c.finish(lists);
        c
    }
}

/// The rows from `start` on, as many as there are bytes.
fn multiply(a: &RowValues, b: &RowValues, start: usize, small: &mut [i8]) -> Wide {
    let mut list = Wide::default();
    let end = start + small.len();
    let bytes = a.small()[start..end].iter().zip(&b.small()[start..end]);
    // First all bytes, in a loop without branches; what is wide or does not fit is marked.
    for (product, (a, b)) in small.iter_mut().zip(bytes) {
        let (a, b) = (i16::from(*a), i16::from(*b));
        let wide = a == i16::from(RowValues::WIDE) || b == i16::from(RowValues::WIDE);
        let exact = a * b;
        *product = if wide || !(-127..=127).contains(&exact) { RowValues::WIDE } else { exact as i8 };
    }
    for (i, block) in small.chunks_mut(RowValues::BLOCK).enumerate() {
        if !block.contains(&RowValues::WIDE) {
            continue;
        }
        let first = start + i * RowValues::BLOCK;
        for (row, product) in block.iter_mut().enumerate().filter(|(_, product)| **product == RowValues::WIDE) {
            *product = wide_product(a, b, first + row, &mut list);
        }
    }
    list
}

/// A row of which at least the product is wide.
fn wide_product(a: &RowValues, b: &RowValues, row: usize, list: &mut Wide) -> i8 {
    match (a.small()[row], b.small()[row]) {
        (0, _) | (_, 0) => return 0,
        (1, _) => list.elements.push(b.get(row)),
        (_, 1) => list.elements.push(a.get(row)),
        _ => list.elements.push(a.get(row) * b.get(row)),
    }
    list.places.push(row as u32);
    RowValues::WIDE
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::Scalar as Fr;
    use ff::Field;

    /// Bytes in turn and, every so many rows, an element.
    fn values(rows: usize, step: usize, wide: usize) -> RowValues {
        let mut values = RowValues::default();
        let mut list = Wide::default();
        let (small, _) = values.reset(rows);
        for (row, small) in small.iter_mut().enumerate() {
            *small = ((row * step % 255) as i64 - 127) as i8;
            if row % wide == 0 {
                *small = RowValues::WIDE;
                list.places.push(row as u32);
                list.elements.push(-Fr::from(row as u64 * 7 + 3).square());
            }
        }
        values.finish(vec![list]);
        values
    }

    #[test]
    fn products_are_those_of_the_elements() {
        for rows in [0, 1, 256, 1000, TASK, 3 * TASK + 77] {
            for (wide_a, wide_b) in [(1, 1), (2, 3), (100, 1), (rows + 1, rows + 1)] {
                let (a, b) = (values(rows, 1, wide_a), values(rows, 31, wide_b));
                let c = RowValues::product(&a, &b);
                let expected: Vec<Fr> = a.expand().iter().zip(b.expand()).map(|(a, b)| a * b).collect();
                assert!(c.expand() == expected, "{rows} rows");
                assert!((0..rows).step_by(97).all(|row| c.get(row) == expected[row]));
            }
        }
    }
}
