//! Names and columns as text that no name can spoil.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The name with everything escaped that would move the cursor, change the direction of writing or is no text in XML.
pub fn visible(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || unprintable(c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

fn unprintable(c: char) -> bool {
    // Line and paragraph separators, marks and overrides of direction, noncharacters.
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A visible name of at most `columns` columns: what is too long loses its middle, since names often share their
/// beginnings and differ, or tell their kind, at the end.
pub fn shortened(name: &str, columns: usize) -> String {
    let name = visible(name);
    if width(&name) <= columns {
        return name;
    }
    let kept = columns.saturating_sub(ELLIPSIS.len());
    let head = fitting(name.chars(), kept / 2);
    let tail: Vec<char> = fitting(name.chars().rev(), kept - kept / 2).chars().rev().collect();
    let short = head + ELLIPSIS + &String::from_iter(tail);
    short.chars().take(columns).collect()
}

const ELLIPSIS: &str = "..";

fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut left = columns;
    chars
        .take_while(|c| {
            let fits = c.width().unwrap_or(0) <= left;
            left = left.saturating_sub(c.width().unwrap_or(0));
            fits
        })
        .collect()
}

/// Columns of a terminal that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Rows of cells as lines, columns two blanks apart: the first flush left, the others flush right; no trailing blanks.
/// Rows may be of different lengths.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|cell| width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, (cell, column)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(column.saturating_sub(width(cell)));
            line += &if i == 0 { format!("{cell}{blanks}") } else { format!("  {blanks}{cell}") };
        }
        table += line.trim_end();
        table.push('\n');
    }
    table
}

/// Text that XML takes as it is meant; control characters, which XML does not take at all, are spelled out.
pub fn xml(text: &str) -> String {
    let text = visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// A text broken at blanks into lines of at most `columns`, where its words allow; all lines but the first are indented.
pub fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        if !line.trim().is_empty() && width(&line) + 1 + width(word) > columns {
            lines += &(std::mem::replace(&mut line, " ".repeat(indent) + word) + "\n");
        } else {
            line += &(if line.is_empty() { String::new() } else { " ".to_owned() } + word);
        }
    }
    lines + &line + "\n"
}

/// A share as text: `97 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_escaped() {
        assert_eq!(visible("a\nb\r\x1b[2Jc\u{9b}\u{7f}"), "a\\nb\\r\\u{1b}[2Jc\\u{9b}\\u{7f}");
        assert_eq!(visible("x\u{202e}gpj.exe\u{2028}\u{ffff}"), "x\\u{202e}gpj.exe\\u{2028}\\u{ffff}");
        assert_eq!(visible("<é>&\"'\u{fffd}"), "<é>&\"'\u{fffd}");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("s-t01000-17.c1.json", 19), "s-t01000-17.c1.json");
        assert_eq!(shortened("s-t01000-17.c1.json", 13), "s-t01..1.json");
        for columns in 0..30 {
            for name in ["日本語の長い名前です.json", "abcdefghijklmnopqrstuvwxyz0123456789", "\n\n\n\n\n\n\n\n\n\n\n"]
            {
                assert!(width(&shortened(name, columns)) <= columns, "{columns}");
            }
        }
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrapped("one two three four", 9, 2), "one two\n  three\n  four\n");
        assert_eq!(wrapped("a  unbreakable b", 5, 1), "a \n unbreakable\n b\n");
        assert_eq!(wrapped("short", 80, 4), "short\n");
    }

    #[test]
    fn columns_stay_aligned_whatever_their_cells_hold() {
        let rows = [vec!["日本".to_owned(), "1".into()], vec!["abc".into(), "22".into()], vec!["x".into()], vec![]];
        assert_eq!(columns(&rows), "日本   1\nabc   22\nx\n\n");
        assert_eq!(columns(&[]), "");
    }
}
