//! Names as they are written: JSON lets every character of them be escaped, and some writers escape slashes.
//! `tools\/call` is `tools/call`, and `"\u0069d"` is `"id"`.

use memchr::{memchr, memmem};
use stickler::tape::{Node, TapeBuffer};

/// Longer than any name of an envelope, every character escaped.
const LONGEST: usize = 400;

/// The members of an envelope that say where a message belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Id,
    Method,
    /// `result` or `error`.
    Outcome,
    Other,
}

impl Member {
    /// By its name as it is written, in quotes.
    pub(super) fn of(quoted: &[u8]) -> Self {
        match quoted {
            b"\"id\"" => Self::Id,
            b"\"method\"" => Self::Method,
            b"\"result\"" | b"\"error\"" => Self::Outcome,
            _ => match decoded(quoted).as_deref() {
                Some("id") => Self::Id,
                Some("method") => Self::Method,
                Some("result" | "error") => Self::Outcome,
                _ => Self::Other,
            },
        }
    }
}

/// What a string with escapes in it says; `None` for one without.
fn decoded(quoted: &[u8]) -> Option<String> {
    if quoted.len() > LONGEST || memchr(b'\\', quoted).is_none() {
        return None;
    }
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(quoted, 1).ok()?;
    Node::as_str(tape.root()).map(Into::into)
}

/// Whether a name stands somewhere in a message, in either spelling. For a first look: it may stand
/// where it means something else.
pub fn mentions(message: &[u8], name: &str) -> bool {
    memmem::find(message, name.as_bytes()).is_some()
        || memchr(b'\\', message).is_some()
            && memmem::find(message, escaped(name).as_bytes()).is_some()
}

/// Whether the text of a string, as it is written, is that name.
pub(super) fn is_spelt(text: &[u8], name: &str) -> bool {
    text == name.as_bytes()
        || text.len() > name.len()
            && decoded(&[b"\"", text, b"\""].concat()).is_some_and(|text| text == name)
}

fn escaped(name: &str) -> String {
    name.replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::{Member, is_spelt, mentions};

    #[test]
    fn a_slash_is_a_slash_escaped_or_not() {
        for message in [r#"{"method":"tools/call"}"#, r#"{"method":"tools\/call"}"#] {
            assert!(mentions(message.as_bytes(), "tools/call"), "{message}");
        }
        assert!(!mentions(br#"{"method":"tools\\/call"}"#, "tools/call"));
        assert!(!mentions(br#"{"method":"tools\/list"}"#, "tools/call"));
        assert!(is_spelt(b"a/b", "a/b") && is_spelt(br"a\/b", "a/b"));
        assert!(!is_spelt(b"a/b", "a/c") && !is_spelt(br"a\\/b", "a/b"));
        assert!(is_spelt(br"\u0061\u002fb", "a/b") && !is_spelt(br"\u0061", "a/b"));
    }

    #[test]
    fn members_are_known_however_they_are_written() {
        assert_eq!(Member::of(br#""id""#), Member::Id);
        assert_eq!(Member::of(br#""\u0069d""#), Member::Id);
        assert_eq!(Member::of(br#""\u006dethod""#), Member::Method);
        assert_eq!(Member::of(br#""resul\u0074""#), Member::Outcome);
        assert_eq!(Member::of(br#""\u0065rror""#), Member::Outcome);
        for other in [&br#""ID""#[..], br#""\\u0069d""#, br#""\ud800""#, br#""\"#, b""] {
            assert_eq!(Member::of(other), Member::Other);
        }
    }
}
