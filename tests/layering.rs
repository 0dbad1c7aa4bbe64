//! Holds the modules under src/ to the layers of DESIGN.md section 5: imports go down only, and some names belong to one
//! module each.

#[path = "layering/tokens.rs"]
mod tokens;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tokens::{tokens, Token};

/// Each module and those it may name, beside itself and [`EVERYWHERE`].
const LAYERS: &[(&str, &[&str])] = &[
    // The allocator that counts for `cuzk bench` is the program's, not the library's.
    ("main", &["cli", "bench"]),
    (
        "cli",
        &[
            "batch",
            "bench",
            "pipeline",
            "c1",
            "circuit",
            "witness",
            "constraints",
            "srs",
            "groth16",
            "backend",
            "gpu",
            "processor",
        ],
    ),
    ("batch", &["pipeline", "c1", "circuit", "srs"]),
    ("bench", &["circuit", "witness", "constraints", "groth16", "srs", "backend"]),
    ("pipeline", &["c1", "circuit", "witness", "constraints", "srs", "groth16", "backend", "gpu"]),
    ("groth16", &["backend", "srs", "witness", "constraints"]),
    ("srs", &["circuit", "constraints", "backend"]),
    ("witness", &["circuit", "lanes", "pages", "processor"]),
    ("c1", &["circuit"]),
    ("backend", &["gpu", "constraints", "witness", "lanes", "pages", "processor"]),
    ("circuit", &[]),
    ("constraints", &["witness", "pages", "processor"]),
    ("gpu", &[]),
    ("lanes", &["processor"]),
    ("pages", &[]),
    ("processor", &[]),
    ("report", &[]),
    ("files", &[]),
    ("error", &[]),
];

/// Modules that every other may name. Below them, report and files may name error, and error nothing.
const EVERYWHERE: &[&str] = &["error", "files", "report"];

/// Macros that `#[macro_export]` puts at the root, and the modules they belong to.
const ROOT_MACROS: &[(&str, &str)] = &[("fail", "error")];

/// A name, by its beginning, and the only places under src/ where it may stand.
struct Reserved {
    name: &'static str,
    /// Whether longer names that begin so are meant too.
    prefix: bool,
    places: &'static [&'static str],
    why: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        name: "env",
        prefix: false,
        places: &["cli/", "gpu/driver.rs"],
        why: "the environment is read by the command line only (and CUZK_LIBCUDA and CUDA_VISIBLE_DEVICES by the driver's lookup)",
    },
    Reserved {
        name: "is_x86_feature_detected",
        prefix: false,
        places: &["processor.rs"],
        why: "CUZK_CPU=scalar turns off all that is detected, in one place",
    },
    Reserved { name: "cust", prefix: false, places: &["gpu/"], why: "gpu is the only user of cust" },
    Reserved { name: "cust_", prefix: true, places: &["gpu/"], why: "gpu is the only user of cust" },
    Reserved {
        name: "storage_proofs_porep",
        prefix: false,
        places: &["circuit/"],
        why: "circuit is the only user of the PoRep's own types",
    },
    Reserved {
        name: "storage_proofs_core",
        prefix: false,
        places: &["circuit/", "srs/catalogue.rs"],
        why: "only circuit uses it, and the catalogue of official parameters for its parameters.json",
    },
    Reserved { name: "create_proof", prefix: true, places: &[], why: "proofs are made by our own prover" },
    Reserved { name: "create_random_proof", prefix: true, places: &[], why: "proofs are made by our own prover" },
    Reserved { name: "seal_commit_phase2", prefix: true, places: &[], why: "proofs are made by our own prover" },
];

/// What is wrong with one file; `path` is relative to src/, with `/` between its parts.
fn violations(path: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    let module = path.split(['/', '.']).next().unwrap_or_default();
    match LAYERS.iter().find(|(name, _)| *name == module) {
        _ if path == "lib.rs" => {}
        None => found.push(format!("{path}: module {module} is not in the table of layers")),
        Some((_, allowed)) => {
            for (named, line) in modules_named(path, &tokens) {
                if named != module && !allowed.contains(&named.as_str()) && !allowed_everywhere(module, &named) {
                    found.push(format!("{path}:{line}: {module} may not name {named}"));
                }
            }
        }
    }
    found.extend(reserved_names(path, &tokens));
    found
}

fn allowed_everywhere(module: &str, named: &str) -> bool {
    match module {
        "error" => false,
        "report" | "files" => named == "error",
        _ => EVERYWHERE.contains(&named),
    }
}

fn reserved_names(path: &str, tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let Some((name, line)) = token.ident() else { continue };
        // `env!(..)` is read when compiling, not when running.
        if tokens.get(i + 1).is_some_and(|t| t.is('!')) && name == "env" {
            continue;
        }
        for rule in RESERVED {
            let meant = if rule.prefix { name.starts_with(rule.name) } else { name == rule.name };
            if meant && !rule.places.iter().any(|place| path.starts_with(place)) {
                found.push(format!("{path}:{line}: {name}: {}", rule.why));
            }
        }
    }
    found
}

/// The modules at the crate's root that a file names, through `crate::`, `cuzk::` or enough `super::`, with their lines.
fn modules_named(path: &str, tokens: &[Token]) -> Vec<(String, usize)> {
    let mut named = Vec::new();
    let mut braces = 0;
    // Brace depths at which inline modules opened: each takes one more `super` to leave.
    let mut inline: Vec<usize> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        match &tokens[i] {
            Token::Mark('{') => braces += 1,
            Token::Mark('}') => {
                braces -= 1;
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
            }
            Token::Ident(word, _) if word == "mod" && tokens.get(i + 2).is_some_and(|t| t.is('{')) => {
                inline.push(braces)
            }
            Token::Ident(word, _) if word == "crate" || word == "cuzk" => named.extend(heads(tokens, i + 1)),
            Token::Ident(word, _) if word == "super" => {
                let mut supers = 1;
                while separator(tokens, i + 1)
                    && tokens.get(i + 3).and_then(Token::ident).is_some_and(|t| t.0 == "super")
                {
                    (i, supers) = (i + 3, supers + 1);
                }
                if supers >= file_depth(path) + inline.len() {
                    named.extend(heads(tokens, i + 1));
                }
            }
            _ => {}
        }
        i += 1;
    }
    for (name, _) in &mut named {
        if let Some((_, module)) = ROOT_MACROS.iter().find(|(root, _)| root == name) {
            *name = (*module).to_owned();
        }
    }
    named
}

/// How many `super`s lead from the file's module to the root: 1 from `a.rs` and `a/mod.rs`, 2 from `a/b.rs`.
fn file_depth(path: &str) -> usize {
    let parts = path.split('/').count();
    if path.ends_with("/mod.rs") {
        parts - 1
    } else {
        parts
    }
}

fn separator(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|t| t.is(':')) && tokens.get(at + 1).is_some_and(|t| t.is(':'))
}

/// The first names after the `::` at `at`: one, those of a group `{a::x, b}`, or `*`; none where no `::` stands.
fn heads(tokens: &[Token], at: usize) -> Vec<(String, usize)> {
    if !separator(tokens, at) {
        return Vec::new();
    }
    match tokens.get(at + 2) {
        Some(Token::Ident(name, line)) => vec![(name.clone(), *line)],
        Some(Token::Mark('{')) => group_heads(tokens, at + 3),
        // A glob of the root would hide what is named.
        Some(Token::Mark('*')) => vec![("everything (*)".to_owned(), 0)],
        _ => Vec::new(),
    }
}

fn group_heads(tokens: &[Token], start: usize) -> Vec<(String, usize)> {
    let (mut heads, mut depth, mut expected) = (Vec::new(), 0, true);
    for token in &tokens[start..] {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') if depth == 0 => break,
            Token::Mark('}') => depth -= 1,
            Token::Mark(',') if depth == 0 => {
                expected = true;
                continue;
            }
            Token::Ident(name, line) if expected && name != "self" => heads.push((name.clone(), *line)),
            _ => {}
        }
        expected = false;
    }
    heads
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn modules_name_only_what_lies_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let (mut found, mut modules) = (Vec::new(), BTreeSet::new());
    for file in files {
        let path = file.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
        modules.insert(path.split(['/', '.']).next().unwrap().to_owned());
        found.extend(violations(&path, &std::fs::read_to_string(&file).unwrap()));
    }
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
    // The table holds no module that is gone.
    modules.remove("lib");
    assert_eq!(modules, LAYERS.iter().map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn an_import_upwards_is_found_in_every_spelling() {
    let upwards = [
        "use crate::pipeline::run::Run;",
        "use crate::{\n    error::Result,\n    pipeline::{self, stop},\n};",
        "fn f() { crate::pipeline::run(); }",
        "pub use super::super::pipeline;",
        "mod tests { use super::super::super::pipeline::x; }",
        "macro_rules! m { () => { $crate::pipeline::x!() } }",
    ];
    for source in upwards {
        let found = violations("srs/layout.rs", source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        assert!(found[0].contains("srs may not name pipeline"), "{found:?}");
    }
    assert_eq!(violations("srs/mod.rs", "\n\nuse super::cli::x;"), ["srs/mod.rs:3: srs may not name cli"]);
    assert_eq!(violations("groth16/mod.rs", "use crate::circuit::PoRep;").len(), 1);
    assert_eq!(violations("report/mod.rs", "use crate::report::x; use crate::srs::Srs;").len(), 1);
    assert_eq!(violations("error.rs", "use crate::report::Phase;").len(), 1);
    assert_eq!(violations("main.rs", "use cuzk::gpu;").len(), 1);
    assert_eq!(violations("srs/mod.rs", "use crate::*;").len(), 1);
    assert_eq!(violations("helpers/mod.rs", "").len(), 1);
}

#[test]
fn imports_downwards_and_mere_mentions_are_fine() {
    let source = r#"
        //! See [`crate::pipeline`].
        use crate::backend::{bases::G1Bases, Backend};
        use crate::{circuit::PoRep, error::{Fault, Result}, fail};
        use super::layout;
        pub(crate) fn f() -> &'static str { "crate::cli::run and create_proof" }
        mod tests { use super::*; use super::super::layout; use crate::report::Progress; }
    "#;
    assert_eq!(violations("srs/points.rs", source), [""; 0]);
    assert_eq!(violations("main.rs", "fn main() { cuzk::cli::main() }"), [""; 0]);
}

#[test]
fn reserved_names_are_found_outside_their_places() {
    let planted = [
        ("srs/mod.rs", "use std::{env, fs};"),
        ("gpu/devices.rs", "fn f() { std::env::var(\"X\"); }"),
        ("pipeline/mod.rs", "#[arg(long, env = \"X\")] x: u8"),
        ("backend/mod.rs", "use cust::memory::DeviceBuffer;"),
        ("backend/mod.rs", "use cust_raw::cuInit;"),
        ("c1/mod.rs", "use storage_proofs_porep::stacked::Tau;"),
        ("srs/mod.rs", "use storage_proofs_core::parameter_cache;"),
        ("groth16/prover.rs", "bellperson::groth16::create_proof_batch(x)"),
        ("cli/run.rs", "create_random_proof(x)"),
        ("pipeline/mod.rs", "filecoin_proofs::seal_commit_phase2(x)"),
        ("lanes/mod.rs", "std::arch::is_x86_feature_detected!(\"adx\")"),
    ];
    for (path, source) in planted {
        assert_eq!(violations(path, source).len(), 1, "{path}: {source}");
    }
    let allowed = [
        ("cli/environment.rs", "std::env::vars_os()"),
        ("gpu/driver.rs", "std::env::var_os(VARIABLE)"),
        ("srs/mod.rs", "const V: &str = env!(\"CARGO_PKG_VERSION\"); // std::env::var"),
        ("gpu/forward/device.rs", "use cust::sys::CUdevice;"),
        ("circuit/porep.rs", "use storage_proofs_porep::stacked::Tau;"),
        ("srs/catalogue.rs", "use storage_proofs_core::parameter_cache::PARAMETERS;"),
    ];
    for (path, source) in allowed {
        assert_eq!(violations(path, source), [""; 0], "{path}");
    }
}
