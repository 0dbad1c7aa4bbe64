//! The spans of one lane as bars: one each where it can be seen, merged into columns of a pixel where it cannot.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::report::spans::{Activity, Span};
use crate::report::OperationKind;

/// Narrower spans are merged, in pixels.
const THINNEST: f64 = 1.0;
/// How many degrees of opacity merged columns have.
const DEGREES: f64 = 4.0;

/// What a bar shows; a partition is no part of it, so that neighbours of one file merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paint {
    Job(usize),
    Together,
    AwaitsInput,
    AwaitsMemory,
    AwaitsOutput,
    Kernel,
    /// To the device, from it, or within it.
    Copy,
}

impl From<OperationKind> for Paint {
    fn from(kind: OperationKind) -> Self {
        match kind {
            OperationKind::Kernel => Paint::Kernel,
            OperationKind::Upload | OperationKind::Download | OperationKind::Fill => Paint::Copy,
        }
    }
}

/// What is painted: from when to when since the start, and how.
pub type Piece = (Duration, Duration, Paint);

/// A span as it is painted.
pub fn piece(span: &Span) -> Piece {
    (span.start, span.end, Paint::of(span.activity))
}

impl Paint {
    fn of(activity: Activity) -> Self {
        match activity {
            Activity::Work { job, .. } => Paint::Job(job),
            Activity::Together { .. } => Paint::Together,
            Activity::AwaitsInput => Paint::AwaitsInput,
            Activity::AwaitsMemory => Paint::AwaitsMemory,
            Activity::AwaitsOutput => Paint::AwaitsOutput,
        }
    }
}

/// A bar, in pixels from the start of the lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub x: f64,
    pub width: f64,
    pub paint: Paint,
    /// Share of the bar's time that spans cover: 1 for a single span.
    pub opacity: f64,
    /// The place of the one piece that the bar shows; none where several were merged.
    pub piece: Option<usize>,
}

/// The bars of a lane's pieces, merged ones first, at `scale` pixels a second.
pub fn bars(pieces: impl IntoIterator<Item = Piece>, scale: f64) -> Vec<Bar> {
    let (mut columns, mut single) = (BTreeMap::new(), Vec::new());
    for (i, (start, end, paint)) in pieces.into_iter().enumerate() {
        let (x, end) = (start.as_secs_f64() * scale, end.as_secs_f64() * scale);
        if end - x < THINNEST {
            cover(&mut columns, x, end, paint);
        } else {
            single.push(Bar { x, width: end - x, paint, opacity: 1.0, piece: Some(i) });
        }
    }
    let mut bars = merged(&columns);
    bars.extend(single);
    bars
}

/// What covers each column of a pixel, and how much of it.
type Columns = BTreeMap<usize, BTreeMap<Paint, f64>>;

/// A thin span lies in one column or in two.
fn cover(columns: &mut Columns, x: f64, end: f64, paint: Paint) {
    // Pixels of a picture: far below 2^53.
    let first = x.floor() as usize;
    for column in [first, first + 1] {
        let covered = end.min(column as f64 + 1.0) - x.max(column as f64);
        if covered > 0.0 {
            *columns.entry(column).or_default().entry(paint).or_default() += covered;
        }
    }
}

fn merged(columns: &Columns) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for (column, covered) in columns {
        let Some((paint, _)) = covered.iter().max_by(|a, b| a.1.total_cmp(b.1)) else { continue };
        let (paint, x) = (*paint, *column as f64);
        let all: f64 = covered.values().sum();
        // Never invisible: a short piece of work in a long run was there.
        let opacity = (all * DEGREES).round().clamp(2.0, DEGREES) / DEGREES;
        match bars.last_mut() {
            Some(last) if last.paint == paint && last.opacity == opacity && last.x + last.width == x => {
                last.width += 1.0
            }
            _ => bars.push(Bar { x, width: 1.0, paint, opacity, piece: None }),
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{span, work};
    use crate::report::spans::Stage;

    fn bars(spans: &[Span], scale: f64) -> Vec<Bar> {
        super::bars(spans.iter().map(piece), scale)
    }

    #[test]
    fn wide_spans_are_bars_of_their_own() {
        let spans = [work(Stage::Device, 0, 0, 1.0, 3.0), work(Stage::Device, 0, 1, 3.0, 4.0)];
        let bars = bars(&spans, 10.0);
        assert_eq!((bars.len(), bars[0].x, bars[0].width, bars[0].piece), (2, 10.0, 20.0, Some(0)));
    }

    #[test]
    fn thin_spans_merge_and_pale_where_they_leave_gaps() {
        let dense: Vec<_> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        let spans: Vec<_> = dense.iter().map(|t| work(Stage::Device, 0, 0, *t, t + 0.001)).collect();
        let full = bars(&spans, 10.0);
        assert_eq!((full.len(), full[0].opacity, full[0].width), (1, 1.0, 10.0));
        let spans: Vec<_> = dense.iter().map(|t| work(Stage::Device, 0, 0, *t, t + 0.0005)).collect();
        assert_eq!(bars(&spans, 10.0)[0].opacity, 0.5);
        let blip = bars(&[span(Stage::Read, Activity::AwaitsMemory, 0.0, 1e-6)], 10.0);
        assert_eq!((blip[0].opacity, blip[0].paint), (0.5, Paint::AwaitsMemory));
        assert!(bars(&[work(Stage::Device, 0, 0, 1.0, 1.0)], 10.0).is_empty());
    }

    #[test]
    fn a_column_shows_what_covers_most_of_it() {
        let spans = [work(Stage::Device, 0, 0, 0.0, 0.3), work(Stage::Device, 1, 0, 0.3, 0.9)];
        let bars = bars(&spans, 1.0);
        assert_eq!((bars.len(), bars[0].paint), (1, Paint::Job(1)));
    }
}
