//! A folder of C1 files, batches over it, and what they leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;

use cuzk::batch::content_hash;
use cuzk::c1::{self, Format, SampleOptions};
use cuzk::circuit::SealProof;
use serde_json::Value;

use crate::common::{dev_params, finish, Finished, Place};

/// `in/` holds C1 files, `out/` gets the proofs.
pub struct Folder {
    pub place: Place,
    params: PathBuf,
}

/// A C1 output of 2 KiB, different for each seed; made once for all tests.
pub fn c1(seed: u64) -> Vec<u8> {
    static MADE: Mutex<BTreeMap<u64, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(|e| e.into_inner());
    let make = || {
        let options = SampleOptions { seed, ..SampleOptions::default() };
        let c1 = c1::sample(SealProof::StackedDrg2KiBV1_1, &options).expect("a sample");
        c1::write(&c1, Format::Json).expect("a C1 file")
    };
    made.entry(seed).or_insert_with(make).clone()
}

impl Folder {
    /// With C1 files `in/0.json` to `in/(files - 1).json`, of seeds 100 and on.
    pub fn new(files: u64) -> Self {
        let folder = Self { place: Place::new(), params: dev_params() };
        fs::create_dir(folder.place.path("in")).expect("in");
        (0..files).for_each(|i| folder.put(&format!("{i}.json"), 100 + i));
        folder
    }

    /// Puts a C1 file of that seed under a name in `in/`.
    pub fn put(&self, name: &str, seed: u64) {
        let path = self.place.path("in").join(name);
        fs::create_dir_all(path.parent().expect("in")).expect("folder");
        fs::write(path, c1(seed)).expect("C1 file");
    }

    /// `cuzk batch in` with the arguments of `more`, cut at spaces; where they name neither, into `out/` and with a simulator
    /// that takes no time.
    pub fn command(&self, more: &str) -> Command {
        let default = |flag: &str, value: &str| {
            if more.split(' ').any(|word| word == flag) {
                String::new()
            } else {
                format!("{flag} {value}")
            }
        };
        let (out, device) = (default("-o", "out"), default("--device", "simulator"));
        self.bare(&format!("batch in {out} {device} {more}"))
    }

    /// Any command that takes parameters; digests are remembered between all tests.
    pub fn bare(&self, line: &str) -> Command {
        let mut command = self.place.command(line.split_whitespace());
        command.args(["--dev-params", "--params"]).arg(&self.params);
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts"));
        for name in ["JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"] {
            command.env_remove(name);
        }
        command
    }

    pub fn run(&self, more: &str) -> Finished {
        finish(self.command(more), b"")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    /// The lines of all journals in `out/` that are whole.
    pub fn journal(&self) -> Vec<Value> {
        let journals = self.names("out").into_iter().filter(|name| name.starts_with("cuzk-journal."));
        let texts: Vec<_> = journals.map(|name| fs::read(self.path("out").join(name)).expect("journal")).collect();
        let lines = texts.iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// How often the journals say that each content was proved.
    pub fn proved(&self) -> BTreeMap<String, usize> {
        let mut proved = BTreeMap::new();
        for line in self.journal().iter().filter(|line| line["outcome"] == "proved") {
            *proved.entry(line["c1"].as_str().expect("a hash").to_owned()).or_default() += 1;
        }
        proved
    }

    /// Names in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten();
        let mut names: Vec<_> = entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Proof files in `out/`, by name, with the time they were written at.
    pub fn proofs(&self) -> BTreeMap<String, SystemTime> {
        let names = self.names("out").into_iter().filter(|name| name.ends_with(".proof.json"));
        names.map(|name| (name.clone(), self.modified(&format!("out/{name}")))).collect()
    }

    pub fn modified(&self, name: &str) -> SystemTime {
        fs::metadata(self.path(name)).and_then(|found| found.modified()).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Asserts that a proof is one of the C1 file.
    #[track_caller]
    pub fn verify(&self, proof: &str, c1: &str) {
        finish(self.bare(&format!("verify {proof} --c1 {c1}")), b"").ok();
    }

    /// Nothing is in `out/` but proofs, journals and folders.
    #[track_caller]
    pub fn assert_clean(&self) {
        self.assert_clean_below("");
    }

    /// The same for a folder below it.
    #[track_caller]
    pub fn assert_clean_below(&self, below: &str) {
        let folder = format!("out/{below}");
        let expected = |name: &String| {
            let folder = self.path(&folder).join(name).is_dir();
            name.ends_with(".proof.json") || name.starts_with("cuzk-journal.") || folder
        };
        let rest: Vec<_> = self.names(&folder).into_iter().filter(|name| !expected(name)).collect();
        assert_eq!(rest, [""; 0], "left in {folder}");
    }
}

/// The hash under which journals know the C1 file of that seed.
pub fn hash(seed: u64) -> String {
    content_hash(&c1(seed))
}

/// A JSON file.
pub fn json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
