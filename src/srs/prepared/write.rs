//! Makes a prepared file: whole, or not at all.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::{flock, FlockOperation};

use super::header::{begins, Header, MAGIC_BYTES};
use super::{convert, file_bytes, sections, CHUNK, PAGE};
use crate::backend::bases::Form;
use crate::error::{Error, Fault, OrFault, Result};
use crate::fail;
use crate::files::{self, Temporary};
use crate::srs::development::temporary_prefix;
use crate::srs::digest::HashingWriter;
use crate::srs::generate::check_space;
use crate::srs::progress::{Progress, Report, Stage};
use crate::srs::Srs;

/// Writes the points of `srs` in `form` to `path`, in place of a prepared file that may be there.
///
/// # Errors
/// `Usage`: another file has the name. `Output`: no room; those of writing. `Parameters`: the original has what is no point, or changed
/// meanwhile.
pub fn write(srs: &Srs, form: Form, path: &Path, report: &Report) -> Result<()> {
    refuse_other(path)?;
    let in_place = |error: Error| error.context(path.display().to_string());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    remove_stale(folder, &name);
    check_space(folder, file_bytes(&sections(srs.layout())) as u64).map_err(in_place)?;
    // Readable for others, as far as the umask lets: provers often run as another user.
    let made = Temporary::create(folder, &temporary_prefix(&name), "", 0o644);
    let mut temporary =
        made.or_fault(Fault::Output, || format!("{}: no temporary file can be made", path.display()))?;
    // Whose lock is held is not stale; where there are no locks nothing is taken for stale.
    let _ = flock(temporary.file(), FlockOperation::NonBlockingLockExclusive);
    write_to(srs, form, temporary.file(), report).map_err(in_place)?;
    srs.unchanged()?;
    let put = files::put(temporary, path).and_then(|()| File::open(folder)?.sync_all());
    put.or_fault(Fault::Output, || format!("{}: cannot be put in place", path.display()))
}

/// Points first: the header has their digest.
fn write_to(srs: &Srs, form: Form, file: &mut File, report: &Report) -> Result<()> {
    let written = || "cannot be written".to_owned();
    file.write_all(&[0; PAGE]).or_fault(Fault::Output, written)?;
    let mut writer = HashingWriter::new(&mut *file);
    let sections = sections(srs.layout());
    let total = sections.iter().map(|section| section.count as u64).sum();
    let (mut done, mut at) = (0, PAGE);
    report(Progress::Work { stage: Stage::Preparing, done, total });
    let mut ready = Vec::new();
    for (k, section) in sections.iter().enumerate() {
        // What is ready is the end of the query before.
        ready.resize(ready.len() + section.offset - at, 0);
        for start in (0..section.count).step_by(CHUNK) {
            let points = start..section.count.min(start + CHUNK);
            done += points.len() as u64;
            let (wrote, next) = rayon::join(|| writer.write_all(&ready), || convert(srs, k, points, form));
            wrote.or_fault(Fault::Output, written)?;
            ready = next?;
            report(Progress::Work { stage: Stage::Preparing, done, total });
        }
        at = section.range().end;
    }
    writer.write_all(&ready).or_fault(Fault::Output, written)?;
    let (_, digest) = writer.finish();
    let header = Header { form, original: srs.original(), digest };
    let page = header.page().map_err(|what| Error::new(Fault::Output, what))?;
    file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&page)).or_fault(Fault::Output, written)
}

/// Refuses to replace what is no prepared file.
fn refuse_other(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = files::open_regular(path).and_then(|file| file.take(MAGIC_BYTES as u64).read_to_end(&mut head));
    read.or_fault(Fault::Usage, || format!("{}: is there and cannot be read", path.display()))?;
    if !begins(&head) {
        fail!(
            Fault::Usage,
            "{}: is there and is no prepared parameter file; move it away, or name another with --output",
            path.display()
        );
    }
    Ok(())
}

/// Removes what killed runs left: temporaries that nobody holds a lock on. What cannot be removed costs space alone.
fn remove_stale(folder: &Path, name: &str) {
    let prefix = temporary_prefix(name);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(&prefix) {
            continue;
        }
        let unlocked = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if files::open_regular(&entry.path()).is_ok_and(|file| unlocked(&file)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
