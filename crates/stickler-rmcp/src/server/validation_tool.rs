//! The validation tool: validates calls without executing them.

use futures_util::FutureExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::PoisonError;
use stickler::ValidationError;
use stickler::tool_validation::{
    CallToValidate, VALIDATION_TOOL_DESCRIPTION, ValidationReport, ValidationRequest,
    validation_tool,
};

use super::calls::{to_json, tool_result};
use super::deep::{DeepCall, Level};
use super::{FALLBACK_METHOD, Validated};

impl<H: ServerHandler> Validated<H> {
    /// Returns a name for the validation tool that none of the handler's `tools` has.
    pub(super) fn validation_tool_name(&self, tools: &[Tool]) -> Option<&str> {
        let is_free = |name: &&str| {
            !tools.iter().any(|tool| tool.name == *name) && self.handler.get_tool(name).is_none()
        };
        self.candidate_names().find(is_free)
    }

    /// Returns the name of the validation tool according to the cached tools.
    pub(super) fn cached_validation_tool_name(&self) -> Option<&str> {
        if self.has_cached_tools() {
            return self.candidate_names().find(|name| self.is_cached_validation_tool(name));
        }
        self.validation_tool_name(&[])
    }

    /// Returns the name to announce. Without cached tools, the list is used only if the handler
    /// returns it immediately: it might be waiting for the client, which waits for the announcement.
    pub(super) fn announced_tool(&self, context: &RequestContext<RoleServer>) -> Option<&str> {
        if !self.has_cached_tools() && self.settings.method.is_some() {
            match self.list_all_tools(context).now_or_never() {
                Some(Ok(tools)) => drop(self.cache_tools(tools, None)),
                _ => return self.candidate_names().last(),
            }
        }
        self.cached_validation_tool_name()
    }

    /// Returns the entry of the validation tool for the last page of a list.
    pub(super) async fn validation_entry(
        &self,
        page: &[Tool],
        is_complete: bool,
        context: &RequestContext<RoleServer>,
    ) -> Option<Tool> {
        if is_complete {
            return self.validation_tool_name(page).and_then(entry);
        }
        if !self.has_cached_tools() {
            self.refresh_tools(None, context).await;
        }
        self.cached_validation_tool_name().and_then(entry)
    }

    /// Returns the entry of the validation tool if that is its name.
    pub(super) fn validation_tool_by_name(&self, name: &str) -> Option<Tool> {
        self.cached_validation_tool_name().filter(|tool_name| *tool_name == name).and_then(entry)
    }

    /// Returns whether a call is for the validation tool and not for a handler's tool of that name.
    pub(super) async fn is_validation_call(
        &self,
        tool: &str,
        context: &RequestContext<RoleServer>,
    ) -> bool {
        if !self.candidate_names().any(|name| name == tool) {
            return false;
        }
        if self.validator.cache().get(&self.name, tool).is_none() {
            self.refresh_tools(Some(tool), context).await;
        }
        self.is_cached_validation_tool(tool)
    }

    /// Returns whether the cached tool with this name is the validation tool.
    fn is_cached_validation_tool(&self, tool: &str) -> bool {
        let known = self.validator.cache().get(&self.name, tool);
        known.is_some_and(|known| known.description.as_deref() == Some(VALIDATION_TOOL_DESCRIPTION))
            && self.handler.get_tool(tool).is_none()
    }

    /// Returns whether an entry of a list is the validation tool.
    pub(super) fn is_validation_entry(&self, tool: &Tool) -> bool {
        self.candidate_names().any(|name| name == tool.name)
            && tool.description.as_deref() == Some(VALIDATION_TOOL_DESCRIPTION)
    }

    /// Returns the possible names of the validation tool, in order of preference.
    fn candidate_names(&self) -> impl Iterator<Item = &str> {
        self.settings.method.as_deref().into_iter().flat_map(|method| [method, FALLBACK_METHOD])
    }

    async fn refresh_tools(&self, called: Option<&str>, context: &RequestContext<RoleServer>) {
        if let Ok(tools) = self.list_all_tools(context).await {
            self.cache_tools(tools, called);
        }
    }

    /// Handles a call of the validation tool, which has been validated against its schema.
    pub(super) async fn handle_validation_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.as_ref().map(to_json);
        let request = match ValidationRequest::read(arguments.as_deref().map(str::as_bytes)) {
            Ok(request) => request,
            Err(rejection) => return Ok(tool_result(rejection.answer())?.into()),
        };
        let tools = self.list_all_tools(context).await?;
        let mut reports = {
            let _guard = self.discovery_lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.cache_tools(tools, None);
            request.validate(&self.validator, &self.name)
        };
        for (call, report) in request.calls().iter().zip(&mut reports) {
            self.run_deep_checks(call, report, context).await;
        }
        Ok(tool_result(request.answer(&reports))?.into())
    }

    async fn run_deep_checks(
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
                report.warnings.push(format!("the {level} check failed without a result"));
                continue;
            };
            let errors: Vec<&str> =
                concerns.errors.iter().map(|error| error.message.as_str()).collect();
            let own = concerns.errors.iter().flat_map(ValidationError::suggestions);
            let suggestions: Vec<&String> = own.chain(&concerns.suggestions).collect();
            details.push(json!({
                "level": level.name(),
                "errors": errors,
                "warnings": concerns.warnings,
                "suggestions": suggestions,
            }));
            report.valid &= errors.is_empty();
            report.errors.extend(errors.into_iter().map(str::to_owned));
            report.suggestions.extend(suggestions.into_iter().cloned());
            report.warnings.extend(concerns.warnings);
        }
        report.details["checks"] = details.into();
    }
}

fn entry(name: &str) -> Option<Tool> {
    serde_json::from_value(Value::from(validation_tool(name))).ok()
}
