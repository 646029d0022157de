//! What a connection received and emitted, in the form in which its driver has it: the input of `exchange`.

use std::sync::Arc;

use bytes::Bytes;
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Event, Header, Side, TraceHeaders};

use super::trace_context::SpanIds;
use crate::driver::message::{Message, Origin, Outgoing};

/// A message in the form in which a driver has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<'m> {
    Borrowed(&'m [u8]),
    Shared(&'m Bytes),
}

impl Payload<'_> {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }

    pub(super) fn to_bytes(self) -> Bytes {
        match self {
            Self::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes.clone(),
        }
    }
}

/// A message that a connection received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received<'m> {
    pub(crate) sender: Side,
    pub(crate) message: Payload<'m>,
    /// The trace context of its HTTP request.
    pub(crate) trace: Option<&'m Arc<TraceHeaders>>,
}

/// What a connection emitted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Emitted<'a> {
    Event(&'a Event),
    Hold(&'a Arc<Header>),
    Cancelled(&'a RequestId),
    Message {
        to: Side,
        origin: Origin,
        header: &'a Arc<Header>,
        bytes: Payload<'a>,
        span: Option<SpanIds>,
    },
}

/// Returns what a driver's connection emitted.
pub(crate) fn of_outgoing(outgoing: &Outgoing) -> impl Iterator<Item = Emitted<'_>> + Clone {
    let events = outgoing.events.iter().map(Emitted::Event);
    let held = outgoing.held.iter().map(Emitted::Hold);
    let cancelled = outgoing.cancelled.iter().map(Emitted::Cancelled);
    let to_client = outgoing.to_client.iter().map(|one| of_message(Side::Client, one));
    let to_server = outgoing.to_server.iter().map(|one| of_message(Side::Server, one));
    events.chain(held).chain(cancelled).chain(to_client).chain(to_server)
}

/// Returns a message to one side as something emitted.
pub(crate) fn of_message(to: Side, message: &Message) -> Emitted<'_> {
    let Message { origin, header, bytes, span } = message;
    Emitted::Message { to, origin: *origin, header, bytes: Payload::Shared(bytes), span: *span }
}
