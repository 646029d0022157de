//! Queue for messages to the server that do not come from the client's thread.
//!
//! A separate thread writes them, so that the thread that reads the server's output never blocks on its input.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

use stickler_protocol::envelope::MessageKind;
use stickler_protocol::{Actions, Side};
use stickler_transport::wire::LineWriter;
use tracing::warn;

use crate::downstream::stdio::to_command::Shared;

/// Maximum number of queued responses to a server that does not read. Queued requests are not limited here;
/// their number is bounded by their source.
const MAX_QUEUED_RESPONSES: usize = 1024;

/// Work for the thread that writes queued messages to the server.
pub(crate) enum ServerWrite {
    /// A message for the server of that generation.
    Message(u64, Vec<u8>),
    /// Closes the server's input.
    Close,
}

impl Shared {
    /// Queues the messages to the server. Responses are dropped if too many messages are queued.
    pub(crate) fn queue_for_server(
        &self,
        generation: u64,
        actions: &Actions<'_>,
        server_queue: &Sender<ServerWrite>,
    ) {
        for action in actions {
            let (Some(Side::Server), Some(message)) = (action.receiver(), action.message()) else {
                continue;
            };
            let is_response =
                action.header().is_some_and(|header| header.kind == MessageKind::Response);
            if self.queued_messages.load(Ordering::SeqCst) >= MAX_QUEUED_RESPONSES && is_response {
                warn!(
                    parent: self.log.span(),
                    "the server does not read its input; a response to it was dropped"
                );
                continue;
            }
            self.queued_messages.fetch_add(1, Ordering::SeqCst);
            let _ = server_queue.send(ServerWrite::Message(generation, message.to_vec()));
        }
        self.unqueued_outputs.fetch_sub(1, Ordering::SeqCst);
    }

    /// Writes queued messages until all senders are dropped.
    pub(crate) fn write_queued(&self, writes: &Receiver<ServerWrite>) {
        while let Ok(write) = writes.recv() {
            let ServerWrite::Message(generation, message) = write else {
                self.server.close();
                continue;
            };
            let mut lines = LineWriter::default();
            self.server.write(generation, &mut lines, |lines, server| {
                lines.push(&message, server).and_then(|()| lines.flush(server))
            });
            self.queued_messages.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
