//! Requests the server's tool list and caches it for validation.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use serde_json::Value;
use stickler::rules::Code;
use stickler::{Limits, ListPages, ToolDefinition, ToolList};

use super::McpClient;
use super::call::service_error;
use super::drop_malformed_tools::MALFORMED;
use crate::Error;

impl McpClient {
    /// Requests the server's tool list. A malformed entry does not invalidate the others: it is
    /// returned as far as it could be parsed, and calls to it are not validated.
    pub async fn list_tools(&self) -> Result<Vec<ToolDefinition>, Error> {
        let connection = self.connection()?;
        // Reset first: a change during the request makes the list stale again.
        if connection.take_changed() {
            self.forget_reports(|events| events.tool_update);
        }
        let limits = self.validator.as_ref().map_or(Limits::default(), |one| one.config().limits);
        let mut entries = Vec::new();
        let mut pages = ListPages::default();
        loop {
            let (page, next) = self.page(pages.cursor().map(str::to_owned)).await?;
            entries.extend(page);
            let has_more = pages.follow(next).map_err(|reason| {
                Error::new(Code::Protocol, format!("the tool list does not end: {reason}"))
            })?;
            if !has_more {
                connection.mark_listed();
                return Ok(self.cache_list(&Value::Array(entries), &limits));
            }
        }
    }

    /// Parses a list and caches its tools if validation is enabled.
    fn cache_list(&self, entries: &Value, limits: &Limits) -> Vec<ToolDefinition> {
        let list = ToolList::read(entries.to_string().as_bytes(), limits).unwrap_or_default();
        let server = &self.config.name;
        if list.nameless > 0 {
            tracing::warn!(server, nameless = list.nameless, "ignored tools without a name");
        }
        if let Some(validator) = &self.validator {
            let discovery = validator.cache().populate(server, &list.tools);
            tracing::info!(server, tools = discovery.usable, "tools cached");
            for rejection in &discovery.quarantined {
                tracing::warn!(server, "{rejection}");
            }
        }
        list.tools
    }

    pub(super) async fn refresh_tools(&self) -> Result<(), Error> {
        self.list_tools().await.map(drop)
    }

    /// Requests one page; returns its entries and the cursor of the next page.
    async fn page(&self, cursor: Option<String>) -> Result<(Vec<Value>, Option<String>), Error> {
        let connection = self.connection()?;
        let params =
            cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = match params {
            Some(params) => {
                ListToolsRequest { params: Some(params), ..ListToolsRequest::default() }
            }
            None => ListToolsRequest::default(),
        };
        let request = connection.running.send_request(ClientRequest::ListToolsRequest(request));
        let answer = tokio::time::timeout(connection.timeout, request).await;
        let answer = answer.map_err(|_| self.timed_out("`tools/list`"))?;
        let answer = answer.map_err(|error| {
            service_error(&error, |reason| {
                Error::new(Code::Protocol, format!("the tools cannot be listed: {reason}"))
            })
        })?;
        let ServerResult::ListToolsResult(mut page) = answer else {
            let message = "the response to `tools/list` is not a tool list";
            return Err(Error::new(Code::Protocol, message));
        };
        let malformed = page.meta.as_mut().and_then(|meta| meta.0.remove(MALFORMED));
        let tools = serde_json::to_value(&page.tools).unwrap_or_default();
        let entries =
            [tools, malformed.unwrap_or_default()].into_iter().filter_map(|part| match part {
                Value::Array(entries) => Some(entries),
                _ => None,
            });
        Ok((entries.flatten().collect(), page.next_cursor.filter(|cursor| !cursor.is_empty())))
    }

    pub(super) fn timed_out(&self, what: &str) -> Error {
        let name = &self.config.name;
        Error::new(Code::Timeout, format!("`{name}` did not respond to {what} in time"))
    }
}
