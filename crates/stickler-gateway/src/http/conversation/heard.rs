//! What the gatekeeper lets through, as bytes that can be kept.

use std::borrow::Cow;

use bytes::Bytes;
use stickler_protocol::Outbox;
use stickler_protocol::envelope::Address;

/// What came of a message of the server's.
#[derive(Default)]
pub(in super::super) struct Heard {
    pub(in super::super) to_client: Vec<Bytes>,
    pub(in super::super) to_server: Vec<Bytes>,
}

impl Heard {
    /// What came is kept without copying where it goes on as it is.
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

/// Whether what goes on is what came, perhaps changed.
pub(in super::super) fn is_same_message(onward: &[u8], body: &[u8]) -> bool {
    if std::ptr::eq(onward, body) {
        return true;
    }
    let (one, other) = (Address::of(onward), Address::of(body));
    one.bearing == other.bearing && one.request_id(onward) == other.request_id(body)
}
