//! Validation of a call without executing it, by the server or by the tool's schema.

use serde_json::{Value, json};
use stickler::rules::Code;
use stickler::tool_validation::{Invalidation, ValidationReport};
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

    /// Validates several calls, with one request for as many of them as the server accepts at once. The results
    /// are in the order of the calls.
    ///
    /// ```no_run
    /// # async fn run(client: stickler_rmcp::McpClient) -> Result<(), stickler_rmcp::Error> {
    /// let calls = [("read_file", serde_json::json!({ "path": "a" })), ("list", serde_json::json!({}))];
    /// for (validation, (tool, _)) in client.validate_tools(&calls).await?.iter().zip(&calls) {
    ///     println!("{tool}: {}", validation.report.valid);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn validate_tools(
        &self,
        calls: &[(&str, Value)],
    ) -> Result<Vec<ToolValidation>, Error> {
        let batch = self.validation_capability().filter(|one| one.batch && calls.len() > 1);
        let Some(capability) = batch else {
            let mut validations = Vec::with_capacity(calls.len());
            for (tool, arguments) in calls {
                validations.push(self.validate_tool(tool, arguments).await?);
            }
            return Ok(validations);
        };
        self.forget_outdated_reports().await?;
        let calls: Vec<Call<'_>> =
            calls.iter().map(|(tool, arguments)| (self.tool_name(tool), arguments)).collect();
        let cached = |call: &Call<'_>| self.cached_report(&capability, *call);
        let mut reports: Vec<Option<ValidationReport>> = calls.iter().map(cached).collect();
        let missing: Vec<usize> = (0..calls.len()).filter(|at| reports[*at].is_none()).collect();
        for chunk in missing.chunks(capability.max_batch_size.max(1)) {
            let asked: Vec<Call<'_>> = chunk.iter().map(|at| calls[*at]).collect();
            let given = self.request_reports(&capability, &asked).await?;
            for (at, report) in chunk.iter().zip(given) {
                self.cache_report(&capability, calls[*at], &report);
                reports[*at] = Some(report);
            }
        }
        let decided_by = DecidedBy::Server;
        Ok(reports
            .into_iter()
            .flatten()
            .map(|report| ToolValidation { report, decided_by })
            .collect())
    }

    /// Returns the server's report, from the cache if the server allows that.
    async fn server_report(
        &self,
        capability: &ToolValidationCapability,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        self.forget_outdated_reports().await?;
        if let Some(report) = self.cached_report(capability, (tool, arguments)) {
            return Ok(report);
        }
        let report = self.request_report(capability, tool, arguments).await?;
        self.cache_report(capability, (tool, arguments), &report);
        Ok(report)
    }

    /// Clears the cache if something changed that makes its reports outdated.
    async fn forget_outdated_reports(&self) -> Result<(), Error> {
        if self.connection()?.take_changed() {
            self.forget_reports(|events| events.tool_update);
            self.refresh_tools().await?;
        }
        if self.connection()?.take_resource_change() {
            self.forget_reports(|events| events.resource_change);
        }
        Ok(())
    }

    /// Clears the cache if the server's reports depend on an event.
    pub(super) fn forget_reports(&self, depends: impl FnOnce(Invalidation) -> bool) {
        if self.validation_capability().is_some_and(|one| depends(one.invalidate_on)) {
            self.report_cache.clear();
        }
    }

    fn cached_report(
        &self,
        capability: &ToolValidationCapability,
        (tool, arguments): Call<'_>,
    ) -> Option<ValidationReport> {
        capability.cache_seconds?;
        self.report_cache.get(tool, &arguments.to_string())
    }

    fn cache_report(
        &self,
        capability: &ToolValidationCapability,
        (tool, arguments): Call<'_>,
        report: &ValidationReport,
    ) {
        if let Some(seconds) = capability.cache_seconds {
            self.report_cache.insert(tool, &arguments.to_string(), seconds, report);
        }
    }

    async fn request_report(
        &self,
        capability: &ToolValidationCapability,
        tool: &str,
        arguments: &Value,
    ) -> Result<ValidationReport, Error> {
        let request = json!({ "tool": tool, "arguments": arguments });
        let report = self.request_validation(capability, request).await?;
        serde_json::from_value(report).map_err(|_| not_a_report(capability))
    }

    async fn request_reports(
        &self,
        capability: &ToolValidationCapability,
        calls: &[Call<'_>],
    ) -> Result<Vec<ValidationReport>, Error> {
        let entry = |(tool, arguments): &Call<'_>| json!({ "tool": tool, "arguments": arguments });
        let entries: Vec<Value> = calls.iter().map(entry).collect();
        let mut answer = self.request_validation(capability, json!({ "calls": entries })).await?;
        let reports = answer.get_mut("results").map(Value::take).unwrap_or_default();
        let reports: Vec<ValidationReport> =
            serde_json::from_value(reports).map_err(|_| not_a_report(capability))?;
        if reports.len() == calls.len() { Ok(reports) } else { Err(not_a_report(capability)) }
    }

    /// Calls the validation tool and returns the JSON of its result.
    async fn request_validation(
        &self,
        capability: &ToolValidationCapability,
        arguments: Value,
    ) -> Result<Value, Error> {
        let result = self.send_call(&capability.method, arguments).await?;
        let given = ToolCallResult::from_rmcp(&result);
        if result.is_error == Some(true) {
            return Err(Error::tool(&capability.method, given.text()));
        }
        let structured = given.structured_content.clone();
        let report = structured.or_else(|| serde_json::from_str(&given.text()).ok());
        report.ok_or_else(|| not_a_report(capability))
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

/// A tool and the arguments of a call.
type Call<'c> = (&'c str, &'c Value);

fn not_a_report(capability: &ToolValidationCapability) -> Error {
    let method = &capability.method;
    let message = format!("the response of `{method}` is not a validation report");
    Error::new(Code::Protocol, message)
}
