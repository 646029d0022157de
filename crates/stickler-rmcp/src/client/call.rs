//! Tool calls with validation of the arguments and of the result.

use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde_json::Value;
use stickler::rules::Code;
use stickler::{ErrorEnhancer, McpValidator, is_enhanced};

use super::McpClient;
use crate::Error;
use crate::problems::Problems;

/// The result of a successful tool call.
///
/// ```no_run
/// # async fn run(client: stickler_rmcp::McpClient) -> Result<(), stickler_rmcp::Error> {
/// let result = client.call_tool("read_file", serde_json::json!({ "path": "a.txt" })).await?;
/// println!("{}", result.text());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCallResult {
    /// The content blocks, as JSON.
    pub content: Vec<Value>,
    /// The structured content, if there is any.
    pub structured_content: Option<Value>,
    /// The result's `_meta`.
    pub meta: Option<Value>,
}

impl ToolCallResult {
    pub(super) fn from_rmcp(result: &CallToolResult) -> Self {
        Self {
            content: result.content.iter().map(json).collect(),
            structured_content: result.structured_content.clone(),
            meta: result.meta.as_ref().map(json),
        }
    }

    /// Returns the text blocks of the content, separated by newlines.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|piece| piece.get("text")?.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

impl McpClient {
    /// Calls a tool, named as `tool` or `server:tool`.
    ///
    /// With validation enabled, a call that violates the tool's schema is not sent (`[STK-107]`, or
    /// `[STK-106]` for an unknown tool), and a result that does not match the tool's `outputSchema`
    /// is an error (`[STK-109]`). An error from the server is `[STK-102]`, enhanced with details
    /// from the tool's schema.
    pub async fn call_tool(&self, tool: &str, arguments: Value) -> Result<ToolCallResult, Error> {
        let tool = self.tool_name(tool);
        self.connection()?;
        let arguments = self.validated_arguments(tool, arguments).await?;
        let result = self.send_call(tool, arguments).await?;
        let given = ToolCallResult::from_rmcp(&result);
        if result.is_error == Some(true) {
            return Err(self.enhanced_error(tool, &given.text(), given.meta.as_ref()));
        }
        if let Some(validator) = &self.validator {
            self.check_result(validator, tool, &given)?;
        }
        Ok(given)
    }

    /// Returns the arguments to send. Rejects a call only on the basis of a fresh tool list.
    async fn validated_arguments(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let Some(validator) = &self.validator else { return Ok(arguments) };
        let server = &self.config.name;
        if self.connection()?.take_changed() {
            self.refresh_tools().await?;
        }
        let mut result = validator.validate(server, tool, &arguments);
        let is_unknown = || validator.require_tool(server, tool).is_err();
        if !result.is_valid && (is_unknown() || !self.connection()?.is_list_fresh()) {
            self.refresh_tools().await?;
            result = validator.validate(server, tool, &arguments);
        }
        if result.is_valid {
            let repaired = result.arguments().map(|text| serde_json::from_str(text.get()));
            return Ok(repaired.and_then(Result::ok).unwrap_or(arguments));
        }
        let findings = result.findings();
        let problems = Problems(&findings);
        // The caller gets the rejection as an error, so it is not a warning as well.
        tracing::info!(
            server,
            tool,
            rule = problems.rule(),
            "call of `{tool}` rejected: {problems}"
        );
        Err(validator.rejection_error(server, tool, result).into())
    }

    pub(super) async fn send_call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<CallToolResult, Error> {
        let connection = self.connection()?;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            Value::Null => None,
            _ => {
                let message = "the arguments of a call must be an object";
                return Err(Error::new(Code::Protocol, message));
            }
        };
        let call = connection.running.call_tool(params);
        let outcome = tokio::time::timeout(connection.timeout, call).await;
        let outcome = outcome.map_err(|_| self.timed_out(&format!("the call of `{tool}`")))?;
        outcome.map_err(|error| {
            let marks = match &error {
                ServiceError::McpError(error) => error.data.as_ref(),
                _ => None,
            };
            service_error(&error, |reason| self.enhanced_error(tool, reason, marks))
        })
    }

    /// Returns the server's error, enhanced with details from the tool's schema unless `marks`, its `_meta` or
    /// `data`, says that a Stickler in between has done so.
    fn enhanced_error(&self, tool: &str, reason: &str, marks: Option<&Value>) -> Error {
        let is_plain = !marks.is_some_and(is_enhanced);
        let Some(validator) = self.validator.as_ref().filter(|_| is_plain) else {
            return Error::tool(tool, reason);
        };
        let enhancer = ErrorEnhancer::of(validator);
        Error::tool(tool, enhancer.enhance_text(&self.config.name, tool, reason))
    }

    fn check_result(
        &self,
        validator: &McpValidator,
        tool: &str,
        given: &ToolCallResult,
    ) -> Result<(), Error> {
        let structured = given.structured_content.as_ref();
        let errors = validator.validate_output(&self.config.name, tool, structured);
        if errors.is_empty() {
            return Ok(());
        }
        let errors: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        let errors = errors.join("\n  ");
        let message =
            format!("the result of `{tool}` does not match its outputSchema:\n  {errors}");
        Err(Error::new(Code::InvalidResult, message))
    }
}

/// Converts an error of rmcp. `server_error` converts an error response of the server.
pub(super) fn service_error(
    error: &ServiceError,
    server_error: impl FnOnce(&str) -> Error,
) -> Error {
    match error {
        ServiceError::McpError(error) => server_error(&error.message),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            Error::new(Code::ServerGone, "the server closed the connection")
        }
        ServiceError::Timeout { .. } => {
            Error::new(Code::Timeout, "the server did not respond in time")
        }
        ServiceError::Cancelled { reason } => {
            let reason = reason.as_deref().unwrap_or("no reason given");
            Error::new(Code::ServerGone, format!("the request was cancelled: {reason}"))
        }
        other => Error::new(Code::Protocol, format!("unexpected response: {other}")),
    }
}
