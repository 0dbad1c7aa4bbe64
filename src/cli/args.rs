//! The flags as typed. What they mean together is decided in [`super::options`].

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{value_parser, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::values::{self, SectorSize};
use crate::bench;
use crate::c1;
use crate::circuit::SealProof;
use crate::error::Fault;

/// More threads than any machine has cores.
const MAX_THREADS: i64 = 4096;

/// What every command takes comes last in its help.
const GLOBAL: &str = "Global options";

/// Proves Filecoin PoRep C2: one C1 file in, one verified Groth16 proof out.
#[derive(Debug, Parser)]
#[command(name = "cuzk", version, after_help = after_help(), arg_required_else_help = true)]
pub struct Args {
    /// Worker threads [default: one per CPU core]
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "N",
        value_parser = value_parser!(u16).range(1..=MAX_THREADS)
    )]
    pub threads: Option<u16>,
    /// No notes, bars or tables on standard error; warnings and errors stay
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prove a C1 file: every partition, verified, in one proof file
    #[command(after_help = after_help())]
    Prove(ProveArgs),
    /// Prove every C1 file under a folder; a second run does what is left
    #[command(after_help = after_help())]
    Batch(Box<BatchArgs>),
    /// Report on batches from the journals in their output folder, all shards together
    Report(ReportArgs),
    /// Verify a proof against the C1 file it was made from
    #[command(after_help = after_help())]
    Verify(VerifyArgs),
    /// Say what a C1 file holds and which parameter files it needs
    Inspect(InspectArgs),
    /// Fabricate a C1 file that satisfies the circuit: a test vector, no proof of storage
    Sample(SampleArgs),
    /// Say what a circuit's constraints consist of; take them from the circuit where they are not cached yet
    Constraints(ConstraintsArgs),
    /// List, check, generate or prepare parameter files
    #[command(subcommand)]
    Params(ParamsCommand),
    /// List the devices that can prove
    Devices(DevicesArgs),
    /// Measure parts of the work alone
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Print a completion script
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
    /// Print a manual page
    Man {
        /// The subcommand's page instead of the main one, e.g. `params list`
        command: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct ProveArgs {
    /// C1 file, or `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub parameters: ParameterArgs,
    #[command(flatten)]
    pub sector: SectorArgs,
    #[command(flatten)]
    pub work: WorkArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Skip filecoin's own verification of the vanilla proofs
    #[arg(long)]
    pub no_check_c1: bool,
    /// Check every public input and every row of the circuit before any device work, and name the first that is wrong
    #[arg(long)]
    pub check_witness: bool,
    /// Output file, or `-` for standard output [default: FILE with `.proof.FORMAT` as extension; `-` where FILE is `-` or a
    /// pipe]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub force: bool,
    /// What to write: a document about the proof, or the bare proof
    #[arg(long, value_enum, default_value_t = ProofFormatArg::Json)]
    pub format: ProofFormatArg,
    /// How to report the phases: a table on standard error, or one JSON object on standard output (on standard error where the
    /// proof takes that)
    #[arg(long, value_enum, default_value_t = TimingsArg::Table)]
    pub timings: TimingsArg,
}

/// What the work is done with.
#[derive(Debug, clap::Args)]
pub struct WorkArgs {
    /// Memory to use, anonymous and pinned, e.g. 48GiB or 1.5GiB [default: what machine, cgroup and limits leave, less a margin]
    #[arg(long, value_name = "BYTES", value_parser = values::byte_size)]
    pub memory: Option<u64>,
    /// Most partitions in memory at a time [default: as the memory allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub partitions_in_flight: Option<u16>,
    /// What proves: `auto`, a CUDA device that can, else the CPU; `cpu`; `cuda`, the first CUDA device that can, or `cuda:N`, the
    /// one of the driver's number N, and no other; or `simulator[:SECONDS]`, which rehearses a run with development parameters
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device)]
    pub device: values::DeviceName,
}

#[derive(Debug, clap::Args)]
pub struct BatchArgs {
    /// Folder of C1 files, with those below it
    pub folder: PathBuf,
    /// Folder for proofs and the journal; created where it is missing
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// Proof type of files that carry none, e.g. StackedDrg32GiBV1_1
    #[arg(long, value_name = "TYPE", value_parser = values::seal_proof(), hide_possible_values = true)]
    pub registered_proof: Option<SealProof>,
    /// Skip filecoin's own verification of the vanilla proofs
    #[arg(long)]
    pub no_check_c1: bool,
    /// Check every public input and every row of the circuit before any device work, and name the first that is wrong
    #[arg(long)]
    pub check_witness: bool,
    /// What to write: documents about the proofs, or the bare proofs
    #[arg(long, value_enum, default_value_t = ProofFormatArg::Json)]
    pub format: ProofFormatArg,
    #[command(flatten)]
    pub work: WorkArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Only part K of N, by the files' content; `auto/N` takes K from JOB_COMPLETION_INDEX or Slurm's array variables
    #[arg(long, value_name = "K/N")]
    pub shard: Option<String>,
    /// Wait for another run in the same output folder to end, instead of refusing
    #[arg(long)]
    pub wait: bool,
    /// Stop at the first file that fails
    #[arg(long)]
    pub fail_fast: bool,
    /// Try a file again, so often, after a failure that may pass; a proof that is made is only written again
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retry: u32,
    /// Longest time of work on one file, e.g. 10m, or in seconds; its waiting, and what all files share, is left out. Looked at between pieces
    /// of work: what runs is not cut off, and a proof that is late is not written
    #[arg(long, value_name = "TIME", value_parser = values::time_limit)]
    pub deadline: Option<Duration>,
    /// Write everything there is to know of the run as JSON
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,
    /// Write Chrome trace events, for Perfetto
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Draw who did what when
    #[arg(long, value_name = "FILE.svg")]
    pub timeline: Option<PathBuf>,
    /// Keep Prometheus metrics in this file while running
    #[arg(long, value_name = "FILE.prom")]
    pub metrics: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Output folder of batches
    pub folder: PathBuf,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// Proof file of any format `prove` writes, or `-` for standard input
    pub proof: PathBuf,
    /// The C1 file the proof was made from, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub c1: PathBuf,
    #[command(flatten)]
    pub folder: FolderArgs,
    #[command(flatten)]
    pub sector: SectorArgs,
}

#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// C1 file, or `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub sector: SectorArgs,
    #[command(flatten)]
    pub folder: FolderArgs,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct SampleArgs {
    /// Sector size; the proof type is then the V1_1 one of that size
    #[arg(long, value_enum, ignore_case = true, value_name = "SIZE", required_unless_present = "registered_proof")]
    pub sector_size: Option<SectorSize>,
    /// Proof type, e.g. StackedDrg2KiBV1
    #[arg(long, value_name = "TYPE", value_parser = values::seal_proof(), hide_possible_values = true)]
    pub registered_proof: Option<SealProof>,
    /// Actor id of the miner whose sector it is to be (t01000, f01000 or 1000) [default: 1000]
    #[arg(long, value_name = "ID", value_parser = c1::parse_miner)]
    pub miner: Option<u64>,
    /// Number that the sector is to have [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub sector: Option<u64>,
    /// Output file, or `-` for standard output
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Replace an existing output file
    #[arg(long)]
    pub force: bool,
    /// Container of the C1 output
    #[arg(long, value_enum, default_value_t = C1FormatArg::Json)]
    pub format: C1FormatArg,
    /// The sector's data
    #[arg(long, value_enum, default_value_t = DataArg::Zero)]
    pub data: DataArg,
    /// The same seed gives the same file [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Really seal a sector instead of fabricating one (2KiB and 8MiB)
    #[arg(long)]
    pub sealed: bool,
}

#[derive(Debug, clap::Args)]
pub struct ConstraintsArgs {
    /// C1 file whose circuit it is, or `-` for standard input
    #[arg(conflicts_with = "sector_size")]
    pub file: Option<PathBuf>,
    /// Sector size whose circuit it is
    #[arg(long, value_enum, ignore_case = true, value_name = "SIZE")]
    pub sector_size: Option<SectorSize>,
    /// Proof type, for files that carry none, e.g. StackedDrg32GiBV1_1
    #[arg(long, value_name = "TYPE", value_parser = values::seal_proof(), hide_possible_values = true)]
    pub registered_proof: Option<SealProof>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// Where what is computed once for a circuit is kept.
#[derive(Debug, clap::Args)]
pub struct CacheArgs {
    /// Folder in which circuits' constraints are kept [default: CUZK_CACHE, else cuzk in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ParamsCommand {
    /// List the parameter files of a folder
    List {
        #[command(flatten)]
        folder: FolderArgs,
        /// One JSON array
        #[arg(long)]
        json: bool,
    },
    /// Check parameter files: structure, verifying key, digest (always computed afresh)
    Check {
        /// Only the file of this sector size [default: all that are there]
        #[arg(long, value_enum, ignore_case = true, value_name = "SIZE")]
        sector_size: Option<SectorSize>,
        #[command(flatten)]
        folder: FolderArgs,
        /// Check every point, not a sample: minutes for 2KiB, hours for 32GiB
        #[arg(long)]
        full: bool,
    },
    /// Generate development parameters: proofs made with them prove nothing
    Generate {
        /// Sector size: 2KiB, 8MiB or 512MiB
        #[arg(long, value_enum, ignore_case = true, value_name = "SIZE", hide_possible_values = true)]
        sector_size: SectorSize,
        /// A folder of their own [default: cuzk/development-parameters in the user's data folder]
        #[arg(long, value_name = "DIR")]
        params: Option<PathBuf>,
    },
    /// Write a parameter file's points once more, as this CPU's sums read them: `prove` and `batch` on the CPU take such a file where
    /// it lies beside the original, and save the conversion
    Prepare {
        /// Sector size
        #[arg(long, value_enum, ignore_case = true, value_name = "SIZE")]
        sector_size: SectorSize,
        #[command(flatten)]
        folder: FolderArgs,
        /// Output file, as long as the original [default: beside the original, under its name with `.prepared` behind it]
        #[arg(long, short, value_name = "OUT")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure synthesis alone, without device and parameters: several ways side by side
    Synth(SynthArgs),
    /// Compute one partition at full size, without parameters: evaluation, quotient and the five sums, each checked
    Partition(PartitionArgs),
}

#[derive(Debug, clap::Args)]
pub struct SynthArgs {
    /// C1 file, or `-` for standard input
    pub file: PathBuf,
    /// Proof type, for files that carry none, e.g. StackedDrg32GiBV1_1
    #[arg(long, value_name = "TYPE", value_parser = values::seal_proof(), hide_possible_values = true)]
    pub registered_proof: Option<SealProof>,
    /// Partitions to synthesize, at the same time as far as there are threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=4096))]
    pub partitions: u16,
    /// Timed rounds; in each every strategy has its turn
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u16).range(1..=10_000))]
    pub runs: u16,
    /// Only this strategy; may be given several times, and the first in the table is what the others are compared with
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(bench::NAMES))]
    pub strategy: Vec<String>,
    /// Time alone: leave out the run of each strategy that counts memory and allocations and compares the results
    #[arg(long)]
    pub time_only: bool,
    /// Instead, build the circuit's linear combinations again in other containers
    #[arg(long, conflicts_with_all = ["partitions", "strategy", "time_only"])]
    pub containers: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// Draw medians, parts and every run
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Replace an existing plot
    #[arg(long, requires = "plot")]
    pub force: bool,
}

#[derive(Debug, clap::Args)]
pub struct PartitionArgs {
    /// C1 file whose first partition it is, or `-` for standard input
    #[arg(conflicts_with = "sector_size")]
    pub file: Option<PathBuf>,
    /// Sector size; a C1 output of it is fabricated
    #[arg(long, value_enum, ignore_case = true, value_name = "SIZE")]
    pub sector_size: Option<SectorSize>,
    /// Proof type, for files that carry none, e.g. StackedDrg32GiBV1_1
    #[arg(long, value_name = "TYPE", value_parser = values::seal_proof(), hide_possible_values = true)]
    pub registered_proof: Option<SealProof>,
    /// Memory to use, anonymous and pinned, e.g. 18GiB [default: what machine, cgroup and limits leave, less a margin]
    #[arg(long, value_name = "BYTES", value_parser = values::byte_size)]
    pub memory: Option<u64>,
    /// What computes: `auto`, a CUDA device that can, else the CPU; `cpu`; `cuda`, the first CUDA device that can, or `cuda:N`
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = values::computing_device)]
    pub device: values::DeviceName,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct DevicesArgs {
    /// Compute with each kernel on every CUDA device that runs them, and compare with the CPU
    #[arg(long)]
    pub self_test: bool,
    /// Test this device alone: `cuda`, the first that can, or `cuda:N`, the one of the driver's number N
    #[arg(long, value_name = "DEVICE", requires = "self_test", value_parser = values::cuda_device)]
    pub device: Option<values::DeviceName>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// Which folder of parameters.
#[derive(Debug, clap::Args)]
pub struct FolderArgs {
    /// Folder of parameter files [default: FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters]
    #[arg(long, value_name = "DIR")]
    pub params: Option<PathBuf>,
    /// Development parameters, which `prove` and `batch` generate on first use; proofs made with them prove nothing
    #[arg(long)]
    pub dev_params: bool,
}

/// Which parameters, and how far to trust a remembered digest.
#[derive(Debug, clap::Args)]
pub struct ParameterArgs {
    #[command(flatten)]
    pub folder: FolderArgs,
    /// Hash the parameter file even where an earlier verdict is remembered
    #[arg(long)]
    pub recheck: bool,
}

/// What the caller knows beyond the file.
#[derive(Debug, clap::Args)]
pub struct SectorArgs {
    /// Proof type, for files that carry none, e.g. StackedDrg32GiBV1_1
    #[arg(long, value_name = "TYPE", value_parser = values::seal_proof(), hide_possible_values = true)]
    pub registered_proof: Option<SealProof>,
    /// Miner's actor id (t01000, f01000 or 1000); with --sector replica_id is recomputed and compared
    #[arg(long, value_name = "ID", value_parser = c1::parse_miner)]
    pub miner: Option<u64>,
    /// Sector number
    #[arg(long, value_name = "NUMBER")]
    pub sector: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProofFormatArg {
    /// Document: proof type, sector, commitments, proof in hex, parameters
    Json,
    /// The proof, 192 bytes a partition, in hex
    Hex,
    /// The proof, 192 bytes a partition
    Raw,
    /// The proof, 192 bytes a partition, in base64
    Base64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingsArg {
    Table,
    Json,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum C1FormatArg {
    /// filecoin-proofs-api's SealCommitPhase1Output
    Json,
    /// {"SectorNum", "Phase1Out", "SectorSize"} of lotus-bench and Curio
    Wrapper,
    /// {"SectorID", "PoRep"}
    ProofShare,
    /// bincode of filecoin-proofs' SealCommitPhase1Output
    Bincode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataArg {
    Zero,
    Random,
}

/// The variables that something reads, with what for; those of Slurm and Kubernetes are told with `--shard`.
pub const ENVIRONMENT: [(&str, &str); 7] = [
    ("FIL_PROOFS_PARAMETER_CACHE", "folder of official parameters, where --params is not given"),
    ("XDG_DATA_HOME", "development parameters are kept under it [~/.local/share]"),
    ("CUZK_CACHE", "circuits' constraints are kept in it, where --cache is not given"),
    ("XDG_CACHE_HOME", "or under it, with digests of parameter files [~/.cache]"),
    ("CUZK_CPU", "scalar: portable arithmetic; ifma: AVX-512 IFMA, or an error; auto: what the CPU has [auto]"),
    ("CUZK_LIBCUDA", "path of the CUDA driver library to use"),
    ("NO_COLOR", "no colour"),
];

/// Exit codes and environment, shown under `--help`.
fn after_help() -> String {
    let mut text = String::from("Exit codes:\n    0  success\n");
    for (_, code, meaning) in Fault::TABLE {
        text.push_str(&format!("  {code:>3}  {meaning}\n"));
    }
    text.push_str("\nEnvironment:");
    for (name, meaning) in ENVIRONMENT {
        text.push_str(&format!("\n  {name:<26}  {meaning}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_tree_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn help_lists_every_exit_code() {
        let help = Args::command().render_help().to_string();
        for (_, code, meaning) in Fault::TABLE {
            assert!(help.contains(&format!("{code:>3}  {meaning}")), "{code} {meaning} not in:\n{help}");
        }
    }

    #[test]
    fn a_sample_needs_a_size_or_a_proof_type() {
        assert!(Args::try_parse_from(["cuzk", "sample", "-o", "x"]).is_err());
        assert!(Args::try_parse_from(["cuzk", "sample", "-o", "x", "--sector-size", "2kib"]).is_ok());
        assert!(Args::try_parse_from(["cuzk", "sample", "-o", "x", "--registered-proof", "StackedDrg2KiBV1"]).is_ok());
    }
}
