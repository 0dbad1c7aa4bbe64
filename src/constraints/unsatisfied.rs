//! Which row a witness does not satisfy, and where in the circuit it is made.
//!
//! C is not stored: the circuit is run once more for C alone. A second time, if a row is found, for the names of the
//! namespaces around it, and of no others: building all of them takes longer than everything else.

use std::fmt;

use bellperson::{Circuit, LinearCombination};
use blstrs::Scalar as Fr;
use ff::Field;

use super::recorder::{self, Sink, Variables};
use super::row_values::RowValues;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::witness::CompactWitness;

/// A row whose a * b is not c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsatisfied {
    /// Number of the row, 0 for the first.
    pub row: usize,
    /// The namespaces it is made in and its own name, with `/` between.
    pub path: String,
    pub a: Fr,
    pub b: Fr,
    pub c: Fr,
}

impl fmt::Display for Unsatisfied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, path, a, b, c } = self;
        write!(f, "row {row} ({path}): a * b is not c, with a = {}, b = {}, c = {}", number(a), number(b), number(c))
    }
}

/// An element as the number it is, in hexadecimal.
fn number(element: &Fr) -> String {
    let digits = hex::encode(element.to_bytes_be());
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}

/// The first row that `witness` does not satisfy; a and b are its values of A and B, from [`super::Constraints::evaluate`].
/// `circuit` makes the circuit, a blank one will do, once or twice.
///
/// # Errors
/// [`Fault::Internal`]: the circuit fails, or it is not the one that the witness and the values belong to.
pub fn first_unsatisfied<C: Circuit<Fr>>(
    circuit: impl Fn() -> C,
    witness: &CompactWitness,
    [a, b]: &[RowValues; 2],
) -> Result<Option<Unsatisfied>> {
    let message = || "synthesis of the circuit for its C".to_owned();
    let check = Check { witness, values: [a, b], row: 0, depth: Depth::default(), found: None, past: false };
    let (variables, check) = recorder::run(circuit(), check).or_fault(Fault::Internal, message)?;
    let (inputs, aux) = (witness.inputs().len(), witness.layout().aux());
    if check.past || (variables, check.row) != (Variables { inputs, aux }, a.len()) || a.len() != b.len() {
        fail!(
            Fault::Internal,
            "a circuit of {} rows, {} inputs and {} aux variables; the values are {} and {}, the witness has {inputs} and {aux}",
            check.row,
            variables.inputs,
            variables.aux,
            a.len(),
            b.len()
        );
    }
    let Some(Found { row, namespaces, c }) = check.found else { return Ok(None) };
    let naming = Naming { target: row, namespaces, row: 0, depth: Depth::default(), path: Vec::new() };
    let (_, naming) = recorder::run(circuit(), naming).or_fault(Fault::Internal, message)?;
    Ok(Some(Unsatisfied { row, path: naming.path.join("/"), a: a.get(row), b: b.get(row), c }))
}

/// The open namespaces, each known by how many were opened before it.
#[derive(Default)]
struct Depth {
    opened: usize,
    open: Vec<usize>,
}

impl Depth {
    fn enter(&mut self) {
        self.open.push(self.opened);
        self.opened += 1;
    }

    fn leave(&mut self) {
        self.open.pop();
    }
}

/// Compares C's values with the products.
struct Check<'a> {
    witness: &'a CompactWitness,
    values: [&'a RowValues; 2],
    row: usize,
    depth: Depth,
    found: Option<Found>,
    /// The circuit has more variables than the witness.
    past: bool,
}

struct Found {
    row: usize,
    namespaces: Vec<usize>,
    c: Fr,
}

impl Check<'_> {
    /// The combination's value.
    fn value(&self, combination: &LinearCombination<Fr>) -> Fr {
        let inputs = combination.iter_inputs().map(|(i, k)| (self.witness.inputs()[*i], k));
        let aux = combination.iter_aux().map(|(i, k)| (self.witness.aux(*i), k));
        inputs.chain(aux).filter(|(value, _)| !value.is_zero_vartime()).fold(Fr::ZERO, |sum, (value, coefficient)| {
            if *coefficient == Fr::ONE {
                sum + value
            } else {
                sum + value * coefficient
            }
        })
    }

    fn product(&self) -> Fr {
        let [a, b] = self.values.map(|values| values.get(self.row));
        a * b
    }
}

impl Sink for Check<'_> {
    const COLUMNS: usize = super::Column::LIMIT;
    const MATRICES: [bool; 3] = [false, false, true];

    fn row(&mut self, variables: Variables, [.., c]: [LinearCombination<Fr>; 3], _: impl FnOnce() -> String) {
        self.past |= variables.inputs > self.witness.inputs().len() || variables.aux > self.witness.layout().aux();
        if self.found.is_none() && !self.past {
            let c = self.value(&c);
            if self.product() != c {
                self.found = Some(Found { row: self.row, namespaces: self.depth.open.clone(), c });
            }
        }
        self.row += 1;
    }

    fn enter(&mut self, _: impl FnOnce() -> String) {
        self.depth.enter();
    }

    fn leave(&mut self) {
        self.depth.leave();
    }
}

/// Builds the names around one row.
struct Naming {
    target: usize,
    /// Those that are open there.
    namespaces: Vec<usize>,
    row: usize,
    depth: Depth,
    path: Vec<String>,
}

impl Sink for Naming {
    const COLUMNS: usize = super::Column::LIMIT;
    const MATRICES: [bool; 3] = [false; 3];

    fn row(&mut self, _: Variables, _: [LinearCombination<Fr>; 3], name: impl FnOnce() -> String) {
        if self.row == self.target {
            self.path.push(name());
        }
        self.row += 1;
    }

    fn enter(&mut self, name: impl FnOnce() -> String) {
        if self.namespaces.get(self.path.len()) == Some(&self.depth.opened) {
            self.path.push(name());
        }
        self.depth.enter();
    }

    fn leave(&mut self) {
        self.depth.leave();
    }
}
