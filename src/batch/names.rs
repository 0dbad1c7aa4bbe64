//! What each file's proof is called: the same whichever part of the folder a run does.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::walk::Input;
use crate::pipeline::proof_file::ProofFormat;

/// The proof file of each input, relative to the output folder, in the order of `files`.
///
/// Folders are mirrored and `x.json` becomes `x.proof.json`. Inputs that would share a name, `x.json` and `x.bin`, all keep
/// their full one: `x.json.proof.json`, `x.bin.proof.json`. `files` must be all that the folder holds, not one shard's part.
pub fn proof_names(files: &[Input], format: ProofFormat) -> Vec<PathBuf> {
    let folders: HashSet<&Path> =
        files.iter().flat_map(|file| file.relative.ancestors().skip(1)).filter(|f| *f != Path::new("")).collect();
    let mut names: Vec<_> = files.iter().map(|file| format.path_beside(&file.relative)).collect();
    let mut full = vec![false; files.len()];
    // A full name may be another file's short one. Each round lengthens at least one name, and full names differ.
    loop {
        let mut bearers: HashMap<&Path, usize> = HashMap::new();
        for name in &names {
            *bearers.entry(name).or_default() += 1;
        }
        let shared = |name: &PathBuf| bearers[name.as_path()] > 1 || folders.contains(name.as_path());
        let lengthen: Vec<_> = (0..names.len()).filter(|&i| !full[i] && shared(&names[i])).collect();
        if lengthen.is_empty() {
            return names;
        }
        for i in lengthen {
            (names[i], full[i]) = (full_name(&files[i].relative, format), true);
        }
    }
}

fn full_name(c1: &Path, format: ProofFormat) -> PathBuf {
    let mut name = c1.as_os_str().to_owned();
    name.push(format!(".proof.{}", format.extension()));
    name.into()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        let files: Vec<_> =
            files.iter().map(|name| Input { path: Path::new("/in").join(name), relative: name.into() }).collect();
        let names = proof_names(&files, ProofFormat::Json);
        names.iter().map(|name| name.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn folders_are_mirrored_and_the_extension_replaced() {
        assert_eq!(
            names(&["a.json", "d/a.json", "d/e/s-t01000-1", "x.c1.json"]),
            ["a.proof.json", "d/a.proof.json", "d/e/s-t01000-1.proof.json", "x.c1.proof.json"]
        );
    }

    #[test]
    fn all_that_would_share_a_name_keep_their_full_one() {
        // The full name of `x`, which has no extension, is its short one.
        assert_eq!(
            names(&["x", "x.bin", "x.json", "y.json"]),
            ["x.proof.json", "x.bin.proof.json", "x.json.proof.json", "y.proof.json"]
        );
        assert_eq!(names(&["d/x.json", "x.json"]), ["d/x.proof.json", "x.proof.json"]);
    }

    #[test]
    fn a_full_name_does_not_take_another_files_short_one() {
        let names = names(&["x.bin", "x.json", "x.json.json", "x.json.json.bin"]);
        assert_eq!(
            names,
            ["x.bin.proof.json", "x.json.proof.json", "x.json.json.proof.json", "x.json.json.bin.proof.json"]
        );
    }

    #[test]
    fn a_proof_is_not_called_as_a_folder() {
        assert_eq!(names(&["x.json", "x.proof.json/y.json"]), ["x.json.proof.json", "x.proof.json/y.proof.json"]);
    }

    #[test]
    fn names_that_are_not_utf8_keep_their_bytes() {
        let relative = PathBuf::from(OsStr::from_bytes(b"a\xff\n.json"));
        let names = proof_names(&[Input { path: relative.clone(), relative }], ProofFormat::Raw);
        assert_eq!(names[0].as_os_str().as_bytes(), b"a\xff\n.proof.raw");
    }

    #[test]
    fn no_two_files_share_a_name() {
        // All names of up to four parts out of three.
        let mut all = vec![String::new()];
        for _ in 0..4 {
            all =
                all.iter().flat_map(|stem| ["", ".a", ".proof", ".json"].map(|part| format!("{stem}{part}"))).collect();
        }
        let mut all: Vec<_> = all.iter().map(|name| format!("x{name}")).collect();
        all.sort();
        all.dedup();
        let files: Vec<_> = all.iter().map(String::as_str).collect();
        let made = names(&files);
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), files.len());
    }
}
