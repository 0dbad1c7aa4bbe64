//! `cuzk verify`.

use super::c1_file::C1File;
use crate::circuit::Statement;
use crate::cli::options::Verify;
use crate::cli::{terminal, Terminal};
use crate::error::{Fault, Result};
use crate::fail;
use crate::pipeline::proof_file::{self, Found, ProofFile};
use crate::pipeline::stages;
use crate::report::{Timings, Unit};

pub fn run(options: &Verify, terminal: &Terminal) -> Result<()> {
    let name = options.proof.name();
    let found = proof_file::read(&name, &options.proof.read()?)?;
    let file = C1File::read(&options.c1, &options.read)?;
    if let Found::Document(document) = &found {
        check_document(document, &file.c1.statement, options.parameters.development)
            .map_err(|e| e.context(name.clone()))?;
    }
    let proofs = stages::decode(found.proof()).map_err(|e| e.context(name.clone()))?;
    let key = options.parameters.verifying_key(&file.porep)?;
    stages::verification(&file.porep, &key.vk, &file.c1.statement, &proofs, &Timings::default())
        .map_err(|e| e.context(name.clone()))?;
    let kind = if options.parameters.development { " (development parameters: proves nothing)" } else { "" };
    if options.parameters.development {
        terminal.warn("verified against development parameters, with which anyone who made them can forge proofs");
    }
    terminal::print(&format!("{name}: valid, {}{kind}\n", Unit::Partitions.amount(proofs.len() as u64)))
}

/// What the document says must be what the C1 file says: a proof is about one sector only.
fn check_document(document: &ProofFile, statement: &Statement, development: bool) -> Result<()> {
    if document.registered_proof != statement.proof {
        fail!(
            Fault::Unverified,
            "the proof is a {:?}, the C1 file a {:?}: they do not belong together",
            document.registered_proof,
            statement.proof
        );
    }
    for (field, ours, theirs) in
        [("comm_r", &document.comm_r, &statement.comm_r), ("comm_d", &document.comm_d, &statement.comm_d)]
    {
        if ours != theirs {
            fail!(
                Fault::Unverified,
                "{field} is {} in the proof file and {} in the C1 file: they do not belong together",
                hex::encode(ours),
                hex::encode(theirs)
            );
        }
    }
    match (document.parameters.development, development) {
        (true, false) => fail!(
            Fault::Unverified,
            "made with development parameters, so it proves nothing; to check it against them anyway pass --dev-params"
        ),
        (false, true) => {
            fail!(Fault::Usage, "made with official parameters: verify it without --dev-params")
        }
        _ => Ok(()),
    }
}
