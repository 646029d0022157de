//! A handler with a tool `validate` of its own, which only its list tells of.

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

#[derive(Clone, Copy)]
enum Lists {
    AtOnce,
    /// On pages of one.
    OnPages,
    /// After the announcement, which does not wait for it.
    Later,
}

/// How it lists its tools, and what the first is called.
struct Own(Lists, &'static str);

impl ServerHandler for Own {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object", "properties": { "own": { "type": "string" } } });
        let tool = |name| Tool::new(name, "", Arc::new(schema.as_object().unwrap().clone()));
        let mut tools = vec![tool(self.1), tool("other")];
        if let Lists::Later = self.0 {
            tokio::task::yield_now().await;
        }
        let mut next = None;
        if let Lists::OnPages = self.0 {
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
        let said = format!("the handler's {}", request.name);
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
    }
}

fn server(lists: Lists, pre_validate: bool) -> Validated<Own> {
    let mut config = ValidationConfig::default();
    config.pre_validate = pre_validate;
    Validated::new(Own(lists, "validate"), config)
}

async fn names(wire: &mut Wire) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let answer = wire.ask("tools/list", params).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match &answer["result"]["nextCursor"] {
            Value::String(cursor) => params = json!({ "cursor": cursor }),
            _ => return names,
        }
    }
}

#[tokio::test]
async fn it_gets_its_calls_and_ours_has_the_other_name() {
    for lists in [Lists::AtOnce, Lists::OnPages, Lists::Later] {
        for pre_validate in [true, false] {
            let (mut wire, info) = Wire::legacy(server(lists, pre_validate)).await;
            let announced = &info["capabilities"]["experimental"]["toolValidation"]["method"];
            assert_eq!(announced, "stickler_validate");
            let own = wire.call("validate", json!({ "own": "x" })).await;
            assert_eq!(text(&own), "the handler's validate");
            let question = json!({ "tool": "other", "arguments": { "own": 1 } });
            let ours = wire.call("stickler_validate", question).await;
            // Where nothing is checked, everything is valid.
            assert_eq!(ours["result"]["structuredContent"]["valid"], !pre_validate, "{ours}");
            assert_eq!(names(&mut wire).await, ["validate", "other", "stickler_validate"]);
        }
    }
}

#[tokio::test]
async fn where_the_list_came_too_late_ours_has_both_names() {
    for pre_validate in [true, false] {
        let mut config = ValidationConfig::default();
        config.pre_validate = pre_validate;
        let server = Validated::new(Own(Lists::Later, "mine"), config);
        let (mut wire, info) = Wire::legacy(server).await;
        let announced = &info["capabilities"]["experimental"]["toolValidation"]["method"];
        assert_eq!(announced, "stickler_validate");
        for name in ["stickler_validate", "validate"] {
            let question = json!({ "tool": "other", "arguments": { "own": 1 } });
            let ours = wire.call(name, question).await;
            // Where nothing is checked, everything is valid.
            assert_eq!(ours["result"]["structuredContent"]["valid"], !pre_validate, "{ours}");
        }
        assert_eq!(names(&mut wire).await, ["mine", "other", "validate"]);
    }
}

#[tokio::test]
async fn the_modern_announcement_names_it_too() {
    let mut wire = Wire::modern(server(Lists::AtOnce, true));
    let info = wire.ask("server/discover", json!({})).await;
    let extensions = &info["result"]["capabilities"]["extensions"];
    assert_eq!(extensions["dev.stickler/tool-validation"]["method"], "stickler_validate");
    let own = wire.call("validate", json!({ "own": "x" })).await;
    assert_eq!(text(&own), "the handler's validate");
}

#[tokio::test]
async fn a_look_before_the_start_counts_it_among_the_handlers() {
    for lists in [Lists::AtOnce, Lists::OnPages, Lists::Later] {
        let server = server(lists, true);
        assert_eq!(server.check_tools().await.unwrap().usable, 2);
        assert!(server.get_tool("stickler_validate").is_some());
        assert!(server.get_tool("validate").is_none());
    }
}
