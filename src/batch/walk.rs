//! All C1 files under a folder, and everything about the folder that somebody should know.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::text::display_name;
use super::{journal, lock};
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::kind;
use crate::pipeline::proof_file::ProofFormat;

/// What a folder holds.
#[derive(Debug)]
pub struct Walk {
    /// Regular files, sorted by the bytes of their relative path.
    pub files: Vec<Input>,
    /// What was left out on purpose, a line each.
    pub notes: Vec<String>,
    /// What could not be looked at: the run is not complete without it.
    pub problems: Vec<Problem>,
}

/// One file to prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// To open it.
    pub path: PathBuf,
    /// Below the folder.
    pub relative: PathBuf,
}

/// Something under the folder that may be or hold a C1 file and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Below the folder; empty for the folder itself.
    pub relative: PathBuf,
    pub message: String,
}

/// Finds every regular file under `root`, following symbolic links; each folder is visited once, by its own name where it
/// has one under `root`.
///
/// Left out: hidden files and folders, cuzk's own products, what is in a folder of `exclude`, pipes, sockets and devices.
/// Where `root` itself is in `exclude`, only its products are left out.
///
/// # Errors
/// `Input`: `root` is no folder or unreadable, or there is no file.
pub fn walk(root: &Path, exclude: &[&Path]) -> Result<Walk> {
    let shown = display_name(root);
    let found = fs::metadata(root).or_fault(Fault::Input, || format!("{shown}: cannot be read"))?;
    if !found.is_dir() {
        fail!(Fault::Input, "{shown}: expected a folder, got {}; one file is proved with `cuzk prove`", kind(&found));
    }
    let mut walker = Walker::new(root, &found, exclude);
    walker.folder(Path::new("")).or_fault(Fault::Input, || format!("{shown}: cannot be read"))?;
    walker.all_below();
    walker.finish(&shown)
}

type FolderId = (u64, u64);

struct Walker<'a> {
    root: &'a Path,
    excluded: HashSet<FolderId>,
    visited: HashSet<FolderId>,
    /// Folders that `root` lies in: a link to one of them leads back here.
    above: HashSet<FolderId>,
    /// Relative paths of folders that are to be visited, each reached without a link from the one it was found in.
    pending: Vec<PathBuf>,
    /// Links to folders, visited when all folders that are no links have been.
    links: VecDeque<PathBuf>,
    hidden: usize,
    products: usize,
    walk: Walk,
}

impl<'a> Walker<'a> {
    fn new(root: &'a Path, found: &Metadata, exclude: &[&Path]) -> Self {
        // A folder that does not exist yet holds nothing.
        let mut excluded: HashSet<_> =
            exclude.iter().filter_map(|path| fs::metadata(path).ok()).map(|m| id(&m)).collect();
        excluded.remove(&id(found));
        let absolute = fs::canonicalize(root).unwrap_or_default();
        let above = absolute.ancestors().skip(1).filter_map(|path| fs::metadata(path).ok()).map(|m| id(&m)).collect();
        Self {
            root,
            excluded,
            visited: HashSet::from([id(found)]),
            above,
            pending: Vec::new(),
            links: VecDeque::new(),
            hidden: 0,
            products: 0,
            walk: Walk { files: Vec::new(), notes: Vec::new(), problems: Vec::new() },
        }
    }

    fn all_below(&mut self) {
        loop {
            let next = self.pending.pop().or_else(|| self.links.pop_front());
            let Some(relative) = next else { return };
            if let Err(error) = self.enter(&relative) {
                self.problem(relative, &format!("the folder cannot be read: {error}"));
            }
        }
    }

    /// Visits a folder, unless it was visited or is excluded.
    fn enter(&mut self, relative: &Path) -> io::Result<()> {
        let id = id(&fs::metadata(self.root.join(relative))?);
        if self.excluded.contains(&id) {
            self.note(relative, "the output folder; left out");
        } else if self.above.contains(&id) {
            self.note(relative, "leads back to a folder that this one lies in; not followed");
        } else if !self.visited.insert(id) {
            self.note(relative, "leads to a folder that was visited by another name; not followed");
        } else {
            return self.folder(relative);
        }
        Ok(())
    }

    fn folder(&mut self, relative: &Path) -> io::Result<()> {
        let mut entries = fs::read_dir(self.root.join(relative))?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let relative = relative.join(&name);
            if name.as_bytes().starts_with(b".") {
                self.hidden += 1;
            } else if let Err(error) = self.entry(&entry, relative.clone()) {
                self.unreadable(relative, &error);
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, relative: PathBuf) -> io::Result<()> {
        let own = entry.file_type()?;
        if own.is_dir() {
            self.pending.push(relative);
            return Ok(());
        }
        let path = self.root.join(&relative);
        let found = fs::metadata(&path)?;
        if found.is_dir() {
            self.links.push_back(relative);
        } else if !found.is_file() {
            self.note(&relative, &format!("{}; left out", kind(&found)));
        } else if is_product(entry.file_name().as_bytes()) {
            self.products += 1;
        } else {
            self.walk.files.push(Input { path, relative });
        }
        Ok(())
    }

    fn unreadable(&mut self, relative: PathBuf, error: &io::Error) {
        // Not in std: "too many levels of symbolic links".
        const ELOOP: i32 = 40;
        let link = fs::symlink_metadata(self.root.join(&relative)).is_ok_and(|m| m.is_symlink());
        if error.raw_os_error() == Some(ELOOP) {
            self.note(&relative, "a symbolic link that leads to itself; left out");
        } else if link && error.kind() == io::ErrorKind::NotFound {
            self.problem(relative, "a symbolic link to nothing");
        } else {
            self.problem(relative, &format!("cannot be read: {error}"));
        }
    }

    fn note(&mut self, relative: &Path, what: &str) {
        self.walk.notes.push(format!("{}: {what}", display_name(&self.root.join(relative))));
    }

    fn problem(&mut self, relative: PathBuf, what: &str) {
        let message = format!("{}: {what}", display_name(&self.root.join(&relative)));
        self.walk.problems.push(Problem { relative, message });
    }

    fn finish(mut self, shown: &str) -> Result<Walk> {
        let counts = [(self.hidden, "hidden files and folders"), (self.products, "proofs, journals and locks of cuzk")];
        for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
            self.walk.notes.push(format!("{shown}: left out {what}: {count}"));
        }
        let Walk { mut files, notes, mut problems } = self.walk;
        if files.is_empty() {
            let seen = problems.iter().map(|p| &p.message).chain(&notes).map(|line| format!("; {line}"));
            fail!(Fault::Input, "no C1 files under {shown}{}", seen.collect::<String>());
        }
        files.sort_by(|a, b| bytes(&a.relative).cmp(bytes(&b.relative)));
        problems.sort_by(|a, b| bytes(&a.relative).cmp(bytes(&b.relative)));
        Ok(Walk { files, notes, problems })
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn id(metadata: &Metadata) -> FolderId {
    (metadata.dev(), metadata.ino())
}

/// Whether a file of this name is cuzk's own.
fn is_product(name: &[u8]) -> bool {
    let proof = |format: &ProofFormat| name.ends_with(format!(".proof.{}", format.extension()).as_bytes());
    ProofFormat::ALL.iter().any(proof)
        || name.starts_with(journal::PREFIX.as_bytes())
        || name.starts_with(lock::PREFIX.as_bytes())
}

#[cfg(test)]
mod tests;
