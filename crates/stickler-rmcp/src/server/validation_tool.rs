//! The tool that validates calls without making them.

use futures_util::FutureExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::PoisonError;
use stickler::tool_validation::{
    CallToValidate, VALIDATION_TOOL_DESCRIPTION, ValidationReport, ValidationRequest,
    validation_tool,
};

use super::calls::{tool_result, written};
use super::deep::{DeepCall, Level};
use super::{SECOND_CHOICE, Validated};

impl<H: ServerHandler> Validated<H> {
    /// Our tool's name beside the handler's tools, all of which are given.
    pub(super) fn own_tool(&self, tools: &[Tool]) -> Option<&str> {
        let is_free = |name: &&str| {
            !tools.iter().any(|tool| tool.name == *name) && self.handler.get_tool(name).is_none()
        };
        self.names().find(is_free)
    }

    /// Our tool's name by what is known of the handler's tools.
    pub(super) fn known_own_tool(&self) -> Option<&str> {
        if self.has_learnt() {
            return self.names().find(|name| self.is_ours(name));
        }
        self.own_tool(&[])
    }

    /// The name to announce. Where nothing is known yet, the handler is asked, but not waited for:
    /// it might want something from a client that waits for the announcement.
    pub(super) fn announced_tool(&self, context: &RequestContext<RoleServer>) -> Option<&str> {
        if !self.has_learnt() && self.settings.method.is_some() {
            match self.ask_for_tools(context).now_or_never() {
                Some(Ok(tools)) => drop(self.learn(tools, None)),
                _ => return self.names().last(),
            }
        }
        self.known_own_tool()
    }

    /// The entry of our tool in the last page of a list.
    pub(super) async fn validation_entry(
        &self,
        page: &[Tool],
        is_whole: bool,
        context: &RequestContext<RoleServer>,
    ) -> Option<Tool> {
        if is_whole {
            return self.own_tool(page).and_then(entry);
        }
        if !self.has_learnt() {
            self.look(None, context).await;
        }
        self.known_own_tool().and_then(entry)
    }

    /// The same for somebody who asks for it by its name.
    pub(super) fn validation_tool_called(&self, name: &str) -> Option<Tool> {
        self.known_own_tool().filter(|own| *own == name).and_then(entry)
    }

    /// Whether a call is for us. A tool of the handler's may have the name that ours would have.
    pub(super) async fn is_for_us(&self, tool: &str, context: &RequestContext<RoleServer>) -> bool {
        if !self.names().any(|name| name == tool) {
            return false;
        }
        if self.validator.cache().get(&self.name, tool).is_none() {
            self.look(Some(tool), context).await;
        }
        self.is_ours(tool)
    }

    /// Whether what is known under a name is our tool.
    fn is_ours(&self, tool: &str) -> bool {
        let known = self.validator.cache().get(&self.name, tool);
        known.is_some_and(|known| known.description.as_deref() == Some(VALIDATION_TOOL_DESCRIPTION))
            && self.handler.get_tool(tool).is_none()
    }

    /// Whether an entry of a list is one that was added here.
    pub(super) fn is_our_entry(&self, tool: &Tool) -> bool {
        self.names().any(|name| name == tool.name)
            && tool.description.as_deref() == Some(VALIDATION_TOOL_DESCRIPTION)
    }

    /// What our tool may be called, the better name first.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.settings.method.as_deref().into_iter().flat_map(|method| [method, SECOND_CHOICE])
    }

    async fn look(&self, called: Option<&str>, context: &RequestContext<RoleServer>) {
        if let Ok(tools) = self.ask_for_tools(context).await {
            self.learn(tools, called);
        }
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
            request.validate(&self.validator, &self.name)
        };
        for (call, report) in request.calls().iter().zip(&mut reports) {
            self.look_deeper(call, report, context).await;
        }
        Ok(tool_result(request.answer(&reports))?.into())
    }

    async fn look_deeper(
        &self,
        call: &CallToValidate,
        report: &mut ValidationReport,
        context: &RequestContext<RoleServer>,
    ) {
        let Some(checks) = self.settings.checks.as_ref().filter(|_| report.valid) else { return };
        let arguments = call.arguments.as_deref().unwrap_or("{}");
        let Ok(arguments) = serde_json::from_str::<JsonObject>(arguments) else { return };
        let call = DeepCall { tool: call.tool_of(&self.name), arguments: &arguments, context };
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

fn entry(name: &str) -> Option<Tool> {
    serde_json::from_value(Value::from(validation_tool(name))).ok()
}
