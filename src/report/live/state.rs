//! What the live display knows: the sum of a recorder's news, and the lines that say it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::report::batch::Counts;
use crate::report::record::message_without_name;
use crate::report::spans::{Activity, FileRecord, Job, Lane, Outcome, Snapshot, Span, Stage};
use crate::report::text::{shortened, visible};
use crate::report::units::duration;
use crate::report::Unit;

/// Columns of a file's name in a stage's line.
const NAME: usize = 28;

/// Something that happened, as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Started(String),
    Partition(String),
    /// A file ended that this run worked on.
    Ended(String),
    /// A file that an earlier run proved, or that has another one's proof.
    Skipped(String),
}

/// All that was told up to now.
#[derive(Default)]
pub struct State {
    /// Files of the folder.
    found: usize,
    /// Those of them that are not known to be another shard's.
    total: usize,
    now: Duration,
    jobs: BTreeMap<usize, Job>,
    /// Partitions that a device has finished, of files that have not ended.
    finished: BTreeMap<usize, BTreeSet<usize>>,
    partitions: usize,
    /// Files that were announced and have not ended.
    open: BTreeSet<usize>,
    /// What the device took for partitions, and for how many.
    on_device: (Duration, u32),
    /// Each one's part of the last work on several partitions together, and how many of them have not ended yet.
    together: (Duration, usize),
    /// Lanes that devices were seen on.
    devices: BTreeSet<usize>,
    counts: Counts,
    /// Why files failed, and the first one that did for each.
    reasons: BTreeMap<String, String>,
    running: Vec<(Lane, Activity, Duration)>,
    queues: [usize; Stage::ALL.len()],
}

impl State {
    /// Nothing yet, of `found` files.
    pub fn new(found: usize) -> Self {
        Self { found, total: found, ..Self::default() }
    }

    /// Takes in what is new; says what happened: files that started, partitions, files that ended.
    pub fn learn(&mut self, news: Snapshot) -> Vec<Event> {
        let mut events = Vec::new();
        self.total = self.found.saturating_sub(news.elsewhere);
        for (job, known) in news.jobs {
            let name = visible(&known.name);
            self.open.insert(job);
            if self.jobs.insert(job, known).is_none() {
                events.push(Event::Started(format!("{name}: started")));
            }
        }
        for span in &news.spans {
            match span.activity {
                // Part of these partitions' time on the device, to be counted with each of them.
                Activity::Together { partitions } => {
                    let part = span.end.saturating_sub(span.start) / partitions.max(1) as u32;
                    self.together = (part, partitions);
                }
                _ => events.extend(self.partition(span, &news.failed_partitions).map(Event::Partition)),
            }
        }
        events.extend(news.files.iter().map(|file| self.ended(file)));
        (self.now, self.queues, self.running) = (news.now, news.queues, news.running);
        self.running.sort_by_key(|(lane, ..)| *lane);
        events
    }

    fn partition(&mut self, span: &Span, failed: &BTreeSet<(usize, usize)>) -> Option<String> {
        let (job, k) = span.partition()?;
        let mut wall = span.end.saturating_sub(span.start);
        if let (part, left @ 1..) = self.together {
            self.together.1 = left - 1;
            wall += part;
        }
        if failed.contains(&(job, k)) || !self.finished.entry(job).or_default().insert(k) {
            return None;
        }
        self.partitions += 1;
        self.on_device = (self.on_device.0 + wall, self.on_device.1 + 1);
        self.devices.insert(span.lane.worker);
        let (name, wall, done) = (self.name(job), duration(wall), self.finished[&job].len());
        let all = self.jobs.get(&job).and_then(|known| known.partitions);
        let count = all.map_or(String::new(), |all| format!(" ({done} of {all})"));
        Some(format!("{name}: partition {k} through the device in {wall}{count}"))
    }

    fn name(&self, job: usize) -> String {
        self.jobs.get(&job).map_or_else(|| format!("file {}", job + 1), |known| visible(&known.name))
    }

    fn ended(&mut self, file: &FileRecord) -> Event {
        self.finished.remove(&file.job);
        self.open.remove(&file.job);
        self.counts = self.counts.plus(&Counts::of([file]));
        let name = visible(&file.name);
        let place = format!("{} of {}", self.counts.total(), Unit::Files.amount(self.total as u64));
        match &file.outcome {
            Outcome::Proved { .. } => {
                let partitions = Unit::Partitions.amount(file.partitions as u64);
                Event::Ended(format!("{name}: proved, {partitions} in {} ({place})", duration(file.wall)))
            }
            Outcome::Skipped { same_as: None, .. } => {
                Event::Skipped(format!("{name}: skipped, proved before ({place})"))
            }
            Outcome::Skipped { same_as: Some(other), .. } => {
                let other = visible(other);
                Event::Skipped(format!("{name}: same content as {other}, whose proof was copied ({place})"))
            }
            Outcome::Failed { .. } => {
                let reason = message_without_name(file).unwrap_or_default();
                let first = self.reasons.entry(reason.clone()).or_insert(name.clone());
                let reason = if *first == name { reason } else { format!("for the same reason as {first}") };
                Event::Ended(format!("{name}: failed: {reason} ({place})"))
            }
            Outcome::Unfinished => Event::Ended(format!("{name}: stopped before its end ({place})")),
        }
    }

    /// Files of this run, as far as known.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Files that are done, finished partitions of others as parts of a file.
    pub fn done(&self) -> f64 {
        self.counts.total() as f64 + self.begun()
    }

    fn begun(&self) -> f64 {
        let part = |(job, finished): (&usize, &BTreeSet<usize>)| {
            let all = self.jobs.get(job)?.partitions.filter(|all| *all > 0)?;
            Some((finished.len() as f64 / all as f64).min(1.0))
        };
        self.finished.iter().filter_map(part).sum()
    }

    /// Time left: the mean time of a partition on a device for each that is still to come, less what was spent on those that are
    /// there now. Files that were skipped or failed say nothing about it.
    pub fn left(&self) -> Option<Duration> {
        let mean = self.on_device.0.checked_div(self.on_device.1)?.as_secs_f64();
        let on_device = self.running.iter().filter_map(|(lane, activity, since)| match activity {
            Activity::Work { .. } if lane.stage == Stage::Device => Some(self.now.saturating_sub(*since)),
            _ => None,
        });
        // A partition that takes longer than the mean is one that is about to end.
        let spent: f64 = on_device.map(|spent| spent.as_secs_f64().min(mean)).sum();
        let seconds = (self.to_come() * mean - spent) / self.devices.len().max(1) as f64;
        Duration::try_from_secs_f64(seconds.max(0.0)).ok()
    }

    /// Partitions that no device has finished; those of files not read yet are as many as in the others on average.
    fn to_come(&self) -> f64 {
        let known = |job: &usize| self.jobs.get(job)?.partitions;
        let all: Vec<usize> = self.jobs.keys().filter_map(known).collect();
        let mean = all.iter().sum::<usize>() as f64 / all.len().max(1) as f64;
        let left = |job: &usize| match known(job) {
            Some(all) => all.saturating_sub(self.finished.get(job).map_or(0, BTreeSet::len)) as f64,
            None => mean,
        };
        let unread = self.total.saturating_sub(self.counts.total() + self.open.len());
        self.open.iter().map(left).sum::<f64>() + unread as f64 * mean
    }

    /// `3 of 10 files, 27 partitions, about 2 m 05 s left; 1 failed`.
    pub fn batch_line(&self) -> String {
        let mut line = format!("{} of {}", self.counts.total(), Unit::Files.amount(self.total as u64));
        line += &format!(", {}", Unit::Partitions.amount(self.partitions as u64));
        match self.left() {
            Some(left) if left < Duration::from_secs(1) => {}
            Some(left) => line += &format!(", about {} left", seconds(left)),
            None => {}
        }
        let others = [(self.counts.skipped, "skipped"), (self.counts.failed, "failed")];
        let others: Vec<_> = others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if !others.is_empty() {
            line += &format!("; {}", others.join(", "));
        }
        line
    }

    /// What waits in front of a stage, and what its lanes do.
    pub fn stage_line(&self, stage: Stage) -> String {
        let lanes = self.running.iter().filter(|(lane, ..)| lane.stage == stage);
        let (mut doing, mut memory, mut output) = (Vec::new(), 0, 0);
        for (_, activity, since) in lanes {
            match activity {
                Activity::Work { job, partition } => doing.push(self.work(*job, *partition, *since)),
                Activity::Together { partitions } => {
                    let wall = seconds(self.now.saturating_sub(*since));
                    doing.push(format!("{partitions} partitions together ({wall})"));
                }
                Activity::AwaitsMemory => memory += 1,
                Activity::AwaitsOutput => output += 1,
                Activity::AwaitsInput => {}
            }
        }
        for (lanes, what) in [(memory, "waiting for memory"), (output, "waiting for the next stage")] {
            match lanes {
                0 => {}
                1 => doing.push(what.to_owned()),
                n => doing.push(format!("{n} {what}")),
            }
        }
        let doing = if doing.is_empty() { "idle".to_owned() } else { doing.join(", ") };
        let queued = match self.queues[stage as usize] {
            0 => String::new(),
            n => format!("{n} queued"),
        };
        format!("{queued:<11}{doing}")
    }

    fn work(&self, job: usize, partition: Option<usize>, since: Duration) -> String {
        let name = shortened(&self.name(job), NAME);
        let wall = format!(" ({})", seconds(self.now.saturating_sub(since)));
        match partition {
            Some(k) => format!("{name} partition {k}{wall}"),
            None => format!("{name}{wall}"),
        }
    }
}

/// Whole seconds: what changes all the time deserves no more digits.
fn seconds(d: Duration) -> String {
    match d.as_secs() {
        whole @ 0..100 => format!("{whole} s"),
        whole => duration(Duration::from_secs(whole)),
    }
}
