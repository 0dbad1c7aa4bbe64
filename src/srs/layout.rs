//! The parameter file's layout: the verifying key, then the queries h, l, a, b_g1 and b_g2, each a count and its points.
//!
//! Counts are u32, big-endian; points uncompressed, canonical, big-endian (see [`crate::backend::bases`]). Nothing is
//! aligned: the sections start at 8, 12, 0, 4 and 8 modulo 16 in the 2 KiB file.

use std::ops::Range;
use std::path::Path;

use super::development::expected_origin;
use super::verifying_key::remedy;
use crate::backend::bases::{G1_BYTES, G2_BYTES};
use crate::error::{Fault, Result};
use crate::fail;

/// Bytes of a section's count.
pub const COUNT_BYTES: usize = 4;
/// Bytes of the verifying key before its `ic`: alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2.
pub const VK_POINTS_BYTES: usize = 3 * G1_BYTES + 3 * G2_BYTES;
/// Where the first point of `ic` is.
pub const IC_OFFSET: usize = VK_POINTS_BYTES + COUNT_BYTES;

const _: () = assert!(VK_POINTS_BYTES == 864);
const _: () = assert!(IC_OFFSET == 868);

/// The queries' names, in file order.
pub const QUERIES: [&str; 5] = ["h", "l", "a", "b_g1", "b_g2"];
/// Bytes of a point of each query, in file order.
pub const QUERY_POINT_BYTES: [usize; 5] = [G1_BYTES, G1_BYTES, G1_BYTES, G1_BYTES, G2_BYTES];

/// One query's points within the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where the first point is, from the start of the file.
    pub offset: usize,
    /// Number of points.
    pub count: usize,
    /// Bytes of a point.
    pub point_bytes: usize,
}

impl Section {
    /// The points' bytes within the file.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.end()
    }

    /// Where point `i` is.
    pub fn point_offset(&self, i: usize) -> usize {
        self.offset + i * self.point_bytes
    }

    fn end(&self) -> usize {
        self.point_offset(self.count)
    }
}

/// Where everything is in one parameter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The verifying key's `ic`, one point per input.
    pub ic: Section,
    pub h: Section,
    pub l: Section,
    pub a: Section,
    pub b_g1: Section,
    pub b_g2: Section,
}

impl Layout {
    /// Reads the counts and checks that they fit the file and each other. Touches no points, so it is instant.
    ///
    /// # Errors
    /// The file is no parameter file (empty, an HTML page), is cut short, goes on after its end, or its counts do not go
    /// together. `path` is for the message.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let mut cursor = Cursor { bytes, path, at: 0 };
        let ic = cursor.verifying_key()?;
        let mut sections = [ic; 5];
        for ((section, name), point_bytes) in sections.iter_mut().zip(QUERIES).zip(QUERY_POINT_BYTES) {
            *section = cursor.section(name, point_bytes)?;
        }
        let [h, l, a, b_g1, b_g2] = sections;
        if cursor.at != bytes.len() {
            fail!(
                Fault::Parameters,
                "{}: {} bytes after the last point (offset {}): not a parameter file; {}",
                path.display(),
                bytes.len() - cursor.at,
                cursor.at,
                again(path)
            );
        }
        let layout = Self { ic, h, l, a, b_g1, b_g2 };
        layout.check_counts(path)?;
        Ok(layout)
    }

    /// The layout of a file with these counts.
    pub fn from_counts(ic: usize, [h, l, a, b_g1, b_g2]: [usize; 5]) -> Self {
        let ic = Section { offset: IC_OFFSET, count: ic, point_bytes: G1_BYTES };
        let mut end = ic.end();
        let mut next = |count, point_bytes| {
            let section = Section { offset: end + COUNT_BYTES, count, point_bytes };
            end = section.end();
            section
        };
        let (h, l, a) = (next(h, G1_BYTES), next(l, G1_BYTES), next(a, G1_BYTES));
        Self { ic, h, l, a, b_g1: next(b_g1, G1_BYTES), b_g2: next(b_g2, G2_BYTES) }
    }

    /// The verifying key's bytes; a `.vk` file holds just these.
    pub fn vk_range(&self) -> Range<usize> {
        0..self.ic.end()
    }

    /// Length of the whole file.
    pub fn file_bytes(&self) -> usize {
        self.b_g2.end()
    }

    /// The queries with their names, in file order.
    pub fn queries(&self) -> [(&'static str, Section); 5] {
        let [h, l, a, b_g1, b_g2] = QUERIES;
        [(h, self.h), (l, self.l), (a, self.a), (b_g1, self.b_g1), (b_g2, self.b_g2)]
    }

    fn check_counts(&self, path: &Path) -> Result<()> {
        let (ic, h, l) = (self.ic.count, self.h.count, self.l.count);
        let (a, b_g1, b_g2) = (self.a.count, self.b_g1.count, self.b_g2.count);
        let wrong = if ic == 0 {
            "the verifying key has no input, expected at least ONE".into()
        } else if !(h + 1).is_power_of_two() {
            format!("h has {h} points, expected one less than a power of two")
        } else if a < ic || a > ic + l {
            format!("a has {a} points, expected {ic} (the inputs) to {} (inputs and aux variables)", ic + l)
        } else if b_g1 != b_g2 {
            format!("b_g1 has {b_g1} points and b_g2 {b_g2}, expected the same number")
        } else if b_g1 > ic + l {
            format!("b_g1 has {b_g1} points, expected at most {} (inputs and aux variables)", ic + l)
        } else {
            return Ok(());
        };
        fail!(Fault::Parameters, "{}: {wrong}: not a parameter file; {}", path.display(), again(path))
    }
}

/// How to get the file again.
fn again(path: &Path) -> &'static str {
    remedy(expected_origin(path))
}

/// Reads the file's counts one after the other.
struct Cursor<'a> {
    bytes: &'a [u8],
    path: &'a Path,
    at: usize,
}

impl Cursor<'_> {
    fn verifying_key(&mut self) -> Result<Section> {
        if let Some(what) = not_parameters(self.bytes) {
            fail!(Fault::Parameters, "{}: {what}, not a parameter file; {}", self.path.display(), again(self.path));
        }
        self.take(VK_POINTS_BYTES, "the verifying key")?;
        self.section("the verifying key's ic", G1_BYTES)
    }

    fn section(&mut self, name: &str, point_bytes: usize) -> Result<Section> {
        let offset = self.at;
        self.take(COUNT_BYTES, &format!("the count of {name}"))?;
        let mut count = [0; COUNT_BYTES];
        count.copy_from_slice(&self.bytes[offset..self.at]);
        let count = u32::from_be_bytes(count) as usize;
        let offset = self.at;
        // Below 2^32 * 192: no overflow.
        self.take(count * point_bytes, &format!("{count} points of {name}"))?;
        Ok(Section { offset, count, point_bytes })
    }

    fn take(&mut self, bytes: usize, what: &str) -> Result<()> {
        let end = self.at + bytes;
        if end > self.bytes.len() {
            fail!(
                Fault::Parameters,
                "{}: truncated: {} of at least {end} bytes; it ends within {what}, which start at offset {}; {}",
                self.path.display(),
                self.bytes.len(),
                self.at,
                again(self.path)
            );
        }
        self.at = end;
        Ok(())
    }
}

/// What a file that cannot be parameters or a verifying key seems to be.
pub(super) fn not_parameters(bytes: &[u8]) -> Option<&'static str> {
    // Enough for chance: the coordinates of points are no text.
    let head = &bytes[..bytes.len().min(64)];
    if head.is_empty() {
        return Some("an empty file");
    }
    if !head.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
        return None;
    }
    Some(match head.trim_ascii_start().first() {
        Some(b'<') => "an HTML or XML page (a failed download?)",
        Some(b'{') => "a JSON file",
        _ => "a text file",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these counts and nothing but zeros for points.
    fn file(ic: usize, counts: [usize; 5]) -> Vec<u8> {
        let layout = Layout::from_counts(ic, counts);
        let mut bytes = vec![0; layout.file_bytes()];
        for (_, s) in layout.queries().into_iter().chain([("ic", layout.ic)]) {
            bytes[s.offset - COUNT_BYTES..s.offset].copy_from_slice(&(s.count as u32).to_be_bytes());
        }
        bytes
    }

    fn error(bytes: &[u8]) -> String {
        let error = Layout::parse(bytes, Path::new("x.params")).unwrap_err();
        assert_eq!(error.fault(), Fault::Parameters);
        error.to_string()
    }

    #[test]
    fn counts_are_read_back() {
        let counts = [7, 4, 5, 3, 3];
        let layout = Layout::parse(&file(2, counts), Path::new("x")).unwrap();
        assert_eq!(layout, Layout::from_counts(2, counts));
        assert_eq!(layout.vk_range(), 0..868 + 2 * 96);
        assert_eq!(layout.h.point_offset(1), 868 + 2 * 96 + 4 + 96);
    }

    #[test]
    fn the_2kib_file_is_as_long_as_bellpersons() {
        let layout = Layout::from_counts(40, [4_194_303, 2_685_673, 2_674_948, 685_522, 685_522]);
        assert_eq!(layout.file_bytes(), 1_114_707_768);
        assert_eq!(layout.queries().map(|(_, s)| s.offset % 16), [8, 12, 0, 4, 8]);
    }

    #[test]
    fn every_truncation_is_seen() {
        let whole = file(1, [1, 2, 3, 1, 1]);
        for length in 1..whole.len() {
            let message = error(&whole[..length]);
            assert!(message.contains(&format!("truncated: {length} of at least ")), "{message}");
        }
        assert!(error(&whole[..whole.len() - 1]).contains(&format!("of at least {} bytes", whole.len())));
    }

    #[test]
    fn what_is_no_parameter_file_is_named() {
        assert!(error(b"").contains("an empty file"));
        assert!(error(b"\n<!DOCTYPE html><html>").contains("HTML"));
        assert!(error(b"{\"Code\":404}").contains("JSON"));
        assert!(error(b"version https://git-lfs.github.com/spec/v1").contains("a text file"));
        let mut longer = file(1, [0, 1, 1, 0, 0]);
        longer.push(0);
        assert!(error(&longer).contains("1 bytes after the last point"));
    }

    #[test]
    fn counts_that_do_not_go_together_are_refused() {
        for (ic, counts, what) in [
            (0, [0, 1, 1, 0, 0], "no input"),
            (1, [2, 1, 1, 0, 0], "power of two"),
            (2, [1, 1, 1, 0, 0], "a has 1 points"),
            (1, [1, 1, 3, 0, 0], "a has 3 points"),
            (1, [1, 1, 1, 1, 2], "b_g1 has 1 points and b_g2 2"),
            (1, [1, 1, 1, 3, 3], "b_g1 has 3 points"),
        ] {
            let message = error(&file(ic, counts));
            assert!(message.contains(what), "{message}");
        }
        let mut huge = file(1, [1, 1, 1, 1, 1]);
        huge[VK_POINTS_BYTES..IC_OFFSET].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(error(&huge).contains("truncated"));
    }
}
