//! Just enough of Rust's lexical grammar to read paths: comments, strings and characters are dropped.

/// An identifier with its line, or one character of punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Ident(String, usize),
    Mark(char),
}

impl Token {
    pub fn is(&self, mark: char) -> bool {
        *self == Token::Mark(mark)
    }

    pub fn ident(&self) -> Option<(&str, usize)> {
        match self {
            Token::Ident(name, line) => Some((name, *line)),
            Token::Mark(_) => None,
        }
    }
}

/// The identifiers and punctuation of a source file.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => after(&chars, at, |c| c != '\n'),
            '/' if chars.get(at + 1) == Some(&'*') => block_comment(&chars, at),
            '"' => string(&chars, at),
            '\'' => character(&chars, at),
            c if c == '_' || c.is_alphanumeric() => {
                let end = after(&chars, at, |c| c == '_' || c.is_alphanumeric());
                let word: String = chars[at..end].iter().collect();
                match raw_string(&chars, end, &word) {
                    Some(end) => end,
                    None => {
                        found.push(Token::Ident(word, line));
                        end
                    }
                }
            }
            c => {
                if !c.is_whitespace() {
                    found.push(Token::Mark(c));
                }
                at + 1
            }
        };
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    found
}

fn after(chars: &[char], from: usize, holds: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|c| !holds(*c)).map_or(chars.len(), |n| from + n)
}

/// Block comments nest.
fn block_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn string(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// A character literal, or the quote alone of a lifetime.
fn character(chars: &[char], start: usize) -> usize {
    match (chars.get(start + 1), chars.get(start + 2)) {
        // `'\''`, `'\u{1f600}'`: the escaped character is never the closing quote.
        (Some('\\'), _) => after(chars, (start + 3).min(chars.len()), |c| c != '\'') + 1,
        (Some(_), Some('\'')) => start + 3,
        _ => start + 1,
    }
    .min(chars.len())
}

/// The end of the raw string that `word` begins (`r`, `br`, `cr`, then `#`s and a quote), or `None`.
fn raw_string(chars: &[char], start: usize, word: &str) -> Option<usize> {
    if !matches!(word, "r" | "br" | "cr") {
        return None;
    }
    let quote = after(chars, start, |c| c == '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let close: String = std::iter::once('"').chain(std::iter::repeat_n('#', quote - start)).collect();
    let rest: String = chars[quote + 1..].iter().collect();
    let length = rest.find(&close).map_or(rest.chars().count(), |n| rest[..n].chars().count() + close.chars().count());
    Some(quote + 1 + length)
}

#[test]
fn comments_strings_and_characters_are_no_tokens() {
    let source = r####"a // b "c"
        /* d /* e */ f */ g "h \" i" b"j" r#"k " l"# '"' '\'' '\u{6d}' n<'o>("p")"####;
    let found: Vec<String> =
        tokens(source).iter().filter_map(|t| t.ident().map(|(name, line)| format!("{name}{line}"))).collect();
    // `b` before a byte string and `o` after a lifetime's quote are read as identifiers, which harms nobody.
    assert_eq!(found, ["a1", "g2", "b2", "n2", "o2"]);
}
