//! Ticks of a time axis.

/// Steps between ticks in seconds, up to a day. Below a second and above a day: 1, 2 and 5 times powers of ten.
const STEPS: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0,
    43_200.0, 86_400.0,
];
/// Ticks after the first at most.
const MOST: f64 = 10.0;

/// Times of the ticks in seconds with their labels, from 0 to at most `run`.
pub fn ticks(run: f64) -> Vec<(f64, String)> {
    let step = step(run);
    // At most ten: `as` does not truncate anything that matters.
    let count = (run / step).floor() as usize;
    (0..=count).map(|i| i as f64 * step).map(|at| (at, label(at, step))).collect()
}

fn step(run: f64) -> f64 {
    let fits = |step: &f64| run / step <= MOST;
    if run < MOST / 2.0 {
        return decimal(run / MOST);
    }
    STEPS.into_iter().find(fits).unwrap_or_else(|| decimal(run / MOST / 86_400.0) * 86_400.0)
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn decimal(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-6).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

fn label(at: f64, step: f64) -> String {
    if at == 0.0 {
        return "0".to_owned();
    }
    if step < 1.0 {
        let digits = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
        return format!("{at:.digits$} s");
    }
    let whole = at.round() as u64;
    let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let parts: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few_at_every_scale() {
        let labels = |run: f64| ticks(run).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(20.0), ["0", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s", "14 s", "16 s", "18 s", "20 s"]);
        assert_eq!(labels(0.35)[..3], ["0", "0.05 s", "0.10 s"]);
        assert_eq!(labels(200.0)[..5], ["0", "30 s", "1 min", "1 min 30 s", "2 min"]);
        assert_eq!(labels(6.5 * 3600.0)[1..3], ["1 h", "2 h"]);
        assert_eq!(labels(3.0 * 3600.0)[1..4], ["30 min", "1 h", "1 h 30 min"]);
        assert_eq!(labels(40.0 * 86_400.0)[1], "120 h");
        for run in (-50..90).map(|i| 1.3f64.powi(i)) {
            let ticks = ticks(run);
            assert!((4..=11).contains(&ticks.len()) || run < 1e-5, "{run}: {ticks:?}");
            assert!(ticks.iter().all(|(at, _)| *at <= run * 1.000_001), "{run}: {ticks:?}");
            let labels: std::collections::BTreeSet<_> = ticks.iter().map(|(_, label)| label).collect();
            assert_eq!(labels.len(), ticks.len(), "{run}: {ticks:?}");
        }
    }
}
