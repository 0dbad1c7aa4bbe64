//! Compiles kernels/ to one fatbin, and writes what the crate includes: the image, or why there is none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, io};

use crate::architectures::{self, Architectures};
use crate::nvcc::{self, Found, Places};
use crate::signatures::{self, Signature};

/// A folder of kernels/ that is no kernel's: it stands in for the device.
const NOT_COMPILED: &str = "emulator";

/// Variables that nvcc itself reads.
const NVCC_READS: &[&str] = &["NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];

/// Writes to `out`: `kernels.rs`, which defines `IMAGE` for src/gpu/image.rs; `launchers.rs`, for src/gpu/kernels.rs; and, with nvcc, `kernels.fatbin`
/// and `kernels.log`: the compiler's version, the seconds it took, its path, and on further lines what `ptxas -v` said.
pub fn build(folder: &Path, out: &Path) -> Result<(), String> {
    rerun_if_changed(folder);
    write(&out.join("launchers.rs"), &signatures::launchers(&all_signatures(folder)?))?;
    let image = match nvcc::find(&Places::of_environment())? {
        Found::Nowhere(reason) => Err(format!("no nvcc when it was built: {reason}")),
        Found::At(nvcc) => {
            println!("cargo:rerun-if-changed={}", nvcc.display());
            compile(&nvcc, folder, out)?
        }
    };
    let text = match image {
        Ok(image) => image,
        Err(reason) => {
            write(&out.join("kernels.log"), "")?;
            format!("static IMAGE: Result<Image, &str> = Err({reason:?});\n")
        }
    };
    write(&out.join("kernels.rs"), &text)
}

/// Those of all kernels, in the sources' order.
fn all_signatures(folder: &Path) -> Result<Vec<Signature>, String> {
    let mut all: Vec<Signature> = Vec::new();
    for file in list(folder)? {
        let path = folder.join(&file);
        let text = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let found = signatures::signatures(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        if let Some(twice) = found.iter().find(|new| all.iter().any(|old| old.name == new.name)) {
            return Err(format!("{}: there is another kernel {}", path.display(), twice.name));
        }
        all.extend(found);
    }
    Ok(all)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    sources(folder).map_err(|e| format!("cannot list {}: {e}", folder.display()))
}

fn rerun_if_changed(folder: &Path) {
    println!("cargo:rerun-if-changed={}", folder.display());
    let variables = [nvcc::VARIABLE, nvcc::TOOLKIT, "PATH", architectures::VARIABLE];
    for variable in variables.iter().chain(NVCC_READS) {
        println!("cargo:rerun-if-env-changed={variable}");
    }
}

/// The text that defines the image, or why none was asked for.
fn compile(nvcc: &Path, folder: &Path, out: &Path) -> Result<Result<String, String>, String> {
    let known = architectures::known(&nvcc::run(nvcc, &["--list-gpu-arch".into()])?.0);
    let wanted = env::var(architectures::VARIABLE).unwrap_or_default();
    let selected = architectures::select(&wanted, &known).map_err(|e| format!("{}: {e}", nvcc.display()))?;
    let Some(selected) = selected else {
        return Ok(Err(format!("{} was none when it was built", architectures::VARIABLE)));
    };
    let printed = nvcc::run(nvcc, &["--version".into()])?.0;
    let version = nvcc::version(&printed)
        .ok_or_else(|| format!("{} --version names no version as in V13.0.88, but: {printed}", nvcc.display()))?;

    let unit = out.join("kernels.cu");
    write(&unit, &list(folder)?.iter().map(|file| format!("#include \"{}\"\n", file.display())).collect::<String>())?;
    let fatbin = out.join("kernels.fatbin");
    let start = Instant::now();
    let (stdout, stderr) = nvcc::run(nvcc, &arguments(&selected, folder, &unit, &fatbin))?;
    let seconds = start.elapsed().as_secs_f64();
    fs::metadata(&fatbin).map_err(|e| format!("{} made no {}: {e}", nvcc.display(), fatbin.display()))?;
    write(&out.join("kernels.log"), &format!("{version} {seconds:.1} {}\n{stdout}{stderr}", nvcc.display()))?;
    Ok(Ok(definition(version, &selected)))
}

fn arguments(selected: &Architectures, folder: &Path, unit: &Path, fatbin: &Path) -> Vec<OsString> {
    // One thread for each architecture, as far as there are processors. -v is for kernels.log.
    let fixed = ["-fatbin", "-std=c++17", "-O3", "--threads=0", "-Xptxas=-v"];
    let mut arguments: Vec<OsString> = fixed.iter().map(OsString::from).collect();
    arguments.extend(selected.arguments().into_iter().map(OsString::from));
    arguments.extend(["-I".into(), folder.into(), "-o".into(), fatbin.into(), unit.into()]);
    arguments
}

/// The kernels' source files, relative to `folder`, sorted: the order decides what the fatbin's bytes are.
fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() && path != folder.join(NOT_COMPILED) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cu") {
                found.push(path.strip_prefix(folder).map_err(io::Error::other)?.to_owned());
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn definition(version: &str, selected: &Architectures) -> String {
    let capability = |arch: &u32| format!("({}, {})", arch / 10, arch % 10);
    let machine_code = selected.machine_code().iter().map(capability).collect::<Vec<_>>().join(", ");
    let ptx = capability(&selected.ptx());
    format!(
        "static IMAGE: Result<Image, &str> = Ok(Image {{
    nvcc: {version:?},
    machine_code: &[{machine_code}],
    ptx: {ptx},
    fatbin: &Aligned(*include_bytes!(concat!(env!(\"OUT_DIR\"), \"/kernels.fatbin\"))),
}});
"
    )
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))
}
