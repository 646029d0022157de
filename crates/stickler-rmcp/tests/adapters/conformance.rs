//! Runs the conformance table on `Validated` and on `McpClient`.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use stickler_rmcp::{Code, Error, McpClient, McpConfig, Mode, ToolCallResult, Validated};

use crate::conformance_table::{Case, Differences, all, tools, without_result_type};
use crate::http::Web;
use crate::support::Wire;

/// A server that lists the tools of a case, answers as the case says and records the arguments.
#[derive(Clone)]
struct TableServer {
    tools: Vec<Tool>,
    response: Value,
    received: Arc<Mutex<Vec<Value>>>,
}

impl TableServer {
    fn new(case: &Case) -> Self {
        let tools = serde_json::from_value(tools(case.tools())).unwrap();
        Self { tools, response: case.server_or_default(), received: Arc::default() }
    }

    /// Returns what reached the server: the last arguments, or `null`.
    fn last(&self) -> Value {
        self.received.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

impl ServerHandler for TableServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("table", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.received.lock().unwrap().push(json!(request.arguments.unwrap_or_default()));
        if let Some(error) = self.response.get("error") {
            let code = ErrorCode(i32::try_from(error["code"].as_i64().unwrap()).unwrap());
            let message = error["message"].as_str().unwrap().to_owned();
            return Err(ErrorData::new(code, message, error.get("data").cloned()));
        }
        let result: CallToolResult =
            serde_json::from_value(self.response["result"].clone()).unwrap();
        Ok(result.into())
    }
}

/// Compares what reached the server with the verdict.
fn compare_forwarded(differences: &mut Differences, case: &Case, adapter: &str, last: &Value) {
    let verdict = case.expect(adapter, "verdict");
    let expected = match verdict.as_str().unwrap() {
        "reject" => Value::Null,
        "repair" => case.expect(adapter, "forwarded"),
        _ => case.arguments().cloned().unwrap_or_else(|| json!({})),
    };
    differences.compare(case, "the arguments that reach the server", &expected, last);
}

/// rmcp parses arguments to a tree of values, which keeps one of two equal keys and no number beyond a double.
fn can_be_sent(case: &Case) -> bool {
    !case.has_only_text()
}

#[tokio::test]
async fn validated_server_conforms_to_the_table() {
    let mut differences = Differences::default();
    let cases: Vec<Case> = all().into_iter().filter(can_be_sent).collect();
    for case in &cases {
        let settings = case.settings();
        let handler = TableServer::new(case);
        let server = Validated::new(handler.clone(), settings.validation)
            .with_mode(settings.mode)
            .answer_with(settings.answer)
            .repeat_limit(settings.retry_limit)
            .reveal_internal_errors()
            .without_validation_tool();
        let mut wire = Wire::raw(server).await;
        let mut response = Value::Null;
        for _ in 0..case.times() {
            response = wire.request_text("tools/call", &case.params()).await;
        }
        compare_forwarded(&mut differences, case, "server", &handler.last());
        let expected = match case.expect("server", "answer") {
            Value::Null => case.server_or_default(),
            answer => answer,
        };
        response.as_object_mut().unwrap().retain(|key, _| key == "result" || key == "error");
        let received = without_result_type(response);
        differences.compare(case, "the response", &expected, &received);
    }
    differences.finish(cases.len());
}

#[tokio::test]
async fn client_conforms_to_the_table() {
    let mut differences = Differences::default();
    // A client rejects or sends a call: it has no mode, and no session that counts repetitions.
    let is_expressible = |case: &Case| {
        can_be_sent(case) && case.settings().mode != Mode::Observe && case.arguments().is_some()
    };
    let cases: Vec<Case> = all().into_iter().filter(is_expressible).collect();
    for case in &cases {
        let handler = TableServer::new(case);
        let web = Web::modern(handler.clone(), None).await;
        let mut client = McpClient::new(McpConfig::url("table", web.url())).unwrap();
        client.enable_validation(case.settings().validation);
        client.connect().await.unwrap();
        let outcome = client.call_tool(case.tool(), case.arguments().unwrap().clone()).await;
        compare_forwarded(&mut differences, case, "client", &handler.last());
        compare_outcome(&mut differences, case, &outcome);
        client.close().await;
    }
    differences.finish(cases.len());
}

fn compare_outcome(
    differences: &mut Differences,
    case: &Case,
    outcome: &Result<ToolCallResult, Error>,
) {
    let answer = case.expect("client", "answer");
    if case.expect("client", "verdict") == "reject" {
        let error = outcome.as_ref().unwrap_err();
        let help = json!(error.help());
        differences.compare(case, "the help", &case.expect("client", "help"), &help);
        let problems = case.expect("client", "errors");
        let is_unknown = problems[0]["kind"] == "unknown_tool";
        let code = if is_unknown { Code::UnknownTool } else { Code::InvalidArguments };
        differences.compare(case, "the code", &json!(code.as_str()), &json!(error.code().as_str()));
    } else if !case.expect("client", "output_errors").is_null() {
        let code = outcome.as_ref().unwrap_err().code();
        differences.compare(case, "the code", &json!("STK-109"), &json!(code.as_str()));
    } else if let Some(text) = failure(case, &answer) {
        let expected = format!("[STK-102] tool `{}` failed: {text}", case.tool());
        let received = outcome.as_ref().unwrap_err().to_string();
        differences.compare(case, "the error", &json!(expected), &json!(received));
    } else {
        let result = case.server_or_default()["result"].clone();
        let received = json!(outcome.as_ref().unwrap().content);
        differences.compare(case, "the content", &result["content"], &received);
    }
}

/// Returns the text of a server's error with its addition; `None` for a successful result.
fn failure(case: &Case, answer: &Value) -> Option<String> {
    if let Some(error) = answer.get("error") {
        return Some(error["message"].as_str().unwrap().to_owned());
    }
    let result = answer.get("result").filter(|result| result["isError"] == true)?;
    let content = result["content"].as_array().unwrap().iter();
    let texts: Vec<&str> = content.map(|piece| piece["text"].as_str().unwrap()).collect();
    let is_enhanced = case.expect("client", "enhanced") == true;
    Some(match texts.split_last() {
        Some((addition, own)) if is_enhanced => format!("{}\n\n{addition}", own.join("\n")),
        _ => texts.join("\n"),
    })
}
