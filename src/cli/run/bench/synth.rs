//! `cuzk bench synth`.

use crate::bench::{compare, compare_containers, Subject};
use crate::cli::options::{Synth, SynthPlan};
use crate::cli::run::c1_file::C1File;
use crate::cli::{terminal, Terminal};
use crate::error::{Fault, OrFault, Result};
use crate::pipeline::output::Output;

pub fn run(options: &Synth, terminal: &Terminal) -> Result<()> {
    let plot = options.plot.as_ref().map(|path| Output::check(path, options.replace)).transpose()?;
    let file = C1File::read(&options.input, &options.read)?;
    let subject = Subject { porep: &file.porep, statement: &file.c1.statement, vanilla: &file.c1.vanilla };
    let progress = terminal.progress();
    let comparison = match &options.what {
        SynthPlan::Strategies(plan) => compare(&subject, plan, &progress)?,
        SynthPlan::Containers { runs } => compare_containers(&subject, *runs, &progress)?,
    };
    if let Some(plot) = plot {
        plot.write(comparison.svg().as_bytes())?;
    }
    if options.json {
        let text =
            serde_json::to_string_pretty(&comparison.json()).or_fault(Fault::Internal, || "the figures".into())?;
        return terminal::print(&(text + "\n"));
    }
    terminal::print(&comparison.table())
}
