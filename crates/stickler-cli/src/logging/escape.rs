//! Escapes invisible characters in log lines and bounds the length of a line.
//!
//! Names that clients and servers choose are part of log lines. A line break would forge a line, an escape
//! sequence would control the terminal, a bidirectional override would reorder the line, and a zero-width
//! character would hide in it. All of these are written as escapes: `\n` and `\u{202e}` in text, `\u202e`
//! in JSON, where a parser restores them. Other characters, including the backslash in text, are
//! unchanged.

use std::fmt::Write as _;

/// Whether a character is invisible or changes the rendering of others.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Appends text with its hidden characters escaped, up to `limit` bytes; returns whether all of it
/// fitted.
pub(crate) fn push_text(line: &mut String, text: &str, limit: usize) -> bool {
    push(line, text, limit, |line, character| {
        if is_hidden(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    })
}

/// Appends text to a JSON string, with the same limit and result.
pub(crate) fn push_json(line: &mut String, text: &str, limit: usize) -> bool {
    push(line, text, limit, |line, character| match character {
        '"' => line.push_str("\\\""),
        '\\' => line.push_str("\\\\"),
        '\n' => line.push_str("\\n"),
        '\t' => line.push_str("\\t"),
        character if is_hidden(character) => {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
        character => line.push(character),
    })
}

fn push(line: &mut String, text: &str, limit: usize, one: impl Fn(&mut String, char)) -> bool {
    let end = line.len() + limit;
    for character in text.chars() {
        let before = line.len();
        one(line, character);
        if line.len() > end {
            line.truncate(before);
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, push_json, push_text};

    const HIDDEN: &str = "a\u{202e}b\u{2066}c\u{200b}d\u{2028}e\u{1b}f\u{9b}g\nh\u{e0041}";

    #[test]
    fn control_bidirectional_and_invisible_characters_are_escaped_in_text() {
        let mut line = String::new();
        assert!(push_text(&mut line, HIDDEN, 1000));
        let expected = r"a\u{202e}b\u{2066}c\u{200b}d\u{2028}e\u{1b}f\u{9b}g\nh\u{e0041}";
        assert_eq!(line, expected);
        assert!(!"ä “q” \\ 漢字 🙂".chars().any(is_hidden));
    }

    #[test]
    fn json_parser_restores_the_escaped_characters() {
        let text = format!("{HIDDEN}\"\\\t");
        let mut line = String::new();
        assert!(push_json(&mut line, &text, 1000));
        assert!(!line.chars().any(is_hidden), "{line}");
        assert_eq!(serde_json::from_str::<String>(&format!("\"{line}\"")).unwrap(), text);
    }

    #[test]
    fn limit_counts_written_bytes_and_truncates_between_characters() {
        let mut line = "x".to_owned();
        assert!(!push_text(&mut line, "a\u{202e}b", 8));
        assert_eq!(line, "xa");
        assert!(push_text(&mut line, "a\u{202e}b", 10));
    }
}
