//! A stable part of a folder for each of several machines.

use std::fmt;

use crate::error::{Fault, OrFault, Result};
use crate::fail;

/// Part `index` (from 1) of `count`. A file belongs to one part by its content, wherever it lies and whatever else is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// What the batch systems say about this task, as text; the command line reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardEnvironment {
    /// JOB_COMPLETION_INDEX of a Kubernetes indexed Job, from 0.
    pub job_completion_index: Option<String>,
    /// SLURM_ARRAY_TASK_ID
    pub slurm_array_task_id: Option<String>,
    /// SLURM_ARRAY_TASK_COUNT
    pub slurm_array_task_count: Option<String>,
    /// SLURM_ARRAY_TASK_MIN; without it the ids are taken to count from 1.
    pub slurm_array_task_min: Option<String>,
    /// SLURM_ARRAY_TASK_STEP; 1 where it is not set.
    pub slurm_array_task_step: Option<String>,
}

impl Shard {
    /// All of the folder.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Part `index`, counted from 1, of `count`.
    ///
    /// # Errors
    /// `Usage`: not 1 <= index <= count.
    pub fn new(index: u32, count: u32) -> Result<Self> {
        if index == 0 || index > count {
            fail!(Fault::Usage, "shard {index}/{count}: expected K/N with K from 1 to N");
        }
        Ok(Self { index, count })
    }

    /// `K/N`, or `auto/N` with K from JOB_COMPLETION_INDEX or the Slurm array, or `auto` with both from the Slurm array.
    ///
    /// # Errors
    /// `Usage`: anything else, or the environment does not say what is needed, or contradicts N.
    pub fn parse(text: &str, environment: &ShardEnvironment) -> Result<Self> {
        let shard = match text.split_once('/') {
            Some(("auto", count)) => Self::automatic(Some(number("N", count)?), environment),
            Some((index, count)) => Self::new(number("K", index)?, number("N", count)?),
            None if text == "auto" => Self::automatic(None, environment),
            None => fail!(Fault::Usage, "--shard {text}: expected K/N, 1/4 for one, or auto/N"),
        };
        shard.map_err(|e| e.context(format!("--shard {text}")))
    }

    /// The part that a Slurm job array gives this task; `None` outside of one. What Kubernetes says is not enough: an
    /// indexed Job does not tell how many there are.
    ///
    /// # Errors
    /// `Usage`: the variables make no sense together.
    pub fn from_slurm(environment: &ShardEnvironment) -> Result<Option<Self>> {
        let (Some(id), Some(count)) = (&environment.slurm_array_task_id, &environment.slurm_array_task_count) else {
            return Ok(None);
        };
        let count = number("SLURM_ARRAY_TASK_COUNT", count)?;
        Ok(Some(Self::new(slurm_index(number("SLURM_ARRAY_TASK_ID", id)?, count, environment)?, count)?))
    }

    fn automatic(count: Option<u32>, environment: &ShardEnvironment) -> Result<Self> {
        if let (Some(index), Some(count)) = (&environment.job_completion_index, count) {
            let index = number("JOB_COMPLETION_INDEX", index)?;
            if index >= count {
                fail!(
                    Fault::Usage,
                    "JOB_COMPLETION_INDEX is {index}, expected less than {count}; does the Job have {count} completions?"
                );
            }
            return Self::new(index + 1, count);
        }
        match (Self::from_slurm(environment)?, count) {
            (Some(shard), Some(count)) if shard.count != count => {
                fail!(Fault::Usage, "SLURM_ARRAY_TASK_COUNT is {}, expected {count}", shard.count)
            }
            (Some(shard), _) => Ok(shard),
            (None, _) => fail!(
                Fault::Usage,
                "expected JOB_COMPLETION_INDEX and a number after auto/, or SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT; \
                 outside of a job array write K/N"
            ),
        }
    }

    pub fn index(self) -> u32 {
        self.index
    }

    pub fn count(self) -> u32 {
        self.count
    }

    /// Whether a file of this [`content_hash`](super::content_hash) belongs to this part.
    pub fn takes(self, content_hash: &str) -> bool {
        let head = content_hash.get(..16).and_then(|head| u64::from_str_radix(head, 16).ok());
        // Text that is no hash belongs to the first part, so that it belongs to one.
        head.unwrap_or(0) % u64::from(self.count) == u64::from(self.index - 1)
    }

    /// `K-of-N`, as it stands in the names of journals and locks.
    pub fn label(self) -> String {
        format!("{}-of-{}", self.index, self.count)
    }

    /// The inverse of [`Shard::label`].
    pub fn from_label(label: &str) -> Option<Self> {
        let (index, count) = label.split_once("-of-")?;
        let shard = Self::new(index.parse().ok()?, count.parse().ok()?).ok()?;
        (shard.label() == label).then_some(shard)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The place of an array id among those of `--array=MIN-MAX:STEP`, counted from 1.
fn slurm_index(id: u32, count: u32, environment: &ShardEnvironment) -> Result<u32> {
    let optional = |name, value: &Option<String>| value.as_ref().map_or(Ok(1), |value| number(name, value));
    let first = optional("SLURM_ARRAY_TASK_MIN", &environment.slurm_array_task_min)?;
    let step = optional("SLURM_ARRAY_TASK_STEP", &environment.slurm_array_task_step)?.max(1);
    match id.checked_sub(first) {
        Some(distance) if distance % step == 0 && distance / step < count => Ok(distance / step + 1),
        _ => fail!(
            Fault::Usage,
            "SLURM_ARRAY_TASK_ID is {id}, which is none of {count} ids from {first} in steps of {step}; use an array without \
             gaps, --array=1-{count}, or write --shard K/{count}"
        ),
    }
}

fn number(name: &str, text: &str) -> Result<u32> {
    // `parse` would take a sign.
    if text.starts_with('+') {
        fail!(Fault::Usage, "{name} is {text:?}, expected a number");
    }
    text.parse().or_fault(Fault::Usage, || format!("{name} is {text:?}, expected a number"))
}

#[cfg(test)]
mod tests {
    use super::super::content_hash;
    use super::*;

    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    fn slurm(id: &str, count: &str, min: Option<&str>, step: Option<&str>) -> ShardEnvironment {
        ShardEnvironment {
            slurm_array_task_id: text(id),
            slurm_array_task_count: text(count),
            slurm_array_task_min: min.and_then(text),
            slurm_array_task_step: step.and_then(text),
            ..ShardEnvironment::default()
        }
    }

    fn kubernetes(index: &str) -> ShardEnvironment {
        ShardEnvironment { job_completion_index: text(index), ..ShardEnvironment::default() }
    }

    #[track_caller]
    fn refused(result: Result<impl fmt::Debug>, part: &str) {
        let error = result.unwrap_err();
        assert_eq!(error.fault(), Fault::Usage);
        assert!(error.to_string().contains(part), "{error}");
    }

    #[test]
    fn every_file_belongs_to_exactly_one_shard_and_shards_are_even() {
        let hashes: Vec<_> = (0..1000u32).map(|i| content_hash(&i.to_le_bytes())).collect();
        for count in [1, 2, 3, 7, 16] {
            let mut taken = vec![0; hashes.len()];
            for index in 1..=count {
                let shard = Shard::new(index, count).unwrap();
                let mine: Vec<_> = (0..hashes.len()).filter(|&i| shard.takes(&hashes[i])).collect();
                mine.iter().for_each(|&i| taken[i] += 1);
                // Within six standard deviations of its fair part.
                let fair = 1000.0 / f64::from(count);
                assert!((mine.len() as f64 - fair).abs() <= 6.0 * fair.sqrt(), "{shard}: {}", mine.len());
            }
            assert!(taken.iter().all(|&times| times == 1), "{count}");
        }
        assert!(Shard::WHOLE.takes("no hash"));
    }

    /// Runs of different versions share a folder: what belongs where must not change.
    #[test]
    fn which_shard_takes_what_is_frozen() {
        let shards: Vec<_> = [b"a", b"b", b"c", b"d"]
            .iter()
            .map(|bytes| (1..=5).find(|&k| Shard::new(k, 5).unwrap().takes(&content_hash(*bytes))).unwrap())
            .collect();
        assert_eq!(shards, [2, 5, 1, 4]);
    }

    #[test]
    fn k_of_n_counts_from_one() {
        let none = ShardEnvironment::default();
        assert_eq!(Shard::parse("2/4", &none).unwrap(), Shard { index: 2, count: 4 });
        assert_eq!(Shard::parse("1/1", &none).unwrap(), Shard::WHOLE);
        assert_eq!(Shard::parse("2/4", &none).unwrap().to_string(), "2/4");
        for wrong in ["0/4", "5/4", "0/0"] {
            refused(Shard::parse(wrong, &none), &format!("shard {wrong}: expected K/N with K from 1 to N"));
        }
        for (wrong, part) in [("", "expected K/N"), ("3", "expected K/N"), ("a/4", "K is \"a\""), ("1/", "N is \"\"")] {
            refused(Shard::parse(wrong, &none), part);
        }
        for wrong in ["-1/4", "+1/4", "1/4/2", "1/99999999999", " 1/4"] {
            refused(Shard::parse(wrong, &none), "expected a number");
        }
    }

    #[test]
    fn kubernetes_indices_count_from_zero() {
        assert_eq!(Shard::parse("auto/3", &kubernetes("0")).unwrap(), Shard { index: 1, count: 3 });
        assert_eq!(Shard::parse("auto/3", &kubernetes("2")).unwrap(), Shard { index: 3, count: 3 });
        refused(Shard::parse("auto/3", &kubernetes("3")), "JOB_COMPLETION_INDEX is 3, expected less than 3");
        refused(Shard::parse("auto/3", &kubernetes("x")), "JOB_COMPLETION_INDEX is \"x\"");
        refused(Shard::parse("auto", &kubernetes("0")), "a number after auto/");
        refused(Shard::parse("auto/0", &kubernetes("0")), "expected less than 0");
        // What is written wins.
        assert_eq!(Shard::parse("3/3", &kubernetes("0")).unwrap(), Shard { index: 3, count: 3 });
        assert_eq!(Shard::from_slurm(&kubernetes("0")).unwrap(), None);
    }

    #[test]
    fn slurm_ids_may_start_anywhere() {
        let cases = [
            (slurm("1", "4", None, None), 1),
            (slurm("4", "4", None, None), 4),
            (slurm("0", "4", Some("0"), None), 1),
            (slurm("3", "4", Some("0"), Some("1")), 4),
            (slurm("13", "4", Some("10"), None), 4),
            (slurm("6", "4", Some("0"), Some("2")), 4),
        ];
        for (environment, index) in cases {
            let expected = Shard { index, count: 4 };
            assert_eq!(Shard::from_slurm(&environment).unwrap(), Some(expected), "{environment:?}");
            assert_eq!(Shard::parse("auto/4", &environment).unwrap(), expected);
            assert_eq!(Shard::parse("auto", &environment).unwrap(), expected);
        }
    }

    #[test]
    fn slurm_arrays_that_do_not_fit_are_refused() {
        refused(Shard::from_slurm(&slurm("0", "4", None, None)), "none of 4 ids from 1 in steps of 1");
        refused(Shard::from_slurm(&slurm("7", "3", Some("1"), None)), "none of 3 ids from 1");
        refused(Shard::from_slurm(&slurm("3", "4", Some("0"), Some("2"))), "in steps of 2");
        refused(Shard::from_slurm(&slurm("x", "4", None, None)), "SLURM_ARRAY_TASK_ID is \"x\"");
        refused(Shard::from_slurm(&slurm("1", "0", None, None)), "none of 0 ids");
        refused(Shard::parse("auto/5", &slurm("1", "4", None, None)), "SLURM_ARRAY_TASK_COUNT is 4, expected 5");
        refused(Shard::parse("auto/5", &ShardEnvironment::default()), "outside of a job array write K/N");
        assert_eq!(Shard::from_slurm(&ShardEnvironment::default()).unwrap(), None);
    }

    #[test]
    fn labels_read_back() {
        let shard = Shard::new(2, 16).unwrap();
        assert_eq!(shard.label(), "2-of-16");
        assert_eq!(Shard::from_label("2-of-16"), Some(shard));
        for wrong in ["", "2-of-", "02-of-16", "17-of-16", "0-of-1", "2-of-16.after-x"] {
            assert_eq!(Shard::from_label(wrong), None, "{wrong}");
        }
    }
}
