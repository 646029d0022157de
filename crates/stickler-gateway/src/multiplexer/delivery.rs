//! Delivery of the messages of a shared process to its clients. Nothing here waits for a client.

use std::sync::Arc;
use std::time::Duration;

use stickler::Code;
use stickler::tape::TapeBuffer;
use stickler_protocol::envelope::PartialHeader;
use tokio::time::timeout;
use tracing::warn;

use super::client_queue::{Delivery, GiveUp};
use super::id_map::Lookup;
use super::{RoutedMessage, SharedProcess};
use crate::driver::Driver;
use crate::id_rewrite;

/// Maximum time to deliver the errors at the end of a process, or the error to a client that reads too slowly.
pub(super) const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a client that reads too slowly loses its request.
const TOO_SLOW: &str = "the client reads too slowly for a shared server";

impl SharedProcess {
    /// Delivers a message to the client of its request.
    pub(super) async fn deliver(self: &Arc<Self>, routed: RoutedMessage) {
        let RoutedMessage { driver, queue, message, id, is_end } = routed;
        let outgoing = driver.handle_server_message(&message);
        let bytes = outgoing.to_client.iter().map(|one| one.bytes.len()).sum();
        let receiver = Arc::clone(&driver);
        let delivery = Box::pin(async move {
            receiver.dispatch(outgoing).await;
            if is_end {
                receiver.pending_responses().close();
            }
        });
        queue.deliver(delivery, bytes, || self.give_up(&driver, id)).await;
        self.subscribe();
    }

    /// Limits the time that the requests of clients wait after an answer that belongs to none of them.
    pub(super) fn note_unmatched_answer(&self, message: &[u8]) {
        let contains = |text: &str| memchr::memmem::find(message, text.as_bytes()).is_some();
        if !contains("\"jsonrpc\"") || !(contains("\"result\"") || contains("\"error\"")) {
            return;
        }
        let routes = self.routes().all();
        for route in routes.iter().filter(|route| !route.is_subscription) {
            route.driver.note_unmatched_answer();
        }
    }

    /// Returns how to end the request of a client that reads too slowly.
    fn give_up(self: &Arc<Self>, driver: &Arc<Driver>, id: u64) -> GiveUp {
        let (shared, driver) = (Arc::clone(self), Arc::clone(driver));
        Box::new(move || -> Delivery {
            warn!(parent: driver.span(), "request cancelled: {TOO_SLOW}");
            shared.cancel(id);
            Box::pin(async move { end_driver(&driver, Code::Timeout, TOO_SLOW).await })
        })
    }

    /// Fails the request of a response that cannot be parsed. Returns false if the message is not one.
    pub(super) async fn fail_unreadable(self: &Arc<Self>, message: &[u8]) -> bool {
        let mut buffer = TapeBuffer::new();
        let is_readable = buffer.read(message, 1 << 10).is_ok();
        let reason = "the server's response cannot be parsed";
        !is_readable && self.fail(&PartialHeader::of(message), reason).await
    }

    /// Fails the request of a response of which only the id was read.
    pub(super) async fn fail(
        self: &Arc<Self>,
        partial: &PartialHeader,
        reason: &'static str,
    ) -> bool {
        let Some(id) = id_rewrite::internal_id_in(partial) else { return false };
        let found = self.routes().lookup(id, true);
        let Lookup::Active(route) = found else { return false };
        let driver = Arc::clone(&route.driver);
        let delivery = Box::pin(async move { driver.fail_pending(Code::Protocol, reason).await });
        route.queue.deliver(delivery, reason.len(), || self.give_up(&route.driver, id)).await;
        true
    }
}

/// Fails the pending requests of a driver. Gives up if the client does not read.
pub(super) async fn end_driver(driver: &Arc<Driver>, code: Code, reason: &str) {
    if timeout(END_TIMEOUT, driver.fail_pending(code, reason)).await.is_err() {
        driver.pending_responses().close();
    }
}
