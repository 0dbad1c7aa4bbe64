//! A circuit taken apart: its constraints, and how its witnesses are made.

use std::path::{Path, PathBuf};

use crate::backend::ROW_BYTES;
use crate::circuit::{Partition, PartitionCircuit, PoRep, Statement, VanillaProofs};
use crate::constraints::cache;
use crate::error::{Error, Fault, Result};
use crate::fail;
use crate::groth16::Circuit;
use crate::report::Progress;
use crate::witness::{self, porep::Generator, CompactWitness};

/// A circuit's constraints, and the generator of its witnesses.
pub struct Compiled {
    pub circuit: Circuit,
    /// `None` for a circuit that has none: it is then run for each witness.
    pub generator: Option<Generator>,
    /// The cache file that the constraints were loaded from.
    pub loaded_from: Option<PathBuf>,
}

/// What a partition's witness is made from.
pub enum Values {
    /// For the generator.
    Plain(Box<Partition>),
    /// To be run.
    Circuit(PartitionCircuit),
}

impl Compiled {
    /// The constraints of `porep`'s circuit, from a file in the folder `cache` or from the circuit itself, and the generator of its
    /// witnesses.
    ///
    /// # Errors
    /// `Internal`: those of [`Constraints::build`](crate::constraints::Constraints::build).
    pub fn new(porep: &PoRep, cache: Option<&Path>, progress: &Progress) -> Result<Self> {
        let identity = porep.identity().params;
        let path = cache.map(|folder| cache::path(folder, &identity));
        let found = cache::load_or_build(path.as_deref(), &identity, || {
            progress.note("taking the constraints from the circuit: seconds, for 32 GiB and more about a minute");
            porep.blank()
        })?;
        progress.note(&found.note());
        let loaded_from = found.loaded_from().map(Path::to_owned);
        let generator = Generator::new(&porep.shape()).map_err(|error| {
            progress.note(&format!("{error}: witnesses are made by running the circuit, which takes far longer"));
        });
        Ok(Self { circuit: Circuit::new(found.constraints), generator: generator.ok(), loaded_from })
    }

    /// What the witness of partition `k`, counted from 0, is made from.
    ///
    /// # Errors
    /// Those of [`PoRep::partition`] or [`PoRep::circuit`].
    pub fn values(&self, porep: &PoRep, statement: &Statement, vanilla: &VanillaProofs, k: usize) -> Result<Values> {
        match &self.generator {
            Some(_) => porep.partition(statement, vanilla, k).map(Box::new).map(Values::Plain),
            None => porep.circuit(statement, vanilla, k).map(Values::Circuit),
        }
    }

    /// The witness that `values` make.
    ///
    /// # Errors
    /// Those of [`Generator::generate`] or [`witness::of_circuit`]; plain values where there is no generator.
    pub fn witness(&self, values: Values) -> Result<CompactWitness> {
        match (values, &self.generator) {
            (Values::Plain(partition), Some(generator)) => generator.generate(&partition),
            (Values::Plain(_), None) => fail!(Fault::Internal, "plain values of a circuit that has no generator"),
            (Values::Circuit(circuit), _) => witness::of_circuit(circuit),
        }
    }

    /// Bytes that the making of a partition's witness takes, the witness included. A circuit that is run makes all variables
    /// elements before they become bits.
    pub fn witness_bytes(&self) -> u64 {
        let aux = self.circuit.aux();
        let wide = self.generator.as_ref().map_or(2 * aux, |generator| generator.layout().wide());
        (aux / 8 + 32 * (wide + self.circuit.inputs())) as u64
    }

    /// The same with the values of its rows.
    pub fn check_bytes(&self) -> u64 {
        self.witness_bytes() + ROW_BYTES * self.circuit.rows() as u64
    }

    /// Names the cache file in front of an error that wrong constraints may be behind. A file's checksum tells that it is what
    /// was written, not that what was written was right.
    pub fn doubt(&self, error: Error) -> Error {
        match &self.loaded_from {
            None => error,
            Some(path) => error.context(format!(
                "with the constraints of the cache file {} (delete it to have them taken from the circuit again)",
                path.display()
            )),
        }
    }
}
