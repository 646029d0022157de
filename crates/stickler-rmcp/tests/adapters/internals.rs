//! What goes wrong inside a handler stays inside, and the caller is answered all the same.

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

/// Fails in every way there is, by the name of the tool; its list can change.
#[derive(Clone, Default)]
struct Clumsy {
    fields: Arc<Mutex<Vec<&'static str>>>,
}

fn tool(name: &'static str, fields: &[&str]) -> Tool {
    let properties: JsonObject =
        fields.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" }))).collect();
    let schema = json!({ "type": "object", "properties": properties });
    Tool::new(name, "", Arc::new(schema.as_object().unwrap().clone()))
}

impl ServerHandler for Clumsy {
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
            "panics" => panic!("at /home/somebody/secret.rs"),
            "fails" => Err(ErrorData::internal_error("no such table: secret", Some(json!("x")))),
            _ => Ok(CallToolResult::success(vec![]).into()),
        }
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        panic!("at /home/somebody/secret.rs")
    }
}

#[tokio::test]
async fn a_panic_or_an_internal_error_tells_nothing_of_itself() {
    let server = Validated::new(Clumsy::default(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server).await;
    for answer in [
        wire.call("panics", json!({})).await,
        wire.call("fails", json!({})).await,
        wire.ask("prompts/get", json!({ "name": "x" })).await,
    ] {
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("secret"), "{answer}");
        assert_eq!(answer["error"].get("data"), None);
    }
    let answer = wire.call("works", json!({})).await;
    assert!(answer.get("result").is_some(), "{answer}");
}

#[tokio::test]
async fn internal_errors_can_be_revealed() {
    let server = Validated::new(Clumsy::default(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server.reveal_internal_errors()).await;
    let answer = wire.call("fails", json!({})).await;
    assert_eq!(answer["error"]["message"], "no such table: secret");
}

#[tokio::test]
async fn a_list_that_changed_is_no_reason_to_refuse() {
    let clumsy = Clumsy::default();
    let server = Validated::new(clumsy.clone(), ValidationConfig::default());
    let (mut wire, _) = Wire::legacy(server).await;
    let refused = wire.call("works", json!({ "new": "x" })).await;
    assert!(text(&refused).contains("`new` is not a known field"), "{refused}");
    clumsy.fields.lock().unwrap().push("new");
    let admitted = wire.call("works", json!({ "new": "x" })).await;
    assert_eq!(admitted["result"]["content"], json!([]), "{admitted}");
}
