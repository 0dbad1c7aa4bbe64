//! Parameters that are opened once per circuit and shared by all files of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::bases::Form;
use crate::circuit::{PoRep, SealProof};
use crate::error::Result;
use crate::pipeline::compiled::Compiled;
use crate::pipeline::job::Opened;
use crate::pipeline::parameters::Source;
use crate::report::Progress;

pub(super) struct Shared<'a> {
    source: &'a Source,
    /// What devices read prepared parameters in.
    form: Option<Form>,
    progress: &'a Progress,
    poreps: Mutex<HashMap<SealProof, Arc<PoRep>>>,
    by_type: Mutex<HashMap<SealProof, Arc<Opened>>>,
    by_circuit: Mutex<HashMap<String, Arc<Compiled>>>,
}

impl<'a> Shared<'a> {
    pub fn new(source: &'a Source, form: Option<Form>, progress: &'a Progress) -> Self {
        let (poreps, by_type, by_circuit) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { source, form, progress, poreps, by_type, by_circuit }
    }

    /// The proof type set up, its parameters not looked at: all that checking a file needs.
    ///
    /// # Errors
    /// Those of [`PoRep::new`].
    pub fn porep(&self, proof: SealProof) -> Result<Arc<PoRep>> {
        let mut poreps = self.poreps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(porep) = poreps.get(&proof) {
            return Ok(porep.clone());
        }
        let porep = Arc::new(PoRep::new(proof)?);
        poreps.insert(proof, porep.clone());
        Ok(porep)
    }

    /// The proof type set up, with its parameters; opened and checked on first use. Types of one circuit share the file.
    ///
    /// # Errors
    /// Those of [`Source::open_for`]; the next file of the type tries again.
    pub fn open(&self, proof: SealProof) -> Result<Arc<Opened>> {
        // Held while opening: whoever comes second wants the same file.
        let mut by_type = self.by_type.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = by_type.get(&proof) {
            return Ok(opened.clone());
        }
        let porep = self.porep(proof)?;
        let identity = porep.identity();
        let same = by_type.values().find(|o| o.porep.identity() == identity).map(|o| o.srs.clone());
        let srs = match same {
            Some(srs) => srs,
            None => Arc::new(self.source.open_for(&porep, self.form, self.progress)?),
        };
        let opened = Arc::new(Opened { porep, srs });
        by_type.insert(proof, opened.clone());
        Ok(opened)
    }

    /// The circuit of a proof type, taken apart on first use. Types of one circuit share it.
    ///
    /// # Errors
    /// Those of [`Source::compile`]; the next file of the type tries again.
    pub fn compile(&self, porep: &PoRep) -> Result<Arc<Compiled>> {
        let mut by_circuit = self.by_circuit.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = porep.identity().params;
        if let Some(compiled) = by_circuit.get(&identity) {
            return Ok(compiled.clone());
        }
        let compiled = Arc::new(self.source.compile(porep, self.progress)?);
        by_circuit.insert(identity, compiled.clone());
        Ok(compiled)
    }
}
