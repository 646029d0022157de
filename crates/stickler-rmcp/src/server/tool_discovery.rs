//! Lists the handler's tools and caches them for validation.

use std::sync::atomic::Ordering;

use rmcp::model::{ListToolsResult, PaginatedRequestParams, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use stickler::tool_validation::validation_tool;
use stickler::{Discovery, ListPages, ToolDefinition, ToolList};

use super::{FALLBACK_METHOD, Validated};

impl<H: ServerHandler> Validated<H> {
    /// Returns whether a tool is cached with the schema that the handler currently has.
    pub(super) fn has_current_schema(&self, tool: &str) -> bool {
        let Some(known) = self.validator.cache().get(&self.name, tool) else { return false };
        match self.handler.get_tool(tool) {
            Some(current) => known.raw.as_object() == Some(&current.input_schema),
            None => true,
        }
    }

    /// Returns all pages of the handler's tool list, as the handler lists it for this caller.
    pub(super) async fn list_all_tools(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<Tool>, ErrorData> {
        let mut tools = Vec::new();
        let mut pages = ListPages::default();
        loop {
            let cursor = pages.cursor().map(str::to_owned);
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let params = params.cursor.is_some().then_some(params);
            let page =
                self.guard("tools/list", || self.handler.list_tools(params, context.clone()));
            let page = page.await?;
            tools.extend(page.tools);
            let has_more = pages.follow(page.next_cursor).map_err(|reason| {
                ErrorData::internal_error(format!("the tool list does not end: {reason}"), None)
            })?;
            if !has_more {
                return Ok(tools);
            }
        }
    }

    /// Caches a list. `called` is a tool that may exist although it is not listed.
    pub(super) fn cache_tools(&self, mut tools: Vec<Tool>, called: Option<&str>) -> Discovery {
        if let Some(name) = called
            && !tools.iter().any(|tool| tool.name == name)
        {
            tools.extend(self.handler.get_tool(name));
        }
        let mut definitions = self.definitions(&tools);
        let has = |name: &str| tools.iter().any(|tool| tool.name == name);
        if let Some(method) = self.validation_tool_name(&tools) {
            definitions.push(validation_tool(method));
            // The fallback name was announced before the tools were known.
            if called == Some(FALLBACK_METHOD) && method != FALLBACK_METHOD && !has(FALLBACK_METHOD)
            {
                definitions.push(validation_tool(FALLBACK_METHOD));
            }
        }
        let discovery = self.validator.cache().populate(&self.name, &definitions);
        if !self.has_warned.swap(true, Ordering::AcqRel) {
            self.warn_about(&self.tool_problems(&tools));
        }
        discovery
    }

    /// Caches the tools of a list response if it is complete. Returns whether it is.
    pub(super) fn cache_if_complete(
        &self,
        params: Option<&PaginatedRequestParams>,
        list: &ListToolsResult,
    ) -> bool {
        let is_first = params.is_none_or(|params| params.cursor.is_none());
        let is_complete = is_first && list.next_cursor.is_none();
        if is_complete {
            self.cache_tools(list.tools.clone(), None);
        }
        is_complete
    }

    /// Returns whether any tools are cached.
    pub(super) fn has_cached_tools(&self) -> bool {
        !self.validator.cache().tool_names(&self.name).is_empty()
    }

    pub(super) fn definitions(&self, tools: &[Tool]) -> Vec<ToolDefinition> {
        let text = serde_json::to_vec(tools).unwrap_or_default();
        let limits = &self.validator.config().limits;
        ToolList::read(&text, limits).map(|list| list.tools).unwrap_or_default()
    }
}
