//! The tool that validates calls without making them.

use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::PoisonError;
use stickler::tool_validation::{
    ValidationQuestion, ValidationReport, ValidationRequest, validation_tool,
};

use super::Validated;
use super::calls::{tool_result, written};
use super::deep::{DeepCall, Level};

impl<H: ServerHandler> Validated<H> {
    /// The entry of our tool in a list, unless the handler has one of that name.
    pub(super) fn validation_entry(&self, listed: &[Tool]) -> Option<Tool> {
        let name = self.own_tool(listed)?;
        serde_json::from_value(Value::from(validation_tool(name))).ok()
    }

    /// Whether a call is for us.
    pub(super) fn is_for_us(&self, tool: &str) -> bool {
        self.settings.method.as_deref() == Some(tool) && self.own_tool(&[]).is_some()
    }

    /// Answers a call of our tool, which has been found to satisfy its schema.
    pub(super) async fn validate_for(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.as_ref().map(written);
        let request = match ValidationRequest::read(arguments.as_deref().map(str::as_bytes)) {
            Ok(request) => request,
            Err(refusal) => return Ok(tool_result(refusal.answer())?.into()),
        };
        let tools = self.ask_for_tools(context).await?;
        let mut reports = {
            let _alone = self.learning.lock().unwrap_or_else(PoisonError::into_inner);
            self.learn(tools, None);
            request.judge(&self.validator, &self.name)
        };
        for (question, report) in request.questions().iter().zip(&mut reports) {
            self.look_deeper(question, report, context).await;
        }
        Ok(tool_result(request.answer(&reports))?.into())
    }

    async fn look_deeper(
        &self,
        question: &ValidationQuestion,
        report: &mut ValidationReport,
        context: &RequestContext<RoleServer>,
    ) {
        let Some(checks) = self.settings.checks.as_ref().filter(|_| report.valid) else { return };
        let arguments = question.arguments.as_deref().unwrap_or("{}");
        let Ok(arguments) = serde_json::from_str::<JsonObject>(arguments) else { return };
        let call = DeepCall { tool: question.tool_of(&self.name), arguments: &arguments, context };
        let mut details = Vec::new();
        for level in Level::of(checks.levels()) {
            let concerns = self.guard("validate", || async { Ok(checks.check(level, call).await) });
            let Ok(concerns) = concerns.await else {
                let level = level.name();
                report.warnings.push(format!("the {level} check failed; nothing is known of it"));
                continue;
            };
            details.push(json!({
                "level": level.name(),
                "errors": concerns.errors,
                "warnings": concerns.warnings,
                "suggestions": concerns.suggestions,
            }));
            report.valid &= concerns.errors.is_empty();
            report.errors.extend(concerns.errors);
            report.warnings.extend(concerns.warnings);
            report.suggestions.extend(concerns.suggestions);
        }
        report.details["checks"] = details.into();
    }
}
