//! Connects drivers with server processes.

pub(crate) mod handshake;
pub(crate) mod slot;

use std::sync::Arc;

use bytes::Bytes;
use stickler_protocol::frame::Frame;
use stickler_transport::{OutputHandler, Pipe};
use tracing::warn;

use crate::driver::message::{Message, Origin};
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
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        let is_busy = driver.pending_responses().is_busy();
        write(driver, &self.0, message, if is_busy { Pipe::enqueue } else { Pipe::send });
    }
}

/// Writes a message, unless it is a reply of the gateway to a server that does not read: that server could send
/// invalid requests without end.
fn write(driver: &Driver, pipe: &Pipe, message: Message, write: impl FnOnce(&Pipe, Bytes)) {
    if message.origin == Origin::Reply && pipe.is_full() {
        warn!(
            parent: driver.span(),
            "the server does not read its input; a response to it was dropped"
        );
        return;
    }
    write(pipe, message.bytes);
}
