//! What `cuzk bench partition` measured and checked.

use std::time::Duration;

use serde_json::{json, Value};

use super::text::columns;
use super::units::{bytes, count, duration};
use super::{DeviceChoice, Memory, Phase, Timings};
use crate::error::{Fault, Result};
use crate::fail;

/// A phase's result, compared with what it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    pub phase: Phase,
    pub equal: bool,
}

/// One partition's work; its times are in [`Timings`].
#[derive(Clone, Debug)]
pub struct PartitionReport {
    /// Sector size, as in `32GiB`.
    pub sector: String,
    /// How many partitions the sector has.
    pub partitions: usize,
    pub rows: usize,
    /// Size of the evaluation domain, a power of two.
    pub domain: usize,
    pub threads: usize,
    pub device: DeviceChoice,
    pub checks: Vec<Check>,
    /// What the checks took.
    pub check_time: Duration,
    /// Different bases in G1 and in G2, and bytes of them and their logarithms.
    pub tiles: [usize; 2],
    pub tile_bytes: u64,
    /// Memory that was counted beforehand.
    pub planned_bytes: u64,
}

impl PartitionReport {
    /// For people, ending in a newline: of each phase wall time, its share, items, rate, and what its check said.
    pub fn table(&self, timings: &Timings, peak: &Memory) -> String {
        let (measured, total) = (timings.measured(), total(timings));
        let mut rows = vec![["phase", "wall", "share", "items", "rate", "checked"].map(str::to_owned).to_vec()];
        rows.extend(measured.iter().map(|(phase, entry)| {
            let checked = self.checked(*phase).map_or("", |equal| if equal { "equal" } else { "DIFFERS" });
            let mut row = entry.row(*phase, total).to_vec();
            row.push(checked.to_owned());
            row
        }));
        rows.push(vec!["total".into(), duration(total), "100.0 %".into()]);
        let work = timings.device_work().table();
        let work = if work.is_empty() { work } else { format!("\n{work}") };
        self.title()
            + "\n\n"
            + &columns(&rows)
            + &work
            + "\n"
            + &self.explanations()
            + &self.device.line()
            + &self.memory(peak)
    }

    fn title(&self) -> String {
        let which = match self.partitions {
            1 => "its partition".to_owned(),
            of => format!("the first of its {of} partitions"),
        };
        let threads = if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) };
        let (rows, lg) = (count(self.rows as f64), self.domain.ilog2());
        format!("{} sector, {which}: {rows} rows, domain 2^{lg}; {threads}", self.sector)
    }

    /// What the checks are, and the bases.
    fn explanations(&self) -> String {
        let ([g1, g2], bytes) = (self.tiles, bytes(self.tile_bytes));
        let lines = [
            ("checks", format!("field arithmetic alone, {}, which are not in the total", duration(self.check_time))),
            ("quotient", "computed once more: h(t) (t^n - 1) = a(t) b(t) - c(t) at a point t".into()),
            ("sums", "the scalars times the bases' logarithms, which are known, times the generator".into()),
            ("bases", format!("{g1} points in G1 and {g2} in G2, repeated, {bytes}; no parameter file is read")),
        ];
        lines.map(|(name, meaning)| format!("{name:8}  {meaning}\n")).concat()
    }

    fn memory(&self, peak: &Memory) -> String {
        let anonymous = peak.anonymous.map_or_else(|| "unknown".to_owned(), bytes);
        format!("peak memory: anonymous {anonymous}; {} were counted\n", bytes(self.planned_bytes))
    }

    fn checked(&self, phase: Phase) -> Option<bool> {
        self.checks.iter().find(|check| check.phase == phase).map(|check| check.equal)
    }

    /// Everything as one JSON object. Seconds are wall time, floating point:
    ///
    /// ```text
    /// sector                 sector size, e.g. "32GiB"
    /// partitions             how many the sector has; the first is measured
    /// rows, domain, threads  how many
    /// device                 name, not_cuda: see `DeviceChoice::json`
    /// total_seconds          sum over the phases
    /// phases                 array, as in `Timings::json` but without "other"; in each also
    ///   equal                true or false; null of a phase that is not checked
    /// check_seconds          what the checks took
    /// device_work            see `DeviceWork::json`
    /// tiles                  g1, g2: different points; bytes: of them and their logarithms
    /// memory                 anonymous_peak_bytes, sampled, null where the system does not tell; planned_bytes, counted beforehand
    /// ```
    pub fn json(&self, timings: &Timings, peak: &Memory) -> Value {
        let total = total(timings);
        let phases = timings.measured().into_iter().map(|(phase, entry)| {
            let mut object = entry.json(phase, total);
            object["equal"] = self.checked(phase).into();
            object
        });
        let [g1, g2] = self.tiles;
        json!({
            "sector": self.sector,
            "partitions": self.partitions,
            "rows": self.rows,
            "domain": self.domain,
            "threads": self.threads,
            "device": self.device.json(),
            "total_seconds": total.as_secs_f64(),
            "phases": phases.collect::<Vec<_>>(),
            "check_seconds": self.check_time.as_secs_f64(),
            "device_work": timings.device_work().json(),
            "tiles": {"g1": g1, "g2": g2, "bytes": self.tile_bytes},
            "memory": {"anonymous_peak_bytes": peak.anonymous, "planned_bytes": self.planned_bytes},
        })
    }

    /// # Errors
    /// `Unverified`: something differs, or nothing was checked.
    pub fn verdict(&self) -> Result<()> {
        let wrong: Vec<_> = self.checks.iter().filter(|check| !check.equal).map(|check| check.phase.name()).collect();
        if !wrong.is_empty() || self.checks.is_empty() {
            let what = if wrong.is_empty() { "nothing was checked".to_owned() } else { wrong.join(", ") };
            fail!(
                Fault::Unverified,
                "{what}: not what field arithmetic says, on {}: do not prove on it; run again, and if it differs again suspect its memory \
                 and its arithmetic, and report this",
                self.device.name
            );
        }
        Ok(())
    }
}

/// The time of all phases.
fn total(timings: &Timings) -> Duration {
    timings.measured().iter().map(|(_, entry)| entry.wall).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEAK: Memory = Memory { anonymous: Some(13 << 30), mapped: None, resident_peak: None };

    fn report(wrong: &[Phase]) -> (PartitionReport, Timings) {
        let timings = Timings::default();
        timings.add(Phase::Synthesis, Duration::from_millis(50), 130_169_893);
        timings.add(Phase::Quotient, Duration::from_secs(30), 130_278_869);
        timings.add(Phase::SumH, Duration::from_secs(90), (1 << 27) - 1);
        let check = |phase| Check { phase, equal: !wrong.contains(&phase) };
        let report = PartitionReport {
            sector: "32GiB".into(),
            partitions: 10,
            rows: 130_278_869,
            domain: 1 << 27,
            threads: 2,
            device: DeviceChoice { name: "cpu".into(), not_cuda: None },
            checks: [Phase::Quotient, Phase::SumH].map(check).to_vec(),
            check_time: Duration::from_secs(40),
            tiles: [264_192, 66_560],
            tile_bytes: 48_758_784,
            planned_bytes: 14 << 30,
        };
        (report, timings)
    }

    #[test]
    fn the_table_says_of_each_phase_whether_it_is_right() {
        let (right, timings) = report(&[]);
        let expected = "\
32GiB sector, the first of its 10 partitions: 130 M rows, domain 2^27; 2 threads

phase         wall    share            items               rate  checked
synthesis  50.0 ms    0.0 %  130 M variables  2.60 G variables/s
quotient    30.0 s   25.0 %       130 M rows       4.34 M rows/s    equal
sum_h       90.0 s   75.0 %      134 M bases      1.49 M bases/s    equal
total      2 m 00 s  100.0 %
";
        let table = right.table(&timings, &PEAK);
        let squeezed = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (head, rest) = table.split_once("\n\nchecks ").unwrap();
        assert_eq!(squeezed(head), squeezed(expected));
        assert!(rest.ends_with("device: cpu\npeak memory: anonymous 13.0 GiB; 14.0 GiB were counted\n"), "{rest}");
        assert!(table.lines().all(|line| line.len() <= 100 && line == line.trim_end()), "{table}");
        let (wrong, timings) = report(&[Phase::SumH]);
        let table = wrong.table(&timings, &PEAK);
        let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("sum_h").ends_with("DIFFERS") && line("quotient").ends_with("equal"), "{table}");
    }

    #[test]
    fn what_differs_is_a_failed_verification_that_names_it() {
        assert!(report(&[]).0.verdict().is_ok());
        let error = report(&[Phase::SumH]).0.verdict().unwrap_err();
        assert_eq!(error.fault(), Fault::Unverified);
        let text = error.to_string();
        assert!(text.starts_with("sum_h: not what field arithmetic says, on cpu"), "{text}");
        let both = report(&[Phase::SumH, Phase::Quotient]).0.verdict().unwrap_err().to_string();
        assert!(both.starts_with("quotient, sum_h: "), "{both}");
        let unchecked = PartitionReport { checks: Vec::new(), ..report(&[]).0 };
        assert!(unchecked.verdict().unwrap_err().to_string().starts_with("nothing was checked"));
    }

    #[test]
    fn json_holds_the_documented_keys() {
        let (wrong, timings) = report(&[Phase::SumH]);
        let mut value = wrong.json(&timings, &PEAK);
        let phases = value["phases"].take();
        let expected = json!({
            "sector": "32GiB", "partitions": 10, "rows": 130_278_869, "domain": 1 << 27, "threads": 2,
            "device": {"name": "cpu", "not_cuda": null}, "total_seconds": 120.05, "phases": null, "check_seconds": 40.0,
            "device_work": [], "tiles": {"g1": 264_192, "g2": 66_560, "bytes": 48_758_784},
            "memory": {"anonymous_peak_bytes": 13u64 << 30, "planned_bytes": 14u64 << 30},
        });
        assert_eq!(value, expected);
        let of = |key: &str| phases.as_array().unwrap().iter().map(|phase| phase[key].clone()).collect::<Vec<_>>();
        assert_eq!(of("phase"), ["synthesis", "quotient", "sum_h"]);
        assert_eq!(of("equal"), [Value::Null, true.into(), false.into()]);
        assert_eq!(of("seconds"), [0.05, 30.0, 90.0]);
    }
}
