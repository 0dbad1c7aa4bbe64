//! Names of files as text: for people, and losslessly for the journal.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// A path on one line that no terminal takes for a command: control characters and bytes that are not UTF-8 are escaped.
pub fn display_name(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || redirects(c) {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String does not fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Characters that break lines or turn the direction of what follows.
fn redirects(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A path as UTF-8 from which [`unescape`] makes the same path: `%` and bytes that are not UTF-8 become `%XX`.
pub fn escape(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// The inverse of [`escape`]; `None` where a `%` is not followed by two hex digits.
pub fn unescape(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.extend(hex::decode(digits).ok()?);
        bytes.extend(rest.as_bytes());
    }
    Some(OsString::from_vec(bytes).into())
}

pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&escape(path))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    unescape(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?}: expected two hex digits after each %")))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn path(bytes: &[u8]) -> &Path {
        Path::new(OsStr::from_bytes(bytes))
    }

    #[test]
    fn people_see_one_plain_line() {
        assert_eq!(display_name(path("a b/ü.json".as_bytes())), "a b/ü.json");
        assert_eq!(display_name(path(b"a\nb\t\x1b[31m\x7f")), "a\\nb\\t\\u{1b}[31m\\u{7f}");
        assert_eq!(display_name(path(b"a\xff\xc3.json")), "a\\xff\\xc3.json");
        assert_eq!(display_name(path("\u{202e}nosj.x".as_bytes())), "\\u{202e}nosj.x");
    }

    #[test]
    fn every_path_survives_being_text() {
        let all: Vec<u8> = (1..=255).collect();
        for bytes in [&b"plain/x.json"[..], b"100%", b"%25", b"\xff%\xfe/\n", "ü%".as_bytes(), &all, b""] {
            let text = escape(path(bytes));
            assert_eq!(unescape(&text).unwrap(), path(bytes), "{text}");
        }
        assert_eq!(escape(path(b"x%\xff")), "x%25%FF");
    }

    #[test]
    fn text_that_is_no_escaped_path_is_refused() {
        for text in ["%", "%2", "a%zz", "%ü", "%2ü"] {
            assert_eq!(unescape(text), None, "{text}");
        }
    }
}
