//! Compares JSON names regardless of escapes.
//!
//! JSON allows every character to be escaped, and some writers escape slashes: `tools\/call` is `tools/call`, and
//! `"\u0069d"` is `"id"`.

use memchr::{memchr, memmem};
use stickler::tape::{Node, TapeBuffer};

/// Maximum length of a name that is decoded: longer than any envelope name with every character escaped.
const MAX_NAME_BYTES: usize = 400;

/// The envelope members that determine the kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Id,
    Method,
    /// `result` or `error`.
    Outcome,
    Other,
}

impl Member {
    /// Classifies a member by its quoted name, as written.
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

/// Decodes a string that contains escapes; `None` if it contains none.
fn decoded(quoted: &[u8]) -> Option<String> {
    if quoted.len() > MAX_NAME_BYTES || memchr(b'\\', quoted).is_none() {
        return None;
    }
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(quoted, 1).ok()?;
    Node::as_str(tape.root()).map(Into::into)
}

/// Whether a name occurs anywhere in a message, with or without escaped slashes. A cheap pre-check: the name may
/// occur in another place than the one of interest.
pub fn may_contain(message: &[u8], name: &str) -> bool {
    memmem::find(message, name.as_bytes()).is_some()
        || memchr(b'\\', message).is_some()
            && memmem::find(message, escaped(name).as_bytes()).is_some()
}

/// Whether the contents of a JSON string, as written, equal a name.
pub(super) fn json_str_eq(text: &[u8], name: &str) -> bool {
    text == name.as_bytes()
        || text.len() > name.len()
            && decoded(&[b"\"", text, b"\""].concat()).is_some_and(|text| text == name)
}

fn escaped(name: &str) -> String {
    name.replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::{Member, json_str_eq, may_contain};

    #[test]
    fn escaped_slashes_are_recognised() {
        for message in [r#"{"method":"tools/call"}"#, r#"{"method":"tools\/call"}"#] {
            assert!(may_contain(message.as_bytes(), "tools/call"), "{message}");
        }
        assert!(!may_contain(br#"{"method":"tools\\/call"}"#, "tools/call"));
        assert!(!may_contain(br#"{"method":"tools\/list"}"#, "tools/call"));
        assert!(json_str_eq(b"a/b", "a/b") && json_str_eq(br"a\/b", "a/b"));
        assert!(!json_str_eq(b"a/b", "a/c") && !json_str_eq(br"a\\/b", "a/b"));
        assert!(json_str_eq(br"\u0061\u002fb", "a/b") && !json_str_eq(br"\u0061", "a/b"));
    }

    #[test]
    fn members_with_escapes_are_recognised() {
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
