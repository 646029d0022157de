//! Links from drivers to a shared server process.

use std::sync::{Arc, PoisonError, Weak};

use super::SharedProcess;
use crate::http::driver::{Driver, Link};
use crate::http::id_rewrite::ActiveIds;
use crate::http::message::Message;
use crate::http::tool_views::ToolView;

/// The link of one client request to the shared process.
pub(super) struct SharedProcessLink {
    pub(super) shared: Arc<SharedProcess>,
    pub(super) active_ids: ActiveIds,
    /// Keeps the cached tools of this view alive as long as the link.
    pub(super) _view: Arc<ToolView>,
}

impl Link for SharedProcessLink {
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        let mut active_ids = self.active_ids.lock().unwrap_or_else(PoisonError::into_inner);
        // Messages that were held until the client disconnected are not sent.
        if let Some(active_ids) = active_ids.as_mut() {
            active_ids.extend(self.shared.send_request(driver, &message));
        }
    }
}

/// The link of gateway requests, which are not bound to a client.
pub(super) struct GatewayRequestLink(pub(super) Weak<SharedProcess>);

impl Link for GatewayRequestLink {
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        if let Some(shared) = self.0.upgrade() {
            shared.send_request(driver, &message);
        }
    }
}
