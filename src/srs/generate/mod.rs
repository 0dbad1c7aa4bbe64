//! Makes development parameters: bellperson's `generate_parameters`, byte for byte, with secrets that everybody knows.
//!
//! They bear the official names, so that filecoin-proofs pointed at their folder proves and verifies with them; the folder
//! is marked before the first of them appears, and official folders are refused.

mod queries;
mod toxic;
mod writer;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bellperson::Circuit;
use blstrs::Scalar as Fr;
use fs2::FileExt;
use tempfile::NamedTempFile;

use super::development::{self, Record, MARKER};
use super::digest::{self, HashingWriter};
use super::progress::{Progress, Report, Stage};
use crate::circuit::CircuitIdentity;
use crate::constraints;
use crate::error::{Fault, OrFault, Result};
use crate::fail;

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
    prepare_folder(request.folder).map_err(in_folder)?;
    // Held until this function returns.
    let _lock = lock(request, report).map_err(in_folder)?;
    if let Some(record) = existing(request).map_err(in_folder)? {
        return Ok(Generated { path: request.folder.join(&request.identity.params), record, reused: true });
    }
    remove_stale(request).map_err(in_folder)?;

    report(Progress::Work { stage: Stage::Recording, done: 0, total: 0 });
    let r1cs = constraints::record(circuit).or_fault(Fault::Internal, || "synthesis of the circuit".into())?;
    let (constraints, inputs, aux) = (r1cs.constraints(), r1cs.inputs, r1cs.aux);
    let toxic = ToxicWaste::development(&request.identity.params, request.seed);
    let parameters = Parameters::new(r1cs, toxic)?;
    let bytes = parameters.layout().file_bytes() as u64;
    check_space(request.folder, bytes).map_err(in_folder)?;
    let key = parameters.verifying_key()?;
    let (file, digest) = write_temporary(request, &parameters, report).map_err(in_folder)?;
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
    let path = publish(request, &record, &key, file).map_err(in_folder)?;
    Ok(Generated { path, record, reused: false })
}

/// Creates and marks the folder, unless it holds parameters that have no marker.
fn prepare_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).or_fault(Fault::Output, || "the folder cannot be created".into())?;
    if !development::is_marked(folder) {
        let entries = fs::read_dir(folder).or_fault(Fault::Output, || "the folder cannot be read".into())?;
        for entry in entries {
            let entry = entry.or_fault(Fault::Output, || "the folder cannot be read".into())?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".params") || name.ends_with(".vk") || name.ends_with(".srs") {
                fail!(
                    Fault::Usage,
                    "the folder has parameter files ({name}) and no {MARKER}: it may hold official ones, so nothing is \
                     generated here; name another folder with --params"
                );
            }
        }
    }
    development::mark(folder).or_fault(Fault::Output, || format!("{MARKER} cannot be written"))
}

/// The lock on one circuit's files. It stays as an empty file: removing it would let a third process lock another.
fn lock(request: &Request, report: &Report) -> Result<File> {
    let path = request.folder.join(format!(".{}.lock", request.identity.params));
    let cannot = || format!("{}: cannot be locked", path.display());
    let file = File::options().create(true).truncate(false).write(true).open(&path).or_fault(Fault::Output, cannot)?;
    match FileExt::try_lock_exclusive(&file) {
        Ok(()) => {}
        Err(e) if e.kind() == fs2::lock_contended_error().kind() => {
            report(Progress::Work { stage: Stage::Waiting, done: 0, total: 0 });
            FileExt::lock_exclusive(&file).or_fault(Fault::Output, cannot)?;
        }
        Err(e) => return Err(e).or_fault(Fault::Output, cannot),
    }
    Ok(file)
}

/// The record of the same parameters, if all their files are there.
fn existing(request: &Request) -> Result<Option<Record>> {
    let Request { identity, folder, .. } = request;
    let bytes = fs::metadata(folder.join(&identity.params)).map(|m| m.len()).ok();
    let record = Record::read(folder, identity);
    if bytes.is_some() && record.is_none() {
        fail!(
            Fault::Parameters,
            "{} is there and {} is not: it was not made by `cuzk params generate`, so it is left alone; move it away or \
             name another folder with --params",
            identity.params,
            Record::path(folder, identity).display()
        );
    }
    let vk_digest = fs::read(folder.join(&identity.vk)).ok().map(|bytes| digest::of_bytes(&bytes));
    Ok(record.filter(|record| {
        record.seed.as_deref() == request.seed
            && bytes == Some(record.bytes)
            && vk_digest.as_deref() == Some(&record.vk_digest)
            && folder.join(&identity.meta).is_file()
    }))
}

/// What the names of a circuit's temporary files start with.
pub fn temporary_prefixes(identity: &CircuitIdentity) -> [String; 4] {
    let CircuitIdentity { params, vk, meta } = identity;
    let record = format!("{params}.dev.json");
    [params, vk, meta, &record].map(|name| development::temporary_prefix(name))
}

/// Removes what interrupted runs left of this circuit's files. Under the lock, so no other run is writing them.
fn remove_stale(request: &Request) -> Result<()> {
    let prefixes = temporary_prefixes(request.identity);
    let cannot = || "leftovers of an interrupted run cannot be removed".to_string();
    for entry in fs::read_dir(request.folder).or_fault(Fault::Output, cannot)? {
        let entry = entry.or_fault(Fault::Output, cannot)?;
        let name = entry.file_name();
        if prefixes.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            fs::remove_file(entry.path()).or_fault(Fault::Output, cannot)?;
        }
    }
    Ok(())
}

fn check_space(folder: &Path, bytes: u64) -> Result<()> {
    let free = fs2::available_space(folder).or_fault(Fault::Output, || "free space is unknown".into())?;
    if free < bytes {
        fail!(Fault::Output, "the parameters take {bytes} bytes and {free} are free; make room or name another folder");
    }
    Ok(())
}

/// Writes the .params file under a temporary name; its digest.
fn write_temporary(request: &Request, parameters: &Parameters, report: &Report) -> Result<(NamedTempFile, String)> {
    let mut file = development::temporary(request.folder, &request.identity.params)
        .or_fault(Fault::Output, || "no temporary file can be made".into())?;
    let mut writer = HashingWriter::new(file.as_file_mut());
    parameters.write(&mut writer, report)?;
    let (_, digest) = writer.finish();
    Ok((file, digest))
}

/// Puts the files in place. The .params comes last: whoever sees it sees the others.
fn publish(request: &Request, record: &Record, key: &[u8], params: NamedTempFile) -> Result<PathBuf> {
    let Request { identity, folder, .. } = request;
    let path = folder.join(&identity.params);
    let write = || -> io::Result<()> {
        // A .params of other secrets would go with neither the key nor the record.
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        put_bytes(folder, &format!("{}.dev.json", identity.params), &serde_json::to_vec_pretty(record)?)?;
        // What filecoin-proofs reads as its CacheEntryMetadata.
        let meta = serde_json::json!({ "sector_size": request.sector_bytes });
        put_bytes(folder, &identity.meta, &serde_json::to_vec(&meta)?)?;
        put_bytes(folder, &identity.vk, key)?;
        development::put(params, &path)
    };
    write().or_fault(Fault::Output, || "the files cannot be put in place".into())?;
    Ok(path)
}

fn put_bytes(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = development::temporary(folder, name)?;
    file.write_all(bytes)?;
    development::put(file, &folder.join(name))
}
