//! The rows' values of a matrix, in whatever form they are kept.

use std::ops::Range;

use blstrs::Scalar as Fr;
use ff::Field;

/// Values of A or B, in row order. A quotient's first pass over them is where they become elements.
pub trait Rows: Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the values of a range of rows; zeros past the last row, as in the evaluation domain.
    ///
    /// # Panics
    /// When `values` is not as long as the range.
    fn expand_into(&self, rows: Range<usize>, values: &mut [Fr]);
}

impl Rows for Vec<Fr> {
    fn len(&self) -> usize {
        self.len()
    }

    fn expand_into(&self, rows: Range<usize>, values: &mut [Fr]) {
        assert_eq!(values.len(), rows.len(), "values for {rows:?}");
        let (start, end) = (rows.start.min(self.len()), rows.end.min(self.len()));
        let (known, past) = values.split_at_mut(end - start);
        known.copy_from_slice(&self[start..end]);
        past.fill(Fr::ZERO);
    }
}
