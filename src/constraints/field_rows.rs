//! Distinct rows as they will be evaluated: those that bits turn into bytes, and those that take field arithmetic.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};

use super::coefficients::limbs;
use super::columns::{ColumnKind, RelativeColumn};
use super::intern::Interner;
use super::tables::FieldTerm;

/// A distinct row's part in one matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowPart {
    /// `constant + sum of terms`, the absolute values of constant and coefficients adding up to 127 at most; aux variables only.
    Small { constant: i8, first: usize, terms: usize },
    /// Number of a field row.
    Field(u32),
}

/// A term of a small part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallTerm {
    pub column: RelativeColumn,
    pub coefficient: i8,
}

/// The parts of all distinct rows.
pub(super) struct RowParts {
    /// A's and B's part of each distinct row.
    pub rows: Vec<[RowPart; 2]>,
    pub small_terms: Vec<SmallTerm>,
    /// Distinct field rows: a word for each [`FieldTerm`], the column in the low half.
    pub field_rows: Interner,
}

impl RowParts {
    /// From the rows of [`super::compactor::Compactor`].
    pub fn new(rows: &Interner, coefficients: &[Fr]) -> Self {
        let small: Vec<Option<i8>> = coefficients.iter().map(small).collect();
        let mut parts = Self { rows: Vec::new(), small_terms: Vec::new(), field_rows: Interner::new() };
        let mut joined = Vec::new();
        for row in rows.iter() {
            let (a, b) = row[1..].split_at(row[0] as usize);
            let row = [a, b].map(|terms| parts.part(terms, &small, coefficients, &mut joined));
            parts.rows.push(row);
        }
        parts
    }

    fn part(&mut self, terms: &[u64], small: &[Option<i8>], coefficients: &[Fr], joined: &mut Vec<u64>) -> RowPart {
        let first = self.small_terms.len();
        let Some(constant) = small_terms(terms, small, &mut self.small_terms) else {
            self.small_terms.truncate(first);
            join(terms, coefficients, joined);
            return RowPart::Field(self.field_rows.intern(joined));
        };
        RowPart::Small { constant, first, terms: self.small_terms.len() - first }
    }
}

fn unpack(term: u64) -> (RelativeColumn, u32) {
    (RelativeColumn(term as u32), (term >> 32) as u32)
}

/// The value as a number from -127 to 127, if it is one.
fn small(value: &Fr) -> Option<i8> {
    let byte = |value: Fr| {
        let bytes = value.to_repr();
        (bytes[0] < 128 && bytes[1..].iter().all(|byte| *byte == 0)).then_some(bytes[0] as i8)
    };
    byte(*value).or_else(|| byte(-value).map(|byte| -byte))
}

/// Appends the terms of a row that bits turn into a byte, and returns its constant; `None` where they do not.
fn small_terms(terms: &[u64], small: &[Option<i8>], found: &mut Vec<SmallTerm>) -> Option<i8> {
    let (mut constant, mut sum) = (0, 0i32);
    for (column, coefficient) in terms.iter().map(|term| unpack(*term)) {
        let coefficient = small[coefficient as usize]?;
        sum += i32::from(coefficient).abs();
        if sum > 127 {
            return None;
        }
        match column.kind() {
            ColumnKind::AuxBack | ColumnKind::Aux => found.push(SmallTerm { column, coefficient }),
            _ if column == RelativeColumn::ONE => constant = coefficient,
            _ => return None,
        }
    }
    Some(constant)
}

/// Terms with doubling coefficients on columns one or two apart become one: the unpacking of words.
fn join(terms: &[u64], coefficients: &[Fr], joined: &mut Vec<u64>) {
    joined.clear();
    let mut run: Option<Run> = None;
    for (column, coefficient) in terms.iter().map(|term| unpack(*term)) {
        let value = coefficients[coefficient as usize];
        if !run.as_mut().is_some_and(|run| run.extend(column, &value)) {
            joined.extend(run.map(Run::word));
            run = Some(Run { column, coefficient, length: 1, stride: 1, next: value.double() });
        }
    }
    joined.extend(run.map(Run::word));
}

/// A term being joined.
#[derive(Clone, Copy)]
struct Run {
    column: RelativeColumn,
    coefficient: u32,
    length: usize,
    stride: usize,
    /// The coefficient that goes on.
    next: Fr,
}

impl Run {
    fn extend(&mut self, column: RelativeColumn, value: &Fr) -> bool {
        let Some(steps) = self.column.steps_to(column) else { return false };
        let stride = if self.length == 1 { steps } else { self.stride };
        let fits = matches!(stride, 1 | 2) && self.length < FieldTerm::MAX_LENGTH[stride - 1];
        if !fits || steps != self.length * stride || limbs(value) != limbs(&self.next) {
            return false;
        }
        (self.stride, self.length, self.next) = (stride, self.length + 1, self.next.double());
        true
    }

    fn word(self) -> u64 {
        let term = FieldTerm::new(self.column, self.coefficient, self.length, self.stride);
        u64::from(term.column.0) | u64::from(term.packed) << 32
    }
}

/// The terms of the distinct field rows, flat, and where each row's begin.
pub(super) fn flatten(field_rows: &Interner) -> (Vec<FieldTerm>, Vec<u32>) {
    let word = |word: &u64| FieldTerm { column: RelativeColumn(*word as u32), packed: (*word >> 32) as u32 };
    let mut starts = vec![0];
    let mut end = 0;
    for row in field_rows.iter() {
        end += row.len();
        starts.push(end as u32);
    }
    (field_rows.words().iter().map(word).collect(), starts)
}

#[cfg(test)]
mod tests {
    use super::super::recorder::Variables;
    use super::*;
    use bellperson::Index;

    fn back(distance: usize) -> RelativeColumn {
        RelativeColumn::new(Index::Aux(9999 - distance), Variables { inputs: 9, aux: 10_000 })
    }

    fn joined(terms: &[(RelativeColumn, u32)], coefficients: &[Fr]) -> Vec<(usize, usize, usize)> {
        let words: Vec<u64> = terms.iter().map(|(c, k)| u64::from(c.0) | u64::from(*k) << 32).collect();
        let mut found = Vec::new();
        join(&words, coefficients, &mut found);
        let term = |word: &u64| FieldTerm { column: RelativeColumn(*word as u32), packed: (*word >> 32) as u32 };
        found.iter().map(term).map(|t| (t.coefficient(), t.length(), t.stride())).collect()
    }

    #[test]
    fn doubling_terms_join_up_to_a_window() {
        let powers: Vec<Fr> = std::iter::successors(Some(Fr::ONE), |x| Some(x.double())).take(200).collect();
        let run = |n: u32, gap: usize| (0..n).map(|i| (back(500 - gap * i as usize), i)).collect::<Vec<_>>();
        assert_eq!(joined(&run(1, 1), &powers), [(0, 1, 1)]);
        assert_eq!(joined(&run(32, 1), &powers), [(0, 32, 1)]);
        assert_eq!(joined(&run(64, 1), &powers), [(0, 63, 1), (63, 1, 1)]);
        assert_eq!(joined(&run(33, 2), &powers), [(0, 32, 2), (32, 1, 1)]);
        assert_eq!(joined(&run(3, 3), &powers), [(0, 1, 1), (1, 1, 1), (2, 1, 1)]);
        // Coefficients that stay the same or halve, and columns that go back.
        let same: Vec<_> = run(3, 1).into_iter().map(|(column, _)| (column, 5)).collect();
        assert_eq!(joined(&same, &powers).len(), 3);
        let reversed: Vec<_> = run(3, 1).into_iter().rev().collect();
        assert_eq!(joined(&reversed, &powers).len(), 3);
        assert_eq!(joined(&[], &powers), []);
    }

    #[test]
    fn rows_are_small_while_they_fit_a_byte() {
        let coefficients = [1, 127, 128].map(Fr::from).into_iter().chain([-Fr::from(127), -Fr::from(128)]);
        let coefficients: Vec<Fr> = coefficients.collect();
        let input = RelativeColumn::new(Index::Input(1), Variables { inputs: 4, aux: 0 });
        let part = |terms: &[(RelativeColumn, u32)]| {
            let small: Vec<_> = coefficients.iter().map(small).collect();
            let words: Vec<u64> = terms.iter().map(|(c, k)| u64::from(c.0) | u64::from(*k) << 32).collect();
            small_terms(&words, &small, &mut Vec::new())
        };
        assert_eq!(part(&[]), Some(0));
        assert_eq!(part(&[(RelativeColumn::ONE, 3)]), Some(-127));
        assert_eq!(part(&[(back(1), 1)]), Some(0));
        assert_eq!(part(&[(back(1), 2)]), None);
        assert_eq!(part(&[(back(1), 4)]), None);
        assert_eq!(part(&[(back(1), 1), (back(0), 0)]), None);
        assert_eq!(part(&[(RelativeColumn::ONE, 1), (back(0), 0)]), None);
        assert_eq!(part(&[(input, 0)]), None);
    }
}
