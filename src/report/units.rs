//! Units and the one place where numbers become text for people.

use std::time::Duration;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Files,
    Partitions,
    Challenges,
    Proofs,
    Constraints,
    Variables,
    /// Rows of the evaluation domain.
    Rows,
    /// Points of a query that a sum runs over.
    Bases,
    /// Curve points made, read or checked.
    Points,
    /// Additions of curve points.
    Additions,
    /// Measured runs.
    Runs,
}

impl Unit {
    /// The plural name, in the table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Files => "files",
            Unit::Partitions => "partitions",
            Unit::Challenges => "challenges",
            Unit::Proofs => "proofs",
            Unit::Constraints => "constraints",
            Unit::Variables => "variables",
            Unit::Rows => "rows",
            Unit::Bases => "bases",
            Unit::Points => "points",
            Unit::Additions => "additions",
            Unit::Runs => "runs",
        }
    }

    /// An amount with its unit: `1.04 GiB`, `2.69 M constraints`, `1 partition`.
    pub fn amount(self, items: u64) -> String {
        match self {
            Unit::Bytes => bytes(items),
            _ if items == 1 => format!("1 {}", self.singular()),
            _ => format!("{} {}", count(items as f64), self.name()),
        }
    }

    /// A rate with its unit: `12.3 M rows/s`, `845 MiB/s`; `None` where no time was measured.
    pub fn rate(self, items: u64, wall: Duration) -> Option<String> {
        let rate = per_second(items, wall)?;
        Some(match self {
            // A rate above 2^64 bytes/s cannot be measured; `as` saturates.
            Unit::Bytes => format!("{}/s", bytes(rate.round() as u64)),
            _ => format!("{} {}/s", count(rate), self.name()),
        })
    }

    fn singular(self) -> &'static str {
        match self {
            Unit::Bases => "base",
            _ => self.name().trim_end_matches('s'),
        }
    }
}

/// Items per second; `None` where no time was measured.
pub fn per_second(items: u64, wall: Duration) -> Option<f64> {
    (!wall.is_zero()).then(|| items as f64 / wall.as_secs_f64())
}

/// Bytes in binary units with three significant digits: `532 B`, `95.4 KiB`, `1.04 GiB`.
pub fn bytes(n: u64) -> String {
    if n < 1024 {
        return format!("{n} B");
    }
    let (value, prefix) = scale(n as f64, 1024.0, &["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]);
    format!("{} {prefix}B", significant(value))
}

/// A count in decimal units with three significant digits: `18`, `4.19 M`. Small whole numbers stay whole.
pub fn count(n: f64) -> String {
    let (value, prefix) = scale(n, 1000.0, &["", "k", "M", "G", "T", "P", "E"]);
    let digits = if prefix.is_empty() && n.fract() == 0.0 { format!("{n:.0}") } else { significant(value) };
    if prefix.is_empty() {
        digits
    } else {
        format!("{digits} {prefix}")
    }
}

/// A duration with about three significant digits: `850 us`, `12.3 ms`, `4.21 s`, `13 m 37 s`, `2 h 05 m`.
pub fn duration(d: Duration) -> String {
    let seconds = d.as_secs_f64();
    if seconds < 0.9995e-3 {
        format!("{:.0} us", seconds * 1e6)
    } else if seconds < 0.9995 {
        format!("{} ms", significant(seconds * 1e3))
    } else if seconds < 99.95 {
        format!("{} s", significant(seconds))
    } else {
        let whole = seconds.round() as u64;
        match (whole / 3600, whole / 60 % 60, whole % 60) {
            (0, m, s) => format!("{m} m {s:02} s"),
            (h, m, _) => format!("{h} h {m:02} m"),
        }
    }
}

/// Divides by `base` until the value prints with at most three digits before the point.
fn scale<'a>(mut value: f64, base: f64, prefixes: &[&'a str]) -> (f64, &'a str) {
    let mut i = 0;
    // 999.5 would print as 1000 (of 1024, that is three digits too many for one column, and still right).
    while value >= base - 0.5 && i + 1 < prefixes.len() {
        value /= base;
        i += 1;
    }
    (value, prefixes[i])
}

fn significant(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_use_binary_units() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.00 KiB");
        assert_eq!(bytes(100_159), "97.8 KiB");
        assert_eq!(bytes(1_114_707_768), "1.04 GiB");
        assert_eq!(bytes((1 << 20) - 1), "1.00 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn counts_use_decimal_units_and_keep_small_numbers_whole() {
        assert_eq!(count(0.0), "0");
        assert_eq!(count(18.0), "18");
        assert_eq!(count(999.0), "999");
        assert_eq!(count(999.7), "1.00 k");
        assert_eq!(count(4_194_303.0), "4.19 M");
        assert_eq!(count(0.25), "0.25");
        assert_eq!(Unit::Partitions.amount(1), "1 partition");
        assert_eq!(Unit::Partitions.amount(10), "10 partitions");
        assert_eq!(Unit::Bases.amount(1), "1 base");
        assert_eq!(Unit::Constraints.amount(130_278_869), "130 M constraints");
    }

    #[test]
    fn durations_and_rates() {
        assert_eq!(duration(Duration::ZERO), "0 us");
        assert_eq!(duration(Duration::from_micros(850)), "850 us");
        assert_eq!(duration(Duration::from_micros(12_345)), "12.3 ms");
        assert_eq!(duration(Duration::from_millis(999)), "999 ms");
        assert_eq!(duration(Duration::from_micros(999_900)), "1.00 s");
        assert_eq!(duration(Duration::from_millis(4_210)), "4.21 s");
        assert_eq!(duration(Duration::from_secs(817)), "13 m 37 s");
        assert_eq!(duration(Duration::from_secs(7_500)), "2 h 05 m");
        assert_eq!(Unit::Rows.rate(12_340_000, Duration::from_secs(1)).as_deref(), Some("12.3 M rows/s"));
        assert_eq!(Unit::Bytes.rate(1 << 20, Duration::from_millis(500)).as_deref(), Some("2.00 MiB/s"));
        assert_eq!(Unit::Rows.rate(1, Duration::ZERO), None);
    }
}
