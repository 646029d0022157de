//! Trace contexts of requests: reads the parent, and puts the gateway's own span into a forwarded request.
//!
//! The parent is `params._meta.traceparent`, or the HTTP header of that name if the request has none (W3C Trace Context,
//! version 00). [`inject`] splices the span towards the server into `params._meta`, so that the server's spans become
//! its children; all other bytes stay the same. A batch, and a request whose `params` or `_meta` is not an object, are
//! left as they are.

use std::hash::{BuildHasher as _, RandomState};

use bytes::Bytes;
use stickler::tape::{Kind, Node, Tape, TapeBuffer, append, set_nested, splice};
use stickler_protocol::TraceHeaders;
use stickler_protocol::envelope::MessageKind;

use crate::driver::message::{Message, Origin};

/// Nesting limit for a message that was already checked.
const MAX_DEPTH: usize = 1 << 16;

/// The ids of the spans of a request, chosen when it is forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanIds {
    /// The trace.
    pub trace: u128,
    /// The span towards the client.
    pub server: u64,
    /// The span towards the server, which the forwarded request names.
    pub client: u64,
}

/// A parsed `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub(crate) trace: u128,
    pub(crate) span: u64,
    pub(crate) flags: u8,
}

impl TraceParent {
    /// Reads `00-TRACE-SPAN-FLAGS`; later versions may have more parts.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut hex = |digits: usize| {
            let part = parts.next()?;
            let is_hex =
                part.len() == digits && part.bytes().all(|one| b"0123456789abcdef".contains(&one));
            is_hex.then(|| u128::from_str_radix(part, 16).ok())?
        };
        let version = hex(2)?;
        let (trace, span, flags) = (hex(32)?, hex(16)?, hex(2)?);
        let is_known = version < 0xff && (version > 0 || parts.next().is_none());
        let parent =
            Self { trace, span: u64::try_from(span).ok()?, flags: u8::try_from(flags).ok()? };
        (is_known && trace != 0 && span != 0).then_some(parent)
    }
}

/// Puts the context of a new span into each forwarded request. `http` is the context of its HTTP request.
pub(crate) fn inject(message: &mut Message, http: Option<&TraceHeaders>) {
    if message.origin != Origin::Peer || message.header.kind != MessageKind::Request {
        return;
    }
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(&message.bytes, MAX_DEPTH) else { return };
    if let Some((bytes, ids)) = injected(&tape, http) {
        message.bytes = bytes;
        message.span = Some(ids);
    }
}

fn injected(tape: &Tape<'_>, http: Option<&TraceHeaders>) -> Option<(Bytes, SpanIds)> {
    let params = tape.root().get("params");
    let own = params.and_then(|params| params.get("_meta")?.get("traceparent")?.as_str());
    let own = own.and_then(|text| TraceParent::parse(&text));
    let parent = own.or_else(|| TraceParent::parse(&http?.traceparent));
    let ids = SpanIds {
        trace: parent.map_or_else(
            || u128::from(random_id()) << 64 | u128::from(random_id()),
            |parent| parent.trace,
        ),
        server: random_id(),
        client: random_id(),
    };
    let flags = parent.map_or(1, |parent| parent.flags);
    let text = with_context(tape.root(), &ids, flags)?;
    Some((text.into(), ids))
}

/// Returns the request with `params._meta.traceparent`.
fn with_context(request: Node<'_>, ids: &SpanIds, flags: u8) -> Option<String> {
    let value = format!("\"00-{:032x}-{:016x}-{flags:02x}\"", ids.trace, ids.client);
    let insertion = match request.get("params") {
        None => append(request, &format!("\"params\":{{\"_meta\":{{\"traceparent\":{value}}}}}")),
        Some(params) if params.kind() == Kind::Object => {
            set_nested(params, "_meta", "traceparent", &value)?
        }
        Some(_) => return None,
    };
    Some(splice(request.tape().text(), vec![insertion]))
}

/// Returns a random number that is not 0, the invalid id.
fn random_id() -> u64 {
    RandomState::new().hash_one(0_u8).max(1)
}

#[cfg(test)]
mod tests {
    use super::{SpanIds, TraceParent, inject, with_context};
    use crate::driver::message::Message;
    use std::sync::Arc;
    use stickler::tape::TapeBuffer;
    use stickler_protocol::TraceHeaders;
    use stickler_protocol::envelope::MessageKind;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const CONTEXT: &str =
        "\"traceparent\":\"00-0000000000000000000000000000000a-000000000000000c-01\"";

    #[test]
    fn context_is_spliced_and_all_other_bytes_stay() {
        for (request, expected) in [
            (
                r#"{ "id" : 1e0,"method":"ping" }"#,
                r#"{ "id" : 1e0,"method":"ping" ,"params":{"_meta":{CONTEXT}}}"#,
            ),
            (r#"{"params" : {}, "id":1}"#, r#"{"params" : {"_meta":{CONTEXT}}, "id":1}"#),
            (
                r#"{"params":{"n":1.0, "s":"\u0041"},"id":1}"#,
                r#"{"params":{"n":1.0, "s":"\u0041","_meta":{CONTEXT}},"id":1}"#,
            ),
            (
                r#"{"params":{"_meta":{"progressToken": 7},"a":1}}"#,
                r#"{"params":{"_meta":{"progressToken": 7,CONTEXT},"a":1}}"#,
            ),
            (
                r#"{"params":{"_meta":{"traceparent":"old","tracestate":"a=b"}}}"#,
                r#"{"params":{"_meta":{CONTEXT,"tracestate":"a=b"}}}"#,
            ),
        ] {
            let ids = SpanIds { trace: 10, server: 11, client: 12 };
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(request.as_bytes(), 8).unwrap();
            let changed = with_context(tape.root(), &ids, 1);
            assert_eq!(changed.unwrap(), expected.replace("CONTEXT", CONTEXT), "{request}");
        }
        for request in [r#"{"params":[1]}"#, r#"{"params":{"_meta":null}}"#] {
            let ids = SpanIds { trace: 10, server: 11, client: 12 };
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(request.as_bytes(), 8).unwrap();
            assert_eq!(with_context(tape.root(), &ids, 1), None, "{request}");
        }
    }

    fn message(kind: MessageKind, text: &'static str) -> Message {
        let mut message = Message::from(text);
        Arc::make_mut(&mut message.header).kind = kind;
        message
    }

    #[test]
    fn parent_is_that_of_the_request_then_that_of_the_http_request() {
        let http = TraceHeaders { traceparent: PARENT.replace("0af7", "1111"), tracestate: None };
        let own = format!(r#"{{"params":{{"_meta":{{"traceparent":"{PARENT}"}}}}}}"#);
        for (text, http, expected) in [
            (&*own.leak(), Some(&http), "0af7"),
            (r#"{"params":{}}"#, Some(&http), "1111"),
            (r#"{"params":{"_meta":{"traceparent":"invalid"}}}"#, Some(&http), "1111"),
        ] {
            let mut message = message(MessageKind::Request, text);
            inject(&mut message, http);
            let ids = message.span.unwrap();
            let expected = format!("{expected}651916cd43dd8448eb211c80319c");
            assert_eq!(format!("{:032x}", ids.trace), expected);
            let sent = String::from_utf8(message.bytes.to_vec()).unwrap();
            assert!(sent.contains(&format!("00-{expected}-{:016x}-01", ids.client)), "{sent}");
        }
    }

    #[test]
    fn only_requests_get_a_context() {
        for kind in [MessageKind::Notification, MessageKind::Response, MessageKind::Batch] {
            let mut message = message(kind, r#"{"params":{}}"#);
            inject(&mut message, None);
            assert_eq!((&message.bytes[..], message.span), (&br#"{"params":{}}"#[..], None));
        }
    }

    #[test]
    fn invalid_parents_are_ignored() {
        assert_eq!(TraceParent::parse(PARENT).map(|one| one.flags), Some(1));
        let later = format!("{}-more", PARENT.replacen("00", "01", 1));
        assert!(TraceParent::parse(&later).is_some());
        for text in [
            "",
            "00",
            &PARENT.replace("0af7", "0AF7"),
            &PARENT.replace("0af7", "+af7"),
            &PARENT.replacen("00", "ff", 1),
            &format!("{PARENT}-more"),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        ] {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }
}
