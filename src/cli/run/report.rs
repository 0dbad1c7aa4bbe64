//! `cuzk report`.

use std::path::Path;

use crate::batch::{display_name, records, Records};
use crate::cli::{terminal, Terminal};
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::report::BatchReport;

pub fn run(folder: &Path, json: bool, terminal: &Terminal) -> Result<()> {
    let Records { shards, gone, complaints } = records(folder)?;
    complaints.iter().for_each(|complaint| terminal.warn(complaint));
    if shards.is_empty() {
        fail!(Fault::Input, "{}: no journal here; expected the output folder of a batch", display_name(folder));
    }
    let report = BatchReport::merge(shards).without(gone);
    if json {
        let text = serde_json::to_string_pretty(&report.json()).or_fault(Fault::Internal, || "the report".into())?;
        return terminal::print(&(text + "\n"));
    }
    terminal::print(&report.table())
}
