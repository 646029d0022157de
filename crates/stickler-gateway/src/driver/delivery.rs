//! Delivery of a driver's messages to the server and to the client's waiting readers.

use std::sync::Arc;

use stickler::Code;
use tokio::sync::mpsc;
use tracing::info;

use crate::driver::pending_responses::{Delivery, Route};
use crate::driver::{Driver, Message, Outgoing};
use crate::event_store::streams::{Streams, Undelivered};

impl Driver {
    /// Fails all pending requests because the server is gone.
    pub(crate) async fn server_gone(self: &Arc<Self>, reason: &str) {
        self.fail_pending(Code::ServerGone, reason).await;
    }

    /// Fails all pending requests with the given error and closes all streams.
    pub(crate) async fn fail_pending(self: &Arc<Self>, code: Code, reason: &str) {
        let now = self.started.elapsed();
        let outgoing = Outgoing::copied(self.connection().server_gone(code, reason, now));
        self.observe(None, &outgoing);
        self.deliver(outgoing.to_client).await;
        self.pending_responses().close();
    }

    /// Fails all pending requests because the server is gone, and expects another one.
    pub(crate) async fn server_replaced(self: &Arc<Self>, reason: &str) {
        let now = self.started.elapsed();
        let outgoing = {
            let mut connection = self.connection();
            let actions = connection.server_gone(Code::ServerGone, reason, now);
            connection.server_replaced();
            Outgoing::copied(actions)
        };
        self.observe(None, &outgoing);
        self.deliver(outgoing.to_client).await;
        self.flush();
    }

    /// Sends messages to both sides. Waits for slow readers (backpressure).
    pub(crate) async fn dispatch(self: &Arc<Self>, outgoing: Outgoing) {
        if outgoing.to_server.iter().any(Message::is_batch) {
            // Sending the remainder of a batch removes its pending POST, so deliver its errors first.
            self.deliver(outgoing.to_client).await;
            return self.send(outgoing.to_server);
        }
        self.send(outgoing.to_server);
        self.deliver(outgoing.to_client).await;
    }

    /// Sends messages to the server.
    pub(crate) fn send(self: &Arc<Self>, messages: Vec<Message>) {
        for message in messages {
            self.link.send(self, message);
        }
    }

    /// Writes messages that were only queued so far.
    pub(crate) fn flush(&self) {
        self.link.flush();
        if let Some(out) = &self.out {
            out.flush();
        }
    }

    pub(crate) async fn deliver(&self, messages: Vec<Message>) {
        for message in messages {
            if let Some(out) = &self.out {
                out.push(message.bytes);
                out.wait_for_capacity().await;
                continue;
            }
            let parts = if message.is_batch() {
                self.pending_responses().split_batch(&message)
            } else {
                None
            };
            match parts {
                None => self.deliver_one(message).await,
                Some(parts) => {
                    for part in parts {
                        self.deliver_one(part).await;
                    }
                }
            }
        }
    }

    async fn deliver_one(&self, message: Message) {
        let route = self.pending_responses().route(message);
        let is_delivered = match route {
            Route::Reader(stream, sender, delivery) => {
                self.send_to_reader(stream, sender, delivery).await
            }
            Route::Stored => true,
            Route::Undeliverable => false,
        };
        let lost = self.pending_responses().streams().map_or(0, Streams::take_lost);
        for _ in 0..lost + usize::from(!is_delivered) {
            info!(parent: self.log.span(), "a message from the server has no reader");
        }
    }

    /// Sends a delivery to the reader of a stream. Returns false if no reader can receive it.
    async fn send_to_reader(
        &self,
        stream: u64,
        mut sender: mpsc::Sender<Delivery>,
        mut delivery: Delivery,
    ) -> bool {
        loop {
            let room = sender.clone().reserve_owned().await;
            // Readers attach and detach under this lock, so the reader cannot disappear after the check.
            let mut pending = self.pending_responses();
            if let Ok(room) = room
                && !sender.is_closed()
            {
                room.send(delivery);
                return true;
            }
            match pending.reclaim(stream, delivery) {
                Undelivered::Stored => return true,
                Undelivered::Lost => return false,
                // The client has resumed the stream in the meantime.
                Undelivered::Redeliver(other, unread) => (sender, delivery) = (other, unread),
            }
        }
    }
}
