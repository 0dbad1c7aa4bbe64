//! `kill -9` at random moments.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use crate::folder::Folder;

const FILES: u64 = 12;
const KILLS: usize = 24;

/// A run in which each file takes a tenth of a second.
fn start(folder: &Folder) -> Child {
    let mut command = folder.command("--device simulator:0.1");
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Proof file and time of writing of each content that the journals call proved.
fn recorded(folder: &Folder) -> BTreeMap<String, (String, SystemTime)> {
    let proved = folder.journal().into_iter().filter(|line| line["outcome"] == "proved");
    let of = |line: serde_json::Value| {
        let file = line["proof_file"].as_str().unwrap().to_owned();
        let modified = folder.modified(&format!("out/{file}"));
        (line["c1"].as_str().unwrap().to_owned(), (file, modified))
    };
    proved.map(of).collect()
}

/// Every content that was recorded is recorded once, and its proof is the file that it was then.
#[track_caller]
fn assert_kept(folder: &Folder, before: &BTreeMap<String, (String, SystemTime)>) {
    assert!(folder.proved().values().all(|times| *times == 1), "{:?}", folder.proved());
    let now = recorded(folder);
    for (content, proof) in before {
        assert_eq!(now.get(content), Some(proof));
    }
}

#[test]
fn killed_at_random_moments_a_batch_loses_nothing_and_proves_nothing_twice() {
    let one = Folder::new(1);
    let begun = Instant::now();
    assert!(start(&one).wait().unwrap().success());
    // From nothing to some files: how fast depends on the machine, and on what else it does.
    let longest = 3 * begun.elapsed();
    let folder = Folder::new(FILES);
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let (mut kills, mut round, mut files) = (0, 0, FILES);
    let mut kept = BTreeMap::new();
    while kills < KILLS {
        round += 1;
        assert!(round < 4 * KILLS, "{kills} kills in {round} rounds");
        let mut run = start(&folder);
        sleep(longest.mul_f64(f64::from(random.next_u32()) / f64::from(u32::MAX)));
        // SIGKILL.
        run.kill().unwrap();
        if run.wait().unwrap().code().is_none() {
            kills += 1;
        }
        assert_kept(&folder, &kept);
        kept = recorded(&folder);
        if kept.len() as u64 == files {
            // All done before the kills were: more to do.
            (files..files + 4).for_each(|i| folder.put(&format!("{i}.json"), 100 + i));
            files += 4;
        }
    }
    assert!(!kept.is_empty(), "no run came as far as a proof");
    let last = folder.run("");
    assert_eq!(last.ok().lines().count() as u64, files);
    assert_kept(&folder, &kept);
    assert_eq!(folder.proved().len() as u64, files);
    for i in 0..files {
        folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json"));
    }

    // Temporary files of the last minutes may be those of a run that lives; a run that finds them old removes them.
    let old = SystemTime::now() - Duration::from_secs(3600);
    for name in folder.names("out").iter().filter(|name| name.starts_with(".cuzk-")) {
        fs::File::options().write(true).open(folder.path("out").join(name)).unwrap().set_modified(old).unwrap();
    }
    folder.run("").ok();
    folder.assert_clean();
}
