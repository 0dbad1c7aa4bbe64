//! build.rs as a program of its own: without nvcc, with one that fails, and with one that succeeds, all of them made here;
//! and the functions that it selects architectures and compilers with.

#[path = "../build/architectures.rs"]
mod architectures;
#[allow(dead_code)]
#[path = "../build/nvcc.rs"]
mod nvcc;
#[path = "../build/signatures.rs"]
mod signatures;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use architectures::{known, select, SUPPORTED};
use nvcc::{find, Found, Places};
use signatures::{launchers, signatures, Kind, Parameter, Signature};
use tempfile::TempDir;

/// The build script, compiled once.
fn script() -> &'static Path {
    static SCRIPT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = SCRIPT.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("build-script");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
        let output = Command::new(rustc).args(["--edition=2021", "-o"]).arg(&program).arg(source).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (folder, program)
    });
    program
}

/// A place to build in, with room for a compiler.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        fs::create_dir(place.path("out")).unwrap();
        fs::create_dir(place.path("bin")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A compiler that says it is version 1.2.3 and knows three architectures, and compiles by `compile`, lines of shell.
    fn nvcc(&self, compile: &str) -> PathBuf {
        let nvcc = self.path("bin/nvcc");
        let text = format!(
            "#!/bin/sh\ncase $1 in\n--list-gpu-arch) echo compute_80; echo compute_87; echo compute_90; echo compute_100;;\n\
             --version) echo 'Cuda compilation tools, release 1.2, V1.2.3';;\n*) {compile};;\nesac\n"
        );
        // Written under another name: a file that is still open for writing cannot be run.
        fs::write(self.path("bin/text"), text).unwrap();
        fs::set_permissions(self.path("bin/text"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(self.path("bin/text"), &nvcc).unwrap();
        nvcc
    }

    /// Runs the build script with these variables and no others that it reads.
    fn build(&self, variables: &[(&str, &OsStr)]) -> Output {
        let mut command = Command::new(script());
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("OUT_DIR", self.path("out"));
        for name in ["CUZK_NVCC", "CUDA_PATH", "CUZK_CUDA_ARCH"] {
            command.env_remove(name);
        }
        command.env("PATH", "/nonexistent").envs(variables.iter().copied()).output().unwrap()
    }

    fn written(&self, name: &str) -> String {
        fs::read_to_string(self.path("out").join(name)).unwrap()
    }
}

/// A compiler that writes its arguments to where the fatbin should be.
const COMPILES: &str = r#"for last; do :; done
previous=; for word; do [ "$previous" = -o ] && output=$word; previous=$word; done
/bin/cat "$last" >"$output"; for word; do echo "$word"; done >>"$output"; echo 'ptxas info: fine' >&2"#;

fn succeeded(output: Output) -> String {
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn failed(output: Output) -> String {
    assert!(!output.status.success(), "the build succeeded");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn without_nvcc_the_build_succeeds_and_says_where_it_looked() {
    let place = Place::new();
    let said = succeeded(place.build(&[("CUDA_PATH", "/opt/none".as_ref())]));
    let image = place.written("kernels.rs");
    assert!(image.contains("Err(") && image.contains("CUZK_NVCC is not set"), "{image}");
    assert!(image.contains("CUDA_PATH holds no /opt/none/bin/nvcc, and PATH has no nvcc"), "{image}");
    assert_eq!(place.written("kernels.log"), "");
    for line in ["rerun-if-changed=kernels", "rerun-if-env-changed=CUZK_NVCC", "rerun-if-env-changed=PATH"] {
        assert!(said.contains(&format!("cargo:{line}\n")), "{said}");
    }
    assert!(place.path("out/libcuda.a").exists());
}

#[test]
fn with_nvcc_all_kernels_are_compiled_for_the_default_and_the_newest_ptx() {
    let place = Place::new();
    place.nvcc(COMPILES);
    for variables in [("PATH", place.path("bin")), ("CUDA_PATH", place.path("")), ("CUZK_NVCC", place.path("bin/nvcc"))]
    {
        fs::remove_dir_all(place.path("out")).unwrap();
        fs::create_dir(place.path("out")).unwrap();
        succeeded(place.build(&[(variables.0, variables.1.as_os_str())]));
        let image = place.written("kernels.rs");
        assert!(image.contains("nvcc: \"1.2.3\""), "{image}");
        assert!(image.contains("machine_code: &[(8, 0), (9, 0)],") && image.contains("ptx: (9, 0),"), "{image}");
        let fatbin = place.written("kernels.fatbin");
        assert!(fatbin.contains("#include \"ff/arithmetic.cu\"\n"), "{fatbin}");
        let generated: Vec<&str> = fatbin.lines().filter(|line| line.starts_with("-gencode")).collect();
        let expected = [
            "-gencode=arch=compute_80,code=sm_80",
            "-gencode=arch=compute_90,code=sm_90",
            "-gencode=arch=compute_90,code=compute_90",
        ];
        assert_eq!(generated, expected);
        let log = place.written("kernels.log");
        assert!(log.starts_with("1.2.3 ") && log.ends_with("\nptxas info: fine\n"), "{log}");
    }
}

#[test]
fn architectures_are_chosen_by_the_variable() {
    let place = Place::new();
    let nvcc = place.nvcc(COMPILES);
    let build = |archs: &str| place.build(&[("CUZK_NVCC", nvcc.as_ref()), ("CUZK_CUDA_ARCH", archs.as_ref())]);
    succeeded(build("10.0"));
    assert!(place.written("kernels.rs").contains("machine_code: &[(10, 0)],"));
    succeeded(build("none"));
    assert!(place.written("kernels.rs").contains("Err(\"CUZK_CUDA_ARCH was none when it was built\")"));
    let message = failed(build("12.0"));
    assert!(message.contains("names 12.0, which this nvcc does not know; it knows 8.0, 9.0, 10.0"), "{message}");
}

#[test]
fn an_error_of_the_compiler_fails_the_build_with_its_message() {
    let place = Place::new();
    let nvcc = place.nvcc("echo 'kernels.cu(3): error: expected a \";\"' >&2; exit 2");
    let message = failed(place.build(&[("CUZK_NVCC", nvcc.as_ref())]));
    assert!(message.contains("bin/nvcc -fatbin ") && message.contains("failed (exit status: 2):\n"), "{message}");
    assert!(message.ends_with("kernels.cu(3): error: expected a \";\"\n\n"), "{message}");

    let nvcc = place.nvcc("exit 0");
    assert!(failed(place.build(&[("CUZK_NVCC", nvcc.as_ref())])).contains("made no "));
    fs::set_permissions(&nvcc, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(failed(place.build(&[("CUZK_NVCC", nvcc.as_ref())])).contains("cannot run "));
    let message = failed(place.build(&[("CUZK_NVCC", "/opt/none/nvcc".as_ref())]));
    assert!(message.contains("CUZK_NVCC names /opt/none/nvcc, which is no file: correct or unset it"), "{message}");
}

#[test]
fn the_compiler_named_wins_over_the_toolkits_and_that_over_the_paths() {
    let [named, toolkit, path] = [Place::new(), Place::new(), Place::new()];
    let [in_named, in_toolkit, in_path] = [&named, &toolkit, &path].map(|place| place.nvcc(""));
    let paths = std::env::join_paths([Path::new("relative"), Path::new("/nonexistent"), &path.path("bin")]).unwrap();
    let mut places =
        Places { nvcc: Some(in_named.clone().into()), toolkit: Some(toolkit.path("").into()), path: Some(paths) };
    assert_eq!(find(&places), Ok(Found::At(in_named)));
    places.nvcc = None;
    assert_eq!(find(&places), Ok(Found::At(in_toolkit)));
    places.toolkit = Some(OsString::from("/nonexistent"));
    assert_eq!(find(&places), Ok(Found::At(in_path)));
    assert!(matches!(find(&Places::default()), Ok(Found::Nowhere(reason)) if reason.contains("CUDA_PATH is not set")));
}

#[test]
fn versions_are_read_from_what_nvcc_prints() {
    let real =
        "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0\n";
    assert_eq!(nvcc::version(real), Some("13.0.88"));
    assert_eq!(nvcc::version("Very old"), None);
}

#[test]
fn what_nvcc_lists_is_held_against_what_cuzk_is_written_for() {
    assert_eq!(known("compute_75\ncompute_87\ncompute_120\ncompute_121\n"), [75, 120]);
    assert!(known("compute_10\ncompute_1200 sm_80").is_empty());
    let capabilities: Vec<_> = SUPPORTED.iter().map(|arch| ((arch / 10) as i32, (arch % 10) as i32)).collect();
    assert_eq!(capabilities, cuzk::gpu::SUPPORTED, "what src/gpu/image.rs says");
    assert_eq!(known(&SUPPORTED.iter().map(|arch| format!("compute_{arch}\n")).collect::<String>()), SUPPORTED);
}

#[test]
fn words_select_architectures() {
    let all = SUPPORTED;
    let selected = |wanted: &str, known: &[u32]| {
        select(wanted, known).map(|some| some.map(|archs| (archs.machine_code().to_vec(), archs.ptx())))
    };
    assert_eq!(selected("", all), Ok(Some((vec![80, 90], 90))));
    assert_eq!(selected("", &[75, 80, 86]), Ok(Some((vec![80], 80))));
    assert_eq!(selected("", &[100, 120]), Ok(Some((vec![120], 120))), "none of the default is known: the newest");
    assert_eq!(selected("all", &[75, 80]), Ok(Some((vec![75, 80], 80))));
    let arguments = select("8.6", all).unwrap().unwrap().arguments();
    assert_eq!(arguments, ["-gencode=arch=compute_86,code=sm_86", "-gencode=arch=compute_86,code=compute_86"]);
    assert_eq!(selected("none", all), Ok(None));
    assert_eq!(selected(" 12.0, 75 ,12.0", all), Ok(Some((vec![75, 120], 120))));
    assert!(selected("", &[]).unwrap_err().contains("it knows none of the architectures 7.5, 8.0"));
    for wrong in ["8.7", "sm_80", "8.0,", "ALL", "0", "-80", "8.00", "80 90"] {
        let message = selected(wrong, all).unwrap_err();
        assert!(message.contains("expected all, none, or a list of 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0"), "{message}");
    }
    assert!(selected("8.6", &[80, 90]).unwrap_err().ends_with("which this nvcc does not know; it knows 8.0, 9.0"));
}

#[test]
fn signatures_are_read_as_they_stand() {
    let source = "
        // extern \"C\" __global__ void commented(int x) {}
        template <class T> __device__ void body(T* x);
        extern \"C\" __global__ void scale(Fr* data, /* how many */ uint64_t count) { body(data); }
        KERNEL(scale)
        extern \"C\" __global__ void
        __launch_bounds__(256) merge(const uint32_t *__restrict__ a,
                                     const G1Affine* b, int32_t shift) {}
        extern \"C\" __global__ void nothing() {}";
    let parameter = |name: &str, kind| Parameter { name: name.into(), kind };
    let expected = [
        Signature {
            name: "scale".into(),
            parameters: vec![parameter("data", Kind::Written("Fr".into())), parameter("count", Kind::Value("u64"))],
        },
        Signature {
            name: "merge".into(),
            parameters: vec![
                parameter("a", Kind::Read("uint32_t".into())),
                parameter("b", Kind::Read("G1Affine".into())),
                parameter("shift", Kind::Value("i32")),
            ],
        },
        Signature { name: "nothing".into(), parameters: vec![] },
    ];
    assert_eq!(signatures(source).unwrap(), expected);
    let launchers = launchers(&expected);
    for part in [
        "\"scale\",",
        "pub fn merge<T0: Plain, T1: Plain, >(",
        "r#a: View<'_, T0>",
        "r#shift: i32",
        "pub fn nothing<>(",
    ] {
        assert!(launchers.contains(part), "{part}: {launchers}");
    }
}

#[test]
fn a_signature_that_cannot_be_read_is_an_error() {
    for (source, words) in [
        ("__global__ void f() {}", "without extern \"C\""),
        ("extern \"C\" __global__ void f##g(Fr* a) {}", "must stand literally"),
        ("extern \"C\" __global__ int f(Fr* a) {}", "must stand literally"),
        ("extern \"C\" __global__ void f(Fr a) {}", "f: parameter \"Fr a\": expected"),
        ("extern \"C\" __global__ void f(Fr& a) {}", "f: parameter \"Fr& a\""),
        ("extern \"C\" __global__ void f(Fr** a) {}", "f: parameter \"Fr** a\""),
        ("extern \"C\" __global__ void f(bool a) {}", "f: parameter \"bool a\""),
        ("extern \"C\" __global__ void f(Fr* a", "must stand literally"),
    ] {
        let e = signatures(source).unwrap_err();
        assert!(e.contains(words), "{source}: {e}");
    }
}
