//! What a connection knows about a message, so that its adapters need not parse it again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use stickler::tape::Node;

use super::{Envelope, MessageKind, RequestId, Shape};

/// Maximum length of peer text that a header or a finding quotes.
const MAX_EXCERPT_CHARS: usize = 80;

/// Kind, id, method and references of a message, as far as it could be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Header {
    /// Kind of the message.
    pub kind: MessageKind,
    /// The method; for a response, the method of its request. Long methods are truncated.
    pub method: Option<Cow<'static, str>>,
    /// The id, if it is a valid one.
    pub id: Option<RequestId>,
    /// The name of the called tool, truncated if it is long.
    pub tool: Option<Arc<str>>,
    /// The progress token of a request, or the one that a progress notification refers to.
    pub progress_token: Option<RequestId>,
    /// The request that a `notifications/cancelled` cancels.
    pub cancels: Option<RequestId>,
    /// The JSON-RPC code of an error response.
    pub code: Option<i32>,
    /// Whether a response to `tools/call` is an error or a result with `isError`.
    pub is_failed_call: bool,
    /// For a response: the time since its request was forwarded.
    pub duration: Option<Duration>,
    /// The headers of the messages of a batch.
    pub batch: Vec<Header>,
}

impl Header {
    /// Reads the header of a parsed message, without the parts of a batch.
    pub(crate) fn of(envelope: &Envelope<'_>) -> Self {
        let kind = match envelope.shape {
            Shape::Request => MessageKind::Request,
            Shape::Notification => MessageKind::Notification,
            Shape::Result | Shape::Error => MessageKind::Response,
            Shape::Batch => MessageKind::Batch,
            Shape::Noise => MessageKind::Unknown,
        };
        let member = |name: &str| envelope.params?.get(name);
        let mut header = Self {
            kind,
            id: envelope.request_id(),
            method: envelope.method.as_deref().map(interned),
            ..Self::default()
        };
        match (kind, header.method.as_deref()) {
            (MessageKind::Request, _) => {
                let token = member("_meta").and_then(|meta| meta.get("progressToken"));
                header.progress_token = token.and_then(RequestId::of);
            }
            (_, Some("notifications/progress")) => {
                header.progress_token = member("progressToken").and_then(RequestId::of);
            }
            (_, Some("notifications/cancelled")) => {
                header.cancels = member("requestId").and_then(RequestId::of);
            }
            (MessageKind::Response, _) if envelope.shape == Shape::Error => {
                let code = envelope.outcome.and_then(|error| error.get("code"));
                header.code = code.map(Node::raw).and_then(|code| code.parse().ok());
            }
            _ => {}
        }
        header
    }

    /// Creates the header of a batch.
    pub(crate) fn of_batch(batch: Vec<Self>) -> Self {
        Self { kind: MessageKind::Batch, batch, ..Self::default() }
    }

    /// Creates the header of a response.
    pub(crate) fn response(id: Option<RequestId>, code: Option<i32>) -> Self {
        Self { kind: MessageKind::Response, id, code, ..Self::default() }
    }

    /// Creates the header of a message that the gateway itself sends.
    pub(crate) fn own(method: &'static str, id: Option<RequestId>) -> Self {
        let kind = if id.is_some() { MessageKind::Request } else { MessageKind::Notification };
        Self { kind, id, method: Some(Cow::Borrowed(method)), ..Self::default() }
    }

    /// Whether this is a request or notification with that method.
    pub fn has_method(&self, method: &str) -> bool {
        matches!(self.kind, MessageKind::Request | MessageKind::Notification)
            && self.method.as_deref() == Some(method)
    }

    /// Returns the ids of the requests in the message.
    pub fn requests(&self) -> impl Iterator<Item = &RequestId> {
        self.ids_of(MessageKind::Request)
    }

    /// Returns the ids of the requests that the message answers.
    pub fn answers(&self) -> impl Iterator<Item = &RequestId> {
        self.ids_of(MessageKind::Response)
    }

    fn ids_of(&self, kind: MessageKind) -> impl Iterator<Item = &RequestId> {
        let all = std::iter::once(self).chain(&self.batch);
        all.filter(move |one| one.kind == kind).filter_map(|one| one.id.as_ref())
    }
}

/// Returns a method without an allocation if it is a frequent one.
fn interned(method: &str) -> Cow<'static, str> {
    const FREQUENT: [&str; 10] = [
        "tools/call",
        "notifications/progress",
        "notifications/message",
        "tools/list",
        "ping",
        "initialize",
        "resources/read",
        "notifications/cancelled",
        "notifications/initialized",
        "sampling/createMessage",
    ];
    match FREQUENT.iter().find(|frequent| **frequent == method) {
        Some(frequent) => Cow::Borrowed(frequent),
        None => Cow::Owned(excerpt(method).into_owned()),
    }
}

/// Returns peer text, truncated for display.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_EXCERPT_CHARS {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Returns whether an excerpt may differ from its text.
pub(crate) fn is_abbreviated(excerpt: &str) -> bool {
    excerpt.len() > MAX_EXCERPT_CHARS
}

#[cfg(test)]
mod tests {
    use super::{Header, RequestId};
    use crate::envelope::{Envelope, MessageKind};
    use stickler::tape::TapeBuffer;

    fn header(text: &str) -> Header {
        let mut buffer = TapeBuffer::new();
        Header::of(&Envelope::identify(buffer.read(text.as_bytes(), 8).unwrap().root()))
    }

    #[test]
    fn references_of_a_message_are_read() {
        let call = header(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"_meta":{"progressToken":"t"}}}"#,
        );
        let token = RequestId::String("t".into());
        assert_eq!((call.kind, call.id), (MessageKind::Request, Some(RequestId::Integer(1))));
        assert_eq!(call.method.as_deref(), Some("tools/call"));
        assert_eq!(call.progress_token.as_ref(), Some(&token));
        let progress = header(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t"}}"#,
        );
        assert_eq!((progress.progress_token, progress.id), (Some(token), None));
        let cancelled = header(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        );
        assert_eq!(cancelled.cancels, Some(RequestId::Integer(7)));
        let error = header(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#);
        assert_eq!((error.kind, error.code), (MessageKind::Response, Some(-32601)));
    }

    #[test]
    fn ids_of_a_batch_are_listed_by_kind() {
        let (request, response) = (
            header(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            header(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
        );
        let batch = Header::of_batch(vec![request.clone(), response]);
        assert_eq!(batch.requests().collect::<Vec<_>>(), [&RequestId::Integer(1)]);
        assert_eq!(batch.answers().collect::<Vec<_>>(), [&RequestId::Integer(2)]);
        assert_eq!(request.requests().count(), 1);
        assert!(request.has_method("ping") && !batch.has_method("ping"));
    }
}
