//! Connects a driver with an exclusive server process.

pub(crate) mod handshake;

use std::sync::Arc;

use stickler_protocol::frame::Frame;
use stickler_transport::{OutputHandler, Pipe};

use crate::driver::message::Message;
use crate::driver::{Driver, Link};

/// A driver with an exclusive server process.
impl OutputHandler for Driver {
    async fn on_frame(self: &Arc<Self>, frame: Frame<'_>) {
        let outgoing = self.handle_server_frame(frame);
        self.dispatch(outgoing).await;
    }

    async fn on_exit(self: &Arc<Self>, reason: &str) {
        self.server_gone(reason).await;
    }
}

/// Link that writes to the pipe of an exclusive server process.
pub(crate) struct PipeLink(pub(crate) Arc<Pipe>);

impl Link for PipeLink {
    fn send(&self, driver: &Arc<Driver>, Message { bytes: message, .. }: Message) {
        if driver.pending_responses().is_busy() {
            self.0.enqueue(message);
        } else {
            self.0.send(message);
        }
    }
}
