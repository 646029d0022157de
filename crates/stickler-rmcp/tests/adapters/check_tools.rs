//! `Validated::check_tools`: reports at startup which tools have no usable schema.

use std::sync::Arc;

use rmcp::model::{
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use stickler_rmcp::{Validated, ValidationConfig};

use crate::notes::Notes;

/// A handler that lists one tool per page.
pub(crate) struct Listing(pub(crate) Vec<(&'static str, Value)>);

impl ServerHandler for Listing {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor).unwrap_or_default();
        let at: usize = cursor.parse().unwrap_or_default();
        let (name, schema) = &self.0[at];
        let schema = Arc::new(schema.as_object().unwrap().clone());
        let mut page = ListToolsResult::with_all_items(vec![Tool::new(*name, "", schema)]);
        page.next_cursor = (at + 1 < self.0.len()).then(|| (at + 1).to_string());
        Ok(page)
    }
}

#[tokio::test]
async fn every_tool_without_a_usable_schema_is_named() {
    let server = Listing(vec![
        ("good", json!({ "type": "object", "properties": {} })),
        ("open", json!({ "type": "object" })),
        ("broken", json!({ "type": "object", "properties": { "a": { "type": "strin" } } })),
    ]);
    let server = Validated::new(server, ValidationConfig::default());
    let check = server.check_tools().await.unwrap();
    assert_eq!(check.usable, 2);
    let tools: Vec<&str> = check.problems.iter().map(|problem| problem.tool.as_str()).collect();
    assert_eq!(tools, ["broken", "open"]);
    let error = check.require_all().unwrap_err().to_string();
    assert!(error.starts_with("[STK-108] calls of `broken` cannot be checked"), "{error}");
}

#[tokio::test]
async fn server_with_valid_schemas_passes_the_startup_check() {
    let server = Validated::new(Notes::default(), ValidationConfig::default());
    let check = server.check_tools().await.unwrap().require_all().unwrap();
    assert_eq!(check.usable, 3);
}
