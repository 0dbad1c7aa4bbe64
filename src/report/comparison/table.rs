//! A comparison as text for people, 80 columns wide.

use std::time::Duration;

use super::{Comparison, Entry};
use crate::report::text::{columns, wrapped};
use crate::report::units::{bytes, count, duration, per_second};

const WIDTH: usize = 80;

impl Comparison {
    /// What was measured, a line for each entry, the time by parts, what the entries and the figures mean, notes.
    pub fn table(&self) -> String {
        let mut text = wrapped(&self.title, WIDTH, 2) + &wrapped(&self.how(), WIDTH, 2);
        text += &format!("\n{}", columns(&self.entries_rows()));
        let parts = self.parts_rows();
        if parts.len() > 1 {
            text += &format!("\n{}", columns(&parts));
        }
        text.push('\n');
        let names = self.entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
        for entry in &self.entries {
            // The indent of the first line is kept by blanks that do not break.
            let line = format!("{:names$}  {}", entry.name, entry.meaning);
            text += &wrapped(&line, WIDTH, names + 2);
        }
        let notes: String = self.explanations().iter().chain(&self.notes).map(|note| wrapped(note, WIDTH, 2)).collect();
        if notes.is_empty() {
            text
        } else {
            text + "\n" + &notes
        }
    }

    /// What the tables' figures are, where their headers do not say it all.
    fn explanations(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.threads > 1 && !self.part_names().is_empty() {
            sentences
                .push("By part: times of all threads added up; matrices, on which all work at once: wall time.".into());
        }
        if self.entries.iter().any(|entry| entry.cost.is_some_and(|cost| cost.peak_bytes.is_some())) {
            let kept = self.entries.iter().filter(|entry| entry.kept_bytes > 0);
            let kept: Vec<_> = kept.map(|entry| format!("{} {}", entry.name, bytes(entry.kept_bytes))).collect();
            let beside = if kept.is_empty() { "" } else { "; kept beside it from one run to the next: " };
            sentences.push(format!("Memory: a run's peak above what there was before{beside}{}.", kept.join(", ")));
        }
        sentences
    }

    /// How it was measured.
    pub(super) fn how(&self) -> String {
        let rounds = self.entries.iter().map(|entry| entry.samples.len()).max().unwrap_or(0);
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        format!("{}, each in turn; {}", plural(rounds, "round"), plural(self.threads, "thread"))
    }

    fn entries_rows(&self) -> Vec<Vec<String>> {
        let rate = format!("{}/s", self.unit);
        let header = ["", "median", "fastest", "slowest", "speedup", &rate, "memory", "allocations"];
        let rows = self.entries.iter().map(|entry| {
            let [median, least, greatest] =
                [0, 1, 2].map(|i: usize| known(entry.walls().map(|walls| walls[i]), duration));
            let speedup = self.entries.first().and_then(|first| entry.speedup(first));
            let rate = entry.median().and_then(|wall| per_second(entry.items, wall));
            let cost = entry.cost.unwrap_or_default();
            vec![
                entry.name.clone(),
                median,
                least,
                greatest,
                known(speedup, times),
                known(rate, count),
                known(cost.peak_bytes, bytes),
                known(cost.allocations, |n| count(n as f64)),
            ]
        });
        [header.map(str::to_owned).to_vec()].into_iter().chain(rows).collect()
    }

    /// A row for each part that takes time in some entry, a column for each entry.
    fn parts_rows(&self) -> Vec<Vec<String>> {
        let names = self.part_names();
        let what = if self.threads > 1 { "by part, all threads" } else { "by part" };
        let header = [what.to_owned()].into_iter().chain(self.entries.iter().map(|entry| entry.name.clone()));
        let rows = names.iter().map(|name| {
            let cells =
                self.entries.iter().map(|entry| known(entry.part(name).filter(|time| !time.is_zero()), duration));
            [(*name).to_owned()].into_iter().chain(cells).collect()
        });
        [header.collect()].into_iter().chain(rows).collect()
    }

    /// The parts that took time in some entry, in their order.
    pub(super) fn part_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for part in self.entries.iter().flat_map(|entry| &entry.parts) {
            let takes_time = |entry: &Entry| entry.part(part.name).is_some_and(|time| !time.is_zero());
            if !names.contains(&part.name) && self.entries.iter().any(takes_time) {
                names.push(part.name);
            }
        }
        names
    }
}

impl Entry {
    /// The time of the part in the run in the middle.
    pub(super) fn part(&self, name: &str) -> Option<Duration> {
        let i = self.parts.iter().position(|part| part.name == name)?;
        self.middle()?.parts.get(i).copied()
    }
}

/// A ratio as text: `1.00x`, `14.2x`, `670x`.
pub(super) fn times(factor: f64) -> String {
    if factor < 9.995 {
        format!("{factor:.2}x")
    } else if factor < 99.95 {
        format!("{factor:.1}x")
    } else {
        format!("{}x", count(factor.round()))
    }
}

fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}
