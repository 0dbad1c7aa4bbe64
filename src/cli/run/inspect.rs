//! `cuzk inspect`.

use serde_json::{json, Value};

use super::c1_file::C1File;
use crate::c1;
use crate::circuit::CircuitIdentity;
use crate::cli::options::Inspect;
use crate::cli::terminal;
use crate::error::{Fault, OrFault, Result};
use crate::pipeline::parameters::Source;
use crate::report::Unit;
use crate::srs::inventory::{self, Entry, Verdict};
use crate::srs::{self, Origin};

pub fn run(options: &Inspect) -> Result<()> {
    let file = C1File::read(&options.input, &options.read)?;
    let description = c1::describe(&file.c1)?;
    let here = Here::look(&file.porep.identity(), &options.parameters);
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
    folder_source: String,
    params: Entry,
    /// `None` where there is no .vk file.
    vk: Option<Result<Origin>>,
}

impl Here {
    fn look(identity: &CircuitIdentity, source: &Source) -> Self {
        let lookup = &source.lookup;
        Self {
            folder: lookup.folder.display().to_string(),
            folder_source: lookup.folder_source.clone(),
            params: inventory::look(identity, lookup, source.verdicts.as_deref()),
            vk: lookup.folder.join(&identity.vk).is_file().then(|| srs::open_vk(identity, lookup).map(|vk| vk.origin)),
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let here = || {
            let bytes = self.params.bytes.map_or(String::new(), |bytes| Unit::Bytes.amount(bytes));
            format!("here, {bytes}, {}", self.params.origin.map_or("", Origin::word))
        };
        let params = match &self.params.verdict {
            Verdict::Missing => "missing".into(),
            Verdict::Unchecked => here() + ", digest not yet checked",
            Verdict::Verified => here(),
            Verdict::Refused(reason) => format!("not usable: {reason}"),
        };
        let vk = match &self.vk {
            None => "missing".into(),
            Some(Ok(origin)) => format!("here, {}", origin.word()),
            Some(Err(error)) => format!("not usable: {error}"),
        };
        vec![("folder", format!("{} ({})", self.folder, self.folder_source)), (".params", params), (".vk", vk)]
    }

    fn json(&self) -> Value {
        json!({
            "folder": self.folder,
            "folder_source": self.folder_source,
            "params_bytes": self.params.bytes,
            "params_verdict": self.params.verdict.word(),
            "params_reason": self.params.verdict.reason(),
            "vk": self.vk.as_ref().and_then(|vk| vk.as_ref().ok()).map(|origin| origin.word()),
            "vk_error": self.vk.as_ref().and_then(|vk| vk.as_ref().err()).map(ToString::to_string),
        })
    }
}
