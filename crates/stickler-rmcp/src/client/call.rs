//! A call: checked, made, and its outcome checked.

use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde_json::Value;
use stickler::rules::Code;
use stickler::{ErrorEnhancer, McpValidator};

use super::McpClient;
use crate::Error;
use crate::problems::Problems;

/// What a tool gave.
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
    /// The pieces of its content, as JSON.
    pub content: Vec<Value>,
    /// Its structured content.
    pub structured_content: Option<Value>,
    /// The result's `_meta`.
    pub meta: Option<Value>,
}

impl ToolCallResult {
    pub(super) fn of(result: &CallToolResult) -> Self {
        Self {
            content: result.content.iter().map(json).collect(),
            structured_content: result.structured_content.clone(),
            meta: result.meta.as_ref().map(json),
        }
    }

    /// The texts among its content, one below the other.
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
    /// With validation on, a call that the tool's schema refuses is not made (`[STK-107]`, or
    /// `[STK-106]` for a tool that does not exist), and a result that does not match the tool's
    /// `outputSchema` is an error (`[STK-109]`). The server's own error is `[STK-102]`, enhanced
    /// with what the schema knows.
    pub async fn call_tool(&self, tool: &str, arguments: Value) -> Result<ToolCallResult, Error> {
        let tool = self.tool_name(tool);
        self.connection()?;
        let arguments = self.checked(tool, arguments).await?;
        let result = self.make_call(tool, arguments).await?;
        let given = ToolCallResult::of(&result);
        if result.is_error == Some(true) {
            return Err(self.enhanced(tool, &given.text()));
        }
        if let Some(validator) = &self.validator {
            self.check_result(validator, tool, &given)?;
        }
        Ok(given)
    }

    /// The arguments to send. A refusal is only given by a list that is up to date.
    async fn checked(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let Some(validator) = &self.validator else { return Ok(arguments) };
        let server = &self.config.name;
        if self.connection()?.take_change() {
            self.learn_tools().await?;
        }
        let mut result = validator.validate(server, tool, &arguments);
        let is_unknown = || validator.require_tool(server, tool).is_err();
        if !result.is_valid && (is_unknown() || !self.connection()?.is_list_new()) {
            self.learn_tools().await?;
            result = validator.validate(server, tool, &arguments);
        }
        if result.is_valid {
            let repaired = result.arguments().map(|text| serde_json::from_str(text.get()));
            return Ok(repaired.and_then(Result::ok).unwrap_or(arguments));
        }
        let findings = result.findings();
        let problems = Problems(&findings);
        tracing::warn!(
            server,
            tool,
            rule = problems.rule(),
            "call of `{tool}` rejected: {problems}"
        );
        validator.ensure_valid(server, tool, &arguments)?;
        Ok(arguments)
    }

    pub(super) async fn make_call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<CallToolResult, Error> {
        let connection = self.connection()?;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            Value::Null => None,
            _ => return Err(Error::new(Code::Protocol, "the arguments of a call are an object")),
        };
        let call = connection.running.call_tool(params);
        let outcome = tokio::time::timeout(connection.timeout, call).await;
        let outcome = outcome.map_err(|_| self.timed_out(&format!("the call of `{tool}`")))?;
        outcome.map_err(|error| service_error(&error, |reason| self.enhanced(tool, reason)))
    }

    /// The server's own words, with what the schema adds to them.
    fn enhanced(&self, tool: &str, reason: &str) -> Error {
        let Some(validator) = &self.validator else { return Error::tool(tool, reason) };
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

/// An error of rmcp's in our words. What the server itself said is for the caller to place.
pub(super) fn service_error(error: &ServiceError, of_server: impl FnOnce(&str) -> Error) -> Error {
    match error {
        ServiceError::McpError(error) => of_server(&error.message),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            Error::new(Code::ServerGone, "the server went away")
        }
        ServiceError::Timeout { .. } => {
            Error::new(Code::Timeout, "the server did not answer in time")
        }
        ServiceError::Cancelled { reason } => {
            let reason = reason.as_deref().unwrap_or("no reason given");
            Error::new(Code::ServerGone, format!("the request was cancelled: {reason}"))
        }
        other => Error::new(Code::Protocol, format!("the answer cannot be used: {other}")),
    }
}
