use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::net::UnixListener;

use tempfile::TempDir;

use super::*;

/// A folder with these files; a path's folders are made.
fn tree(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

fn relative(walk: &Walk) -> Vec<String> {
    walk.files.iter().map(|file| file.relative.to_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn said(lines: &[String], part: &str) {
    assert_eq!(lines.iter().filter(|line| line.contains(part)).count(), 1, "{part:?} in {lines:?}");
}

#[test]
fn files_come_sorted_by_the_bytes_of_their_path() {
    let folder = tree(&["b", "a/z", "a.json", "a/b/c", "B", "a-"]);
    let walk = walk(folder.path(), &[]).unwrap();
    assert_eq!(relative(&walk), ["B", "a-", "a.json", "a/b/c", "a/z", "b"]);
    assert!(walk.notes.is_empty() && walk.problems.is_empty(), "{walk:?}");
    for file in &walk.files {
        assert_eq!(fs::read(&file.path).unwrap(), file.relative.to_str().unwrap().as_bytes());
    }
}

#[test]
fn hidden_files_and_own_products_are_left_out_and_counted() {
    let own = ["x.proof.json", "x.proof.hex", "d/x.proof.raw", "x.proof.base64", "cuzk-journal.1-of-1.jsonl"];
    let folder = tree(&own);
    for file in ["cuzk-lock.1-of-1", ".hidden", "x.json", "proof.json"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".git/config"), "").unwrap();
    let walk = walk(folder.path(), &[]).unwrap();
    assert_eq!(relative(&walk), ["proof.json", "x.json"]);
    said(&walk.notes, "hidden files and folders: 2");
    said(&walk.notes, "proofs, journals and locks of cuzk: 6");
}

#[test]
fn links_are_followed_and_loops_are_not() {
    let folder = tree(&["in/d/x", "elsewhere/y", "elsewhere/z"]);
    let (root, at) = (folder.path().join("in"), |name: &str| folder.path().join("in").join(name));
    symlink(folder.path().join("elsewhere/y"), at("file-link")).unwrap();
    symlink("../../elsewhere", at("d/folder-link")).unwrap();
    symlink("..", at("d/up")).unwrap();
    symlink(folder.path(), at("above")).unwrap();
    symlink("self", at("self")).unwrap();
    // Two links that lead to each other's folder.
    fs::create_dir(at("e")).unwrap();
    symlink("../e", at("d/to-e")).unwrap();
    symlink("../d", at("e/to-d")).unwrap();
    let walk = walk(&root, &[]).unwrap();
    assert_eq!(relative(&walk), ["d/folder-link/y", "d/folder-link/z", "d/x", "file-link"]);
    said(&walk.notes, "in/d/up: leads to a folder that was visited");
    said(&walk.notes, "in/above: leads back");
    said(&walk.notes, "in/self: a symbolic link that leads to itself");
    said(&walk.notes, "in/d/to-e: leads to a folder that was visited");
    said(&walk.notes, "in/e/to-d: leads to a folder that was visited");
    assert!(walk.problems.is_empty(), "{:?}", walk.problems);
}

#[test]
fn a_folder_is_visited_once_and_by_its_own_name() {
    // The link sorts first; without the rule 2^20 paths lead to the one file.
    let folder = tree(&["z0/x"]);
    for i in 0..20 {
        let next = folder.path().join(format!("z{}", i + 1));
        fs::create_dir(&next).unwrap();
        symlink(format!("../z{i}"), next.join("a")).unwrap();
        symlink(format!("../z{i}"), next.join("b")).unwrap();
    }
    symlink("z0", folder.path().join("a")).unwrap();
    let walk = walk(folder.path(), &[]).unwrap();
    assert_eq!(relative(&walk), ["z0/x"]);
    assert_eq!(walk.notes.len(), 41, "{:?}", walk.notes);
}

#[test]
fn a_link_to_nothing_is_a_problem() {
    let folder = tree(&["x"]);
    symlink("gone", folder.path().join("link")).unwrap();
    let walk = walk(folder.path(), &[]).unwrap();
    assert_eq!(relative(&walk), ["x"]);
    assert_eq!(walk.problems.len(), 1);
    assert_eq!(walk.problems[0].relative, Path::new("link"));
    assert!(walk.problems[0].message.ends_with("link: a symbolic link to nothing"), "{:?}", walk.problems);
}

#[test]
fn the_output_folder_in_the_input_folder_is_left_out() {
    let folder = tree(&["x", "out/y", "d/z"]);
    let out = folder.path().join("out");
    symlink(&out, folder.path().join("d/to-out")).unwrap();
    // By another name than the walk finds it under.
    let walked = walk(folder.path(), &[&folder.path().join("d/../out")]).unwrap();
    assert_eq!(relative(&walked), ["d/z", "x"]);
    assert_eq!(walked.notes.iter().filter(|note| note.contains("the output folder")).count(), 2, "{:?}", walked.notes);
    // The same folder for both: proofs lie beside their files.
    let walked = walk(folder.path(), &[folder.path()]).unwrap();
    assert_eq!(relative(&walked), ["d/z", "out/y", "x"]);
    let walked = walk(folder.path(), &[&folder.path().join("not-there-yet")]).unwrap();
    assert_eq!(walked.files.len(), 3);
}

#[test]
fn sockets_pipes_and_devices_are_left_out() {
    let folder = tree(&["x"]);
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    symlink("/dev/zero", folder.path().join("zero")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let walk = walk(folder.path(), &[]).unwrap();
    assert_eq!(relative(&walk), ["x"]);
    said(&walk.notes, "socket: a socket; left out");
    said(&walk.notes, "zero: a device; left out");
    said(&walk.notes, "pipe: a pipe; left out");
}

#[test]
fn a_folder_without_files_is_an_error_that_says_what_is_there() {
    let folder = tree(&["d/.hidden"]);
    let error = walk(folder.path(), &[]).unwrap_err();
    assert_eq!(error.fault(), Fault::Input);
    let text = error.to_string();
    assert!(text.starts_with(&format!("no C1 files under {}", folder.path().display())), "{text}");
    assert!(text.contains("hidden files and folders: 1"), "{text}");
    symlink("gone", folder.path().join("link")).unwrap();
    assert!(walk(folder.path(), &[]).unwrap_err().to_string().contains("link: a symbolic link to nothing"));
}

#[test]
fn what_is_no_folder_is_refused() {
    let folder = tree(&["x"]);
    let refused = |path: &Path, part: &str| {
        let error = walk(path, &[]).unwrap_err();
        assert_eq!(error.fault(), Fault::Input);
        assert!(error.to_string().contains(part), "{error}");
    };
    refused(&folder.path().join("x"), "expected a folder, got a regular file; one file is proved with `cuzk prove`");
    refused(&folder.path().join("none"), "none: cannot be read");
}

#[test]
fn names_of_any_bytes_are_found_and_shown_on_one_line() {
    let folder = tree(&["x"]);
    let names = [&b"a\nb.json"[..], b"\xff\xfe", "ü".as_bytes()];
    for name in names {
        fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
    }
    let weird = folder.path().join(OsStr::from_bytes(b"l\n\xff"));
    symlink("gone", weird).unwrap();
    let walk = walk(folder.path(), &[]).unwrap();
    let mut expected = [&b"x"[..], names[0], names[1], names[2]];
    expected.sort();
    assert_eq!(walk.files.iter().map(|file| bytes(&file.relative)).collect::<Vec<_>>(), expected);
    assert!(walk.problems[0].message.ends_with("l\\n\\xff: a symbolic link to nothing"), "{:?}", walk.problems);
}

#[test]
fn an_unreadable_folder_is_a_problem_and_the_rest_is_found() {
    let folder = tree(&["x", "closed/y"]);
    let closed = folder.path().join("closed");
    fs::set_permissions(&closed, Permissions::from_mode(0o0)).unwrap();
    let bites = fs::read_dir(&closed).is_err();
    let walked = walk(folder.path(), &[]);
    let alone = walk(&closed, &[]);
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    let walked = walked.unwrap();
    if bites {
        assert_eq!(relative(&walked), ["x"]);
        assert_eq!(walked.problems[0].relative, Path::new("closed"));
        assert!(alone.unwrap_err().to_string().contains("closed: cannot be read"));
    } else {
        // Root may read everything.
        assert_eq!(relative(&walked), ["closed/y", "x"]);
    }
}

/// For root too: a folder goes away between being listed and being visited.
#[test]
fn a_folder_that_cannot_be_entered_is_a_problem() {
    let folder = tree(&["x", "d/y"]);
    let found = fs::metadata(folder.path()).unwrap();
    let mut walker = Walker::new(folder.path(), &found, &[]);
    walker.folder(Path::new("")).unwrap();
    fs::remove_dir_all(folder.path().join("d")).unwrap();
    walker.all_below();
    let walk = walker.finish("folder").unwrap();
    assert_eq!(relative(&walk), ["x"]);
    assert_eq!(walk.problems[0].relative, Path::new("d"));
    assert!(walk.problems[0].message.contains("d: the folder cannot be read: "), "{:?}", walk.problems);
}
