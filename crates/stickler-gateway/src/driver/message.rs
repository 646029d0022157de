//! Messages that a connection emits, with what it knows about them.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use stickler_protocol::envelope::{MessageKind, RequestId};
use stickler_protocol::{Action, Actions, Event, Header, Purpose, Reply, Side, Work, cancellation};

use crate::observe::trace_context::SpanIds;

/// A message to send, with its header.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) origin: Origin,
    pub(crate) header: Arc<Header>,
    pub(crate) bytes: Bytes,
    /// The spans of the request, if the message names one of them.
    pub(crate) span: Option<SpanIds>,
}

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The other side sent it, possibly in another form.
    Peer,
    /// The gateway answers a message.
    Reply,
    /// A request of the gateway itself.
    Request(Purpose),
    /// The gateway cancels a request.
    Cancel,
}

/// Messages to send to each side.
#[derive(Default)]
pub(crate) struct Outgoing {
    pub(crate) to_client: Vec<Message>,
    pub(crate) to_server: Vec<Message>,
    /// The header of the handled message if it is held.
    pub(crate) held: Option<Arc<Header>>,
    /// The held request that the handled message cancels.
    pub(crate) cancelled: Option<RequestId>,
    /// Work to run; its outcome is passed to the connection.
    pub(crate) work: Vec<Work>,
    pub(crate) events: Vec<Event>,
}

impl Outgoing {
    /// Collects the messages of a list of actions; unchanged ones share the bytes of `source`.
    pub(crate) fn of(actions: Actions<'_>, source: &Bytes) -> Self {
        Self::collect(actions, |bytes| source.slice_ref(bytes))
    }

    /// Collects the messages of a list of actions and copies unchanged ones.
    pub(crate) fn copied(actions: Actions<'_>) -> Self {
        Self::collect(actions, Bytes::copy_from_slice)
    }

    fn collect(actions: Actions<'_>, borrowed: impl Fn(&[u8]) -> Bytes) -> Self {
        let mut outgoing = Self::default();
        for action in actions {
            let to = action.receiver();
            let message = match action {
                Action::Forward { header, bytes, .. } => {
                    let bytes = match bytes {
                        Cow::Borrowed(bytes) => borrowed(bytes),
                        Cow::Owned(bytes) => bytes.into(),
                    };
                    Message::new(Origin::Peer, header, bytes)
                }
                Action::Reply { reply, .. } => reply.into(),
                Action::Request { purpose, header, bytes } => {
                    Message::new(Origin::Request(purpose), header, bytes)
                }
                Action::Cancel { header, bytes } => Message::new(Origin::Cancel, header, bytes),
                Action::Compile { work } | Action::Explain { work } => {
                    outgoing.work.push(work);
                    continue;
                }
                Action::Hold { header } => {
                    outgoing.held = Some(header);
                    continue;
                }
                Action::Cancelled { id } => {
                    outgoing.cancelled = Some(id);
                    continue;
                }
                Action::Event(event) => {
                    outgoing.events.push(event);
                    continue;
                }
                _ => continue,
            };
            match to {
                Some(Side::Client) => outgoing.to_client.push(message),
                _ => outgoing.to_server.push(message),
            }
        }
        outgoing
    }
}

impl Message {
    pub(crate) fn new(origin: Origin, header: Arc<Header>, bytes: impl Into<Bytes>) -> Self {
        Self { origin, header, bytes: bytes.into(), span: None }
    }

    /// Creates the cancellation of a request.
    pub(crate) fn cancellation(id: &RequestId, reason: &str) -> Self {
        let (header, bytes) = cancellation(id, reason);
        Self::new(Origin::Cancel, header, bytes)
    }

    pub(crate) fn is_batch(&self) -> bool {
        self.header.kind == MessageKind::Batch
    }
}

#[cfg(test)]
impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Self::new(Origin::Peer, Arc::default(), text)
    }
}

impl From<Reply> for Message {
    fn from(reply: Reply) -> Self {
        Self::new(Origin::Reply, reply.header, reply.bytes)
    }
}
