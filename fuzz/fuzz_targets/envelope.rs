//! Reading a header without parsing agrees with parsing, and headers for a body match that body.
//!
//! Input: the value of the header `Mcp-Name` up to a line break, then a message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickler::tape::{Kind, TapeBuffer};
use stickler_protocol::envelope::{Envelope, PartialHeader, RequestId, RoutingHeader, Shape};
use stickler_protocol::headers;

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

fn check_headers(name: &str, body: &[u8]) {
    const MISMATCH: i32 = -32020;
    let mut made = headers::for_body(body, |_| None);
    for (_, value) in &made {
        assert!(value.bytes().all(|byte| (0x20..=0x7e).contains(&byte)), "{value:?}");
    }
    if let Err(rejection) = headers::check(body, |name| header(&made, name)) {
        assert_ne!(rejection.code, MISMATCH, "{}", rejection.message);
    }
    if let Some((_, value)) = made.iter_mut().find(|(key, _)| key == headers::NAME) {
        name.clone_into(value);
    }
    let _ = headers::check(body, |name| header(&made, name));
}

fn check_envelope(message: &[u8]) {
    let routing = RoutingHeader::of(message);
    let partial = PartialHeader::of(message);
    for end in [message.len() / 3, message.len() / 2] {
        let cut = &message[..end];
        let (_, _) = (RoutingHeader::of(cut), PartialHeader::of(cut));
    }
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(message, 128) else { return };
    let root = tape.root();
    let envelope = Envelope::identify(root);
    let is_message = envelope.method.is_some() || envelope.outcome.is_some();
    if !envelope.faults.is_empty() || root.kind() != Kind::Object || !is_message {
        return;
    }
    let id = envelope.request_id();
    assert_eq!(routing.request_id(message), id, "the id of the routing header");
    if let Some(method) = envelope.method.as_deref() {
        assert!(routing.has_method(message, method), "the method of the routing header");
    }
    if envelope.shape == Shape::Request && id.as_ref().is_some_and(|id| id.to_json().len() < 1024) {
        let read = partial.id.as_deref().and_then(|id| RequestId::parse(id.as_bytes()));
        assert_eq!(read, id, "the id of the partial header");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (Some(name), Some(message)) = (parts.next(), parts.next()) else { return };
    check_envelope(message);
    if let Ok(name) = str::from_utf8(name) {
        check_headers(name, message);
    }
});
