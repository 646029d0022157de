//! Panics and internal errors of a handler: the caller gets an error without internal details.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams,
    GetPromptResponse, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use stickler_rmcp::{Validated, ValidationConfig};

use crate::support::{Wire, text};

/// A handler that panics, fails or succeeds by the name of the tool; its tool list can change.
#[derive(Clone, Default)]
struct Failing {
    fields: Arc<Mutex<Vec<&'static str>>>,
}

fn tool(name: &'static str, fields: &[&str]) -> Tool {
    let properties: JsonObject =
        fields.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" }))).collect();
    let schema = json!({ "type": "object", "properties": properties });
    Tool::new(name, "", Arc::new(schema.as_object().unwrap().clone()))
}

impl ServerHandler for Failing {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let fields = self.fields.lock().unwrap().clone();
        let names = ["panics", "fails", "works"];
        Ok(ListToolsResult::with_all_items(names.map(|name| tool(name, &fields)).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "panics" => panic!("at /home/user/secret.rs"),
            "fails" => Err(ErrorData::internal_error("no such table: secret", Some(json!("x")))),
            _ => Ok(CallToolResult::success(vec![]).into()),
        }
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        panic!("at /home/user/secret.rs")
    }
}

#[tokio::test]
async fn panics_and_internal_errors_do_not_leak_details() {
    let server = Validated::new(Failing::default(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server).await;
    for response in [
        wire.call("panics", json!({})).await,
        wire.call("fails", json!({})).await,
        wire.request("prompts/get", json!({ "name": "x" })).await,
    ] {
        assert_eq!(response["error"]["code"], -32603, "{response}");
        assert!(!response.to_string().contains("secret"), "{response}");
        assert_eq!(response["error"].get("data"), None);
    }
    let response = wire.call("works", json!({})).await;
    assert!(response.get("result").is_some(), "{response}");
}

#[tokio::test]
async fn internal_errors_can_be_revealed() {
    let server = Validated::new(Failing::default(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server.reveal_internal_errors()).await;
    let response = wire.call("fails", json!({})).await;
    assert_eq!(response["error"]["message"], "no such table: secret");
}

#[tokio::test]
async fn call_valid_by_a_refreshed_tool_list_is_accepted() {
    let handler = Failing::default();
    let server = Validated::new(handler.clone(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server).await;
    let rejected = wire.call("works", json!({ "new": "x" })).await;
    assert!(text(&rejected).contains("`new` is not a known field"), "{rejected}");
    handler.fields.lock().unwrap().push("new");
    let accepted = wire.call("works", json!({ "new": "x" })).await;
    assert_eq!(accepted["result"]["content"], json!([]), "{accepted}");
}
