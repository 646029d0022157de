//! What the handler's tools are.

use rmcp::model::{ListToolsResult, PaginatedRequestParams, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use stickler::tool_validation::validation_tool;
use stickler::{Discovery, ToolDefinition, ToolList};

use super::{SECOND_CHOICE, Validated};

/// More pages than this are no list.
pub(super) const MOST_PAGES: usize = 1000;

impl<H: ServerHandler> Validated<H> {
    /// Whether what is known of a tool is what the handler says of it today.
    pub(super) fn knows(&self, tool: &str) -> bool {
        let Some(known) = self.validator.cache().get(&self.name, tool) else { return false };
        match self.handler.get_tool(tool) {
            Some(today) => known.raw.as_object() == Some(&today.input_schema),
            None => true,
        }
    }

    /// All pages of the handler's list, as this caller gets to see it.
    pub(super) async fn ask_for_tools(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<Tool>, ErrorData> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let params = params.cursor.is_some().then_some(params);
            let page =
                self.guard("tools/list", || self.handler.list_tools(params, context.clone()));
            let page = page.await?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(ErrorData::internal_error("the tool list does not end", None))
    }

    /// Learns a list. A tool that is about to be called may exist without being listed.
    pub(super) fn learn(&self, mut tools: Vec<Tool>, called: Option<&str>) -> Discovery {
        if let Some(name) = called
            && !tools.iter().any(|tool| tool.name == name)
        {
            tools.extend(self.handler.get_tool(name));
        }
        let mut definitions = self.definitions(&tools);
        let has = |name: &str| tools.iter().any(|tool| tool.name == name);
        if let Some(method) = self.own_tool(&tools) {
            definitions.push(validation_tool(method));
            // Announced where the tools were not known yet.
            if called == Some(SECOND_CHOICE) && method != SECOND_CHOICE && !has(SECOND_CHOICE) {
                definitions.push(validation_tool(SECOND_CHOICE));
            }
        }
        self.validator.cache().populate(&self.name, &definitions)
    }

    /// Learns from a list that passes by, when it is whole. Says whether it is.
    pub(super) fn overhear(
        &self,
        asked: Option<&PaginatedRequestParams>,
        list: &ListToolsResult,
    ) -> bool {
        let is_first = asked.is_none_or(|asked| asked.cursor.is_none());
        let is_whole = is_first && list.next_cursor.is_none();
        if is_whole {
            self.learn(list.tools.clone(), None);
        }
        is_whole
    }

    /// Whether anything is known of the tools.
    pub(super) fn has_learnt(&self) -> bool {
        !self.validator.cache().tool_names(&self.name).is_empty()
    }

    pub(super) fn definitions(&self, tools: &[Tool]) -> Vec<ToolDefinition> {
        let text = serde_json::to_vec(tools).unwrap_or_default();
        let limits = &self.validator.config().limits;
        ToolList::read(&text, limits).map(|list| list.tools).unwrap_or_default()
    }
}
