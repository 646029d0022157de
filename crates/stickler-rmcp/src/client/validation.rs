//! Validation of a call without executing it, by the server or by the tool's schema.

use serde_json::{Value, json};
use stickler::rules::Code;
use stickler::tool_validation::ValidationReport;
use stickler::{McpValidator, ToolValidationCapability, ValidationConfig};

use super::McpClient;
use super::call::ToolCallResult;
use crate::Error;

/// The validation of a call that was not executed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolValidation {
    /// Whether the call is valid, with the errors if it is not.
    pub report: ValidationReport,
    /// The source of the report.
    pub decided_by: DecidedBy,
}

/// The source of a validation report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The server, which has announced the validation capability.
    Server,
    /// The tool's schema, because the server does not validate calls.
    Schema,
}

impl McpClient {
    /// Validates a call without executing it. A server that has announced the validation capability
    /// is asked, and its report is cached for as long as it allows; otherwise the call is validated
    /// against the tool's schema. [`ToolValidation::decided_by`] identifies the source.
    ///
    /// ```no_run
    /// # use stickler_rmcp::{DecidedBy, McpClient};
    /// # async fn run(client: McpClient) -> Result<(), stickler_rmcp::Error> {
    /// let arguments = serde_json::json!({ "path": "/etc/passwd" });
    /// let validation = client.validate_tool("read_file", &arguments).await?;
    /// if validation.report.valid && validation.decided_by == DecidedBy::Server {
    ///     println!("the server accepts this call");
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
            let report = self.server_report(&capability, tool, arguments).await?;
            return Ok(ToolValidation { report, decided_by: DecidedBy::Server });
        }
        let server = &self.config.name;
        tracing::info!(server, tool, "the server does not validate calls; using the tool's schema");
        let report = self.schema_report(tool, arguments).await?;
        Ok(ToolValidation { report, decided_by: DecidedBy::Schema })
    }

    /// Returns the server's report, from the cache if the server allows that.
    async fn server_report(
        &self,
        capability: &ToolValidationCapability,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        let Some(seconds) = capability.cache_seconds else {
            return self.request_report(capability, tool, arguments).await;
        };
        if self.connection()?.take_changed() {
            self.refresh_tools().await?;
        }
        let text = arguments.to_string();
        if let Some(report) = self.report_cache.get(tool, &text) {
            return Ok(report);
        }
        let report = self.request_report(capability, tool, arguments).await?;
        self.report_cache.insert(tool, &text, seconds, &report);
        Ok(report)
    }

    async fn request_report(
        &self,
        capability: &ToolValidationCapability,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        let request = json!({ "tool": tool, "arguments": arguments });
        let result = self.send_call(&capability.method, request).await?;
        let given = ToolCallResult::from_rmcp(&result);
        if result.is_error == Some(true) {
            return Err(Error::tool(&capability.method, given.text()));
        }
        let structured = given.structured_content.clone();
        let report = structured.and_then(|report| serde_json::from_value(report).ok());
        let report = report.or_else(|| serde_json::from_str(&given.text()).ok());
        report.ok_or_else(|| {
            let method = &capability.method;
            let message = format!("the response of `{method}` is not a validation report");
            Error::new(Code::Protocol, message)
        })
    }

    async fn schema_report(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        let server = &self.config.name;
        if let Some(validator) = &self.validator {
            if self.connection()?.take_changed() || validator.cache().freshness(server).is_none() {
                self.refresh_tools().await?;
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
