//! rmcp client handler that records changes of the tools and resources.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
    ResourceUpdatedNotificationParam, ServerNotification,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, ClientLifecycleMode, RoleClient};

/// What has changed at the server since the flags were read.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) tools: AtomicBool,
    pub(super) resources: AtomicBool,
}

impl Changes {
    /// Records the change that a notification reports.
    pub(super) fn note(&self, notification: &ServerNotification) {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => set(&self.tools),
            ServerNotification::ResourceListChangedNotification(_)
            | ServerNotification::ResourceUpdatedNotification(_) => set(&self.resources),
            _ => {}
        }
    }
}

pub(super) fn set(flag: &AtomicBool) {
    flag.store(true, Ordering::Release);
}

/// Returns whether a flag was set, and resets it.
pub(super) fn take(flag: &AtomicBool) -> bool {
    flag.swap(false, Ordering::AcqRel)
}

/// Records changes, and declares no client capabilities.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub(super) changes: Arc<Changes>,
    version: ProtocolVersion,
}

impl Listener {
    pub(super) fn new(mode: &ClientLifecycleMode) -> Self {
        let version = match mode {
            // `initialize` belongs to the revisions before 2026-07-28.
            ClientLifecycleMode::Initialize => ProtocolVersion::V_2025_11_25,
            _ => ProtocolVersion::V_2026_07_28,
        };
        Self { changes: Arc::default(), version }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("stickler", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(self.version.clone())
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        set(&self.changes.tools);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        set(&self.changes.resources);
    }

    async fn on_resource_updated(
        &self,
        _: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        set(&self.changes.resources);
    }
}
