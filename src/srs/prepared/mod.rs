//! Prepared parameter files: a parameter file's points once more, in the form that the CPU's sums compute with, to be read where the
//! original would have to be converted. Whoever has none, or one that does not belong, proves with the original.
//!
//! A page that says what the file is; then the points of h, l, a, b_g1 and b_g2 (see [`Form`]), each query from a page's beginning on,
//! zeros between them.

mod header;
mod write;

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::layout::{Layout, Section, QUERIES};
use super::points::spread;
use super::progress::{Progress, Report, Stage};
use super::verdicts::{self, Key};
use super::{map, Srs};
use crate::backend::bases::{Form, RawBases, G1_BYTES, G2_BYTES};
use crate::backend::cpu::prepare::prepare;
use crate::error::{Error, Fault, OrFault, Result};
use crate::files;

use header::Header;
pub use header::Original;
pub use write::write;

/// Bytes of the header, and what queries begin at multiples of.
const PAGE: usize = 4096;

/// Points that are compared at a time.
const CHUNK: usize = 1 << 16;

/// Where a parameter file's prepared one is looked for.
pub fn path_beside(params: &Path) -> PathBuf {
    let mut name = params.file_name().unwrap_or_default().to_owned();
    name.push(".prepared");
    params.with_file_name(name)
}

/// Where the queries are in the prepared file of an original with this layout.
fn sections(layout: &Layout) -> [Section; 5] {
    let mut end = PAGE;
    layout.queries().map(|(_, original)| {
        let section = Section { offset: end.next_multiple_of(PAGE), ..original };
        end = section.range().end;
        section
    })
}

/// Length of the prepared file.
fn file_bytes(sections: &[Section; 5]) -> usize {
    sections[4].range().end
}

/// What was found in a prepared file's place.
pub enum Found {
    Nothing,
    /// One for other arithmetic.
    Other(Form),
    Prepared(Box<Prepared>),
}

/// A prepared file that belongs to its original, mapped.
pub struct Prepared {
    path: PathBuf,
    /// What `map` maps.
    file: File,
    /// The file as it was when it was mapped.
    key: Key,
    map: Mmap,
    sections: [Section; 5],
    form: Form,
    /// The digest of all behind the header, as that has it.
    digest: String,
}

impl Prepared {
    /// Maps what is at `path` and compares its header and length with the original's: takes no time. `None` where nothing is.
    ///
    /// # Errors
    /// `Parameters`: it is no prepared file, is cut short, or was made from another file.
    pub(super) fn open(path: &Path, original: &Original, layout: &Layout) -> Result<Option<Self>> {
        let file = match files::open_regular(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.or_fault(Fault::Parameters, || format!("{}: cannot be opened", path.display()))?,
        };
        let (key, map, sections) = (Key::now(&file, path)?, map(&file, path)?, sections(layout));
        let header = Header::read(&map).and_then(|header| {
            header.check(original)?;
            let (got, expected) = (map.len(), file_bytes(&sections));
            match got == expected {
                true => Ok(header),
                false if got < expected => Err(format!("truncated: {got} of {expected} bytes")),
                false => Err(format!("too long: {got} bytes, expected {expected}")),
            }
        });
        let Header { form, digest, .. } = header.map_err(|what| wrong(path, &what))?;
        Ok(Some(Self { path: path.to_owned(), file, key, map, sections, form, digest }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn form(&self) -> Form {
        self.form
    }

    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.key.size()
    }

    /// The points of the k-th query.
    pub(super) fn points(&self, k: usize) -> &[u8] {
        &self.map[self.sections[k].range()]
    }

    /// See [`Srs::unchanged`].
    pub(super) fn unchanged(&self) -> Result<()> {
        self.key.check(&self.file, &self.path)
    }

    /// The remembered digest, if the file is unchanged since.
    pub(super) fn remembered(&self, verdicts: Option<&Path>) -> Option<String> {
        verdicts::remembered(&self.path, verdicts)
    }

    /// Compares the digest, which is computed unless it is remembered and `recheck` is false, and some points of each query.
    ///
    /// # Errors
    /// `Parameters`: they differ; the file cannot be read.
    pub(super) fn check(&self, srs: &Srs, verdicts: Option<&Path>, recheck: bool, report: &Report) -> Result<()> {
        for (k, section) in self.sections.iter().enumerate() {
            for i in spread(section.count) {
                self.compare(srs, k, i..i + 1)?;
            }
        }
        let known = verdicts::digest_of(&self.key, &self.path, PAGE as u64, verdicts, recheck, report)?;
        if known.digest != self.digest {
            let what = format!("damaged: its points' digest is {}, and its header has {}", known.digest, self.digest);
            return Err(wrong(&self.path, &what));
        }
        Ok(())
    }

    /// Compares every point with the original's.
    ///
    /// # Errors
    /// `Parameters`: the first run of points that differs, or is none in the original.
    pub(super) fn check_points(&self, srs: &Srs, report: &Report) -> Result<()> {
        let total = self.sections.iter().map(|section| section.count as u64).sum();
        let mut done = 0;
        report(Progress::Work { stage: Stage::Points, done, total });
        for (k, section) in self.sections.iter().enumerate() {
            for start in (0..section.count).step_by(CHUNK) {
                let points = start..section.count.min(start + CHUNK);
                done += points.len() as u64;
                self.compare(srs, k, points)?;
                report(Progress::Work { stage: Stage::Points, done, total });
            }
        }
        Ok(())
    }

    /// Are these points of the k-th query those of the original?
    fn compare(&self, srs: &Srs, k: usize, points: Range<usize>) -> Result<()> {
        let (section, first) = (&self.sections[k], points.start);
        let range = section.point_offset(first)..section.point_offset(points.end);
        if self.map[range.clone()] != convert(srs, k, points, self.form)?[..] {
            let (query, offset) = (QUERIES[k], range.start);
            let what = format!("differs from the original in {query}, from point {first} (offset {offset}) on");
            return Err(wrong(&self.path, &what));
        }
        Ok(())
    }
}

/// Points of the original's k-th query, in `form`.
///
/// # Errors
/// `Parameters`: one of them is no point.
fn convert(srs: &Srs, k: usize, points: Range<usize>, form: Form) -> Result<Vec<u8>> {
    let section = srs.layout().queries()[k].1;
    let first = points.start;
    let bytes = &srs.map[section.point_offset(first)..section.point_offset(points.end)];
    let mut out = vec![0; bytes.len()];
    let converted = match section.point_bytes {
        G1_BYTES => RawBases::<G1_BYTES>::new(bytes).map(|bases| prepare(bases, form, &mut out)),
        G2_BYTES => RawBases::<G2_BYTES>::new(bytes).map(|bases| prepare(bases, form, &mut out)),
        _ => None,
    };
    let wrong = |place: usize| {
        let (query, i) = (QUERIES[k], first + place);
        let (path, offset) = (srs.path().display(), section.point_offset(i));
        let message = format!(
            "{path}: point {i} of {query} (offset {offset}) has flags or a coordinate that is not below the modulus: the file is \
             damaged; `cuzk params check` says more"
        );
        Error::new(Fault::Parameters, message)
    };
    converted.ok_or_else(|| Error::new(Fault::Internal, "points of neither group"))?.map_err(wrong)?;
    Ok(out)
}

fn wrong(path: &Path, what: &str) -> Error {
    Error::new(Fault::Parameters, format!("{}: {what}", path.display()))
}

impl Srs {
    /// What a prepared file has to have been made from.
    pub fn original(&self) -> Original {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Original { name, bytes: self.layout.file_bytes() as u64, digest: self.digest().to_owned() }
    }

    /// Looks at `path` for a file that was prepared from this one for sums in `form`, and checks it; its digest as the original's, once.
    ///
    /// # Errors
    /// `Parameters`: there is a file, and it is none, or damaged, or was made from another one.
    pub fn find_prepared(
        &self,
        path: &Path,
        form: Form,
        verdicts: Option<&Path>,
        recheck: bool,
        report: &Report,
    ) -> Result<Found> {
        let Some(prepared) = Prepared::open(path, &self.original(), &self.layout)? else { return Ok(Found::Nothing) };
        if prepared.form != form {
            return Ok(Found::Other(prepared.form));
        }
        prepared.check(self, verdicts, recheck, report)?;
        Ok(Found::Prepared(Box::new(prepared)))
    }

    /// The same parameters, their points read from a file that was prepared from them and checked.
    pub fn with_prepared(self, prepared: Prepared) -> Self {
        Self { prepared: Some(prepared), ..self }
    }

    /// The prepared file that points are read from.
    pub fn prepared(&self) -> Option<&Prepared> {
        self.prepared.as_ref()
    }
}
