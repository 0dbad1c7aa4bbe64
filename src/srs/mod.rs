//! Parameter files: layout, mapping, digest, lookup, generation.
//!
//! Points are neither copied nor converted here: [`Srs`] hands out the mapped file's bytes. What a file is worth is told by
//! its digest: official files are those whose digests parameters.json lists; development files are those that
//! `cuzk params generate` recorded in a folder it marked. Anything else is refused.

pub mod catalogue;
pub mod development;
pub mod digest;
pub mod fixed_base;
pub mod generate;
pub mod inventory;
pub mod layout;
mod points;
pub mod prepared;
pub mod progress;
mod verdicts;
mod verifying_key;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bellperson::groth16::VerifyingKey;
use blstrs::Bls12;
use memmap2::Mmap;

use crate::backend::bases::{G1Bases, G2Bases, RawBases};
use crate::circuit::proof_type::sector_size_name;
use crate::circuit::CircuitIdentity;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files;
use catalogue::Catalogue;
use layout::Layout;
use prepared::Prepared;
use progress::Report;
use verdicts::{Key, Known};

pub use verifying_key::{open_vk, OpenedVk};

/// Bytes of the largest sector that development parameters are made for: those of 32 GiB take 45 GiB.
pub const LARGEST_DEVELOPMENT: u64 = 512 << 20;

/// Where parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Digest listed in filecoin-proofs' parameters.json.
    Official,
    /// Made by `cuzk params generate`; proofs made with them prove nothing.
    Development,
}

impl Origin {
    /// An adjective for messages.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Official => "official",
            Origin::Development => "development",
        }
    }
}

/// Where to look for parameters and what to make of them.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The folder and where that path came from (`--params`, FIL_PROOFS_PARAMETER_CACHE, default): for messages.
    pub folder: PathBuf,
    pub folder_source: String,
    /// Hash the file even when a verdict is remembered.
    pub recheck: bool,
}

impl Lookup {
    /// Path of one of a circuit's files, and the path with its origin for messages.
    pub(crate) fn place(&self, name: &str) -> (PathBuf, String) {
        let path = self.folder.join(name);
        let place = format!("{} ({})", path.display(), self.folder_source);
        (path, place)
    }
}

/// One circuit's parameters, mapped and checked.
pub struct Srs {
    path: PathBuf,
    /// What `map` maps.
    file: File,
    /// The file as it was when it was mapped.
    key: Key,
    map: Mmap,
    layout: Layout,
    vk: VerifyingKey<Bls12>,
    origin: Origin,
    known: Known,
    /// The same points, for the CPU's sums.
    prepared: Option<Prepared>,
}

impl Srs {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// blake2b-512 of the .params file as parameters.json writes it (first 32 hex digits).
    pub fn digest(&self) -> &str {
        &self.known.digest
    }

    /// Bytes that were read for the digest when this was opened; 0 where it was remembered.
    pub fn hashed_bytes(&self) -> u64 {
        self.known.hashed
    }

    /// Checks that nobody wrote into the files since they were mapped: cheap, and to be asked when its points have been used.
    ///
    /// # Errors
    /// `Parameters`: the length or time of modification of one is another one.
    pub fn unchanged(&self) -> Result<()> {
        self.key.check(&self.file, &self.path)?;
        self.prepared.iter().try_for_each(Prepared::unchanged)
    }

    pub fn vk(&self) -> &VerifyingKey<Bls12> {
        &self.vk
    }

    /// Where everything is in the file, with the number of points of each query.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// `tau^i (tau^n - 1) / delta`, for `i` from 0 to `n - 2`.
    pub fn h(&self) -> G1Bases<'_> {
        self.bases(0)
    }

    /// One point per aux variable.
    pub fn l(&self) -> G1Bases<'_> {
        self.bases(1)
    }

    /// Inputs first (all of them), then the aux variables that occur in A.
    pub fn a(&self) -> G1Bases<'_> {
        self.bases(2)
    }

    /// Inputs that occur in B, then aux variables that occur in B.
    pub fn b_g1(&self) -> G1Bases<'_> {
        self.bases(3)
    }

    /// The same in G2.
    pub fn b_g2(&self) -> G2Bases<'_> {
        self.bases(4)
    }

    /// The points of the k-th query.
    fn bases<const SIZE: usize>(&self, k: usize) -> RawBases<'_, SIZE> {
        let (_, section) = self.layout.queries()[k];
        let bases = RawBases::new(&self.map[section.range()]);
        let bases = bases.expect("a section is a whole number of points: Layout::parse");
        match &self.prepared {
            Some(prepared) => {
                let with = bases.with_prepared(prepared.form(), prepared.points(k));
                with.expect("a prepared file has sections as long as its original's: Prepared::open")
            }
            None => bases,
        }
    }

    /// Checks every point: on the curve, in the subgroup, not the identity. Minutes for a test sector, hours for 32 GiB.
    ///
    /// # Errors
    /// The first wrong point found, with its query, place and offset.
    pub fn check_points(&self, report: &Report) -> Result<()> {
        points::check_all(&self.map, &self.layout, &self.path, report)
    }
}

/// Finds a circuit's parameters in the lookup's folder, maps them, and checks: length and structure, the .vk file by its
/// digest, its equality with the key within, a sample of the points, and the digest of the whole file.
///
/// The digest is computed once per file and remembered in `verdicts` (a JSON file; `None` to remember nothing), unless
/// the lookup says to recheck. For a 32 GiB sector's 45 GiB that takes a minute or more: `report` is told.
///
/// # Errors
/// [`Fault::Parameters`], saying which path was looked at, where it came from and what to do.
pub fn open(identity: &CircuitIdentity, lookup: &Lookup, verdicts: Option<&Path>, report: &Report) -> Result<Srs> {
    open_listed(Catalogue::official(), identity, lookup, verdicts, report)
}

fn open_listed(
    catalogue: &Catalogue,
    identity: &CircuitIdentity,
    lookup: &Lookup,
    verdicts: Option<&Path>,
    report: &Report,
) -> Result<Srs> {
    let (path, place) = lookup.place(&identity.params);
    let file = open_file(&path, &place, catalogue, &identity.params)?;
    let stamp = Key::now(&file, &path)?;
    let map = map(&file, &path)?;
    let layout = Layout::parse(&map, &path).map_err(|e| e.context(lookup.folder_source.clone()))?;
    let key = verifying_key::open_listed(catalogue, identity, lookup)?;
    if map[layout.vk_range()] != key.bytes {
        fail!(
            Fault::Parameters,
            "{place}: not the {} file: the verifying key within differs from {}; for both: {}",
            key.origin.word(),
            key.path.display(),
            verifying_key::remedy(key.origin)
        );
    }
    points::check_sample(&map, &layout, &path)?;
    let known = verdicts::digest_of(&stamp, &path, 0, verdicts, lookup.recheck, report)?;
    if known.digest != key.params_digest {
        fail!(
            Fault::Parameters,
            "{place}: not the {} file: its digest is {}, expected {} ({}); {}",
            key.origin.word(),
            known.digest,
            key.params_digest,
            key.digest_source(),
            verifying_key::remedy(key.origin)
        );
    }
    Ok(Srs { path, file, key: stamp, map, layout, vk: key.vk, origin: key.origin, known, prepared: None })
}

/// Opens a parameter file, or says how one gets it.
fn open_file(path: &Path, place: &str, catalogue: &Catalogue, name: &str) -> Result<File> {
    match files::open_regular(path) {
        Ok(file) => Ok(file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let sector_bytes = catalogue.get(name).map(|file| file.sector_bytes);
            if development::expected_origin(path) == Origin::Development {
                fail!(Fault::Parameters, "{place}: no such file; {}", how_to_make(sector_bytes));
            }
            fail!(Fault::Parameters, "{place}: no such file; {}", how_to_get(sector_bytes))
        }
        Err(e) => Err(e).or_fault(Fault::Parameters, || format!("{place}: cannot be opened")),
    }
}

/// How one gets the parameters of a sector size, or of any.
pub fn how_to_get(sector_bytes: Option<u64>) -> String {
    let size = sector_bytes.map_or("32GiB".into(), sector_size_name);
    let example = if sector_bytes.is_none() { ", for example" } else { "" };
    let or_make = match sector_bytes {
        Some(bytes) if bytes > LARGEST_DEVELOPMENT => String::new(),
        _ => format!("; or {} and pass --dev-params", how_to_make(sector_bytes)),
    };
    format!(
        "fetch the official parameters with `lotus fetch-params {size}` or `curio fetch-params {size}`{example}, and name their \
         folder with --params or FIL_PROOFS_PARAMETER_CACHE{or_make}"
    )
}

/// How one makes development parameters.
pub fn how_to_make(sector_bytes: Option<u64>) -> String {
    let size = sector_bytes.filter(|bytes| *bytes <= LARGEST_DEVELOPMENT).map_or("2KiB".into(), sector_size_name);
    format!("make development parameters with `cuzk params generate --sector-size {size}`")
}

fn map(file: &File, path: &Path) -> Result<Mmap> {
    // SAFETY: this process only reads the mapping, and writes parameter files under other names than those it maps. That
    // no other process writes into the file or cuts it short while it is mapped is assumed and cannot be enforced: a
    // download tool that writes in place breaks it. Then reads change under their reader or raise SIGBUS. The README asks
    // for it; `Srs::unchanged` detects writes when the points have been used, and no proof leaves unverified.
    unsafe { Mmap::map(file) }.or_fault(Fault::Parameters, || format!("{}: cannot be mapped", path.display()))
}

#[cfg(test)]
mod tests;
