//! How the lanes of a run spent their time, and what held the others up.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{json, Value};

use super::spans::{Activity, Lane, Snapshot, Stage};
use super::text::percent;

/// What a lane, or all lanes of a stage together, did with their time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    pub lanes: usize,
    /// Pieces of work: files or partitions, unfinished ones included.
    pub pieces: usize,
    pub busy: Duration,
    pub awaits_input: Duration,
    pub awaits_memory: Duration,
    pub awaits_output: Duration,
    /// Start of the first and end of the last piece of work.
    pub first: Option<Duration>,
    pub last: Option<Duration>,
    /// From a lane's first piece to its last, summed over lanes.
    pub active: Duration,
}

impl Usage {
    /// Share of the run in which the lanes worked.
    pub fn busy_share(&self, run: Duration) -> f64 {
        self.share(self.busy, run)
    }

    /// Share of the time between the first and the last piece in which the lanes worked.
    pub fn active_busy_share(&self) -> f64 {
        ratio(self.busy, self.active)
    }

    /// `part` (of all lanes together) as a share of the run.
    pub fn share(&self, part: Duration, run: Duration) -> f64 {
        ratio(part, run) / self.lanes.max(1) as f64
    }

    fn join(self, other: &Self) -> Self {
        Self {
            lanes: self.lanes + other.lanes,
            pieces: self.pieces + other.pieces,
            busy: self.busy + other.busy,
            awaits_input: self.awaits_input + other.awaits_input,
            awaits_memory: self.awaits_memory + other.awaits_memory,
            awaits_output: self.awaits_output + other.awaits_output,
            first: self.first.into_iter().chain(other.first).min(),
            last: self.last.max(other.last),
            active: self.active + other.active,
        }
    }

    pub(super) fn json(&self, run: Duration) -> Value {
        json!({
            "pieces": self.pieces,
            "busy_seconds": self.busy.as_secs_f64(),
            "busy_share": self.busy_share(run),
            "active_busy_share": self.active_busy_share(),
            "awaits_input_seconds": self.awaits_input.as_secs_f64(),
            "awaits_memory_seconds": self.awaits_memory.as_secs_f64(),
            "awaits_output_seconds": self.awaits_output.as_secs_f64(),
            "first_seconds": self.first.map(|d| d.as_secs_f64()),
            "last_seconds": self.last.map(|d| d.as_secs_f64()),
        })
    }
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() {
        0.0
    } else {
        part.as_secs_f64() / whole.as_secs_f64()
    }
}

/// The usage of every lane that did or awaited anything.
#[derive(Clone, Debug, Default)]
pub struct Usages(pub BTreeMap<Lane, Usage>);

impl Usages {
    /// Adds up the spans, those that still go on included.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut spans: Vec<_> = snapshot.all_spans().collect();
        spans.sort_by_key(|span| span.start);
        let mut usages = BTreeMap::<Lane, Usage>::new();
        for span in spans {
            let usage = usages.entry(span.lane).or_insert(Usage { lanes: 1, ..Usage::default() });
            let wall = span.end.saturating_sub(span.start);
            match span.activity {
                Activity::AwaitsInput => usage.awaits_input += wall,
                Activity::AwaitsMemory => usage.awaits_memory += wall,
                Activity::AwaitsOutput => usage.awaits_output += wall,
                Activity::Work { .. } | Activity::Together { .. } => {
                    // Where pieces of one lane overlap, the time counts once.
                    let counted = usage.last.unwrap_or_default().max(span.start);
                    usage.busy += span.end.saturating_sub(counted);
                    usage.pieces += usize::from(matches!(span.activity, Activity::Work { .. }));
                    usage.first = usage.first.or(Some(span.start));
                    usage.last = usage.last.max(Some(span.end));
                }
            }
        }
        for usage in usages.values_mut() {
            usage.active = usage.last.unwrap_or_default().saturating_sub(usage.first.unwrap_or_default());
        }
        Self(usages)
    }

    /// All lanes of a stage together.
    pub fn stage(&self, stage: Stage) -> Usage {
        let lanes = self.0.iter().filter(|(lane, _)| lane.stage == stage);
        lanes.fold(Usage::default(), |sum, (_, usage)| sum.join(usage))
    }

    /// The stages that have lanes, in order.
    pub fn stages(&self) -> Vec<(Stage, Usage)> {
        Stage::ALL.into_iter().map(|stage| (stage, self.stage(stage))).filter(|(_, usage)| usage.lanes > 0).collect()
    }

    /// What the pipeline was held back by, in one phrase with its figures: a stage that hardly ever paused; else memory, where a
    /// stage waited for it at least half as long as the busiest one paused; else the stage that worked most of the time;
    /// else that the stages waited for each other.
    pub fn held_back(&self, run: Duration) -> String {
        let stages = self.stages();
        let busiest = stages.iter().map(|(stage, usage)| (*stage, usage.busy_share(run), usage.lanes));
        let Some((stage, busy, lanes)) = busiest.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, busy, _)| *busy > 0.0)
        else {
            return "nothing: no work was done".to_owned();
        };
        let worker = doing(stage, lanes);
        let waits = stages.iter().map(|(stage, usage)| (*stage, usage.share(usage.awaits_memory, run), usage.lanes));
        let starved = waits
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, waited, _)| *waited >= NOTABLE.max((1.0 - busy) / 2.0));
        match starved {
            _ if busy >= SATURATED => format!("{worker}: busy {} of the time", percent(busy)),
            Some((waiting, waited, _)) if waiting == stage => {
                format!("memory: {worker} waited for it {} of the time and worked {}", percent(waited), percent(busy))
            }
            Some((waiting, waited, lanes)) => format!(
                "memory: {} waited for it {} of the time, and {worker}, the busiest, worked {}",
                doing(waiting, lanes),
                percent(waited),
                percent(busy)
            ),
            None if busy >= MOSTLY => format!("{worker}: busy {} of the time", percent(busy)),
            None => {
                format!(
                    "waits of the stages for each other: {worker}, the busiest, worked {} of the time",
                    percent(busy)
                )
            }
        }
    }
}

/// Busy so often that nothing else can be in the way.
const SATURATED: f64 = 0.9;
/// Busy so often that it is the first thing in the way, unless something else is known to be.
const MOSTLY: f64 = 0.5;
/// A wait for memory below this share is not worth a word.
const NOTABLE: f64 = 0.1;

fn doing(stage: Stage, lanes: usize) -> &'static str {
    match stage {
        Stage::Read => "reading",
        Stage::Circuit => "building circuits",
        Stage::Synthesis => "synthesis",
        Stage::Device if lanes > 1 => "the devices",
        Stage::Device => "the device",
        Stage::Assembly => "assembly and verification",
        Stage::Write => "writing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{seconds, span, two_files, work};
    use crate::report::spans::Span;

    const RUN: Duration = Duration::from_secs(20);

    #[test]
    fn time_is_split_into_work_and_waits() {
        let usages = Usages::new(&two_files());
        let device = usages.stage(Stage::Device);
        assert_eq!((device.lanes, device.pieces, device.busy), (1, 4, seconds(15.0)));
        assert_eq!((device.first, device.last), (Some(seconds(4.0)), Some(seconds(19.0))));
        assert_eq!((device.busy_share(RUN), device.active_busy_share()), (0.75, 1.0));
        let synthesis = usages.stage(Stage::Synthesis);
        assert_eq!(synthesis.busy, seconds(9.0));
        assert_eq!((synthesis.awaits_memory, synthesis.awaits_output), (seconds(2.0), seconds(2.0)));
        assert!(usages.stages().iter().all(|(stage, _)| *stage != Stage::Circuit));
    }

    #[test]
    fn work_on_several_at_once_is_work_and_no_piece() {
        let mut snapshot = two_files();
        snapshot.spans.push(span(Stage::Device, Activity::Together { partitions: 2 }, 2.0, 4.0));
        let device = Usages::new(&snapshot).stage(Stage::Device);
        assert_eq!((device.pieces, device.busy, device.first), (4, seconds(17.0), Some(seconds(2.0))));
        assert_eq!(snapshot.device_partitions().len(), 4);
    }

    #[test]
    fn several_lanes_share_a_stage_and_overlaps_count_once() {
        let mut snapshot = Snapshot { now: RUN, ..Snapshot::default() };
        let second = |span: Span| Span { lane: Lane { worker: 1, ..span.lane }, ..span };
        snapshot.spans = vec![
            work(Stage::Device, 0, 1, 2.0, 8.0),
            work(Stage::Device, 0, 0, 0.0, 10.0),
            second(work(Stage::Device, 0, 2, 0.0, 5.0)),
        ];
        snapshot.running = vec![(
            Lane { stage: Stage::Device, worker: 1 },
            work(Stage::Device, 0, 3, 0.0, 0.0).activity,
            seconds(15.0),
        )];
        let device = Usages::new(&snapshot).stage(Stage::Device);
        assert_eq!((device.lanes, device.busy, device.active), (2, seconds(20.0), seconds(30.0)));
        assert_eq!(device.busy_share(RUN), 0.5);
    }

    #[test]
    fn a_sentence_says_what_held_the_pipeline_back() {
        let held = |spans: Vec<Span>| Usages::new(&Snapshot { spans, ..Snapshot::default() }).held_back(RUN);
        let waits = |to| span(Stage::Synthesis, Activity::AwaitsMemory, 0.0, to);
        assert_eq!(held(vec![]), "nothing: no work was done");
        assert_eq!(held(vec![waits(8.0)]), "nothing: no work was done");
        let device = |to| work(Stage::Device, 0, 0, 0.0, to);
        assert_eq!(held(vec![waits(19.0), device(19.4)]), "the device: busy 97 % of the time");
        assert_eq!(
            held(vec![waits(8.6), device(12.0)]),
            "memory: synthesis waited for it 43 % of the time, and the device, the busiest, worked 60 %"
        );
        assert_eq!(
            held(vec![waits(6.0), work(Stage::Synthesis, 0, 0, 6.0, 20.0)]),
            "memory: synthesis waited for it 30 % of the time and worked 70 %"
        );
        assert_eq!(held(vec![waits(1.0), work(Stage::Read, 0, 0, 0.0, 12.0)]), "reading: busy 60 % of the time");
        assert_eq!(
            held(vec![device(6.0), work(Stage::Synthesis, 0, 0, 0.0, 5.0)]),
            "waits of the stages for each other: the device, the busiest, worked 30 % of the time"
        );
    }
}
