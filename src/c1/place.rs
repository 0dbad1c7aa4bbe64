//! Places in a JSON text: byte offsets, and the path of fields that leads to one.

enum Level {
    Object { key: String, key_next: bool },
    Array { index: usize },
}

/// Byte offset of a line (1-based) and column (bytes, as serde_json counts them).
pub(super) fn byte_offset(text: &[u8], line: usize, column: usize) -> usize {
    let newlines = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
    let start = if line <= 1 { 0 } else { newlines.clone().nth(line - 2).unwrap_or(text.len()) };
    (start + column).min(text.len())
}

/// The path of the value that the first `end` bytes end in, e.g. `vanilla_proofs.StackedDrg2KiBV1[0][1].labeling_proofs`;
/// empty for the document itself.
pub(super) fn field_path(text: &[u8], end: usize) -> String {
    let mut levels: Vec<Level> = Vec::new();
    let end = end.min(text.len());
    let mut at = 0;
    while at < end {
        match text[at] {
            b'{' => levels.push(Level::Object { key: String::new(), key_next: true }),
            b'[' => levels.push(Level::Array { index: 0 }),
            b'}' | b']' => {
                levels.pop();
            }
            b',' => match levels.last_mut() {
                Some(Level::Object { key_next, .. }) => *key_next = true,
                Some(Level::Array { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                let close = string_end(text, at + 1, end);
                if let Some(Level::Object { key, key_next: next @ true }) = levels.last_mut() {
                    *key = String::from_utf8_lossy(&text[at + 1..close]).into_owned();
                    *next = false;
                }
                at = close;
            }
            _ => {}
        }
        at += 1;
    }
    render(&levels)
}

/// Index of the quote that closes a string, or `end`.
pub(super) fn string_end(text: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(end)
}

fn render(levels: &[Level]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object { key, .. } if key.is_empty() => {}
            Level::Object { key, .. } => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Level::Array { index } => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_keys_and_indices() {
        let text = br#"{"a": [1, {"b\"": "x,[{", "c": [[], [0, 7]]}]}"#;
        let at = |needle: u8| field_path(text, text.iter().position(|b| *b == needle).unwrap() + 1);
        assert_eq!(at(b'7'), "a[1].c[1][1]");
        assert_eq!(at(b'x'), r#"a[1].b\""#);
        assert_eq!(at(b'1'), "a[0]");
        assert_eq!(field_path(text, text.len()), "");
        assert_eq!(field_path(text, 10_000), "");
    }

    #[test]
    fn offsets_count_bytes() {
        let text = b"ab\ncd\n\nef";
        assert_eq!(byte_offset(text, 1, 1), 1);
        assert_eq!(byte_offset(text, 2, 2), 5);
        assert_eq!(byte_offset(text, 4, 1), 8);
        assert_eq!(byte_offset(text, 9, 9), 9);
    }
}
