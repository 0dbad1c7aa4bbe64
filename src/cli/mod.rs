//! Flags to validated options; the only reader of flags and environment; exit codes.

mod args;
mod documents;
mod environment;
mod interrupt;
mod options;
mod run;
mod terminal;
mod values;

pub use args::Args;
pub use environment::Environment;
pub use options::Options;
pub use terminal::Terminal;

use crate::error::{Fault, OrFault, Result};
use options::Task;

/// Does what the options say. Results go to standard output, everything else through `terminal`.
pub fn run(options: Options, terminal: &Terminal) -> Result<()> {
    if let Some(threads) = options.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
        pool.build_global().or_fault(Fault::Internal, || format!("starting {threads} threads"))?;
    }
    interrupt::install(*terminal)?;
    match options.task {
        Task::Prove(options) => run::prove::run(&options, terminal),
        Task::Verify(options) => run::verify::run(&options, terminal),
        Task::Inspect(options) => run::inspect::run(&options),
        Task::Sample(options) => run::sample::run(&options, terminal),
        Task::ParamsList { parameters, json } => run::params::list(&parameters, json),
        Task::ParamsCheck { parameters, proof, full } => run::params::check(&parameters, proof, full, terminal),
        Task::ParamsGenerate { folder, folder_source, proof } => {
            run::params::generate(&folder, folder_source, proof, terminal)
        }
        Task::Devices { json } => run::devices::run(json),
        Task::Completions(shell) => documents::completions(shell),
        Task::Man(command) => documents::man(&command),
    }
}
