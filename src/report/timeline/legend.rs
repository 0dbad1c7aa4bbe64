//! The legend: what colours and hatches mean.

use std::collections::BTreeMap;

use super::{colour, COPY, KERNEL, TOGETHER, WIDTH};
use crate::report::spans::{Activity, Outcome, Snapshot};
use crate::report::text::{shortened, xml};

/// Files named at most.
const FILES: usize = 12;
const FILES_PER_LINE: usize = 4;
const LINE: f64 = 20.0;
const LEFT: f64 = 12.0;
/// Columns of text that fit between two swatches.
const NAME: usize = 36;

/// The legend from `top` on, and where it ends.
pub fn legend(snapshot: &Snapshot, top: f64) -> (String, f64) {
    let together = snapshot.all_spans().any(|span| matches!(span.activity, Activity::Together { .. }));
    // Waits that are too short to be seen need no explanation.
    let seen =
        |wait: Activity| snapshot.all_spans().any(|s| s.activity == wait && s.end - s.start >= snapshot.now / 1000);
    let waits = [
        (Activity::AwaitsMemory, "url(#memory)", 14.0, "waits for memory"),
        (Activity::AwaitsOutput, "url(#output)", 14.0, "done, waits for the next stage to take it"),
        (Activity::AwaitsInput, "#9a9a9a", 1.5, "waits for input from the stage before"),
    ];
    let column = (WIDTH - LEFT) / FILES_PER_LINE as f64;
    let at = |i: usize, y: f64| (LEFT + (i % FILES_PER_LINE) as f64 * column, y + (i / FILES_PER_LINE) as f64 * LINE);
    let mut text = String::new();
    let waits = waits.into_iter().filter(|(wait, ..)| seen(*wait)).map(|(_, fill, height, text)| (fill, height, text));
    let mut kinds: Vec<_> = waits.chain(together.then_some((TOGETHER, 14.0, "several partitions together"))).collect();
    if !snapshot.device_spans.is_empty() {
        kinds.extend([(KERNEL, 14.0, "kernels, as the device timed them"), (COPY, 14.0, "copies and fills")]);
    }
    for (i, (fill, height, meaning)) in kinds.iter().enumerate() {
        text += &entry(at(i, top), fill, *height, meaning);
    }
    let files = files(snapshot);
    let below = top + kinds.len().div_ceil(FILES_PER_LINE).max(1) as f64 * LINE + 6.0;
    for (i, (job, name)) in files.iter().take(FILES).enumerate() {
        text += &entry(at(i, below), colour(*job).0, 14.0, name);
    }
    let more = files.len().saturating_sub(FILES);
    let mut lines = files.len().min(FILES).div_ceil(FILES_PER_LINE);
    if more > 0 {
        let (x, y) = at(FILES, below);
        text += &format!("<text x=\"{x:.1}\" y=\"{:.1}\">+{more} more, in the same colours again</text>\n", y + 11.0);
        lines += 1;
    }
    (text, below + lines as f64 * LINE + 8.0)
}

fn entry((x, y): (f64, f64), fill: &str, height: f64, meaning: &str) -> String {
    format!(
        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"22\" height=\"{height}\" fill=\"{fill}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        y + (14.0 - height) / 2.0,
        x + 28.0,
        y + 11.0,
        xml(meaning)
    )
}

/// The files that have bars, in the run's order, shortened and with what became of them if they were not proved.
fn files(snapshot: &Snapshot) -> Vec<(usize, String)> {
    let names = snapshot.names();
    let ended: BTreeMap<usize, &Outcome> = snapshot.files.iter().map(|file| (file.job, &file.outcome)).collect();
    let worked_on = snapshot.all_spans().filter_map(|span| match span.activity {
        Activity::Work { job, .. } => Some(job),
        _ => None,
    });
    let jobs: std::collections::BTreeSet<usize> = worked_on.collect();
    let described = jobs.into_iter().map(|job| {
        let ending = match ended.get(&job) {
            None | Some(Outcome::Proved { .. }) => String::new(),
            Some(outcome) => format!(" ({})", outcome.name()),
        };
        (job, shortened(&names.get(job), NAME - ending.len()) + &ending)
    });
    described.collect()
}
