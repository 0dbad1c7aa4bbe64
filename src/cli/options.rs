//! The flags as meant: defaults resolved against the environment, contradictions refused.

use std::path::{Path, PathBuf};

use clap_complete::Shell;

use super::args::{self, Args, Command, DataArg, FolderArgs, ParamsCommand, SectorArgs};
use super::values::{self, DeviceName, SectorSize};
use super::Environment;
use crate::batch::{Settings, Shard};
use crate::bench::{Plan, NAMES};
use crate::c1::{Format, ReadOptions, SampleData, SampleOptions};
use crate::circuit::proof_type::default_proof;
use crate::circuit::SealProof;
use crate::error::{Error, Fault, Result};
use crate::fail;
use crate::files::is_descriptor;
use crate::pipeline::parameters::Source;
use crate::pipeline::proof_file::ProofFormat;
use crate::processor::Wanted;
use crate::srs::generate::refuse_official;
use crate::srs::Lookup;

/// Where filecoin-proofs looks when nothing else is said.
const OFFICIAL_FOLDER: &str = "/var/tmp/filecoin-proof-parameters";

/// Everything one run needs to know.
#[derive(Debug)]
pub struct Options {
    pub threads: Option<u16>,
    pub arithmetic: Wanted,
    pub task: Task,
}

/// One validated subcommand.
#[derive(Debug)]
pub enum Task {
    Prove(Prove),
    Batch(Box<Batch>),
    Report { folder: PathBuf, json: bool },
    Verify(Verify),
    Inspect(Inspect),
    Sample(Sample),
    Constraints(Constraints),
    ParamsList { parameters: Source, json: bool },
    ParamsCheck { parameters: Source, proof: Option<SealProof>, full: bool },
    ParamsGenerate { parameters: Source, proof: SealProof },
    ParamsPrepare { parameters: Source, proof: SealProof, output: Option<PathBuf> },
    Devices { json: bool },
    SelfTest { devices: Tested, json: bool },
    Synth(Synth),
    Partition(Partition),
    Completions(Shell),
    Man(Vec<String>),
}

#[derive(Debug)]
pub struct Prove {
    pub input: Input,
    pub work: Work,
    pub read: ReadOptions,
    pub parameters: Source,
    pub check_c1: bool,
    pub check_witness: bool,
    pub destination: Destination,
    pub format: ProofFormat,
    pub timings: TimingsFormat,
}

/// Which CUDA devices are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// All that can run the kernels.
    All,
    /// The first of them.
    First,
    /// That of the driver's number.
    Number(u32),
}

/// What the work is done with.
#[derive(Clone, Debug)]
pub struct Work {
    /// None: what is available.
    pub memory: Option<u64>,
    pub in_flight: Option<usize>,
    pub device: DeviceName,
}

/// A batch, and what is to be written about it.
#[derive(Debug)]
pub struct Batch {
    pub settings: Settings,
    pub work: Work,
    pub report: Option<PathBuf>,
    pub trace: Option<PathBuf>,
    pub timeline: Option<PathBuf>,
    pub metrics: Option<PathBuf>,
}

#[derive(Debug)]
pub struct Verify {
    pub proof: Input,
    pub c1: Input,
    pub read: ReadOptions,
    pub parameters: Source,
}

#[derive(Debug)]
pub struct Inspect {
    pub input: Input,
    pub read: ReadOptions,
    pub parameters: Source,
    pub json: bool,
}

#[derive(Debug)]
pub struct Sample {
    pub proof: SealProof,
    pub sample: SampleOptions,
    pub sealed: bool,
    pub format: Format,
    pub destination: Destination,
}

#[derive(Debug)]
pub struct Constraints {
    pub circuit: CircuitOf,
    /// Folder for cache files; `None` where there is none.
    pub cache: Option<PathBuf>,
    pub json: bool,
}

/// Which circuit.
#[derive(Debug)]
pub enum CircuitOf {
    C1File { input: Input, read: ReadOptions },
    Proof(SealProof),
}

/// Synthesis, measured.
#[derive(Debug)]
pub struct Synth {
    pub input: Input,
    pub read: ReadOptions,
    pub what: SynthPlan,
    pub json: bool,
    pub plot: Option<PathBuf>,
    /// Whether a file of the plot's name is replaced.
    pub replace: bool,
}

/// What of synthesis is measured.
#[derive(Debug)]
pub enum SynthPlan {
    Strategies(Plan),
    Containers { runs: usize },
}

/// A partition's device work, measured.
#[derive(Debug)]
pub struct Partition {
    /// Whose first partition it is: of the C1 file, or of one that is fabricated.
    pub circuit: CircuitOf,
    /// None: what is available.
    pub memory: Option<u64>,
    pub device: DeviceName,
    /// As in [`Constraints`].
    pub cache: Option<PathBuf>,
    pub json: bool,
}

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Stdin,
    File(PathBuf),
}

/// Where the result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    Stdout,
    File { path: PathBuf, replace: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingsFormat {
    Table,
    Json,
    None,
}

impl Task {
    /// Whether it is of no use without standard output.
    pub fn answers_on_stdout(&self) -> bool {
        match self {
            Self::Prove(prove) => prove.destination == Destination::Stdout || prove.timings == TimingsFormat::Json,
            Self::Sample(sample) => sample.destination == Destination::Stdout,
            // Files, or the exit code, are what they are for.
            Self::Batch(_) | Self::Verify(_) | Self::ParamsGenerate { .. } | Self::ParamsPrepare { .. } => false,
            Self::Report { .. }
            | Self::Inspect(_)
            | Self::Constraints(_)
            | Self::Synth(_)
            | Self::Partition(_)
            | Self::ParamsList { .. }
            | Self::ParamsCheck { .. }
            | Self::Devices { .. }
            | Self::SelfTest { .. }
            | Self::Completions(_)
            | Self::Man(_) => true,
        }
    }
}

impl Options {
    /// Resolves the flags.
    ///
    /// # Errors
    /// `Usage`: flags that contradict each other, or a default that the environment does not allow.
    pub fn new(args: Args, environment: &Environment) -> Result<Self> {
        let task = match args.command {
            Command::Prove(args) => Task::Prove(prove(args, environment)?),
            Command::Batch(args) => Task::Batch(Box::new(batch(*args, environment)?)),
            Command::Report(args) => Task::Report { folder: args.folder, json: args.json },
            Command::Verify(args) => Task::Verify(verify(args, environment)?),
            Command::Inspect(args) => Task::Inspect(Inspect {
                input: input(args.file),
                read: read_options(&args.sector),
                parameters: parameters(args.folder, false, environment)?,
                json: args.json,
            }),
            Command::Sample(args) => Task::Sample(sample(args)?),
            Command::Constraints(args) => Task::Constraints(constraints(args, environment)?),
            Command::Params(ParamsCommand::List { folder, json }) => {
                Task::ParamsList { parameters: parameters(folder, false, environment)?, json }
            }
            Command::Params(ParamsCommand::Check { sector_size, folder, full }) => Task::ParamsCheck {
                parameters: parameters(folder, true, environment)?,
                proof: sector_size.map(|size| default_proof(size.bytes())).transpose()?,
                full,
            },
            Command::Params(ParamsCommand::Generate { sector_size, params }) => {
                let folder = FolderArgs { params, dev_params: true };
                let parameters = to_generate(parameters(folder, false, environment)?, environment)?;
                Task::ParamsGenerate { parameters, proof: default_proof(sector_size.bytes())? }
            }
            Command::Params(ParamsCommand::Prepare { sector_size, folder, output }) => {
                refuse_dash("output", output.as_deref(), "the name of the file")?;
                let args = args::ParameterArgs { folder, recheck: false };
                let (parameters, proof) = (to_prove_with(args, environment)?, default_proof(sector_size.bytes())?);
                Task::ParamsPrepare { parameters, proof, output }
            }
            Command::Devices(args) if args.self_test => {
                Task::SelfTest { devices: tested(args.device), json: args.json }
            }
            Command::Devices(args) => Task::Devices { json: args.json },
            Command::Bench(args::BenchCommand::Synth(args)) => Task::Synth(synth(args, environment)?),
            Command::Bench(args::BenchCommand::Partition(args)) => Task::Partition(partition(args, environment)?),
            Command::Completions { shell } => Task::Completions(shell),
            Command::Man { command } => Task::Man(command),
        };
        Ok(Self { threads: args.threads, arithmetic: arithmetic(environment)?, task })
    }
}

fn arithmetic(environment: &Environment) -> Result<Wanted> {
    let Some(text) = &environment.cpu else { return Ok(Wanted::Auto) };
    values::arithmetic(text).map_err(|expected| Error::new(Fault::Usage, format!("CUZK_CPU={text}: {expected}")))
}

fn tested(device: Option<DeviceName>) -> Tested {
    match device {
        Some(DeviceName::Cuda(Some(number))) => Tested::Number(number),
        Some(_) => Tested::First,
        None => Tested::All,
    }
}

fn prove(args: args::ProveArgs, environment: &Environment) -> Result<Prove> {
    let input = input(args.file);
    let format = proof_format(args.format);
    let destination = match (args.output, &input) {
        (Some(path), _) => destination(path, args.force),
        (None, Input::Stdin) => Destination::Stdout,
        (None, Input::File(file)) if !has_own_name(file) => Destination::Stdout,
        (None, Input::File(file)) => destination(format.path_beside(file), args.force),
    };
    if let (Input::File(file), Destination::File { path, .. }) = (&input, &destination) {
        if same_file(file, path) {
            fail!(Fault::Usage, "{}: the proof would replace the C1 file; choose another --output", path.display());
        }
    }
    let parameters = to_prove_with(args.parameters, environment)?;
    let parameters = Source { cache: cache_folder(args.cache, environment), ..parameters };
    Ok(Prove {
        input,
        work: work(args.work, parameters.development)?,
        read: read_options(&args.sector),
        parameters,
        check_c1: !args.no_check_c1,
        check_witness: args.check_witness,
        destination,
        format,
        timings: match args.timings {
            args::TimingsArg::Table => TimingsFormat::Table,
            args::TimingsArg::Json => TimingsFormat::Json,
            args::TimingsArg::None => TimingsFormat::None,
        },
    })
}

fn proof_format(format: args::ProofFormatArg) -> ProofFormat {
    match format {
        args::ProofFormatArg::Json => ProofFormat::Json,
        args::ProofFormatArg::Hex => ProofFormat::Hex,
        args::ProofFormatArg::Raw => ProofFormat::Raw,
        args::ProofFormatArg::Base64 => ProofFormat::Base64,
    }
}

fn work(args: args::WorkArgs, development: bool) -> Result<Work> {
    if matches!(args.device, DeviceName::Simulator(_)) && !development {
        fail!(
            Fault::Usage,
            "--device simulator knows no secrets but those of development parameters: add --dev-params"
        );
    }
    let in_flight = args.partitions_in_flight.map(usize::from);
    Ok(Work { memory: args.memory, in_flight, device: args.device })
}

fn batch(args: args::BatchArgs, environment: &Environment) -> Result<Batch> {
    let shard = match &args.shard {
        Some(text) => Shard::parse(text, &environment.shard)?,
        None => Shard::from_slurm(&environment.shard)?.unwrap_or(Shard::WHOLE),
    };
    let files =
        [("report", &args.report), ("trace", &args.trace), ("timeline", &args.timeline), ("metrics", &args.metrics)];
    for (flag, path) in files.into_iter().chain([("output", &Some(args.output.clone()))]) {
        refuse_dash(flag, path.as_deref(), "the names of the proofs")?;
    }
    let parameters = to_prove_with(args.parameters, environment)?;
    let parameters = Source { cache: cache_folder(args.cache, environment), ..parameters };
    Ok(Batch {
        work: work(args.work, parameters.development)?,
        settings: Settings {
            input: args.folder,
            out: args.output,
            format: proof_format(args.format),
            shard,
            wait: args.wait,
            fail_fast: args.fail_fast,
            retry: args.retry,
            deadline: args.deadline,
            check_c1: !args.no_check_c1,
            check_witness: args.check_witness,
            read: ReadOptions { proof: args.registered_proof, ..ReadOptions::default() },
            parameters,
        },
        report: args.report,
        trace: args.trace,
        timeline: args.timeline,
        metrics: args.metrics,
    })
}

/// Refuses `-` where no standard stream can be meant: standard output has something else.
fn refuse_dash(flag: &str, path: Option<&Path>, there: &str) -> Result<()> {
    if path == Some(Path::new("-")) {
        fail!(Fault::Usage, "--{flag} -: standard output has {there}; name a file, ./- for one called so");
    }
    Ok(())
}

fn verify(args: args::VerifyArgs, environment: &Environment) -> Result<Verify> {
    let (proof, c1) = (input(args.proof), input(args.c1));
    if proof == Input::Stdin && c1 == Input::Stdin {
        fail!(Fault::Usage, "standard input can be the proof or the C1 file, not both");
    }
    let parameters = parameters(args.folder, false, environment)?;
    Ok(Verify { proof, c1, read: read_options(&args.sector), parameters })
}

fn sample(args: args::SampleArgs) -> Result<Sample> {
    let proof = match (args.registered_proof, args.sector_size) {
        (Some(proof), Some(size)) if u64::from(proof.sector_size()) != size.bytes() => {
            fail!(Fault::Usage, "--registered-proof {proof:?} and --sector-size contradict each other")
        }
        (Some(proof), _) => proof,
        (None, Some(size)) => default_proof(size.bytes())?,
        (None, None) => fail!(Fault::Usage, "--sector-size or --registered-proof is needed"),
    };
    let defaults = SampleOptions::default();
    Ok(Sample {
        proof,
        sample: SampleOptions {
            miner: args.miner.unwrap_or(defaults.miner),
            sector: args.sector.unwrap_or(defaults.sector),
            seed: args.seed.unwrap_or(defaults.seed),
            data: match args.data {
                DataArg::Zero => SampleData::Zero,
                DataArg::Random => SampleData::Random,
            },
        },
        sealed: args.sealed,
        format: match args.format {
            args::C1FormatArg::Json => Format::Json,
            args::C1FormatArg::Wrapper => Format::Wrapper,
            args::C1FormatArg::ProofShare => Format::ProofShare,
            args::C1FormatArg::Bincode => Format::Bincode,
        },
        destination: destination(args.output, args.force),
    })
}

fn constraints(args: args::ConstraintsArgs, environment: &Environment) -> Result<Constraints> {
    let circuit = circuit_of(args.file, args.sector_size, args.registered_proof)?;
    Ok(Constraints { circuit, cache: cache_folder(args.cache, environment), json: args.json })
}

fn partition(args: args::PartitionArgs, environment: &Environment) -> Result<Partition> {
    let circuit = circuit_of(args.file, args.sector_size, args.registered_proof)?;
    let cache = cache_folder(args.cache, environment);
    Ok(Partition { circuit, memory: args.memory, device: args.device, cache, json: args.json })
}

fn circuit_of(file: Option<PathBuf>, size: Option<SectorSize>, proof: Option<SealProof>) -> Result<CircuitOf> {
    match (file, size) {
        (Some(file), _) => {
            let read = ReadOptions { proof, ..ReadOptions::default() };
            Ok(CircuitOf::C1File { input: input(file), read })
        }
        (None, Some(_)) if proof.is_some() => {
            fail!(Fault::Usage, "--registered-proof goes with a C1 file; --sector-size alone says which circuit")
        }
        (None, Some(size)) => Ok(CircuitOf::Proof(default_proof(size.bytes())?)),
        (None, None) => fail!(Fault::Usage, "a C1 file or --sector-size is needed"),
    }
}

/// Where circuits' constraints are kept: the flag, CUZK_CACHE, the user's cache folder; `None` where there is no home folder.
fn cache_folder(args: args::CacheArgs, environment: &Environment) -> Option<PathBuf> {
    let users = || environment.cache_home.as_ref().map(|home| home.join("cuzk"));
    args.cache.or_else(|| environment.cache.clone()).or_else(users)
}

fn synth(args: args::SynthArgs, environment: &Environment) -> Result<Synth> {
    let input = input(args.file);
    refuse_dash("plot", args.plot.as_deref(), "the figures")?;
    if let (Input::File(file), Some(plot)) = (&input, &args.plot) {
        if same_file(file, plot) {
            fail!(Fault::Usage, "{}: the plot would replace the C1 file; choose another --plot", plot.display());
        }
    }
    let runs = usize::from(args.runs);
    let what = if args.containers {
        SynthPlan::Containers { runs }
    } else {
        SynthPlan::Strategies(Plan {
            partitions: args.partitions.into(),
            runs,
            cost: !args.time_only,
            names: NAMES.into_iter().filter(|name| args.strategy.iter().any(|wanted| wanted == name)).collect(),
            cache: cache_folder(args.cache, environment),
        })
    };
    let read = ReadOptions { proof: args.registered_proof, ..ReadOptions::default() };
    Ok(Synth { input, read, what, json: args.json, plot: args.plot, replace: args.force })
}

fn input(path: PathBuf) -> Input {
    if path == Path::new("-") {
        Input::Stdin
    } else {
        Input::File(path)
    }
}

fn destination(path: PathBuf, replace: bool) -> Destination {
    if path == Path::new("-") {
        Destination::Stdout
    } else {
        Destination::File { path, replace }
    }
}

fn read_options(sector: &SectorArgs) -> ReadOptions {
    ReadOptions { proof: sector.registered_proof, miner: sector.miner, sector: sector.sector }
}

fn parameters(args: FolderArgs, recheck: bool, environment: &Environment) -> Result<Source> {
    let (folder, folder_source) = match (args.params, args.dev_params, &environment.parameter_cache) {
        (Some(folder), ..) => (folder, "--params"),
        (None, true, _) => (development_folder(environment)?, "the default folder of development parameters"),
        (None, false, Some(folder)) => (folder.clone(), "FIL_PROOFS_PARAMETER_CACHE"),
        (None, false, None) => (PathBuf::from(OFFICIAL_FOLDER), "the default folder"),
    };
    let lookup = Lookup { folder, folder_source: folder_source.into(), recheck };
    let verdicts = environment.cache_home.as_ref().map(|home| home.join("cuzk/parameter-digests.json"));
    Ok(Source { lookup, development: args.dev_params, verdicts, cache: None })
}

/// Parameters that are generated on first use, in the folder of their own or in one that is there: a mistyped name makes no
/// folder of a gigabyte.
fn to_prove_with(args: args::ParameterArgs, environment: &Environment) -> Result<Source> {
    let named = args.folder.params.is_some();
    let source = to_generate(parameters(args.folder, args.recheck, environment)?, environment)?;
    let folder = &source.lookup.folder;
    if source.development && named && !folder.exists() {
        fail!(
            Fault::Parameters,
            "{} (--params): no such folder; make it, to have development parameters generated there, or leave out --params",
            folder.display()
        );
    }
    Ok(source)
}

/// Refuses to let development parameters be made where official ones are kept.
fn to_generate(source: Source, environment: &Environment) -> Result<Source> {
    if source.development {
        let official: Vec<_> =
            [OFFICIAL_FOLDER.into()].into_iter().chain(environment.parameter_cache.clone()).collect();
        refuse_official(&source.lookup.folder, &official)?;
    }
    Ok(source)
}

fn development_folder(environment: &Environment) -> Result<PathBuf> {
    let home = environment.data_home.as_ref().ok_or_else(|| {
        Error::new(
            Fault::Usage,
            "neither XDG_DATA_HOME nor HOME is set: name the folder of parameters with --params DIR",
        )
    })?;
    Ok(home.join("cuzk/development-parameters"))
}

/// Whether a result can lie beside this input under its name: not so what a shell hands over (`/dev/stdin`, `<(...)`), and no
/// pipe or device. What is not there is left to whoever reads it.
fn has_own_name(path: &Path) -> bool {
    !is_descriptor(path) && std::fs::metadata(path).map_or(true, |found| found.is_file())
}

/// Whether two paths lead to one existing file.
fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn task(line: &str, environment: &Environment) -> Result<Task> {
        let args = Args::try_parse_from(line.split(' ')).unwrap_or_else(|e| panic!("{line}: {e}"));
        Options::new(args, environment).map(|options| options.task)
    }

    fn prove(line: &str, environment: &Environment) -> Prove {
        match task(line, environment) {
            Ok(Task::Prove(prove)) => prove,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn home() -> Environment {
        Environment { data_home: Some("/home".into()), ..Environment::default() }
    }

    #[test]
    fn parameters_come_from_the_flag_then_the_variable_then_the_default() {
        let cache = Environment { parameter_cache: Some("/cache".into()), ..home() };
        let folder = |line: &str, environment: &Environment| {
            let lookup = prove(line, environment).parameters.lookup;
            (lookup.folder.display().to_string(), lookup.folder_source)
        };
        let of = |folder: &str, source: &str| (folder.to_owned(), source.to_owned());
        assert_eq!(folder("cuzk prove x --params /p", &cache), of("/p", "--params"));
        assert_eq!(folder("cuzk prove x", &cache), of("/cache", "FIL_PROOFS_PARAMETER_CACHE"));
        assert_eq!(folder("cuzk prove x", &home()), of(OFFICIAL_FOLDER, "the default folder"));
        // Development parameters never go where official ones are kept.
        let own = of("/home/cuzk/development-parameters", "the default folder of development parameters");
        assert_eq!(folder("cuzk prove x --dev-params", &cache), own);
        assert_eq!(task("cuzk prove x --dev-params", &Environment::default()).unwrap_err().fault(), Fault::Usage);
    }

    #[test]
    fn the_proof_goes_beside_the_file_and_to_standard_output_for_standard_input() {
        let to = |line: &str| prove(line, &home()).destination;
        let file = |path: &str, replace| Destination::File { path: path.into(), replace };
        assert_eq!(to("cuzk prove a/x.json"), file("a/x.proof.json", false));
        assert_eq!(to("cuzk prove a/x.json --format hex --force"), file("a/x.proof.hex", true));
        assert_eq!(to("cuzk prove a/x.json -o y"), file("y", false));
        assert_eq!(to("cuzk prove a/x.json -o -"), Destination::Stdout);
        for file in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/null"] {
            assert_eq!(to(&format!("cuzk prove {file}")), Destination::Stdout, "{file}");
            assert_eq!(
                to(&format!("cuzk prove {file} -o z")),
                Destination::File { path: "z".into(), replace: false },
                "{file}"
            );
        }
        assert_eq!(to("cuzk prove - -o y"), file("y", false));
    }

    #[test]
    fn development_parameters_are_not_made_where_official_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let official = folder.path().join("official");
        let cache = Environment { parameter_cache: Some(official.clone()), ..home() };
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        // Missing, then empty; by other ways too.
        for there in [false, true] {
            let name = folder.path().display();
            for path in ["official", "official/", "link/official", "x/../official"] {
                for line in ["cuzk prove x --dev-params", "cuzk params generate --sector-size 2KiB"] {
                    let line = format!("{line} --params {name}/{path}");
                    assert_eq!(task(&line, &cache).unwrap_err().fault(), Fault::Usage, "{line}, there: {there}");
                    // Another environment keeps none there; but what is made on first use is made in folders that are there.
                    let may = line.contains("generate") || folder.path().join(path).exists();
                    assert_eq!(task(&line, &home()).is_ok(), may, "{line}, there: {there}");
                }
            }
            // What generates nothing may look there.
            task(&format!("cuzk verify p --c1 x --dev-params --params {name}/official"), &cache).unwrap();
            task(&format!("cuzk prove x --params {name}/official"), &cache).unwrap();
            if !there {
                std::fs::create_dir(&official).unwrap();
            }
        }
        let line = format!("cuzk prove x --dev-params --params {OFFICIAL_FOLDER}");
        assert_eq!(task(&line, &home()).unwrap_err().fault(), Fault::Usage);
        // A folder that is marked already was meant for them.
        std::fs::write(official.join(crate::srs::development::MARKER), "").unwrap();
        prove(&format!("cuzk prove x --dev-params --params {}", official.display()), &cache);
    }

    #[test]
    fn the_cache_folder_is_the_flag_then_the_variable_then_the_users() {
        let folder = |line: &str, environment: &Environment| match task(line, environment).unwrap() {
            Task::Constraints(options) => options.cache,
            other => panic!("{other:?}"),
        };
        let line = "cuzk constraints --sector-size 2KiB";
        let users = Environment { cache_home: Some("/c".into()), ..Environment::default() };
        let named = Environment { cache: Some("/n".into()), ..users.clone() };
        assert_eq!(folder(line, &Environment::default()), None);
        assert_eq!(folder(line, &users), Some("/c/cuzk".into()));
        assert_eq!(folder(line, &named), Some("/n".into()));
        assert_eq!(folder(&format!("{line} --cache f"), &named), Some("f".into()));
    }

    #[test]
    fn contradictions_are_usage_errors() {
        for line in [
            "cuzk constraints",
            "cuzk constraints --sector-size 2KiB --registered-proof StackedDrg2KiBV1_1",
            "cuzk bench partition",
            "cuzk bench partition --sector-size 2KiB --registered-proof StackedDrg2KiBV1_1",
            "cuzk verify - --c1 -",
            "cuzk sample -o x --sector-size 2KiB --registered-proof StackedDrg8MiBV1_1",
            "cuzk prove Cargo.toml -o ./Cargo.toml --force",
        ] {
            assert_eq!(task(line, &home()).unwrap_err().fault(), Fault::Usage, "{line}");
        }
    }
}
