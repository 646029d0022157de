//! Tool lists that change while a client is connected, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use stickler_rmcp::{Era, McpClient, McpConfig, ValidationConfig};
use tokio::sync::Notify;

use crate::http::Web;

/// A handler with a tool that has another field after a call with `change`.
#[derive(Clone, Default)]
struct Changing {
    is_new: Arc<AtomicBool>,
    changed: Arc<Notify>,
}

impl ServerHandler for Changing {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let field = if self.is_new.load(Ordering::SeqCst) { "new" } else { "old" };
        let schema = json!({
            "type": "object",
            "properties": { field: { "type": "string" }, "change": { "type": "boolean" } },
        });
        let tool = Tool::new("tool", "", Arc::new(schema.as_object().unwrap().clone()));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.arguments.is_some_and(|arguments| arguments.contains_key("change")) {
            self.is_new.store(true, Ordering::SeqCst);
            self.changed.notify_waiters();
            // Notifies the legacy client; the modern one has a subscription.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.changed.notified() => {
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
        }
    }
}

#[tokio::test]
async fn tool_list_changes_are_noticed_in_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let web = Web::modern(Changing::default(), None).await;
        let mut client = McpClient::new(McpConfig::url("s", web.url()).era(era)).unwrap();
        client.enable_validation(ValidationConfig::default());
        client.connect().await.unwrap();
        client.call_tool("tool", json!({ "old": "x" })).await.unwrap();
        assert!(client.call_tool("tool", json!({ "new": "x" })).await.is_err());
        client.call_tool("tool", json!({ "change": true })).await.unwrap();
        // The notification may arrive after the response. A call that is valid by the old list causes
        // no refresh, so only the notification can cause its rejection.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while client.call_tool("tool", json!({ "old": "x" })).await.is_ok() {
            assert!(std::time::Instant::now() < deadline, "{era:?}: the change was not noticed");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        client.call_tool("tool", json!({ "new": "x" })).await.unwrap();
        client.close().await;
    }
}
