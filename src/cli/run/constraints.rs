//! `cuzk constraints`.

use std::time::{Duration, Instant};

use serde_json::json;

use super::c1_file::C1File;
use crate::circuit::PoRep;
use crate::cli::options::{CircuitOf, Constraints as Options};
use crate::cli::{terminal, Terminal};
use crate::constraints::cache::{self, Found, Kept};
use crate::constraints::{Densities, Tables};
use crate::error::{Fault, OrFault, Result};
use crate::report::Unit;

pub fn run(options: &Options, terminal: &Terminal) -> Result<()> {
    let porep = match &options.circuit {
        CircuitOf::C1File { input, read } => C1File::read(input, read)?.porep,
        CircuitOf::Proof(proof) => PoRep::new(*proof)?,
    };
    let identity = porep.identity().params;
    let path = options.cache.as_ref().map(|folder| cache::path(folder, &identity));
    let start = Instant::now();
    let found = cache::load_or_build(path.as_deref(), &identity, || {
        terminal.note("taking the constraints from the circuit: seconds, for 32 GiB and more about a minute");
        porep.blank()
    })?;
    let description = Description { identity, wall: start.elapsed(), densities: found.constraints.densities(), found };
    description.notes(terminal);
    if options.json {
        let text =
            serde_json::to_string_pretty(&description.json()).or_fault(Fault::Internal, || "constraints".into())?;
        return terminal::print(&(text + "\n"));
    }
    let rows = description.rows();
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let lines: Vec<_> = rows.iter().map(|(label, value)| format!("{label:width$}  {value}\n")).collect();
    terminal::print(&lines.concat())
}

/// What there is to say.
struct Description {
    identity: String,
    /// Time to load or to build and save.
    wall: Duration,
    densities: Densities,
    found: Found,
}

impl Description {
    fn tables(&self) -> &Tables {
        self.found.constraints.tables()
    }

    /// What the user may want to act on.
    fn notes(&self, terminal: &Terminal) {
        if let Kept::InMemory { .. } | Kept::Saved { replaced: Some(_), .. } = self.found.kept {
            terminal.note(&self.found.note());
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let (tables, seconds) = (self.tables(), self.wall.as_secs_f64());
        let Densities { a_aux, b_input, b_aux } = &self.densities;
        let [of_a, of_b] = tables.nonzeros;
        let file = self.found.path.as_ref().map_or(String::new(), |path| path.display().to_string());
        let kept = match &self.found.kept {
            Kept::Loaded { bytes } => format!("loaded in {seconds:.3} s from {file}, {}", Unit::Bytes.amount(*bytes)),
            Kept::Saved { bytes, .. } => {
                format!("built in {seconds:.1} s, now in {file}, {}", Unit::Bytes.amount(*bytes))
            }
            Kept::InMemory { .. } => format!("built in {seconds:.1} s, in memory alone"),
        };
        vec![
            ("circuit", self.identity.clone()),
            ("rows", tables.rows.to_string()),
            ("variables", format!("{} inputs, {} aux", tables.inputs, tables.aux)),
            ("nonzeros", format!("A {of_a}, B {of_b}")),
            (
                "densities",
                format!("A {} aux; B {} inputs, {} aux", a_aux.count_ones(), b_input.count_ones(), b_aux.count_ones()),
            ),
            ("distinct rows", format!("{}, of which {} field rows", tables.distinct_rows, tables.field_rows())),
            (
                "chunks",
                format!("{} distinct, {} tiles, {} groups", tables.chunks(), tables.tiles.len(), tables.groups.len()),
            ),
            ("superchunks", format!("{} distinct, {} instances", tables.superchunks(), tables.instances.len())),
            ("coefficients", tables.coefficients.len().to_string()),
            ("memory", Unit::Bytes.amount(self.found.constraints.bytes() as u64)),
            ("here", kept),
        ]
    }

    fn json(&self) -> serde_json::Value {
        let tables = self.tables();
        let Densities { a_aux, b_input, b_aux } = &self.densities;
        let (how, file_bytes) = match &self.found.kept {
            Kept::Loaded { bytes } => ("loaded", Some(bytes)),
            Kept::Saved { bytes, .. } => ("saved", Some(bytes)),
            Kept::InMemory { .. } => ("in memory", None),
        };
        json!({
            "circuit": self.identity,
            "rows": tables.rows,
            "inputs": tables.inputs,
            "aux": tables.aux,
            "nonzeros": { "a": tables.nonzeros[0], "b": tables.nonzeros[1] },
            "densities": {
                "a_aux": a_aux.count_ones(), "b_input": b_input.count_ones(), "b_aux": b_aux.count_ones(),
            },
            "distinct_rows": tables.distinct_rows,
            "field_rows": tables.field_rows(),
            "chunks": tables.chunks(),
            "tiles": tables.tiles.len(),
            "groups": tables.groups.len(),
            "superchunks": tables.superchunks(),
            "instances": tables.instances.len(),
            "coefficients": tables.coefficients.len(),
            "memory_bytes": self.found.constraints.bytes(),
            "file_bytes": file_bytes,
            "file": file_bytes.and(self.found.path.as_ref()),
            "how": how,
            "seconds": self.wall.as_secs_f64(),
        })
    }
}
