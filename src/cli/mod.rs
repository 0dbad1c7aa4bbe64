//! Flags to validated options; the only reader of flags and environment; exit codes.

mod args;
mod documents;
mod environment;
mod interrupt;
mod options;
mod run;
mod stdout;
mod terminal;
mod values;

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread::available_parallelism;

pub use args::Args;
pub use environment::Environment;
pub use options::Options;
pub use terminal::Terminal;

use crate::error::{Error, Fault, OrFault, Result};
use crate::files;
use crate::pipeline::stop::Stop;
use crate::processor;
use options::Task;

/// What the first Ctrl-C asks of a batch.
static STOP: Stop = Stop::new();

/// Runs `work` with a panic in it turned into an error, temporaries removed. The panic's own message is on standard error
/// by then.
///
/// # Errors
/// Those of `work`; `Internal` for a panic.
pub fn guarded(work: impl FnOnce() -> Result<()>) -> Result<()> {
    // What a panic may have left inconsistent is not looked at again: the process ends.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        files::abandon(|_| ());
        let what = said(&*payload);
        Err(Error::new(Fault::Internal, format!("a fault of cuzk itself, please report it with what was run: {what}")))
    })
}

/// What a panic said.
fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// Starts the pool that all work runs on. Its size is the flag's or the machine's; RAYON_NUM_THREADS has no say in it.
fn start_threads(wanted: Option<u16>) -> Result<usize> {
    let threads = wanted.map_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get), usize::from);
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.or_fault(if wanted.is_some() { Fault::Usage } else { Fault::Internal }, || {
        format!("{threads} threads cannot be started; name a smaller number with --threads")
    })?;
    Ok(threads)
}

/// Does what the options say. Results go to standard output, everything else through `terminal`.
pub fn run(options: Options, terminal: &Terminal) -> Result<()> {
    processor::choose(options.arithmetic)?;
    if options.task.answers_on_stdout() {
        stdout::check()?;
    }
    let threads = start_threads(options.threads)?;
    interrupt::install(*terminal, matches!(options.task, Task::Batch(_)).then_some(&STOP))?;
    match options.task {
        Task::Prove(options) => run::prove::run(&options, threads, terminal),
        Task::Batch(options) => run::batch::run(&options, threads, terminal),
        Task::Report { folder, json } => run::report::run(&folder, json, terminal),
        Task::Verify(options) => run::verify::run(&options, terminal),
        Task::Inspect(options) => run::inspect::run(&options),
        Task::Sample(options) => run::sample::run(&options, terminal),
        Task::Constraints(options) => run::constraints::run(&options, terminal),
        Task::ParamsList { parameters, json } => run::params::list(&parameters, json),
        Task::ParamsCheck { parameters, proof, full } => run::params::check(&parameters, proof, full, terminal),
        Task::ParamsGenerate { parameters, proof } => run::params::generate(&parameters, proof, terminal),
        Task::ParamsPrepare { parameters, proof, output } => run::params::prepare(&parameters, proof, output, terminal),
        Task::Devices { json } => run::devices::run(json),
        Task::SelfTest { devices, json } => run::devices::self_test(devices, json),
        Task::Synth(options) => run::bench::synth::run(&options, terminal),
        Task::Partition(options) => run::bench::partition::run(&options, threads, terminal),
        Task::Completions(shell) => documents::completions(shell),
        Task::Man(command) => documents::man(&command),
    }
}
