//! From a file's bytes to a checked C1 output.

use std::borrow::Cow;

use super::{address::check_replica_id, binary, detect::detect, infer, json, structure, Format, ReadOptions, C1};
use crate::{
    circuit::{proof_type::proof_name, raw::Proofs, PoRep, SealProof, VanillaProofs},
    error::{Fault, Result},
    fail,
};

/// No C1 output is larger: one of 64 GiB takes 40 MB as JSON, or ten times that with every number on a line of its own.
pub const MAX_BYTES: usize = 1 << 30;

/// What a file says, before anything is checked against anything else.
struct Parsed {
    untyped: infer::Untyped,
    proofs: Proofs,
    proof: Option<SealProof>,
    miner: Option<u64>,
    sector: Option<u64>,
}

/// Reads a C1 output of any format and checks all that is cheap: counts, lengths, ranges, replica_id where the sector
/// is known. `name` stands for the file in messages. Vanilla verification is `PoRep::check_vanilla`.
///
/// Bytes that are handed over (a `Vec`) are freed as soon as they are read. Beside them, a wrapper's decoded content is kept while
/// it is read, and what is read is at most the largest legal vanilla proofs.
///
/// # Errors
/// [`Fault::Input`], with the field and, where the text itself is wrong, the byte offset. [`Fault::Usage`] where the caller
/// knows one of miner and sector, and neither caller nor file the other.
pub fn read<'a>(name: &str, bytes: impl Into<Cow<'a, [u8]>>, options: &ReadOptions) -> Result<C1> {
    read_bytes(bytes.into(), options).map_err(|e| e.context(name))
}

fn read_bytes(bytes: Cow<'_, [u8]>, options: &ReadOptions) -> Result<C1> {
    if bytes.len() > MAX_BYTES {
        fail!(Fault::Input, "{} bytes; a C1 output has at most {MAX_BYTES}", bytes.len());
    }
    let format = detect(&bytes)?;
    let parsed = parse(format, bytes)?;
    let miner = agree("miner", parsed.miner, options.miner, |m| format!("f0{m}"))?;
    let sector = agree("sector", parsed.sector, options.sector, |s| s.to_string())?;
    // One of them alone would be taken for a check of replica_id that was not made.
    if options.miner.is_some() && sector.is_none() {
        fail!(Fault::Usage, "--miner needs --sector: the file names none");
    }
    if options.sector.is_some() && miner.is_none() {
        fail!(Fault::Usage, "--sector needs --miner: the file names none");
    }
    let known = agree("registered proof", parsed.proof, options.proof, |p| proof_name(*p))?;
    structure::check_statement(&parsed.untyped)?;
    let proof = match known {
        Some(proof) => proof,
        None => infer::infer(&parsed.untyped, &parsed.proofs, miner.zip(sector))?,
    };
    let statement = parsed.untyped.of(proof);
    structure::check_proofs(&PoRep::new(proof)?.shape(), &parsed.proofs)?;
    if let (Some(miner), Some(sector)) = (miner, sector) {
        check_replica_id(&statement, miner, sector)?;
    }
    let vanilla = VanillaProofs::from_raw(proof, parsed.proofs)?;
    Ok(C1 { statement, vanilla, format, miner, sector })
}

fn parse(format: Format, bytes: Cow<'_, [u8]>) -> Result<Parsed> {
    match format {
        Format::Json => of_json(json::output(&bytes)?, None, None),
        Format::Wrapper => {
            let (output, sector) = json::wrapper(bytes)?;
            of_json(output, None, Some(sector))
        }
        Format::ProofShare => {
            let (output, id) = json::proof_share(&bytes)?;
            of_json(output, Some(id.miner), Some(id.number))
        }
        Format::Bincode => {
            let binary::Output { vanilla_proofs, comm_r, comm_d, replica_id, seed, ticket } = binary::output(&bytes)?;
            let untyped = infer::Untyped { comm_r, comm_d, replica_id, seed, ticket };
            Ok(Parsed { untyped, proofs: vanilla_proofs, proof: None, miner: None, sector: None })
        }
    }
}

fn of_json(mut output: json::Output, miner: Option<u64>, sector: Option<u64>) -> Result<Parsed> {
    let (proof, proofs) = output.take_proofs()?;
    let json::Output { comm_r, comm_d, replica_id, seed, ticket, .. } = output;
    let untyped = infer::Untyped { comm_r, comm_d, replica_id, seed, ticket };
    Ok(Parsed { untyped, proofs, proof: Some(proof), miner, sector })
}

/// What file and caller say about one thing, where they do not contradict each other.
fn agree<T: PartialEq>(
    what: &str,
    file: Option<T>,
    caller: Option<T>,
    show: impl Fn(&T) -> String,
) -> Result<Option<T>> {
    if let (Some(a), Some(b)) = (&file, &caller) {
        if a != b {
            fail!(Fault::Input, "the file is of {what} {}, the options say {}", show(a), show(b));
        }
    }
    Ok(file.or(caller))
}
