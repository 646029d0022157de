//! Reads what a row of the timeline shows about a message, by scanning its members without parsing their values.

use stickler_recording::Outline;

use crate::record::string;

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    Request,
    Notification,
    Response,
    Batch,
    /// Not JSON-RPC.
    #[default]
    Noise,
}

/// What identifies a message.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'m> {
    pub(crate) kind: Kind,
    /// JSON text of the id.
    pub(crate) id: Option<&'m [u8]>,
    pub(crate) method: Option<String>,
    /// Name of the called tool.
    pub(crate) tool: Option<String>,
    /// Whether a response is an error or a result with `isError`.
    pub(crate) is_error: bool,
    /// JSON text of `params` or `result`.
    pub(crate) body: Option<&'m [u8]>,
}

impl<'m> Envelope<'m> {
    pub(crate) fn of(text: &'m [u8]) -> Self {
        if text.trim_ascii_start().first() == Some(&b'[') {
            return Self { kind: Kind::Batch, ..Self::default() };
        }
        let Some(mut outline) = Outline::of_object(text) else { return Self::default() };
        let mut envelope = Self::default();
        let mut has_outcome = false;
        while let Some((key, value)) = outline.next_member() {
            match key {
                b"id" if value != b"null" => envelope.id = Some(value),
                b"method" => envelope.method = string(value),
                b"params" => envelope.body = Some(value),
                b"result" => {
                    has_outcome = true;
                    envelope.body = Some(value);
                }
                b"error" => {
                    has_outcome = true;
                    envelope.is_error = true;
                }
                _ => {}
            }
        }
        envelope.kind = match (&envelope.method, envelope.id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) if has_outcome => Kind::Response,
            _ => Kind::Noise,
        };
        if envelope.kind == Kind::Response && !envelope.is_error {
            envelope.is_error = envelope.member(b"isError") == Some(b"true");
        }
        if envelope.method.as_deref() == Some("tools/call") {
            envelope.tool = envelope.member(b"name").and_then(string);
        }
        envelope
    }

    /// Returns a member of `params` or `result`.
    pub(crate) fn member(&self, name: &[u8]) -> Option<&'m [u8]> {
        let mut outline = Outline::of_object(self.body?)?;
        while let Some((key, value)) = outline.next_member() {
            if key == name {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Envelope, Kind};

    #[test]
    fn call_has_its_tool() {
        let text = br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"arguments":{"name":"x"},"name":"say"}}"#;
        let envelope = Envelope::of(text);
        assert_eq!(envelope.kind, Kind::Request);
        assert_eq!(envelope.tool.as_deref(), Some("say"));
        assert_eq!(envelope.id, Some(&b"\"a\""[..]));
    }

    #[test]
    fn failed_results_are_errors() {
        assert!(Envelope::of(br#"{"id":1,"error":{"code":-1}}"#).is_error);
        assert!(Envelope::of(br#"{"id":1,"result":{"content":[],"isError":true}}"#).is_error);
        assert!(!Envelope::of(br#"{"id":1,"result":{"content":[{"isError":true}]}}"#).is_error);
    }

    #[test]
    fn anything_else_is_noise() {
        for text in [&b"Listening"[..], b"{}", b"{\"id\":1}", b"{\"method\":3}"] {
            assert_eq!(Envelope::of(text).kind, Kind::Noise);
        }
        assert_eq!(Envelope::of(b" [1]").kind, Kind::Batch);
    }
}
