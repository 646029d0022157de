//! Messages that a connection emits, as owned bytes.

use std::borrow::Cow;

use bytes::Bytes;
use stickler_protocol::Outbox;
use stickler_protocol::envelope::RoutingHeader;

/// Messages to send to each side.
#[derive(Default)]
pub(in super::super) struct Outgoing {
    pub(in super::super) to_client: Vec<Bytes>,
    pub(in super::super) to_server: Vec<Bytes>,
}

impl Outgoing {
    /// Collects the outbox; unchanged messages share the bytes of `source`.
    pub(super) fn of(outbox: &Outbox<'_>, source: &Bytes) -> Self {
        let keep = |message: &Cow<'_, [u8]>| match message {
            Cow::Borrowed(bytes) => source.slice_ref(bytes),
            Cow::Owned(bytes) => Bytes::copy_from_slice(bytes),
        };
        Self {
            to_client: outbox.to_client.iter().map(keep).collect(),
            to_server: outbox.to_server.iter().map(keep).collect(),
        }
    }

    pub(super) fn copied(outbox: &Outbox<'_>) -> Self {
        let copy = |message: &Cow<'_, [u8]>| Bytes::copy_from_slice(message);
        Self {
            to_client: outbox.to_client.iter().map(copy).collect(),
            to_server: outbox.to_server.iter().map(copy).collect(),
        }
    }
}

/// Returns whether an emitted message is the received one, possibly rewritten.
pub(in super::super) fn is_same_message(message: &[u8], body: &[u8]) -> bool {
    if std::ptr::eq(message, body) {
        return true;
    }
    let (one, other) = (RoutingHeader::of(message), RoutingHeader::of(body));
    one.kind == other.kind && one.request_id(message) == other.request_id(body)
}
