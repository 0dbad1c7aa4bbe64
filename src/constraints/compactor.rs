//! Takes the rows of A and B as they come: each distinct row stored once, columns relative, and the stream of their numbers
//! cut into chunks.

use bellperson::{Index, LinearCombination};
use blstrs::Scalar as Fr;

use super::chunks::Chunker;
use super::coefficients::Coefficients;
use super::columns::RelativeColumn;
use super::intern::Interner;
use super::recorder::{Sink, Variables};
use super::tables::FieldTerm;

/// The rows so far, in a few ten megabytes for a PoRep circuit.
pub(super) struct Compactor {
    pub coefficients: Coefficients,
    /// Distinct rows: the number of A's terms, these, B's. A term is its column and, from bit 32, its coefficient's place.
    pub rows: Interner,
    pub chunker: Chunker,
    /// Rows, distinct or not.
    pub count: usize,
    /// Terms of A and of B.
    pub nonzeros: [u64; 2],
    row: Vec<u64>,
    limits: Limits,
    /// There was no room for a row. A row cannot fail, so it is told at the end.
    full: bool,
}

/// How much the compact form can hold.
struct Limits {
    rows: usize,
    coefficients: usize,
}

const LIMITS: Limits = Limits { rows: u32::MAX as usize, coefficients: FieldTerm::COEFFICIENTS };

impl Compactor {
    pub fn new() -> Self {
        Self {
            coefficients: Coefficients::new(),
            rows: Interner::new(),
            chunker: Chunker::new(),
            count: 0,
            nonzeros: [0; 2],
            row: Vec::new(),
            limits: LIMITS,
            full: false,
        }
    }

    /// Appends a matrix's terms to the row, without those that are zero.
    fn terms(&mut self, combination: &LinearCombination<Fr>, variables: Variables) -> u64 {
        let before = self.row.len();
        let inputs = combination.iter_inputs().map(|(i, value)| (Index::Input(*i), value));
        for (variable, value) in inputs.chain(combination.iter_aux().map(|(i, value)| (Index::Aux(*i), value))) {
            let Some(coefficient) = self.coefficients.intern(value) else { continue };
            let column = RelativeColumn::new(variable, variables);
            self.row.push(u64::from(column.0) | u64::from(coefficient) << 32);
        }
        (self.row.len() - before) as u64
    }

    /// What does not fit.
    pub fn fault(&self) -> Option<String> {
        let Limits { rows, coefficients } = self.limits;
        if self.coefficients.len() > coefficients {
            return Some(format!("more than {coefficients} different coefficients"));
        }
        self.full.then(|| format!("more than {rows} rows"))
    }
}

impl Sink for Compactor {
    const COLUMNS: usize = RelativeColumn::LIMIT;
    const MATRICES: [bool; 3] = [true, true, false];

    fn row(&mut self, variables: Variables, [a, b, _]: [LinearCombination<Fr>; 3], _: impl FnOnce() -> String) {
        self.full |= self.count == self.limits.rows;
        if self.full || self.coefficients.len() > self.limits.coefficients {
            return;
        }
        self.row.clear();
        self.row.push(0);
        let of_a = self.terms(&a, variables);
        let of_b = self.terms(&b, variables);
        self.row[0] = of_a;
        self.nonzeros = [self.nonzeros[0] + of_a, self.nonzeros[1] + of_b];
        self.count += 1;
        let number = self.rows.intern(&self.row);
        self.chunker.row(number, variables);
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder;
    use super::super::validate::Constraints;
    use super::*;
    use bellperson::{Circuit, ConstraintSystem, SynthesisError};
    use ff::Field;

    /// Rows with coefficients 1, 2, 3 and so on.
    struct Rising(usize);

    impl Circuit<Fr> for Rising {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let x = cs.alloc(|| "x", || Ok(Fr::ONE))?;
            for i in 0..self.0 as u64 {
                cs.enforce(
                    || "row",
                    |lc| lc + (Fr::from(i + 1), x),
                    |lc| lc + CS::one(),
                    |lc| lc + (Fr::from(i + 1), x),
                );
            }
            Ok(())
        }
    }

    fn with_limits(rows: usize, coefficients: usize) -> Result<usize, String> {
        let compactor = Compactor { limits: Limits { rows, coefficients }, ..Compactor::new() };
        // Ten rows and ONE's; eleven coefficients, -1 among them.
        let (variables, compactor) = recorder::run(Rising(10), compactor).unwrap();
        Constraints::of(variables, compactor).map(|c| c.tables().rows).map_err(|error| error.to_string())
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert_eq!(with_limits(11, 11), Ok(11));
        for (rows, coefficients, message) in [
            (10, 11, "more than 10 rows"),
            (11, 10, "more than 10 different"),
            (1, 2, "more than"),
            (0, 11, "more than 0"),
        ] {
            let error = with_limits(rows, coefficients).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn more_columns_than_can_be_told_apart_are_an_error() {
        struct Wide;
        impl Circuit<Fr> for Wide {
            fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
                (0..=RelativeColumn::LIMIT).try_for_each(|_| cs.alloc(|| "x", || Ok(Fr::ONE)).map(|_| ()))
            }
        }
        let error = Constraints::build(Wide).unwrap_err().to_string();
        assert!(error.contains("more than 1073741824 variables of one kind"), "{error}");
    }
}
