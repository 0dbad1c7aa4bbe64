//! `cuzk params`.

use std::path::PathBuf;

use serde_json::json;

use crate::backend::bases::Form;
use crate::backend::cpu::prepare::form;
use crate::circuit::proof_type::sector_size_name;
use crate::circuit::{PoRep, SealProof};
use crate::cli::{terminal, Terminal};
use crate::error::{Error, Fault, OrFault, Result};
use crate::pipeline::parameters::{ensure_development, Meter, Source};
use crate::report::Unit;
use crate::srs::generate::Generated;
use crate::srs::inventory::{self, CheckedPrepared, Entry, PreparedEntry, SoundPrepared};
use crate::srs::prepared::{self, path_beside, Found};
use crate::srs::Origin;

/// `cuzk params list`.
pub fn list(source: &Source, json: bool) -> Result<()> {
    let entries = inventory::list(&source.lookup, source.verdicts.as_deref())?;
    if json {
        let objects: Vec<_> = entries.iter().map(object).collect();
        let text = serde_json::to_string_pretty(&objects).or_fault(Fault::Internal, || "list".into())?;
        return terminal::print(&(text + "\n"));
    }
    let mut text = format!("{} ({})\n", source.lookup.folder.display(), source.lookup.folder_source);
    for entry in &entries {
        let size = entry.sector_bytes.map_or("?".into(), sector_size_name);
        let bytes = entry.bytes.map_or(String::new(), |n| Unit::Bytes.amount(n));
        let origin = entry.origin.map_or("", Origin::word);
        let verdict = entry.verdict.word();
        let reason = entry.verdict.reason().map_or(String::new(), |reason| format!(": {reason}"));
        text += &format!("{size:>7}  {verdict:9}  {origin:11}  {bytes:>9}  {}{reason}\n", entry.name);
        text += &entry.prepared.as_ref().map_or(String::new(), prepared_line);
    }
    terminal::print(&text)
}

/// The line below its original's.
fn prepared_line(entry: &PreparedEntry) -> String {
    let PreparedEntry { path, bytes, form, verdict } = entry;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let what = form.map_or("prepared".into(), |form| format!("for {}", form.word()));
    let (word, bytes) = (verdict.word(), Unit::Bytes.amount(*bytes));
    let reason = verdict.reason().map_or(String::new(), |reason| format!(": {reason}"));
    format!("{:>7}  {word:9}  {what:11}  {bytes:>9}  {name}{reason}\n", "")
}

fn object(entry: &Entry) -> serde_json::Value {
    json!({
        "file": entry.path,
        "sector_bytes": entry.sector_bytes,
        "bytes": entry.bytes,
        "origin": entry.origin.map(Origin::word),
        "verdict": entry.verdict.word(),
        "reason": entry.verdict.reason(),
        "prepared": entry.prepared.as_ref().map(|prepared| json!({
            "file": prepared.path,
            "bytes": prepared.bytes,
            "form": prepared.form.map(Form::word),
            "verdict": prepared.verdict.word(),
            "reason": prepared.verdict.reason(),
        })),
    })
}

/// `cuzk params check`: one line a file; an error at the end if any is wrong.
pub fn check(source: &Source, proof: Option<SealProof>, full: bool, terminal: &Terminal) -> Result<()> {
    let lookup = &source.lookup;
    let target = match proof {
        Some(proof) => {
            let porep = PoRep::new(proof)?;
            let name = porep.identity().params;
            source.check_file(&porep, &name)?;
            lookup.folder.join(name)
        }
        None => {
            source.check_any()?;
            lookup.folder.clone()
        }
    };
    let progress = terminal.progress();
    let meter = Meter::new(&progress);
    let report = |event| meter.report(event);
    let checked = inventory::check(&target, &lookup.folder_source, full, source.verdicts.as_deref(), &report)?;
    let mut text = String::new();
    for file in &checked {
        let outcome = match &file.outcome {
            Ok(sound) => {
                let points = if sound.all_points { "every point checked" } else { "a sample of points checked" };
                format!("{}, digest {}, {} bytes, {points}", sound.origin.word(), sound.digest, sound.bytes)
            }
            Err(error) => format!("wrong: {error}"),
        };
        text += &format!("{}: {outcome}\n", file.path.display());
        if let Some(CheckedPrepared { path, outcome }) = &file.prepared {
            let outcome = match outcome {
                Ok(SoundPrepared { form, digest, bytes, all_points }) => {
                    let points = if *all_points { "every point compared" } else { "a sample of points compared" };
                    format!("prepared for {}, digest {digest}, {bytes} bytes, {points}", form.word())
                }
                Err(error) => format!("wrong: {error}; `cuzk params prepare` makes it anew"),
            };
            text += &format!("{}: {outcome}\n", path.display());
        }
    }
    terminal::print(&text)?;
    let prepared = || checked.iter().filter_map(|file| file.prepared.as_ref());
    let wrong = checked.iter().filter(|file| file.outcome.is_err()).count()
        + prepared().filter(|prepared| prepared.outcome.is_err()).count();
    match wrong {
        0 => Ok(()),
        wrong => {
            let all = checked.len() + prepared().count();
            Err(Error::new(Fault::Parameters, format!("{wrong} of {all} parameter files are wrong")))
        }
    }
}

/// `cuzk params prepare`, in the form that this run's arithmetic reads.
pub fn prepare(source: &Source, proof: SealProof, output: Option<PathBuf>, terminal: &Terminal) -> Result<()> {
    let (porep, progress, form) = (PoRep::new(proof)?, terminal.progress(), form());
    let srs = source.open(&porep, &progress)?;
    let beside = path_beside(srs.path());
    let path = output.unwrap_or_else(|| beside.clone());
    match source.find_prepared(&srs, &path, form, &progress) {
        Ok(Found::Prepared(_)) => terminal.note(&format!("{}: was there already; it is whole", path.display())),
        // What is wrong with it will be gone.
        _ => {
            let meter = Meter::new(&progress);
            prepared::write(&srs, form, &path, &|event| meter.report(event))?;
        }
    }
    if path != beside {
        terminal.note(&format!("it is taken where it lies beside the original: link it to {}", beside.display()));
    }
    terminal::print_place(&path.display().to_string())
}

/// `cuzk params generate`. What was there before is checked like anything that a proof is to be made with.
pub fn generate(source: &Source, proof: SealProof, terminal: &Terminal) -> Result<()> {
    let (porep, progress) = (PoRep::new(proof)?, terminal.progress());
    let Generated { path, reused, .. } =
        ensure_development(&source.lookup.folder, &source.lookup.folder_source, &porep, &progress)?;
    source.open(&porep, &progress)?;
    if reused {
        terminal.note(&format!("{}: was there already; it is whole", path.display()));
    }
    terminal.warn_of_development();
    terminal::print_place(&path.display().to_string())
}
