//! Name conflict of the validation tool with a handler that lists a tool named `validate`.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use stickler_rmcp::{Validated, ValidationConfig};

use crate::support::{Wire, text};

/// How the handler lists its tools.
#[derive(Clone, Copy)]
enum Listing {
    OnePage,
    /// One tool per page.
    Paginated,
    /// After the announcement of the capability, which does not wait for the list.
    Late,
}

/// A handler with its listing and the name of its first tool.
struct Handler(Listing, &'static str);

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object", "properties": { "field": { "type": "string" } } });
        let tool = |name| Tool::new(name, "", Arc::new(schema.as_object().unwrap().clone()));
        let mut tools = vec![tool(self.1), tool("other")];
        if let Listing::Late = self.0 {
            tokio::task::yield_now().await;
        }
        let mut next = None;
        if let Listing::Paginated = self.0 {
            let is_first = request.and_then(|request| request.cursor).is_none();
            tools.remove(usize::from(is_first));
            next = is_first.then(|| "2".to_owned());
        }
        let mut list = ListToolsResult::with_all_items(tools);
        list.next_cursor = next;
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = format!("the handler's {}", request.name);
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn server(listing: Listing, pre_validate: bool) -> Validated<Handler> {
    let mut config = ValidationConfig::default();
    config.pre_validate = pre_validate;
    Validated::new(Handler(listing, "validate"), config)
}

async fn names(wire: &mut Wire) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let response = wire.request("tools/list", params).await;
        let tools = response["result"]["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match &response["result"]["nextCursor"] {
            Value::String(cursor) => params = json!({ "cursor": cursor }),
            _ => return names,
        }
    }
}

#[tokio::test]
async fn handler_tool_named_validate_keeps_its_name() {
    for listing in [Listing::OnePage, Listing::Paginated, Listing::Late] {
        for pre_validate in [true, false] {
            let (mut wire, info) = Wire::legacy(server(listing, pre_validate)).await;
            let announced = &info["capabilities"]["experimental"]["toolValidation"]["method"];
            assert_eq!(announced, "stickler_validate");
            let from_handler = wire.call("validate", json!({ "field": "x" })).await;
            assert_eq!(text(&from_handler), "the handler's validate");
            let arguments = json!({ "tool": "other", "arguments": { "field": 1 } });
            let report = wire.call("stickler_validate", arguments).await;
            // Without validation, everything is valid.
            assert_eq!(report["result"]["structuredContent"]["valid"], !pre_validate, "{report}");
            assert_eq!(names(&mut wire).await, ["validate", "other", "stickler_validate"]);
        }
    }
}

#[tokio::test]
async fn validation_tool_has_both_names_when_the_list_arrives_late() {
    for pre_validate in [true, false] {
        let mut config = ValidationConfig::default();
        config.pre_validate = pre_validate;
        let server = Validated::new(Handler(Listing::Late, "mine"), config);
        let (mut wire, info) = Wire::legacy(server).await;
        let announced = &info["capabilities"]["experimental"]["toolValidation"]["method"];
        assert_eq!(announced, "stickler_validate");
        for name in ["stickler_validate", "validate"] {
            let arguments = json!({ "tool": "other", "arguments": { "field": 1 } });
            let report = wire.call(name, arguments).await;
            // Without validation, everything is valid.
            assert_eq!(report["result"]["structuredContent"]["valid"], !pre_validate, "{report}");
        }
        assert_eq!(names(&mut wire).await, ["mine", "other", "validate"]);
    }
}

#[tokio::test]
async fn modern_announcement_uses_the_alternative_name() {
    let mut wire = Wire::modern(server(Listing::OnePage, true));
    let info = wire.request("server/discover", json!({})).await;
    let extensions = &info["result"]["capabilities"]["extensions"];
    assert_eq!(extensions["dev.stickler/tool-validation"]["method"], "stickler_validate");
    let from_handler = wire.call("validate", json!({ "field": "x" })).await;
    assert_eq!(text(&from_handler), "the handler's validate");
}

#[tokio::test]
async fn check_tools_counts_a_handler_tool_named_validate() {
    for listing in [Listing::OnePage, Listing::Paginated, Listing::Late] {
        let server = server(listing, true);
        assert_eq!(server.check_tools().await.unwrap().usable, 2);
        assert!(server.get_tool("stickler_validate").is_some());
        assert!(server.get_tool("validate").is_none());
    }
}
