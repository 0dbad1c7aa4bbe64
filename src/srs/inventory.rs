//! What parameter files a folder has, and thorough checks of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::catalogue::Catalogue;
use super::development::{self, Record};
use super::layout::Layout;
use super::prepared::{path_beside, Original, Prepared};
use super::progress::Report;
use super::verifying_key::{self, identity_of};
use super::{map, open_listed, verdicts, Lookup, Origin, Srs};
use crate::backend::bases::Form;
use crate::circuit::CircuitIdentity;
use crate::error::{Error, Fault, OrFault, Result};
use crate::fail;
use crate::files::open_regular;

/// What is known of a parameter file without reading it through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not in the folder.
    Missing,
    /// Length, structure and verifying key are right; the digest has not been computed since the file last changed.
    Unchecked,
    /// And so is the remembered digest.
    Verified,
    /// Wrong, and why.
    Refused(String),
}

impl Verdict {
    /// One word, in lists and in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Missing => "missing",
            Verdict::Unchecked => "unchecked",
            Verdict::Verified => "verified",
            Verdict::Refused(_) => "refused",
        }
    }

    /// Why it is refused.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Refused(reason) => Some(reason),
            _ => None,
        }
    }
}

/// One circuit's parameter file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the .params file.
    pub name: String,
    pub path: PathBuf,
    /// `None` for a circuit that neither parameters.json nor a record tells.
    pub sector_bytes: Option<u64>,
    /// Length of the file; `None` where it is missing.
    pub bytes: Option<u64>,
    /// By the .vk file's digest; `None` where it is neither, or missing.
    pub origin: Option<Origin>,
    pub verdict: Verdict,
    /// What lies beside it, prepared from it.
    pub prepared: Option<PreparedEntry>,
}

/// A prepared file beside its original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedEntry {
    pub path: PathBuf,
    pub bytes: u64,
    /// `None` where it is refused.
    pub form: Option<Form>,
    pub verdict: Verdict,
}

/// The parameter files of all PoRep circuits, missing ones too, by sector size, then any others in the folder.
///
/// Quick: nothing is hashed but .vk files; remembered digests come from `verdicts`. A folder that does not exist has no
/// files.
///
/// # Errors
/// The folder cannot be read.
pub fn list(lookup: &Lookup, verdicts: Option<&Path>) -> Result<Vec<Entry>> {
    list_listed(Catalogue::official(), lookup, verdicts)
}

pub(super) fn list_listed(catalogue: &Catalogue, lookup: &Lookup, verdicts: Option<&Path>) -> Result<Vec<Entry>> {
    let mut names: Vec<String> = catalogue.porep_params().iter().map(|(name, _)| name.to_string()).collect();
    let known = names.len();
    names.extend(names_in(lookup)?.into_iter().filter(|name| !names[..known].contains(name)).collect::<Vec<_>>());
    let identities = names.iter().filter_map(|name| identity_of(Path::new(name)));
    Ok(identities.map(|identity| entry(catalogue, lookup, verdicts, &identity)).collect())
}

/// One circuit's parameter file in the lookup's folder, as quickly as [`list`].
pub fn look(identity: &CircuitIdentity, lookup: &Lookup, verdicts: Option<&Path>) -> Entry {
    entry(Catalogue::official(), lookup, verdicts, identity)
}

fn entry(catalogue: &Catalogue, lookup: &Lookup, verdicts: Option<&Path>, identity: &CircuitIdentity) -> Entry {
    let name = identity.params.clone();
    let path = lookup.folder.join(&name);
    let bytes = fs::metadata(&path).map(|m| m.len()).ok();
    let record = Record::read(&lookup.folder, identity).filter(|_| development::is_marked(&lookup.folder));
    let sector_bytes = catalogue.get(&name).map(|f| f.sector_bytes).or(record.map(|r| r.sector_bytes));
    let Quick { origin, verdict, prepared } = match bytes {
        None => Quick { origin: None, verdict: Verdict::Missing, prepared: None },
        Some(_) => quick_check(catalogue, lookup, verdicts, identity, &path),
    };
    Entry { name, path, sector_bytes, bytes, origin, verdict, prepared }
}

/// What takes no time to find out.
struct Quick {
    origin: Option<Origin>,
    verdict: Verdict,
    prepared: Option<PreparedEntry>,
}

/// All of [`super::open`]'s checks that take no time.
fn quick_check(
    catalogue: &Catalogue,
    lookup: &Lookup,
    verdicts: Option<&Path>,
    identity: &CircuitIdentity,
    path: &Path,
) -> Quick {
    let refused = |origin, why| Quick { origin, verdict: Verdict::Refused(why), prepared: None };
    let key = match verifying_key::open_listed(catalogue, identity, lookup) {
        Ok(key) => key,
        Err(e) => return refused(None, e.to_string()),
    };
    let origin = Some(key.origin);
    let layout = match key_within(path) {
        Err(e) => return refused(origin, e.to_string()),
        Ok((within, _)) if within != key.bytes => {
            return refused(origin, format!("the verifying key within differs from {}", identity.vk))
        }
        Ok((_, layout)) => layout,
    };
    let digest = key.params_digest;
    let verdict = of_digest(verdicts::remembered(path, verdicts), &digest);
    let original = Original { name: identity.params.clone(), bytes: layout.file_bytes() as u64, digest };
    Quick { origin, verdict, prepared: quick_prepared(&path_beside(path), &original, &layout, verdicts) }
}

fn of_digest(remembered: Option<String>, expected: &str) -> Verdict {
    match remembered {
        None => Verdict::Unchecked,
        Some(digest) if digest == expected => Verdict::Verified,
        Some(digest) => Verdict::Refused(format!("its digest is {digest}, expected {expected}")),
    }
}

/// What is at `path`, if anything.
fn quick_prepared(path: &Path, original: &Original, layout: &Layout, verdicts: Option<&Path>) -> Option<PreparedEntry> {
    let (form, verdict) = match Prepared::open(path, original, layout) {
        Ok(prepared) => {
            let prepared = prepared?;
            (Some(prepared.form()), of_digest(prepared.remembered(verdicts), prepared.digest()))
        }
        Err(error) => (None, Verdict::Refused(error.to_string())),
    };
    let bytes = fs::metadata(path).map_or(0, |found| found.len());
    Some(PreparedEntry { path: path.to_owned(), bytes, form, verdict })
}

/// The bytes of a parameter file's own verifying key, the file's structure being right, and that.
fn key_within(path: &Path) -> Result<(Vec<u8>, Layout)> {
    let file = open_regular(path).or_fault(Fault::Parameters, || format!("{}: cannot be opened", path.display()))?;
    let map = map(&file, path)?;
    let layout = Layout::parse(&map, path)?;
    Ok((map[layout.vk_range()].to_vec(), layout))
}

/// Result of one file's check.
#[derive(Debug)]
pub struct Checked {
    pub path: PathBuf,
    /// Whose it is, its digest and its number of points, or what is wrong with it.
    pub outcome: Result<Sound, Error>,
    /// The same of what is prepared from it, if it is sound itself.
    pub prepared: Option<CheckedPrepared>,
}

/// Result of a prepared file's check.
#[derive(Debug)]
pub struct CheckedPrepared {
    pub path: PathBuf,
    pub outcome: Result<SoundPrepared, Error>,
}

/// A prepared file that belongs to its original, with nothing wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundPrepared {
    pub form: Form,
    pub digest: String,
    pub bytes: u64,
    /// Points that were compared with the original's were all of them, not a sample.
    pub all_points: bool,
}

/// A parameter file with nothing wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sound {
    pub origin: Origin,
    pub digest: String,
    pub bytes: u64,
    /// Points whose curve and subgroup were checked were all of them, not a sample.
    pub all_points: bool,
}

/// Checks one parameter file, or all in a folder: everything that [`super::open`] does, the digest computed afresh and
/// remembered in `verdicts`; with `full` every point as well.
///
/// `source` says where the path came from.
///
/// # Errors
/// The path does not exist, is no `.params` file, or is a folder without any. What is wrong with files is in their
/// [`Checked`].
pub fn check(
    target: &Path,
    source: &str,
    full: bool,
    verdicts: Option<&Path>,
    report: &Report,
) -> Result<Vec<Checked>> {
    check_listed(Catalogue::official(), target, source, full, verdicts, report)
}

pub(super) fn check_listed(
    catalogue: &Catalogue,
    target: &Path,
    source: &str,
    full: bool,
    verdicts: Option<&Path>,
    report: &Report,
) -> Result<Vec<Checked>> {
    let place = || format!("{} ({source})", target.display());
    let is_folder = fs::metadata(target).or_fault(Fault::Parameters, place)?.is_dir();
    let folder = match target.parent() {
        _ if is_folder => target,
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let lookup = Lookup { folder: folder.into(), folder_source: source.into(), recheck: true };
    let paths = match is_folder {
        true => names_in(&lookup)?.iter().map(|name| folder.join(name)).collect(),
        false => vec![target.to_path_buf()],
    };
    if paths.is_empty() {
        fail!(
            Fault::Parameters,
            "{}: no .params files in this folder; `lotus fetch-params 32GiB` fetches those of that sector size, for example",
            place()
        );
    }
    let check_one = |path: PathBuf| {
        let Some(identity) = identity_of(&path) else {
            fail!(Fault::Usage, "{}: expected a name that ends in .params, or a folder", path.display())
        };
        let outcome = sound(catalogue, &identity, &lookup, full, verdicts, report);
        let (outcome, prepared) = match outcome {
            Ok((sound, srs)) => (Ok(sound), check_prepared(&srs, full, verdicts, report)),
            Err(error) => (Err(error), None),
        };
        Ok(Checked { path, outcome, prepared })
    };
    paths.into_iter().map(check_one).collect()
}

fn sound(
    catalogue: &Catalogue,
    identity: &CircuitIdentity,
    lookup: &Lookup,
    full: bool,
    verdicts: Option<&Path>,
    report: &Report,
) -> Result<(Sound, Srs)> {
    let srs = open_listed(catalogue, identity, lookup, verdicts, report)?;
    if full {
        srs.check_points(report)?;
    }
    let bytes = srs.layout().file_bytes() as u64;
    Ok((Sound { origin: srs.origin(), digest: srs.digest().into(), bytes, all_points: full }, srs))
}

/// What lies beside sound parameters, of whatever form.
fn check_prepared(srs: &Srs, full: bool, verdicts: Option<&Path>, report: &Report) -> Option<CheckedPrepared> {
    let path = path_beside(srs.path());
    let check = |prepared: Prepared| {
        prepared.check(srs, verdicts, true, report)?;
        if full {
            prepared.check_points(srs, report)?;
        }
        let (form, digest, bytes) = (prepared.form(), prepared.digest().to_owned(), prepared.bytes());
        Ok(SoundPrepared { form, digest, bytes, all_points: full })
    };
    let outcome = match Prepared::open(&path, &srs.original(), srs.layout()) {
        Ok(prepared) => check(prepared?),
        Err(error) => Err(error),
    };
    Some(CheckedPrepared { path, outcome })
}

/// Names of the `.params` files in the lookup's folder, sorted.
fn names_in(lookup: &Lookup) -> Result<Vec<String>> {
    let cannot = || format!("{} ({}): cannot be read", lookup.folder.display(), lookup.folder_source);
    let entries = match fs::read_dir(&lookup.folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.or_fault(Fault::Parameters, cannot)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.or_fault(Fault::Parameters, cannot)?.file_name().to_string_lossy().into_owned();
        // Temporaries of a generation under way begin with a dot.
        if name.ends_with(".params") && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
