//! The tests' shared parameters are those of the present generator, and of no other.

#[path = "common/parameters.rs"]
mod parameters;

use std::fs;
use std::path::Path;

use parameters::{remove_others, source_hash};

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn any_change_of_the_generator_names_another_folder() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(source_hash(repository), source_hash(repository));
    assert_eq!(source_hash(repository).len(), 16);

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for file in ["Cargo.lock", "src/circuit/porep.rs", "src/srs/development.rs", "src/srs/fixed_base.rs"] {
        write(&root.join(file), file);
    }
    for file in [
        "src/backend/cpu/a/msm.rs",
        "src/constraints/mod.rs",
        "src/srs/generate/mod.rs",
        "src/srs/layout.rs",
        "src/lanes/fr.rs",
    ] {
        write(&root.join(file), file);
    }
    let mut hashes = vec![source_hash(root)];
    let mut next = || hashes.push(source_hash(root));
    write(&root.join("src/backend/cpu/a/msm.rs"), "changed");
    next();
    write(&root.join("src/srs/generate/toxic.rs"), "");
    next();
    fs::rename(root.join("src/srs/generate/toxic.rs"), root.join("src/srs/generate/waste.rs")).unwrap();
    next();
    fs::remove_file(root.join("src/constraints/mod.rs")).unwrap();
    next();
    let count = hashes.len();
    hashes.sort();
    hashes.dedup();
    assert_eq!((hashes.len(), count), (5, 5));
    // Other files do not matter.
    let before = source_hash(root);
    write(&root.join("src/cli/mod.rs"), "");
    assert_eq!(source_hash(root), before);
}

#[test]
fn parameters_of_other_sources_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (all, kept) = (folder.path(), folder.path().join("kept"));
    for file in ["kept/x.params", "old/x.params", "old/deep/y", "loose.params"] {
        write(&all.join(file), "");
    }
    remove_others(all, &kept);
    let left: Vec<_> = fs::read_dir(all).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["kept"]);
    assert!(kept.join("x.params").is_file());
}
