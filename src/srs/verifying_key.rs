//! The .vk file: what proofs are verified with, and what tells official from development parameters on every start.

use std::path::{Path, PathBuf};

use bellperson::groth16::VerifyingKey;
use blstrs::Bls12;

use super::catalogue::Catalogue;
use super::development::{self, Record, MARKER};
use super::layout::{not_parameters, IC_OFFSET, VK_POINTS_BYTES};
use super::{digest, open_file, Lookup, Origin};
use crate::backend::bases::{G1_BYTES, G2_BYTES};
use crate::circuit::CircuitIdentity;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files;

/// No verifying key is larger: one of 32 GiB takes 33 KB.
pub(super) const VK_LIMIT: u64 = 1 << 20;

/// A verifying key read from its file, its digest known.
pub struct OpenedVk {
    pub path: PathBuf,
    pub vk: VerifyingKey<Bls12>,
    pub origin: Origin,
    /// Digest of the .vk file.
    pub digest: String,
    /// Digest that the .params file of the same circuit must have.
    pub params_digest: String,
    pub(super) bytes: Vec<u8>,
}

impl OpenedVk {
    /// Where the expected digests come from.
    pub(super) fn digest_source(&self) -> &'static str {
        match self.origin {
            Origin::Official => "filecoin-proofs' parameters.json",
            Origin::Development => "its .dev.json",
        }
    }
}

/// Reads a circuit's .vk file (a few KB) and checks its digest: all that verification needs; the .params may be missing.
///
/// # Errors
/// [`Fault::Parameters`], when the file is missing, damaged, or neither the official one nor a recorded one in a folder of
/// development parameters.
pub fn open_vk(identity: &CircuitIdentity, lookup: &Lookup) -> Result<OpenedVk> {
    open_listed(Catalogue::official(), identity, lookup)
}

pub(super) fn open_listed(catalogue: &Catalogue, identity: &CircuitIdentity, lookup: &Lookup) -> Result<OpenedVk> {
    let (path, place) = lookup.place(&identity.vk);
    open_file(&path, &place, catalogue, &identity.vk)?;
    let not_a_key = || format!("{place}: cannot be read as a verifying key");
    let bytes = files::read_small(&path, VK_LIMIT).or_fault(Fault::Parameters, not_a_key)?;
    let vk = parse(&bytes, &place, remedy(development::expected_origin(&path)))?;
    let digest = digest::of_bytes(&bytes);
    let (origin, params_digest) = origin_of(catalogue, identity, lookup, &digest, &place)?;
    Ok(OpenedVk { path, vk, origin, digest, params_digest, bytes })
}

/// Whose file it is, by its digest, and which digest its .params has.
fn origin_of(
    catalogue: &Catalogue,
    identity: &CircuitIdentity,
    lookup: &Lookup,
    digest: &str,
    place: &str,
) -> Result<(Origin, String)> {
    let official = catalogue.get(&identity.vk).zip(catalogue.get(&identity.params));
    if let Some((vk, params)) = official.filter(|(vk, _)| vk.digest == digest) {
        debug_assert_eq!(vk.sector_bytes, params.sector_bytes);
        return Ok((Origin::Official, params.digest.clone()));
    }
    let record = Record::read(&lookup.folder, identity).filter(|record| record.vk_digest == digest);
    let expected = official.map_or("no official file has this name".into(), |(vk, _)| {
        format!("expected {} (filecoin-proofs' parameters.json)", vk.digest)
    });
    match (development::is_marked(&lookup.folder), record) {
        (true, Some(record)) => Ok((Origin::Development, record.digest)),
        (true, None) => fail!(
            Fault::Parameters,
            "{place}: not the official file (its digest is {digest}, {expected}) and not recorded in {}; {}",
            Record::path(&lookup.folder, identity).display(),
            remedy(Origin::Development)
        ),
        (false, Some(_)) => fail!(
            Fault::Parameters,
            "{place}: not the official file ({expected}), and {MARKER} is missing here, without which no folder's development \
             parameters are taken (digest {digest}); if this folder is theirs alone, copy that file too from where they were \
             made; else move them to one of their own, name it with --dev-params --params, and fetch the official ones"
        ),
        (false, None) => {
            fail!(
                Fault::Parameters,
                "{place}: not the official file: its digest is {digest}, {expected}; {}",
                remedy(Origin::Official)
            )
        }
    }
}

/// What to do about a file that is not what it should be.
pub(super) fn remedy(origin: Origin) -> &'static str {
    match origin {
        Origin::Official => {
            "fetch it again with `lotus fetch-params` or `curio fetch-params`; development parameters belong in a folder of \
             their own, made by `cuzk params generate`"
        }
        Origin::Development => "delete it and run `cuzk params generate` again",
    }
}

/// Reads the whole of `bytes` as a verifying key, every point checked; `again` says how to get the file again.
fn parse(bytes: &[u8], place: &str, again: &str) -> Result<VerifyingKey<Bls12>> {
    if let Some(what) = not_parameters(bytes) {
        fail!(Fault::Parameters, "{place}: {what}, not a verifying key; {again}");
    }
    let inputs = bytes.get(VK_POINTS_BYTES..IC_OFFSET).and_then(|count| count.try_into().ok());
    let expected = inputs.map_or(IC_OFFSET, |count| IC_OFFSET + u32::from_be_bytes(count) as usize * G1_BYTES);
    if bytes.len() != expected {
        let what = if bytes.len() < expected { "truncated" } else { "too long" };
        fail!(Fault::Parameters, "{place}: {what}: {} of {expected} bytes; {again}", bytes.len());
    }
    if let Some(offset) = point_offsets(bytes.len()).find(|&offset| bytes[offset] & 0xe0 != 0) {
        fail!(
            Fault::Parameters,
            "{place}: flag bits at offset {offset}: expected an uncompressed point that is not the identity; {again}"
        );
    }
    VerifyingKey::read(bytes).or_fault(Fault::Parameters, || format!("{place}: not a verifying key; {again}"))
}

/// Where the points of a verifying key of `length` bytes are.
fn point_offsets(length: usize) -> impl Iterator<Item = usize> {
    let sizes = [G1_BYTES, G1_BYTES, G2_BYTES, G2_BYTES, G1_BYTES, G2_BYTES];
    let fixed = sizes.into_iter().scan(0, |at, size| {
        *at += size;
        Some(*at - size)
    });
    fixed.chain((IC_OFFSET..length).step_by(G1_BYTES))
}

/// The names of the circuit whose parameter file is at `path`; `None` when that does not end in `.params`.
pub(super) fn identity_of(path: &Path) -> Option<CircuitIdentity> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".params")?;
    let [params, vk, meta] = ["params", "vk", "meta"].map(|extension| format!("{stem}.{extension}"));
    Some(CircuitIdentity { params, vk, meta })
}
