//! A client message together with its routing header, which is read once.

use bytes::Bytes;
use stickler::Reservation;
use stickler_protocol::envelope::{MessageKind, RoutingHeader};

/// The body of a POST and its routing header.
#[derive(Debug)]
pub(crate) struct InboundMessage {
    pub(crate) body: Bytes,
    /// Counts the body towards the memory of the process as long as the message is handled.
    _memory: Option<Reservation>,
    header: RoutingHeader,
}

impl InboundMessage {
    pub(crate) fn of(body: Bytes) -> Self {
        let header = RoutingHeader::of(&body);
        Self { body, header, _memory: None }
    }

    /// Keeps the reservation of the memory for the body.
    pub(crate) fn with_memory(self, memory: Reservation) -> Self {
        Self { _memory: Some(memory), ..self }
    }

    /// Returns an empty message for an HTTP request without a body.
    pub(crate) fn empty() -> Self {
        Self::of(Bytes::new())
    }

    /// Returns whether the client expects a JSON-RPC response rather than only `202 Accepted`.
    pub(crate) fn expects_response(&self) -> bool {
        !matches!(self.header.kind, MessageKind::Notification | MessageKind::Response)
    }

    pub(crate) fn has_method(&self, method: &str) -> bool {
        self.header.has_method(&self.body, method)
    }

    pub(crate) fn is_initialize(&self) -> bool {
        self.has_method("initialize")
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.has_method("notifications/initialized")
    }
}
