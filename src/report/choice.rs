//! Which device proves, in the words of reports.

use serde_json::{json, Value};

use super::text::visible;

/// The device that proves, and why it is no CUDA device where nobody asked for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceChoice {
    /// As `Backend::name` has it.
    pub name: String,
    /// Why no CUDA device was taken; none where it is one, or where this one was asked for.
    pub not_cuda: Option<String>,
}

impl DeviceChoice {
    /// One line, ending in a newline.
    pub fn line(&self) -> String {
        let reason = self.not_cuda.as_ref().map_or_else(String::new, |reason| format!(", not CUDA: {reason}"));
        visible(&format!("device: {}{reason}", self.name)) + "\n"
    }

    /// One JSON object: `name`, and `not_cuda`, the reason or null.
    pub fn json(&self) -> Value {
        json!({"name": self.name, "not_cuda": self.not_cuda})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_said_where_there_is_one() {
        let asked = DeviceChoice { name: "cpu".into(), not_cuda: None };
        assert_eq!((asked.line().as_str(), asked.json()), ("device: cpu\n", json!({"name": "cpu", "not_cuda": null})));
        let other = DeviceChoice { not_cuda: Some("no\ndriver".into()), ..asked };
        assert_eq!(other.line(), "device: cpu, not CUDA: no\\ndriver\n");
        assert_eq!(other.json()["not_cuda"], "no\ndriver");
    }
}
