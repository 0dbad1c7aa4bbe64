//! Makes development parameters: bellperson's `generate_parameters`, byte for byte, with secrets that everybody knows.
//!
//! They bear the official names, so that filecoin-proofs pointed at their folder proves and verifies with them; the folder
//! is marked before the first of them appears, and official folders are refused.

mod place;
mod queries;
mod toxic;
mod writer;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bellperson::Circuit;
use blstrs::Scalar as Fr;

use super::development::{self, Record};
use super::digest::{self, HashingWriter};
use super::progress::{Progress, Report, Stage};
use super::verifying_key::VK_LIMIT;
use crate::circuit::proof_type::sector_size_name;
use crate::circuit::CircuitIdentity;
use crate::constraints;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::{self, Temporary};
use crate::report::Unit;
use place::{lock, prepare_folder, remove_stale};

pub(super) use place::check_space;
pub use place::refuse_official;
pub use toxic::ToxicWaste;
pub use writer::Parameters;

/// What to generate, and where.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Names of the files; the secrets follow from them.
    pub identity: &'a CircuitIdentity,
    /// Goes into the .meta file and the record.
    pub sector_bytes: u64,
    /// Created if missing; see [`generate`] for which folders are refused.
    pub folder: &'a Path,
    /// Where the folder's path came from, for messages.
    pub folder_source: &'a str,
    /// Makes other parameters for the same circuit.
    pub seed: Option<&'a str>,
}

/// Parameters that are there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The .params file.
    pub path: PathBuf,
    pub record: Record,
    /// They were there before, made by an earlier or another run.
    pub reused: bool,
}

/// Makes development parameters for a circuit (blank will do): .params, .vk, .meta and the record, in `request.folder`.
///
/// Files appear whole or not at all, the .params last. Of two processes that generate the same at once the second waits
/// and uses the first one's result. Needs about 1 GB of memory for a 2 KiB sector.
///
/// # Errors
/// The folder has parameter files but no marker, or parameters under this name that have no record; the circuit cannot be
/// synthesised or leaves a variable unconstrained; the files cannot be written.
pub fn generate<C: Circuit<Fr>>(request: &Request, circuit: C, report: &Report) -> Result<Generated> {
    let in_folder = |e: crate::error::Error| {
        e.context(format!("{} (folder from {})", request.folder.display(), request.folder_source))
    };
    // Before anything is written: the folder may be one that this process can only read.
    if let Some(generated) = existing_marked(request).map_err(in_folder)? {
        return Ok(generated);
    }
    prepare_folder(request.folder).map_err(in_folder)?;
    // Held until this function returns.
    let _lock = lock(request, report).map_err(in_folder)?;
    if let Some(generated) = existing_marked(request).map_err(in_folder)? {
        return Ok(generated);
    }
    remove_stale(request).map_err(in_folder)?;

    report(Progress::Work { stage: Stage::Recording, done: 0, total: 0 });
    let r1cs = constraints::record(circuit).or_fault(Fault::Internal, || "synthesis of the circuit".into())?;
    let (constraints, inputs, aux) = (r1cs.constraints(), r1cs.inputs, r1cs.aux);
    let toxic = ToxicWaste::development(&request.identity.params, request.seed);
    let parameters = Parameters::new(r1cs, toxic)?;
    let bytes = parameters.layout().file_bytes() as u64;
    check_space(request.folder, bytes).map_err(in_folder)?;
    let (size, place) = (sector_size_name(request.sector_bytes), request.folder.display());
    let note = format!("development parameters for {size}: {} to write into {place}", Unit::Bytes.amount(bytes));
    report(Progress::Note(note));
    let key = parameters.verifying_key()?;
    let (params, digest) = write_temporary(request, &parameters, report).map_err(in_folder)?;
    let record = Record {
        warning: Record::WARNING.into(),
        circuit: request.identity.params.clone(),
        sector_bytes: request.sector_bytes,
        seed: request.seed.map(Into::into),
        digest,
        bytes,
        vk_digest: digest::of_bytes(&key),
        constraints,
        inputs,
        aux,
    };
    let path = publish(request, &record, &key, params).map_err(in_folder)?;
    Ok(Generated { path, record, reused: false })
}

/// The same parameters, if they are there and the folder is one for development parameters.
fn existing_marked(request: &Request) -> Result<Option<Generated>> {
    if !development::is_marked(request.folder) {
        return Ok(None);
    }
    let path = request.folder.join(&request.identity.params);
    Ok(existing(request)?.map(|record| Generated { path, record, reused: true }))
}

/// The record of the same parameters, if all their files are there.
fn existing(request: &Request) -> Result<Option<Record>> {
    let Request { identity, folder, .. } = request;
    let bytes = fs::metadata(folder.join(&identity.params)).map(|m| m.len()).ok();
    let record = Record::read(folder, identity);
    if bytes.is_some() && record.is_none() {
        fail!(
            Fault::Parameters,
            "{} is there and {} is not, which `cuzk params generate` makes with it: so it is left alone; copy that file too from \
             where it was made, move the other away, or name another folder with --params",
            identity.params,
            Record::path(folder, identity).display()
        );
    }
    let vk = files::read_small(&folder.join(&identity.vk), VK_LIMIT).ok();
    let vk_digest = vk.map(|bytes| digest::of_bytes(&bytes));
    Ok(record.filter(|record| {
        record.seed.as_deref() == request.seed
            && bytes == Some(record.bytes)
            && vk_digest.as_deref() == Some(&record.vk_digest)
            && folder.join(&identity.meta).is_file()
    }))
}

/// Names of a circuit's files.
fn names(identity: &CircuitIdentity) -> [String; 4] {
    let CircuitIdentity { params, vk, meta } = identity.clone();
    let record = format!("{params}.dev.json");
    [params, vk, meta, record]
}

/// Writes the .params file under a temporary name; its digest.
fn write_temporary(request: &Request, parameters: &Parameters, report: &Report) -> Result<(Temporary, String)> {
    let mut temporary = development::temporary(request.folder, &request.identity.params)
        .or_fault(Fault::Output, || "no temporary file can be made".into())?;
    let mut writer = HashingWriter::new(temporary.file());
    parameters.write(&mut writer, report)?;
    let (_, digest) = writer.finish();
    Ok((temporary, digest))
}

/// Puts the files in place, all or none as far as signals go. The .params comes last: whoever sees it sees the others.
fn publish(request: &Request, record: &Record, key: &[u8], params: Temporary) -> Result<PathBuf> {
    let Request { identity, folder, .. } = request;
    let path = folder.join(&identity.params);
    let write = || -> io::Result<()> {
        // What filecoin-proofs reads as its CacheEntryMetadata.
        let meta = serde_json::json!({ "sector_size": request.sector_bytes });
        let others = [
            (Record::path(folder, identity), serde_json::to_vec_pretty(record)?),
            (folder.join(&identity.meta), serde_json::to_vec(&meta)?),
            (folder.join(&identity.vk), key.to_vec()),
        ];
        let others = others.into_iter().map(|(path, bytes)| Ok((beside(folder, &path, &bytes)?, path)));
        // A .params of other secrets would go with neither the key nor the record: it is gone before they appear.
        files::put_set(others.collect::<io::Result<_>>()?, params, &path)?;
        fs::File::open(folder)?.sync_all()
    };
    write().or_fault(Fault::Output, || "the files cannot be put in place".into())?;
    Ok(path)
}

/// The content of the file that is to become `path`, under a temporary name.
fn beside(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<Temporary> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut temporary = development::temporary(folder, &name)?;
    temporary.file().write_all(bytes)?;
    Ok(temporary)
}
