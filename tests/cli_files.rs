//! `inspect`, `sample`, `params` and `devices`, through the real binary.

mod common;

use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use common::{dev_params, finish, repository, Place};
use serde_json::Value;

#[test]
fn inspect_says_what_is_in_the_file_and_which_parameters_it_needs() {
    let place = Place::new();
    let sample = repository("samples/2KiB.json");
    let line = format!("inspect {} --params nowhere", sample.display());
    let text = place.run(&line);
    let row = |label: &str| {
        let found = text.ok().lines().find_map(|line| line.strip_prefix(label)).map(str::trim);
        found.unwrap_or_else(|| panic!("{label} not in:\n{}", text.text())).to_owned()
    };
    assert_eq!(row("proof type"), "StackedDrg2KiBV1_1");
    assert_eq!(row("partitions"), "1");
    assert_eq!(row(".params"), "missing");
    assert_eq!(row("folder"), "nowhere (--params)");

    let line = format!("inspect {} --json --dev-params --params {}", sample.display(), dev_params().display());
    let object: Value = serde_json::from_str(place.run(&line).ok()).expect("one JSON object");
    assert_eq!(object["registered_proof"], "StackedDrg2KiBV1_1");
    assert_eq!(object["parameters_here"]["folder"], dev_params().to_str().unwrap());
    assert_eq!(object["parameters_here"]["folder_source"], "--params");
    assert_eq!(object["parameters_here"]["vk"], "development");
    assert_eq!(object["parameters_here"]["params_bytes"], 1_114_707_768);
}

#[test]
fn the_committed_sample_is_what_sample_makes() {
    let place = Place::new();
    let made = place.run("sample --sector-size 2KiB -o -");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stdout == std::fs::read(repository("samples/2KiB.json")).unwrap());
}

#[test]
fn samples_of_every_format_read_back_and_follow_their_seed() {
    let place = Place::new();
    let description = |line: &str| -> Value {
        let mut object: Value = serde_json::from_str(place.run(line).ok()).expect("JSON");
        object.as_object_mut().expect("object").retain(|key, _| key == "comm_r" || key == "replica_id");
        object
    };
    let mut seen = Vec::new();
    for format in ["json", "wrapper", "proof-share", "bincode"] {
        let common = "--registered-proof StackedDrg2KiBV1 --miner t01234 --sector 7 --seed 3 --data random";
        let made = place.run(&format!("sample {common} --format {format} -o {format}"));
        assert_eq!(made.ok(), format!("{format}\n"));
        assert!(made.stderr.contains("of miner f01234, sector 7"), "as inspect and errors write it: {}", made.stderr);
        let known = "--registered-proof StackedDrg2KiBV1 --miner 1234 --sector 7";
        seen.push(description(&format!("inspect {format} --json {known}")));
    }
    assert!(seen.iter().all(|description| *description == seen[0]), "{seen:?}");
    place.run("inspect json --miner 1234 --sector 8").fails(3, "replica_id");
    place.run("sample --sector-size 2KiB --seed 4 -o other").ok();
    assert_ne!(description("inspect other --json"), seen[0]);
    place.run("sample --sector-size 2KiB -o other").fails(2, "--force");
}

#[test]
fn params_list_and_check_tell_development_parameters() {
    let place = Place::new();
    let params = dev_params();
    let list = |place: &Place| -> Vec<Value> {
        let line = format!("params list --json --dev-params --params {}", params.display());
        serde_json::from_str(place.run(&line).ok()).expect("a JSON array")
    };
    let entries = list(&place);
    assert_eq!(entries.len(), 5, "one for each sector size");
    let missing = entries.iter().filter(|entry| entry["verdict"] == "missing").count();
    assert_eq!(missing, 4);
    assert_eq!((&entries[0]["origin"], &entries[0]["verdict"]), (&"development".into(), &"unchecked".into()));

    let line = format!("params check --sector-size 2KiB --params {}", params.display());
    let checked = place.run(&line);
    assert!(checked.ok().contains(".params: development, digest "), "{}", checked.text());
    // The digest is remembered from now on.
    assert_eq!(list(&place)[0]["verdict"], "verified");
    place.run(&format!("params check --sector-size 8MiB --params {}", params.display())).fails(4, "8-0-0");
    place.run("params list --params empty").ok();
    place.run("params check --params empty").fails(4, "empty");
}

#[test]
fn parameters_are_not_generated_among_official_ones() {
    let place = Place::new();
    std::fs::create_dir(place.path("official")).unwrap();
    place.write("official/some.params", "");
    place.run("params generate --sector-size 2KiB --params official").fails(2, "some.params");
    let c1 = repository("samples/2KiB.json");
    place.run(&format!("prove {} -o p.json --dev-params --params official", c1.display())).fails(2, "some.params");
    assert_eq!(std::fs::read_dir(place.path("official")).unwrap().count(), 1);
}

#[test]
fn development_parameters_are_for_test_sectors() {
    let place = Place::new();
    let run = place.run("params generate --sector-size 32GiB --params new");
    run.fails(2, "2KiB, 8MiB and 512MiB; `lotus fetch-params 32GiB` fetches the official ones of 32GiB");
    assert!(!run.stderr.contains("--dev-params"), "{}", run.stderr);
    assert!(place.names().is_empty());
}

#[test]
fn devices_lists_the_cpu_and_says_why_there_is_no_cuda_device() {
    let place = Place::new();
    let mut command = place.command(["devices", "--json"]);
    command.env("CUZK_LIBCUDA", "/nonexistent/libcuda.so");
    let object: Value = serde_json::from_str(finish(command, b"").ok()).expect("one JSON object");
    assert!(object["cpu"]["threads"].as_u64().unwrap() > 0);
    let kernels = &object["cuda"]["kernels"];
    match cuzk::gpu::image() {
        Ok(image) => assert_eq!(kernels["nvcc"], image.nvcc),
        Err(reason) => assert_eq!((kernels, &object["cuda"]["kernels_missing"]), (&Value::Null, &reason.into())),
    }
    assert!(object["cuda"]["devices"].as_array().unwrap().is_empty());
    assert!(object["cuda"]["unavailable"].as_str().unwrap().contains("/nonexistent/libcuda.so"));
    assert!(place.run("devices --threads 3").ok().starts_with("cpu (3 threads"));
}

/// The shared parameters under their real names, linked into a folder that has the files of these extensions only.
fn linked(place: &Place, name: &str, extensions: &[&str]) -> PathBuf {
    let folder = place.path(name);
    std::fs::create_dir(&folder).unwrap();
    for entry in std::fs::read_dir(dev_params()).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap();
        if extensions.iter().any(|extension| file.to_string_lossy().ends_with(extension)) {
            std::os::unix::fs::symlink(&path, folder.join(file)).unwrap();
        }
    }
    folder
}

#[test]
fn files_with_the_right_names_do_not_pass_for_generated_ones() {
    let place = Place::new();
    let official = linked(&place, "official", &[".params", ".vk", ".meta"]);
    place.run("params generate --sector-size 2KiB --params official").fails(2, "DEVELOPMENT-PARAMETERS.txt");
    assert_eq!(std::fs::read_dir(official).unwrap().count(), 3);

    // Marked, recorded and as long as it should be, but with a changed byte.
    let damaged = linked(&place, "damaged", &[".txt", ".params", ".vk", ".meta", ".dev.json"]);
    let names = std::fs::read_dir(&damaged).unwrap().map(|e| e.unwrap().path());
    let params = names.into_iter().find(|path| path.extension().is_some_and(|e| e == "params")).unwrap();
    let whole = std::fs::canonicalize(&params).unwrap();
    std::fs::remove_file(&params).unwrap();
    std::fs::copy(whole, &params).unwrap();
    std::fs::File::options().write(true).open(&params).unwrap().write_all_at(&[0xff; 8], 500_000_000).unwrap();
    place.run("params generate --sector-size 2KiB --params damaged").fails(4, "its digest is");

    let line = format!("params generate --sector-size 2KiB --params {}", dev_params().display());
    let again = place.run(&line);
    assert!(again.ok().ends_with(".params\n"));
    assert!(again.stderr.contains(".params: was there already"), "{}", again.stderr);
}

#[test]
fn the_official_folder_is_refused_also_while_it_is_empty_or_missing() {
    let place = Place::new();
    let sample = repository("samples/2KiB.json");
    for _ in 0..2 {
        for args in [
            "params generate --sector-size 2KiB --params ./cache".to_owned(),
            format!("prove {} -o p.json --dev-params --params cache", sample.display()),
        ] {
            let mut command = place.command(args.split(' '));
            command.env("FIL_PROOFS_PARAMETER_CACHE", place.path("cache"));
            finish(command, b"").fails(2, "the folder of official parameters");
        }
        // Refused while missing, then while empty.
        std::fs::create_dir_all(place.path("cache")).unwrap();
    }
    assert_eq!(std::fs::read_dir(place.path("cache")).unwrap().count(), 0);
}

#[test]
fn any_file_of_the_name_is_not_here() {
    let place = Place::new();
    let folder = linked(&place, "params", &[".txt", ".params", ".vk", ".meta", ".dev.json"]);
    let line = format!("inspect {} --dev-params --params params", repository("samples/2KiB.json").display());
    let sound = place.run(&line);
    assert!(sound.ok().contains("here, 1.04 GiB, development, digest not yet checked"), "{}", sound.text());
    let names = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let params = names.into_iter().find(|path| path.extension().is_some_and(|e| e == "params")).unwrap();
    std::fs::remove_file(&params).unwrap();
    std::fs::write(&params, "anything").unwrap();
    let text = place.run(&line);
    assert!(text.ok().contains("not usable: ") && text.text().contains("a text file"), "{}", text.text());
    let object: Value = serde_json::from_str(place.run(&(line + " --json")).ok()).expect("one JSON object");
    assert_eq!(object["parameters_here"]["params_verdict"], "refused");
}

#[test]
fn the_number_of_threads_is_the_flags_or_the_machines() {
    let place = Place::new();
    let threads = |variable: Option<&str>| {
        let mut command = place.command(["devices", "--json"]);
        command.env_remove("RAYON_NUM_THREADS");
        if let Some(value) = variable {
            command.env("RAYON_NUM_THREADS", value);
        }
        let object: Value = serde_json::from_str(finish(command, b"").ok()).expect("one JSON object");
        object["cpu"]["threads"].as_u64().unwrap()
    };
    let own = threads(None);
    assert_eq!(threads(Some(&(own + 3).to_string())), own);
}

#[test]
fn a_bincode_that_is_cut_off_says_where() {
    let place = Place::new();
    place.run("sample --sector-size 2KiB --format bincode -o whole").ok();
    let whole = place.read("whole");
    for length in [whole.len() - 1, whole.len() / 2, whole.len() / 3] {
        place.write("cut", &whole[..length]);
        let run = place.run("inspect cut");
        run.fails(3, "cut: byte ");
        run.fails(3, &format!("cut off or damaged: of {length} bytes in all"));
        assert!(!run.stderr.contains("limit"), "{}", run.stderr);
    }
}
