//! What `cuzk devices --self-test` found: each kernel's results beside the CPU's.

use std::time::Duration;

use serde_json::{json, Value};

use super::text::{columns, visible};
use super::units::duration;
use crate::error::{Error, Fault, Result};

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was computed, as in `ntt_pass, 2^10`.
    pub name: String,
    /// Equal, or why not.
    pub outcome: Result<(), Unequal>,
    pub time: Duration,
}

/// Why a comparison did not find the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unequal {
    /// Where the results differ.
    Differs(String),
    /// Why there is no result; it is the device's last comparison.
    Stopped(String),
}

impl Unequal {
    pub fn reason(&self) -> &str {
        let (Self::Differs(reason) | Self::Stopped(reason)) = self;
        reason
    }
}

/// The comparisons of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// The driver's ordinal.
    pub index: u32,
    /// The device's name.
    pub name: String,
    /// Why there are none.
    pub checks: Result<Vec<Check>, String>,
}

/// Those of all devices that were tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTests(pub Vec<SelfTest>);

impl SelfTests {
    /// Tests one device after another, by number and name.
    pub fn of(devices: impl IntoIterator<Item = (u32, String)>, test: impl Fn(u32) -> Result<Vec<Check>>) -> Self {
        let tested = devices.into_iter().map(|(index, name)| {
            let checks = test(index).map_err(|error| error.to_string());
            SelfTest { index, name, checks }
        });
        Self(tested.collect())
    }

    /// For people: a table for each device, then what failed and why.
    pub fn table(&self) -> String {
        self.0.iter().map(SelfTest::table).collect::<Vec<_>>().join("\n")
    }

    /// An array of the devices: `index`, `name`, `error` (why nothing could be tested, or null), `passed`, and `checks`: `name`, `equal`,
    /// `message` (null where equal) and `seconds` of each.
    pub fn json(&self) -> Value {
        self.0.iter().map(SelfTest::json).collect()
    }

    /// Success where every comparison of every device is equal.
    ///
    /// # Errors
    /// `Device`: the devices and what failed on them; or that nothing was compared at all.
    pub fn verdict(&self) -> Result<()> {
        let failures: Vec<String> = self.0.iter().filter_map(SelfTest::failure).collect();
        match failures.is_empty() && !self.0.is_empty() {
            true => Ok(()),
            false if self.0.is_empty() => Err(Error::new(Fault::Device, "self-test: no device was tested")),
            false => {
                let error = Error::new(Fault::Device, format!("self-test: {}", failures.join("; ")));
                Err(if self.0.iter().any(SelfTest::differs) { error.advice(ADVICE) } else { error })
            }
        }
    }
}

/// What to do about a device that computes wrongly.
const ADVICE: &str = "do not prove on it: prove with --device cpu, look at `nvidia-smi -q` for memory errors and heat, run the test again after \
    a restart, and report it if it fails again";

impl SelfTest {
    /// Passes where all are equal, and there are some.
    fn passed(&self) -> bool {
        self.checks.as_ref().is_ok_and(|checks| !checks.is_empty() && checks.iter().all(|check| check.outcome.is_ok()))
    }

    fn title(&self) -> String {
        format!("CUDA {} ({})", self.index, visible(&self.name))
    }

    fn failure(&self) -> Option<String> {
        if self.passed() {
            return None;
        }
        let title = self.title();
        Some(match &self.checks {
            Err(reason) => format!("{title}: {}", visible(reason)),
            Ok(checks) if checks.is_empty() => format!("{title}: nothing was compared"),
            Ok(checks) => {
                let differing: Vec<_> = checks.iter().filter(|check| check.differs()).collect();
                let names: Vec<_> = differing.iter().map(|check| visible(&check.name)).collect();
                let failed = format!("{} of {} comparisons failed: {}", names.len(), checks.len(), names.join(", "));
                let stopped = checks.last().and_then(|check| match &check.outcome {
                    Err(Unequal::Stopped(reason)) => Some((visible(&check.name), visible(reason))),
                    _ => None,
                });
                match stopped {
                    None => format!("{title}: {failed}"),
                    Some((name, reason)) if names.is_empty() => format!("stopped at {name}: {reason}"),
                    Some((name, reason)) => format!("{title}: {failed}; stopped at {name}: {reason}"),
                }
            }
        })
    }

    fn differs(&self) -> bool {
        self.checks.as_ref().is_ok_and(|checks| checks.iter().any(Check::differs))
    }

    fn table(&self) -> String {
        let checks = match &self.checks {
            Ok(checks) => checks,
            Err(reason) => return format!("{}: {}\n", self.title(), visible(reason)),
        };
        let mut rows = vec![[self.title(), "against the CPU".into(), "time".into()].to_vec()];
        rows.extend(checks.iter().map(Check::row));
        let reasons = checks.iter().filter_map(|check| {
            let reason = check.outcome.as_ref().err()?.reason();
            Some(format!("{}: {}\n", visible(&check.name), visible(reason)))
        });
        columns(&rows) + &reasons.collect::<String>()
    }

    fn json(&self) -> Value {
        let checks = self.checks.as_deref().unwrap_or_default();
        json!({
            "index": self.index,
            "name": self.name,
            "error": self.checks.as_ref().err(),
            "passed": self.passed(),
            "checks": checks.iter().map(Check::json).collect::<Vec<_>>(),
        })
    }
}

impl Check {
    fn differs(&self) -> bool {
        matches!(self.outcome, Err(Unequal::Differs(_)))
    }

    fn row(&self) -> Vec<String> {
        let outcome = if self.outcome.is_ok() { "equal" } else { "FAILED" };
        vec![visible(&self.name), outcome.to_owned(), duration(self.time)]
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "equal": self.outcome.is_ok(),
            "message": self.outcome.as_ref().err().map(Unequal::reason),
            "seconds": self.time.as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, outcome: Result<(), &str>) -> Check {
        let outcome = outcome.map_err(|reason| Unequal::Differs(reason.to_owned()));
        Check { name: name.into(), outcome, time: Duration::from_millis(2) }
    }

    /// The first device computes well, the second wrongly, the third not at all.
    fn three() -> SelfTests {
        let devices = [(0, "A".to_owned()), (2, "B".into()), (3, "C".into())];
        SelfTests::of(devices, |index| match index {
            0 => Ok(vec![check("fr_mul", Ok(())), check("ntt, 2^10", Ok(()))]),
            2 => Ok(vec![check("fr_mul", Ok(())), check("ntt, 2^10", Err("element 5: 1, not 2"))]),
            _ => Err(Error::new(Fault::Device, "no context on it")),
        })
    }

    #[test]
    fn the_table_has_each_kernel_and_why_it_failed() {
        let expected = "\
CUDA 0 (A)  against the CPU     time
fr_mul                equal  2.00 ms
ntt, 2^10             equal  2.00 ms

CUDA 2 (B)  against the CPU     time
fr_mul                equal  2.00 ms
ntt, 2^10            FAILED  2.00 ms
ntt, 2^10: element 5: 1, not 2

CUDA 3 (C): no context on it
";
        assert_eq!(three().table(), expected);
    }

    #[test]
    fn one_failure_on_one_device_is_an_error_of_the_device() {
        let error = three().verdict().unwrap_err();
        assert_eq!(error.fault(), Fault::Device);
        let text = error.to_string();
        let named =
            "CUDA 2 (B): 1 of 2 comparisons failed: ntt, 2^10; CUDA 3 (C): no context on it; do not prove on it";
        assert!(text.contains(named) && !text.contains("CUDA 0") && !text.contains('\n'), "{text}");
        assert!(SelfTests(three().0[..1].to_vec()).verdict().is_ok());
    }

    /// A device that gave no result did not compute wrongly.
    #[test]
    fn a_test_that_was_stopped_says_why_and_blames_no_result() {
        let mut last = check("ntt, 2^10", Ok(()));
        last.outcome = Err(Unequal::Stopped("CUDA 0 (A): no memory".into()));
        let text = |checks: Vec<Check>| {
            SelfTests::of([(0, "A".to_owned())], |_| Ok(checks.clone())).verdict().unwrap_err().to_string()
        };
        let stopped = "stopped at ntt, 2^10: CUDA 0 (A): no memory";
        assert_eq!(text(vec![check("fr_mul", Ok(())), last.clone()]), format!("self-test: {stopped}"));
        let both = text(vec![check("fr_mul", Err("element 5")), last]);
        assert!(both.contains(&format!("1 of 2 comparisons failed: fr_mul; {stopped}; do not prove on it")), "{both}");
    }

    #[test]
    fn a_test_of_nothing_is_not_passed() {
        let nothing = SelfTests::of([(0, "A".to_owned())], |_| Ok(Vec::new()));
        assert!(nothing.verdict().unwrap_err().to_string().contains("CUDA 0 (A): nothing was compared"));
        assert_eq!(nothing.json()[0]["passed"], false);
        assert_eq!(SelfTests(Vec::new()).verdict().unwrap_err().fault(), Fault::Device);
    }

    #[test]
    fn json_holds_the_documented_keys() {
        let value = three().json();
        let second = json!({
            "index": 2, "name": "B", "error": null, "passed": false,
            "checks": [
                {"name": "fr_mul", "equal": true, "message": null, "seconds": 0.002},
                {"name": "ntt, 2^10", "equal": false, "message": "element 5: 1, not 2", "seconds": 0.002},
            ],
        });
        assert_eq!((&value[1], &value[0]["passed"]), (&second, &json!(true)));
        assert_eq!((&value[2]["error"], &value[2]["checks"]), (&json!("no context on it"), &json!([])));
    }
}
