//! Names with slashes in them, which some writers escape: `tools\/call` is `tools/call`.

use memchr::{memchr, memmem};

/// Whether a name stands somewhere in a message, in either spelling. For a first look: it may stand
/// where it means something else.
pub fn mentions(message: &[u8], name: &str) -> bool {
    memmem::find(message, name.as_bytes()).is_some()
        || memchr(b'\\', message).is_some()
            && memmem::find(message, escaped(name).as_bytes()).is_some()
}

/// Whether the text of a string, as it is written, is that name.
pub(super) fn is_spelt(text: &[u8], name: &str) -> bool {
    text == name.as_bytes() || text.len() > name.len() && text == escaped(name).as_bytes()
}

fn escaped(name: &str) -> String {
    name.replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::{is_spelt, mentions};

    #[test]
    fn a_slash_is_a_slash_escaped_or_not() {
        for message in [r#"{"method":"tools/call"}"#, r#"{"method":"tools\/call"}"#] {
            assert!(mentions(message.as_bytes(), "tools/call"), "{message}");
        }
        assert!(!mentions(br#"{"method":"tools\\/call"}"#, "tools/call"));
        assert!(!mentions(br#"{"method":"tools\/list"}"#, "tools/call"));
        assert!(is_spelt(b"a/b", "a/b") && is_spelt(br"a\/b", "a/b"));
        assert!(!is_spelt(b"a/b", "a/c") && !is_spelt(br"a\\/b", "a/b"));
    }
}
