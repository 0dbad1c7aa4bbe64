//! What is recorded of a file, as JSON: in a journal's lines and in reports.

use std::time::Duration;

use serde_json::{json, Map, Value};

use super::spans::{FileRecord, Outcome};
use super::text::visible;
use crate::error::{Fault, OrFault, Result};
use crate::fail;

impl Outcome {
    /// The name in tables and files.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Proved { .. } => "proved",
            Outcome::Skipped { .. } => "skipped",
            Outcome::Failed { .. } => "failed",
            Outcome::Unfinished => "unfinished",
        }
    }
}

impl FileRecord {
    /// One JSON object:
    ///
    /// ```text
    /// job            place in the run's order, counted from 0
    /// name           the file's name for people
    /// content        blake2b-256 of its bytes in hex; null where it could not be read
    /// partitions     how many it has; 0 where it could not be read
    /// attempts       how often it was tried
    /// outcome        "proved", "skipped", "failed" or "unfinished"
    /// proof          where the proof is; only if proved or skipped
    /// same_as        name of the file whose proof was copied; only if there is one
    /// fault          name of the error's class; only if failed
    /// message        the error; only if failed
    /// wall_seconds   from the start of its reading to its end
    /// timings        as `Timings::json` has them; null where nothing was timed
    /// ```
    pub fn to_json(&self) -> Value {
        let mut record = json!({
            "job": self.job,
            "name": self.name,
            "content": self.content,
            "partitions": self.partitions,
            "attempts": self.attempts,
            "outcome": self.outcome.name(),
            "wall_seconds": self.wall.as_secs_f64(),
            "timings": self.timings,
        });
        match &self.outcome {
            Outcome::Proved { proof } => record["proof"] = json!(proof),
            Outcome::Skipped { proof, same_as } => {
                record["proof"] = json!(proof);
                if let Some(other) = same_as {
                    record["same_as"] = json!(other);
                }
            }
            Outcome::Failed { fault, message } => {
                record["fault"] = json!(fault);
                record["message"] = json!(message);
            }
            Outcome::Unfinished => {}
        }
        record
    }

    /// Reads what [`FileRecord::to_json`] wrote, now or in another version: keys that are not known are passed over, and only
    /// `name` and `outcome` must be there.
    ///
    /// # Errors
    /// `Input`, with the key: one of those two is missing, or a value is not of its kind.
    pub fn from_json(value: &Value) -> Result<Self> {
        let Some(keys) = value.as_object() else { fail!(Fault::Input, "record: expected an object, got {value}") };
        let Some(name) = text(keys, "name")? else { fail!(Fault::Input, "record: key name is missing") };
        let seconds = number(keys, "wall_seconds", Value::as_f64)?.unwrap_or(0.0);
        Ok(Self {
            job: size(keys, "job")?,
            name,
            content: text(keys, "content")?,
            partitions: size(keys, "partitions")?,
            attempts: size(keys, "attempts")?,
            outcome: outcome(keys)?,
            wall: Duration::try_from_secs_f64(seconds)
                .or_fault(Fault::Input, || format!("record: wall_seconds: expected a duration, got {seconds}"))?,
            timings: keys.get("timings").cloned().unwrap_or(Value::Null),
        })
    }

    /// Seconds that the timings tell for a phase, by its name; `None` where it was not timed.
    pub fn phase_seconds(&self, phase: &str) -> Option<f64> {
        let phases = self.timings.get("phases")?.as_array()?;
        phases.iter().find(|entry| entry["phase"] == phase)?["seconds"].as_f64()
    }
}

/// The reason of a failure, without the name that most messages begin with; `None` for other outcomes.
pub(super) fn message_without_name(file: &FileRecord) -> Option<String> {
    let Outcome::Failed { message, .. } = &file.outcome else { return None };
    let message = visible(message);
    Some(message.strip_prefix(&format!("{}: ", visible(&file.name))).map_or(message.clone(), str::to_owned))
}

fn outcome(keys: &Map<String, Value>) -> Result<Outcome> {
    let of = |key| text(keys, key).map(Option::unwrap_or_default);
    Ok(match text(keys, "outcome")?.as_deref() {
        Some("proved") => Outcome::Proved { proof: of("proof")? },
        Some("skipped") => Outcome::Skipped { proof: of("proof")?, same_as: text(keys, "same_as")? },
        Some("failed") => Outcome::Failed { fault: of("fault")?, message: of("message")? },
        Some("unfinished") => Outcome::Unfinished,
        Some(other) => {
            fail!(Fault::Input, "record: outcome: expected proved, skipped, failed or unfinished, got {other:?}")
        }
        None => fail!(Fault::Input, "record: key outcome is missing"),
    })
}

fn text(keys: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => fail!(Fault::Input, "record: {key}: expected a string, got {other}"),
    }
}

fn number<T>(keys: &Map<String, Value>, key: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match read(value) {
            Some(number) => Ok(Some(number)),
            None => fail!(Fault::Input, "record: {key}: expected a number of its range, got {value}"),
        },
    }
}

fn size(keys: &Map<String, Value>, key: &str) -> Result<usize> {
    Ok(number(keys, key, |value| usize::try_from(value.as_u64()?).ok())?.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{failed, proved};

    #[test]
    fn records_survive_their_json() {
        let skipped = FileRecord {
            outcome: Outcome::Skipped { proof: "out/\u{fffd}".into(), same_as: None },
            ..proved(1, "a\nb\"<&>")
        };
        let copied =
            FileRecord { outcome: Outcome::Skipped { proof: "p".into(), same_as: Some("a".into()) }, ..proved(4, "e") };
        let unfinished = FileRecord { outcome: Outcome::Unfinished, content: None, ..proved(2, "") };
        for record in [proved(0, "a"), skipped, copied, unfinished, failed(3, "b", "line\nline")] {
            let line = record.to_json().to_string();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(FileRecord::from_json(&serde_json::from_str(&line).unwrap()).unwrap(), record);
        }
    }

    #[test]
    fn other_versions_are_read_as_far_as_they_go() {
        let record = FileRecord::from_json(&json!({"name": "a", "outcome": "unfinished", "node": {"x": 1}})).unwrap();
        assert_eq!((record.name.as_str(), record.partitions, record.wall), ("a", 0, Duration::ZERO));
    }

    #[test]
    fn what_is_no_record_is_refused_with_its_key() {
        let refused = [
            (json!([]), "object"),
            (json!({"outcome": "proved"}), "name"),
            (json!({"name": "a"}), "outcome"),
            (json!({"name": "a", "outcome": "lost"}), "lost"),
            (json!({"name": 5, "outcome": "proved"}), "name"),
            (json!({"name": "a", "outcome": "proved", "partitions": -1}), "partitions"),
            (json!({"name": "a", "outcome": "proved", "wall_seconds": -1.0}), "wall_seconds"),
            (json!({"name": "a", "outcome": "proved", "wall_seconds": 1e300}), "wall_seconds"),
        ];
        for (value, key) in refused {
            let error = FileRecord::from_json(&value).unwrap_err();
            assert_eq!(error.fault(), Fault::Input);
            assert!(error.to_string().contains(key), "{error}");
        }
    }

    #[test]
    fn phases_are_found_by_name() {
        assert_eq!(proved(0, "a").phase_seconds("synthesis"), Some(4.0));
        assert_eq!(proved(0, "a").phase_seconds("sorting"), None);
        assert_eq!(failed(0, "a", "").phase_seconds("synthesis"), None);
    }
}
