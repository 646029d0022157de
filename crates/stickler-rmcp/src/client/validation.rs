//! Validating a call without making it.

use serde_json::{Value, json};
use stickler::rules::Code;
use stickler::tool_validation::ValidationReport;
use stickler::{McpValidator, ToolValidationCapability, ValidationConfig};

use super::McpClient;
use super::call::ToolCallResult;
use crate::Error;

/// What is known about a call that was not made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolValidation {
    /// Whether it is valid, and if not, why.
    pub report: ValidationReport,
    /// Who says so.
    pub decided_by: DecidedBy,
}

/// Who has judged a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The server, which has announced that it validates.
    Server,
    /// The tool's schema alone: the server does not validate.
    Schema,
}

impl McpClient {
    /// Whether a call would be valid. The server is asked where it has announced that it validates
    /// calls, once for as long as it lets answers be kept; otherwise the tool's schema decides, and the answer says so.
    ///
    /// ```no_run
    /// # use stickler_rmcp::{DecidedBy, McpClient};
    /// # async fn run(client: McpClient) -> Result<(), stickler_rmcp::Error> {
    /// let arguments = serde_json::json!({ "path": "/etc/passwd" });
    /// let validation = client.validate_tool("read_file", &arguments).await?;
    /// if validation.report.valid && validation.decided_by == DecidedBy::Server {
    ///     println!("the server itself has nothing against it");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn validate_tool(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<ToolValidation, Error> {
        let tool = self.tool_name(tool);
        self.connection()?;
        if let Some(capability) = self.validation_capability() {
            let report = self.answer_of_server(&capability, tool, arguments).await?;
            return Ok(ToolValidation { report, decided_by: DecidedBy::Server });
        }
        let server = &self.config.name;
        tracing::info!(server, tool, "the server does not validate; its schema decides");
        let report = self.ask_schema(tool, arguments).await?;
        Ok(ToolValidation { report, decided_by: DecidedBy::Schema })
    }

    /// The server's answer; one that it gave before, where it allows that and nothing has changed.
    async fn answer_of_server(
        &self,
        capability: &ToolValidationCapability,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        let Some(seconds) = capability.cache_seconds else {
            return self.ask_server(capability, tool, arguments).await;
        };
        if self.connection()?.take_change() {
            self.learn_tools().await?;
        }
        let text = arguments.to_string();
        if let Some(report) = self.answers.get(tool, &text) {
            return Ok(report);
        }
        let report = self.ask_server(capability, tool, arguments).await?;
        self.answers.keep(tool, text, seconds, &report);
        Ok(report)
    }

    async fn ask_server(
        &self,
        capability: &ToolValidationCapability,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        let question = json!({ "tool": tool, "arguments": arguments });
        let result = self.make_call(&capability.method, question).await?;
        let given = ToolCallResult::of(&result);
        if result.is_error == Some(true) {
            return Err(Error::tool(&capability.method, given.text()));
        }
        let structured = given.structured_content.clone();
        let report = structured.and_then(|report| serde_json::from_value(report).ok());
        let report = report.or_else(|| serde_json::from_str(&given.text()).ok());
        report.ok_or_else(|| {
            let method = &capability.method;
            Error::new(Code::Protocol, format!("the answer of `{method}` is no validation"))
        })
    }

    async fn ask_schema(&self, tool: &str, arguments: &Value) -> Result<ValidationReport, Error> {
        let server = &self.config.name;
        if let Some(validator) = &self.validator {
            if self.connection()?.take_change() || validator.cache().freshness(server).is_none() {
                self.learn_tools().await?;
            }
            let result = validator.validate(server, tool, arguments);
            return Ok(ValidationReport::of(validator, server, &result));
        }
        let validator = McpValidator::new(ValidationConfig::default());
        validator.cache().populate(server, &self.list_tools().await?);
        let result = validator.validate(server, tool, arguments);
        Ok(ValidationReport::of(&validator, server, &result))
    }
}
