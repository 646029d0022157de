//! Links from drivers to a shared server process.

use std::sync::{Arc, PoisonError, Weak};

use crate::driver::message::Message;
use crate::driver::{Driver, Link};
use crate::id_rewrite::ActiveIds;
use crate::multiplexer::SharedProcess;
use crate::multiplexer::client_queue::ClientQueue;
use crate::tool_views::ToolView;

/// The link of one client request to the shared process.
pub(crate) struct SharedProcessLink {
    pub(crate) shared: Arc<SharedProcess>,
    /// Messages that the client has not taken yet.
    pub(crate) queue: Arc<ClientQueue>,
    pub(crate) active_ids: ActiveIds,
    /// Keeps the cached tools of this view alive as long as the link.
    pub(crate) _view: Arc<ToolView>,
}

impl Link for SharedProcessLink {
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        let mut active_ids = self.active_ids.lock().unwrap_or_else(PoisonError::into_inner);
        // Messages that were held until the client disconnected are not sent.
        if let Some(active_ids) = active_ids.as_mut() {
            active_ids.extend(self.shared.send_request(driver, &self.queue, &message));
        }
    }
}

/// The link of gateway requests, which are not bound to a client.
pub(crate) struct GatewayRequestLink(pub(crate) Weak<SharedProcess>);

impl Link for GatewayRequestLink {
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        if let Some(shared) = self.0.upgrade() {
            shared.send_request(driver, &shared.gateway_queue, &message);
        }
    }
}
