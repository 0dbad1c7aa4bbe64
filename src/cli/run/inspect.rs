//! `cuzk inspect`.

use serde_json::{json, Value};

use super::c1_file::C1File;
use crate::c1;
use crate::circuit::CircuitIdentity;
use crate::cli::options::Inspect;
use crate::cli::terminal;
use crate::error::{Fault, OrFault, Result};
use crate::report::Unit;
use crate::srs::{self, Lookup, Origin};

pub fn run(options: &Inspect) -> Result<()> {
    let file = C1File::read(&options.input, &options.read)?;
    let description = c1::describe(&file.c1)?;
    let here = Here::look(&file.porep.identity(), &options.parameters.lookup);
    if options.json {
        let mut object = serde_json::to_value(&description).or_fault(Fault::Internal, || "description".into())?;
        if let Some(object) = object.as_object_mut() {
            object.insert("parameters_here".into(), here.json());
        }
        let text = serde_json::to_string_pretty(&object).or_fault(Fault::Internal, || "description".into())?;
        return terminal::print(&(text + "\n"));
    }
    let rows: Vec<_> = description.rows().into_iter().chain(here.rows()).collect();
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let lines: Vec<_> = rows.iter().map(|(label, value)| format!("{label:width$}  {value}\n")).collect();
    terminal::print(&lines.concat())
}

/// What of a circuit's parameters is in a folder. The digest of the large file is not computed: `params check` does.
struct Here {
    folder: String,
    /// Bytes of the .params file.
    params: Option<u64>,
    /// `None` where there is no .vk file.
    vk: Option<Result<Origin>>,
}

impl Here {
    fn look(identity: &CircuitIdentity, lookup: &Lookup) -> Self {
        let params = std::fs::metadata(lookup.folder.join(&identity.params)).ok().filter(|m| m.is_file());
        Self {
            folder: format!("{} ({})", lookup.folder.display(), lookup.folder_source),
            params: params.map(|m| m.len()),
            vk: lookup.folder.join(&identity.vk).is_file().then(|| srs::open_vk(identity, lookup).map(|vk| vk.origin)),
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let params = self.params.map_or("missing".into(), |bytes| format!("here, {}", Unit::Bytes.amount(bytes)));
        let vk = match &self.vk {
            None => "missing".into(),
            Some(Ok(origin)) => format!("here, {}", word(*origin)),
            Some(Err(error)) => format!("not usable: {error}"),
        };
        vec![("folder", self.folder.clone()), (".params", params), (".vk", vk)]
    }

    fn json(&self) -> Value {
        json!({
            "folder": self.folder,
            "params_bytes": self.params,
            "vk": self.vk.as_ref().and_then(|vk| vk.as_ref().ok()).map(|origin| word(*origin)),
            "vk_error": self.vk.as_ref().and_then(|vk| vk.as_ref().err()).map(ToString::to_string),
        })
    }
}

/// An adjective for messages.
pub fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Official => "official",
        Origin::Development => "development",
    }
}
