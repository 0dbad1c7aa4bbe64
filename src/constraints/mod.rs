//! A circuit's constraints `A z * B z = C z`, taken from a blank circuit.
//!
//! Two forms of the same rows. [`R1cs`] has all of them, row by row, for the generation of parameters. [`Constraints`] has A
//! and B with what repeats stored once, a ten thousandth of the size for a PoRep circuit, and evaluates them for a witness:
//!
//! ```text
//! blank circuit -> recorder -> rows, relative columns (compactor) -> chunks of equal rows (chunks) -> tiles -> Constraints
//!                                                    Constraints + CompactWitness -> evaluate -> RowValues of A and B
//! ```
//!
//! What repeats is found from the rows alone: nothing here knows what a circuit is about.

mod build;
pub mod cache;
mod chunks;
mod coefficients;
mod columns;
mod compactor;
mod density;
mod evaluate;
mod field_rows;
mod file;
mod intern;
mod product;
mod r1cs;
mod recorder;
mod row_values;
mod rows;
mod tables;
mod tiles;
mod unsatisfied;
mod validate;

pub use columns::{ColumnKind, RelativeColumn};
pub use density::Densities;
pub(crate) use evaluate::check_witness;
pub use evaluate::Arithmetic;
pub use r1cs::{record, Column, Matrix, R1cs, Term};
pub use row_values::RowValues;
pub use rows::Rows;
pub use tables::{Child, FieldEntry, FieldTerm, Group, GroupTerm, Instance, Placement, Tables, Tile};
pub use unsatisfied::{first_unsatisfied, Unsatisfied};
pub use validate::Constraints;
