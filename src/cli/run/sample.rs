//! `cuzk sample`.

use super::Sink;
use crate::c1::{self, Format, SampleOptions};
use crate::circuit::proof_type::{is_synthetic, sector_bytes};
use crate::cli::options::{Destination, Sample};
use crate::cli::{terminal, Terminal};
use crate::error::Result;

pub fn run(options: &Sample, terminal: &Terminal) -> Result<()> {
    let sink = Sink::check(&options.destination)?;
    if options.sealed && is_synthetic(options.proof) && sector_bytes(options.proof) > 2 << 10 {
        terminal.note(
            "filecoin-proofs makes and verifies a vanilla proof for every node: half an hour and 19 GB of memory",
        );
    }
    let c1 = if options.sealed {
        c1::sealed(options.proof, &options.sample)?
    } else {
        c1::sample(options.proof, &options.sample)?
    };
    let bytes = c1::write(&c1, options.format)?;
    match (&sink, options.sealed) {
        (Sink::Stdout, false) => terminal::hand_over(&bytes)?,
        _ => sink.write(&bytes)?,
    }
    note(options, terminal);
    match &options.destination {
        Destination::Stdout => Ok(()),
        Destination::File { path, .. } => terminal::print_place(&path.display().to_string()),
    }
}

fn note(options: &Sample, terminal: &Terminal) {
    let SampleOptions { miner, sector, .. } = options.sample;
    let what = if options.sealed { "sealed" } else { "fabricated: a test vector that proves nothing about storage" };
    terminal.note(&format!("{:?} of miner f0{miner}, sector {sector}, {what}", options.proof));
    if options.format == Format::Bincode {
        terminal.note(&format!("bincode carries no proof type: it may need --registered-proof {:?}", options.proof));
    }
}
