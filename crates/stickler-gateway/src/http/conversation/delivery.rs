//! Messages on their way to whoever they are for.

use std::sync::Arc;

use bytes::Bytes;
use stickler::Code;
use tokio::sync::mpsc;
use tracing::info;

use super::{Conversation, Heard};
use crate::http::mail::{Parcel, Route};
use crate::http::streams::{Streams, Unread};

impl Conversation {
    /// The server has gone: everybody is told.
    pub(in super::super) async fn server_gone(self: &Arc<Self>, reason: &str) {
        self.end(Code::ServerGone, reason).await;
    }

    /// Nothing more will come, for that reason.
    pub(in super::super) async fn end(self: &Arc<Self>, code: Code, reason: &str) {
        let now = self.started.elapsed();
        let heard = {
            let outbox = self.gatekeeper().server_gone(code, reason, now);
            self.observe(&outbox.events, None);
            Heard::copied(&outbox)
        };
        self.deliver(heard.to_client).await;
        self.mail().close();
    }

    /// Sends what was heard where it belongs. Waits for readers that are slow.
    pub(in super::super) async fn pass(self: &Arc<Self>, heard: Heard) {
        if heard.to_server.iter().any(|message| is_batch(message)) {
            // What is left of a batch takes its POST along, where the rest is still to be answered.
            self.deliver(heard.to_client).await;
            return self.send(heard.to_server);
        }
        self.send(heard.to_server);
        self.deliver(heard.to_client).await;
    }

    /// Sends messages to the server.
    pub(in super::super) fn send(self: &Arc<Self>, messages: Vec<Bytes>) {
        for message in messages {
            self.link.send(self, message);
        }
    }

    pub(in super::super) async fn deliver(&self, messages: Vec<Bytes>) {
        for message in messages {
            if let Some(out) = &self.out {
                // A client that reads no more is noticed where its input ends.
                let _ = out.send(message).await;
                continue;
            }
            let parts = if is_batch(&message) { self.mail().parts(&message) } else { None };
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

    async fn deliver_one(&self, message: Bytes) {
        let route = self.mail().route(message);
        let is_delivered = match route {
            Route::Reader(stream, sender, parcel) => self.hand_over(stream, sender, parcel).await,
            Route::Kept => true,
            Route::Nobody => false,
        };
        let lost = self.mail().streams().map_or(0, Streams::take_lost);
        for _ in 0..lost + usize::from(!is_delivered) {
            info!(parent: self.log.span(), "a message from the server has no reader");
        }
    }

    /// Gives something to the reader of a stream; false if nobody can come for it any more.
    async fn hand_over(
        &self,
        stream: u64,
        mut sender: mpsc::Sender<Parcel>,
        mut parcel: Parcel,
    ) -> bool {
        loop {
            let room = sender.clone().reserve_owned().await;
            // Readers go and come back under this lock, so nothing is put where nobody looks.
            let mut mail = self.mail();
            if let Ok(room) = room
                && !sender.is_closed()
            {
                room.send(parcel);
                return true;
            }
            match mail.take_back(stream, parcel) {
                Unread::Kept => return true,
                Unread::Lost => return false,
                // Its client has come back meanwhile.
                Unread::HandOver(other, unread) => (sender, parcel) = (other, unread),
            }
        }
    }
}

fn is_batch(message: &[u8]) -> bool {
    message.trim_ascii_start().starts_with(b"[")
}
