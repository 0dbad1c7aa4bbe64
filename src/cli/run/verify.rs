//! `cuzk verify`.

use super::c1_file::C1File;
use crate::c1::{prover_id, C1};
use crate::circuit::hash::replica_id;
use crate::circuit::{PoRep, Statement};
use crate::cli::options::Verify;
use crate::cli::{terminal, Terminal};
use crate::error::{Fault, Result};
use crate::fail;
use crate::pipeline::proof_file::{self, Found, ProofFile, PARTITION_BYTES};
use crate::pipeline::stages;
use crate::report::{Timings, Unit};
use crate::srs::OpenedVk;

pub fn run(options: &Verify, terminal: &Terminal) -> Result<()> {
    let name = options.proof.name();
    let of_proof = |e: crate::error::Error| e.context(name.clone());
    let proof = options.proof.read(proof_file::MAX_BYTES, "proof file", "; the C1 file is named with --c1")?;
    let found = proof_file::read(&name, &proof)?;
    let file = C1File::read(&options.c1, &options.read)?;
    check_length(found.proof(), &file.porep).map_err(of_proof)?;
    if let Found::Document(document) = &found {
        check_document(document, &file.c1, options.parameters.development).map_err(of_proof)?;
        warn_of_unchecked(document, &file.c1, terminal);
    }
    let key = options.parameters.verifying_key(&file.porep)?;
    if let Found::Document(document) = &found {
        check_parameters(document, &file.porep, &key).map_err(of_proof)?;
    }
    let proofs = stages::decode(found.proof()).map_err(of_proof)?;
    stages::verification(&file.porep, &key.vk, &file.c1.statement, &proofs, &Timings::default()).map_err(of_proof)?;
    let kind = if options.parameters.development { " (development parameters: proves nothing)" } else { "" };
    if options.parameters.development {
        terminal.warn("verified against development parameters, with which anyone who made them can forge proofs");
    }
    terminal::print(&format!("{name}: valid, {}{kind}\n", Unit::Partitions.amount(proofs.len() as u64)))
}

/// Before anything is decoded: points are costly to decompress.
fn check_length(proof: &[u8], porep: &PoRep) -> Result<()> {
    let expected = porep.partitions() * PARTITION_BYTES;
    if proof.len() != expected {
        fail!(
            Fault::Unverified,
            "a proof for this C1 file has {expected} bytes ({} of {PARTITION_BYTES}), this one {}",
            Unit::Partitions.amount(porep.partitions() as u64),
            proof.len()
        );
    }
    Ok(())
}

/// What the document says must be what the C1 file says: a proof is about one sector only.
fn check_document(document: &ProofFile, c1: &C1, development: bool) -> Result<()> {
    let statement = &c1.statement;
    let hex = |bytes: &[u8; 32]| Some(hex::encode(bytes));
    let name = |proof| Some(format!("{proof:?}"));
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    let miner = |id: Option<u64>| id.map(|id| format!("f0{id}"));
    agree("the proof type", name(document.registered_proof), name(statement.proof))?;
    agree("comm_r", hex(&document.comm_r), hex(&statement.comm_r))?;
    agree("comm_d", hex(&document.comm_d), hex(&statement.comm_d))?;
    agree("the miner", miner(document.miner), miner(c1.miner))?;
    agree("the sector", text(document.sector), text(c1.sector))?;
    if document.miner.is_some() || document.sector.is_some() {
        // Where each names one of them, together they name both.
        if let (Some(miner), Some(sector)) = (document.miner.or(c1.miner), document.sector.or(c1.sector)) {
            check_replica_id(statement, miner, sector)?;
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

/// What a proof file says of its sector follows from replica_id, if it is known who is meant.
fn warn_of_unchecked(document: &ProofFile, c1: &C1, terminal: &Terminal) {
    let unchecked = match (document.miner, document.sector) {
        (Some(miner), None) if c1.miner.or(c1.sector).is_none() => format!("miner f0{miner} and no sector"),
        (None, Some(sector)) if c1.miner.or(c1.sector).is_none() => format!("sector {sector} and no miner"),
        _ => return,
    };
    terminal.warn(&format!("the proof file names {unchecked}: not checked; name both with --miner and --sector"));
}

/// Where both say something, they must say the same.
fn agree(what: &str, document: Option<String>, c1: Option<String>) -> Result<()> {
    if let (Some(document), Some(c1)) = (document, c1) {
        if document != c1 {
            fail!(
                Fault::Unverified,
                "{what} is {document} in the proof file and {c1} in the C1 file: they do not belong together"
            );
        }
    }
    Ok(())
}

/// The C1 file may not name the sector; its replica_id follows from it all the same.
fn check_replica_id(statement: &Statement, miner: u64, sector: u64) -> Result<()> {
    let Statement { proof, ticket, comm_d, .. } = statement;
    let made = replica_id(*proof, &prover_id(miner), sector, ticket, comm_d);
    if made != statement.replica_id {
        fail!(
            Fault::Unverified,
            "by the proof file this is sector {sector} of miner f0{miner}, whose replica_id is {}; the C1 file's is {}: they do \
             not belong together",
            hex::encode(made),
            hex::encode(statement.replica_id)
        );
    }
    Ok(())
}

/// The document's parameters must be those whose key verifies it.
fn check_parameters(document: &ProofFile, porep: &PoRep, key: &OpenedVk) -> Result<()> {
    let (said, file) = (&document.parameters, porep.identity().params);
    if said.file != file {
        fail!(Fault::Unverified, "the proof file names the parameters {}, this proof type has {file}", said.file);
    }
    if said.digest != key.params_digest {
        fail!(
            Fault::Unverified,
            "the proof file names parameters with digest {}; {} belongs to those with {}: name the folder of the others with \
             --params",
            said.digest,
            key.path.display(),
            key.params_digest
        );
    }
    Ok(())
}
