//! A run as a picture: a lane for each worker of a stage and each device, a bar for each piece of work, coloured by file.

mod bars;
mod legend;

use std::time::Duration;

use bars::{bars, piece, Bar, Paint};

use super::axis;
use super::lanes::{Usage, Usages};
use super::spans::{stream_name, Activity, DeviceSpan, Lane, Names, Outcome, Snapshot, Span, Stage};
use super::text::{percent, shortened, xml};
use super::trace::{lane_name, together_name, work_name};
use super::units::{count, duration};

/// Sizes in pixels.
const WIDTH: f64 = 1200.0;
const LEFT: f64 = 112.0;
const RIGHT: f64 = 80.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;
/// Where the lanes begin: below title, summary and the axis' labels.
const TOP: f64 = 92.0;
const STAGE_GAP: f64 = 7.0;
/// Least width of a hatched bar.
const HATCHED: f64 = 7.0;
/// Width of a character in bars, estimated: fonts differ.
const CHARACTER: f64 = 6.4;

/// Colours of files: nine that colour-blind people tell apart (Paul Tol, "muted"), neighbours of different lightness, and
/// whether text on them is white.
const COLOURS: [(&str, bool); 9] = [
    ("#332288", true),
    ("#ddcc77", false),
    ("#44aa99", false),
    ("#882255", true),
    ("#88ccee", false),
    ("#117733", true),
    ("#cc6677", false),
    ("#aa4499", true),
    ("#999933", false),
];

/// Colours of a device's own work.
const KERNEL: &str = "#3b6ea5";
const COPY: &str = "#e08a2e";

/// Colour of work on several partitions at once: of no file.
const TOGETHER: &str = "#5a5a5a";

fn colour(job: usize) -> (&'static str, bool) {
    COLOURS[job % COLOURS.len()]
}

/// The picture as a self-contained SVG of 1200 pixels' width.
pub fn svg(snapshot: &Snapshot, title: &str) -> String {
    let usages = Usages::new(snapshot);
    let picture =
        Picture { run: snapshot.now, scale: PLOT / snapshot.now.as_secs_f64().max(1e-6), names: snapshot.names() };
    let (lanes, bottom) = picture.lanes(snapshot, &usages);
    let axis = picture.axis(bottom);
    let (legend, height) = legend::legend(snapshot, bottom + 30.0);
    let heading = heading(title, &summary(snapshot, &usages));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222222\">\n\
         <title>{}</title>\n{DEFINITIONS}<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         {heading}{axis}{lanes}{legend}</svg>\n",
        xml(title)
    )
}

/// Hatches: memory leans one way in red, output the other in grey.
const DEFINITIONS: &str = "<defs>\
<pattern id=\"memory\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<rect width=\"6\" height=\"6\" fill=\"#ffe3dc\"/><rect width=\"2\" height=\"6\" fill=\"#d62f0f\"/></pattern>\
<pattern id=\"output\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\">\
<rect width=\"6\" height=\"6\" fill=\"#f6f6f6\"/><rect width=\"1.6\" height=\"6\" fill=\"#8a8a8a\"/></pattern></defs>\n";

fn heading(title: &str, summary: &str) -> String {
    format!(
        "<text x=\"12\" y=\"28\" font-size=\"18\" font-weight=\"bold\">{}</text>\n<text x=\"12\" y=\"50\" \
         fill=\"#444444\" font-size=\"13\">{}</text>\n",
        xml(&shortened(title, 110)),
        xml(summary)
    )
}

fn summary(snapshot: &Snapshot, usages: &Usages) -> String {
    let partitions = snapshot.device_partitions().len();
    let ended = snapshot.files.iter().filter(|file| file.outcome != Outcome::Unfinished).count();
    format!(
        "{} of {} ended, {} through devices in {}. Held back by {}",
        count(ended as f64),
        super::Unit::Files.amount(snapshot.jobs.len().max(snapshot.files.len()) as u64),
        super::Unit::Partitions.amount(partitions as u64),
        duration(snapshot.now),
        usages.held_back(snapshot.now)
    )
}

struct Picture<'a> {
    run: Duration,
    /// Pixels a second.
    scale: f64,
    names: Names<'a>,
}

/// Height of a lane and the gap below it, by the number of lanes.
fn lane_height(lanes: usize) -> (f64, f64) {
    match lanes {
        0..=24 => (22.0, 4.0),
        25..=60 => (14.0, 3.0),
        _ => (9.0, 2.0),
    }
}

impl Picture<'_> {
    /// All lanes, and where they end.
    fn lanes(&self, snapshot: &Snapshot, usages: &Usages) -> (String, f64) {
        if usages.0.is_empty() {
            let at = LEFT + PLOT / 2.0;
            return (
                format!("<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">nothing was recorded</text>\n", TOP + 18.0),
                TOP + 30.0,
            );
        }
        let (height, gap) = lane_height(usages.0.len() + snapshot.streams().len());
        let mut spans: Vec<Span> = snapshot.all_spans().collect();
        spans.sort_by_key(|span| (span.lane, span.start));
        let (mut text, mut y, mut above) = (String::new(), TOP, None);
        for lane_spans in spans.chunk_by(|a, b| a.lane == b.lane) {
            let lane = lane_spans[0].lane;
            if above.is_some_and(|stage| stage != lane.stage) {
                y += STAGE_GAP;
            }
            above = Some(lane.stage);
            let usage = usages.0.get(&lane).copied().unwrap_or_default();
            let alone = usages.stage(lane.stage).lanes == 1;
            text += &self.lane(lane, lane_spans, &usage, alone, (y, height));
            y += height + gap;
        }
        for (i, (stream, spans)) in snapshot.streams().into_iter().enumerate() {
            y += if i == 0 { STAGE_GAP } else { 0.0 };
            text += &self.stream(&stream_name(stream), &spans, (y, height));
            y += height + gap;
        }
        (text, y)
    }

    /// What a device timed itself in one stream.
    fn stream(&self, name: &str, spans: &[&DeviceSpan], at: (f64, f64)) -> String {
        let busy: Duration = spans.iter().map(|span| span.end.saturating_sub(span.start)).sum();
        let idle = 1.0 - busy.as_secs_f64() / self.run.as_secs_f64().max(1e-6);
        let mut text = ground(name, "normal", idle, at);
        for bar in bars(spans.iter().map(|span| (span.start, span.end, span.kind.into())), self.scale) {
            let hint = bar.piece.map_or_else(String::new, |i| hint(&spans[i].what(), spans[i].start, spans[i].end));
            text += &rect(&bar, at, if bar.paint == Paint::Kernel { KERNEL } else { COPY }, &hint);
        }
        text
    }

    fn lane(&self, lane: Lane, spans: &[Span], usage: &Usage, alone: bool, at: (f64, f64)) -> String {
        let name = if alone { lane.stage.name().to_owned() } else { lane_name(lane) };
        let weight = if lane.stage == Stage::Device { "bold" } else { "normal" };
        let mut text = ground(&name, weight, 1.0 - usage.busy_share(self.run), at);
        for bar in bars(spans.iter().map(piece), self.scale) {
            text += &self.bar(&bar, bar.piece.map(|i| &spans[i]), at);
        }
        text
    }

    fn bar(&self, bar: &Bar, span: Option<&Span>, (y, height): (f64, f64)) -> String {
        let fill = match bar.paint {
            Paint::Job(job) => colour(job).0,
            Paint::Together => TOGETHER,
            Paint::Kernel => KERNEL,
            Paint::Copy => COPY,
            // Hatches need room to be seen.
            Paint::AwaitsMemory if bar.width < HATCHED => "#f0988a",
            Paint::AwaitsMemory => "url(#memory)",
            Paint::AwaitsOutput if bar.width < HATCHED => "#cfcfcf",
            Paint::AwaitsOutput => "url(#output)",
            // A line on the ground: nothing to do.
            Paint::AwaitsInput => return rect(bar, (y + height / 2.0 - 0.75, 1.5), "#9a9a9a", ""),
        };
        let hint = span.map_or_else(String::new, |span| hint(&self.what(span), span.start, span.end));
        rect(bar, (y, height), fill, &hint) + &self.caption(bar, span, (y, height))
    }

    fn what(&self, span: &Span) -> String {
        match span.activity {
            Activity::Work { job, partition } => work_name(self.names.get(job).into_owned(), partition),
            Activity::Together { partitions } => together_name(partitions),
            Activity::AwaitsInput => "awaits input".to_owned(),
            Activity::AwaitsMemory => "awaits memory".to_owned(),
            Activity::AwaitsOutput => "awaits output".to_owned(),
        }
    }

    /// The partition, with its file where there is room.
    fn caption(&self, bar: &Bar, span: Option<&Span>, (y, height): (f64, f64)) -> String {
        let Some(Activity::Work { job, partition }) = span.map(|span| span.activity) else { return String::new() };
        let number = partition.map_or_else(String::new, |k| k.to_string());
        let room = ((bar.width - 6.0) / CHARACTER).max(0.0) as usize;
        let for_name = room.saturating_sub(number.len() + 1).min(30);
        let caption =
            if for_name >= 6 { format!("{} {number}", shortened(&self.names.get(job), for_name)) } else { number };
        if height < 12.0 || room < caption.trim().len().min(room + 1) || caption.trim().is_empty() {
            return String::new();
        }
        let fill = if colour(job).1 { "#ffffff" } else { "#111111" };
        format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"{fill}\">{}</text>\n",
            LEFT + bar.x + bar.width / 2.0,
            y + height / 2.0 + 4.0,
            xml(caption.trim())
        )
    }

    /// Lines through all lanes, labels above them and the heading of the idle shares.
    fn axis(&self, bottom: f64) -> String {
        let mut text = format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444444\">idle</text>\n",
            WIDTH - 12.0,
            TOP - 12.0
        );
        for (at, label) in axis::ticks(self.run.as_secs_f64()) {
            let x = LEFT + at * self.scale;
            text += &format!(
                "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"#c8c8c8\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444444\">{label}</text>\n",
                TOP - 7.0,
                TOP - 12.0
            );
        }
        text
    }
}

/// A lane's name, its idle share, and the ground for its bars.
fn ground(name: &str, weight: &str, idle: f64, (y, height): (f64, f64)) -> String {
    let (size, baseline) = (12.0f64.min(height), y + height / 2.0 + 12.0f64.min(height) * 0.36);
    let idle = percent(idle.max(0.0));
    format!(
        "<text x=\"{:.1}\" y=\"{baseline:.1}\" text-anchor=\"end\" font-size=\"{size}\" font-weight=\"{weight}\">{name}</text>\
         <text x=\"{:.1}\" y=\"{baseline:.1}\" text-anchor=\"end\" font-size=\"{size}\" font-weight=\"{weight}\">{idle}</text>\n\
         <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{PLOT}\" height=\"{height}\" fill=\"#000000\" fill-opacity=\"0.045\"/>\n",
        LEFT - 8.0,
        WIDTH - 12.0
    )
}

/// What a browser shows under the pointer.
fn hint(what: &str, start: Duration, end: Duration) -> String {
    format!("<title>{}: {} from {}</title>", xml(what), duration(end.saturating_sub(start)), duration(start))
}

/// `inside` is what stands in the element. Bars that are wide enough are set apart by a white edge.
fn rect(bar: &Bar, (y, height): (f64, f64), fill: &str, inside: &str) -> String {
    let edge = if bar.width >= 4.0 && height > 5.0 { " stroke=\"#ffffff\" stroke-width=\"0.8\"" } else { "" };
    let pale = if bar.opacity < 1.0 { format!(" fill-opacity=\"{:.2}\"", bar.opacity) } else { String::new() };
    let x = LEFT + bar.x;
    let end = if inside.is_empty() { "/>".to_owned() } else { format!(">{inside}</rect>") };
    format!(
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{height}\" fill=\"{fill}\"{pale}{edge}{end}\n",
        bar.width
    )
}

#[cfg(test)]
mod tests;
