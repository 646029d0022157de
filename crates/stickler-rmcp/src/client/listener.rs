//! rmcp client handler that records tool list changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, ClientLifecycleMode, RoleClient};

/// Sets a flag when the tools have changed, and declares no client capabilities.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub(super) changed: Arc<AtomicBool>,
    version: ProtocolVersion,
}

impl Listener {
    pub(super) fn new(mode: &ClientLifecycleMode) -> Self {
        let version = match mode {
            // `initialize` belongs to the revisions before 2026-07-28.
            ClientLifecycleMode::Initialize => ProtocolVersion::V_2025_11_25,
            _ => ProtocolVersion::V_2026_07_28,
        };
        Self { changed: Arc::default(), version }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("stickler", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(self.version.clone())
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
