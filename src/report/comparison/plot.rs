//! A comparison as a picture: a bar for each entry, cut into its parts, with every run and the spread.

use super::table::times;
use super::{Comparison, Entry};
use crate::report::axis;
use crate::report::text::{wrapped, xml};
use crate::report::units::duration;

/// Sizes in pixels.
const WIDTH: f64 = 1000.0;
const RIGHT: f64 = 220.0;
/// Where the bars begin: below the title and the axis' labels.
const TOP: f64 = 104.0;
const BAR: f64 = 30.0;
const STEP: f64 = 52.0;
/// Width of a character of names and legends, estimated: fonts differ.
const CHARACTER: f64 = 7.2;
const TITLE_COLUMNS: usize = 95;
/// A bar narrower than this is drawn once more, larger, behind its figures, which take this much.
const THIN: f64 = 24.0;
const FIGURES: f64 = 170.0;

/// Colours of parts (Paul Tol, "bright" and "muted"): told apart by colour-blind people and in print.
const COLOURS: [&str; 7] = ["#4477aa", "#88ccee", "#ccbb44", "#228833", "#bbbbbb", "#ee6677", "#aa3377"];

struct Scale {
    left: f64,
    /// Pixels a second.
    pixels: f64,
}

impl Scale {
    fn x(&self, seconds: f64) -> f64 {
        self.left + seconds * self.pixels
    }
}

impl Comparison {
    /// The picture as a self-contained SVG of 1000 pixels' width.
    pub fn svg(&self) -> String {
        let longest = self.entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
        let left = 24.0 + longest as f64 * CHARACTER;
        let slowest =
            self.entries.iter().filter_map(Entry::walls).map(|[.., slowest]| slowest.as_secs_f64()).fold(0.0, f64::max);
        let scale = Scale { left, pixels: (WIDTH - RIGHT - left) / slowest.max(1e-9) };
        let bottom = TOP + self.entries.len() as f64 * STEP;
        let axis = axis(&scale, slowest, bottom);
        let bars: String =
            self.entries.iter().enumerate().map(|(i, entry)| self.bar(entry, &scale, TOP + i as f64 * STEP)).collect();
        let legend = self.legend(bottom + 14.0);
        let height = bottom + 48.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"#222222\">\n\
             <title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}{axis}{bars}{legend}</svg>\n",
            xml(&self.title),
            self.heading(),
        )
    }

    fn heading(&self) -> String {
        let lines = wrapped(&self.title, TITLE_COLUMNS, 0);
        let lines = lines.lines().take(2).enumerate().map(|(i, line)| {
            format!("<text x=\"12\" y=\"{}\" font-size=\"17\" font-weight=\"bold\">{}</text>\n", 26 + 20 * i, xml(line))
        });
        let how = format!("{}; bars end at the median, dots are runs", self.how());
        let below = format!("<text x=\"12\" y=\"{}\" fill=\"#555555\">{}</text>\n", TOP - 34.0, xml(&how));
        lines.collect::<String>() + &below
    }

    fn bar(&self, entry: &Entry, scale: &Scale, y: f64) -> String {
        let middle = y + BAR / 2.0;
        let mut text = format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            scale.left - 8.0,
            middle + 4.5,
            xml(&entry.name)
        );
        let Some([median, least, greatest]) = entry.walls() else { return text };
        text += &self.stack(entry, scale, y);
        text += &spread(entry, scale, y);
        let speedup = self.entries.first().and_then(|first| entry.speedup(first)).unwrap_or(1.0);
        text += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#555555\">{} to {}</text>\n",
            scale.x(greatest.as_secs_f64()) + 12.0,
            middle - 1.0,
            xml(&format!("{}, {}", duration(median), times(speedup))),
            scale.x(greatest.as_secs_f64()) + 12.0,
            middle + 13.0,
            duration(least),
            duration(greatest),
        );
        text + &self.magnified(entry, scale, y)
    }

    /// A thin bar once more, so much larger that its parts can be told apart.
    fn magnified(&self, entry: &Entry, scale: &Scale, y: f64) -> String {
        let Some([median, _, greatest]) = entry.walls() else { return String::new() };
        let (width, left) = (median.as_secs_f64() * scale.pixels, scale.x(greatest.as_secs_f64()) + FIGURES + 110.0);
        let room = WIDTH - RIGHT - left;
        if width <= 0.0 || width >= THIN || room < 10.0 * width || self.part_names().is_empty() {
            return String::new();
        }
        let power = 10f64.powi((room / width).log10() as i32);
        // A round number: there is room for the power of ten itself.
        let factor = [5.0, 2.0].map(|k| k * power).into_iter().find(|k| k * width <= room).unwrap_or(power);
        let (at, middle) = (left - 8.0, y + BAR / 2.0 + 4.5);
        let caption = format!("{factor} times as wide:");
        format!("<text x=\"{at:.1}\" y=\"{middle:.1}\" text-anchor=\"end\" font-size=\"11\" fill=\"#555555\">{caption}</text>\n")
            + &self.stack(entry, &Scale { left, pixels: scale.pixels * factor }, y)
    }

    /// The median, cut in the proportions of the run in the middle; work of several threads at a time counts by its share.
    fn stack(&self, entry: &Entry, scale: &Scale, y: f64) -> String {
        let names = self.part_names();
        let whole = entry.walls().map_or(0.0, |[median, ..]| median.as_secs_f64());
        let parts: Vec<f64> = names.iter().map(|name| entry.part(name).unwrap_or_default().as_secs_f64()).collect();
        let sum: f64 = parts.iter().sum();
        if sum <= 0.0 {
            return rect(scale.x(0.0), y, whole * scale.pixels, COLOURS[0], "");
        }
        let (mut at, mut text) = (0.0, String::new());
        for (i, (name, part)) in names.iter().zip(&parts).enumerate() {
            let width = part / sum * whole;
            let hint = format!("{name}: {}", duration(std::time::Duration::from_secs_f64(*part)));
            text += &rect(scale.x(at), y, width * scale.pixels, COLOURS[i % COLOURS.len()], &hint);
            at += width;
        }
        text
    }

    fn legend(&self, y: f64) -> String {
        let mut x = 12.0;
        let entry = |(i, name): (usize, &&str)| {
            let text = format!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\" fill=\"{}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
                COLOURS[i % COLOURS.len()],
                x + 20.0,
                y + 11.5,
                xml(name)
            );
            x += 42.0 + name.len() as f64 * CHARACTER;
            text
        };
        self.part_names().iter().enumerate().map(entry).collect()
    }
}

fn rect(x: f64, y: f64, width: f64, fill: &str, hint: &str) -> String {
    let hint = if hint.is_empty() { String::new() } else { format!("<title>{}</title>", xml(hint)) };
    format!("<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{BAR}\" fill=\"{fill}\">{hint}</rect>\n")
}

/// A line from the fastest to the slowest run below the bar, with a dot for each run.
fn spread(entry: &Entry, scale: &Scale, y: f64) -> String {
    let Some([_, least, greatest]) = entry.walls() else { return String::new() };
    let at = y + BAR + 6.0;
    let mut text = format!(
        "<path d=\"M{:.2} {at:.1}H{:.2}\" stroke=\"#222222\" stroke-width=\"1.5\"/>\n",
        scale.x(least.as_secs_f64()),
        scale.x(greatest.as_secs_f64())
    );
    for sample in &entry.samples {
        let x = scale.x(sample.wall.as_secs_f64());
        text += &format!("<circle cx=\"{x:.2}\" cy=\"{at:.1}\" r=\"2.6\" fill=\"#222222\" fill-opacity=\"0.6\"/>\n");
    }
    text
}

fn axis(scale: &Scale, slowest: f64, bottom: f64) -> String {
    let mut text = String::new();
    for (at, label) in axis::ticks(slowest) {
        let x = scale.x(at);
        text += &format!(
            "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"#d4d4d4\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\" font-size=\"11\">{label}</text>\n",
            TOP - 10.0,
            TOP - 15.0
        );
    }
    text
}
