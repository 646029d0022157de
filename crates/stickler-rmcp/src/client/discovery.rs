//! Which tools the server has.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use serde_json::Value;
use stickler::rules::Code;
use stickler::{Limits, ToolDefinition, ToolList};

use super::McpClient;
use super::call::service_error;
use super::sieve::MALFORMED;
use crate::Error;

/// More pages than this are no list.
const MOST_PAGES: usize = 1000;

impl McpClient {
    /// The server's tools, asked for now. An entry that is malformed does not cost the others:
    /// what can be read of it is there, and its calls are not checked.
    pub async fn list_tools(&self) -> Result<Vec<ToolDefinition>, Error> {
        let connection = self.connection()?;
        // A change that comes while the list is under way makes it old again.
        connection.take_change();
        self.answers.clear();
        let limits = self.validator.as_ref().map_or(Limits::default(), |one| one.config().limits);
        let mut entries = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let (page, next) = self.page(cursor.take()).await?;
            entries.extend(page);
            cursor = next;
            if cursor.is_none() {
                connection.note_list();
                return Ok(self.take_in(&Value::Array(entries), &limits));
            }
        }
        Err(Error::new(Code::Protocol, "the tool list does not end"))
    }

    /// What a list says, and what is learnt from it.
    fn take_in(&self, entries: &Value, limits: &Limits) -> Vec<ToolDefinition> {
        let list = ToolList::read(entries.to_string().as_bytes(), limits).unwrap_or_default();
        let server = &self.config.name;
        if list.nameless > 0 {
            tracing::warn!(server, nameless = list.nameless, "tools without a name");
        }
        if let Some(validator) = &self.validator {
            let discovery = validator.cache().populate(server, &list.tools);
            tracing::info!(server, tools = discovery.usable, "tools learnt");
            for refused in &discovery.quarantined {
                tracing::warn!(server, "{refused}");
            }
        }
        list.tools
    }

    pub(super) async fn learn_tools(&self) -> Result<(), Error> {
        self.list_tools().await.map(drop)
    }

    /// One page: its entries, and where the next one begins.
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
            return Err(Error::new(Code::Protocol, "the answer to `tools/list` is no tool list"));
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
        Error::new(Code::Timeout, format!("`{name}` did not answer {what} in time"))
    }
}
