//! `tools/list` requests that the gateway sends to the server, which the client never sees.
//!
//! At most one request is pending at a time. Pages are collected until the last one arrives and then
//! fill the tool cache as one list. A list that exceeds [`MAX_LIST_BYTES`] or does not end fails as a whole: tools missing
//! from it may exist. What was collected is freed, and the next attempt waits longer with each failure.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::tape::{Kind, Node, TapeBuffer};
use stickler::{
    Discovery, Freshness, Limits, ListPages, ToolDefinition, ToolList, ToolSchemaCache,
};

use super::pages::{MAX_LIST_BYTES, next_cursor};
use super::{Action, Purpose, subscription};
use crate::envelope::{Header, RequestId};
use crate::headers::{CAPABILITIES_KEY, VERSION_KEY};
use crate::protocol::{Era, Revision};

/// Prefix of the ids of tool list requests.
const PREFIX: &str = "stickler:tools:";

/// State of the gateway's tool list requests.
#[derive(Debug, Default)]
pub(super) struct ToolFetch {
    /// Number of the next request.
    number: u64,
    /// Id of the pending request.
    pending: Option<String>,
    /// Change count of the tool list when its first page was requested.
    changes: u64,
    pages: ListPages,
    tools: Vec<ToolDefinition>,
    /// Size of the JSON of the pages so far.
    bytes: usize,
    /// Number of list entries without a tool name.
    nameless: usize,
    failed_at: Option<Duration>,
    /// Number of failures in a row.
    failures: u32,
    /// The list was requested again because it changed during the first fetch.
    has_retried: bool,
    /// Abandoned requests with their change counts; their responses may still arrive.
    abandoned: VecDeque<(String, u64)>,
}

/// Number of failures in a row after which the pause no longer doubles: 16 times the first one.
const MAX_DOUBLINGS: u32 = 4;

/// Number of abandoned requests to remember.
const MAX_ABANDONED: usize = 16;

/// The response to a tool list request of the gateway.
#[derive(Debug)]
pub(super) struct ToolListResponse {
    message: Vec<u8>,
    /// Its request was abandoned before.
    is_late: bool,
    /// Change count of the tool list when its first page was requested.
    pub(super) changes: u64,
}

/// The page to request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestedPage {
    First,
    Next,
}

/// Progress of fetching a tool list.
#[derive(Debug)]
pub(super) enum FetchProgress {
    NextPage,
    /// The response arrived too late to be useful.
    Ignored,
    Complete(Discovery),
    Failed(String),
}

impl ToolFetch {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Returns whether a request with this id waits for its response.
    pub(super) fn awaits(&self, id: &str) -> bool {
        self.pending.as_deref() == Some(id)
    }

    /// Returns whether a request may be sent: not within `backoff` after a failure, which doubles with each further one.
    pub(super) fn may_fetch(&self, now: Duration, backoff: Duration) -> bool {
        let doublings = self.failures.saturating_sub(1).min(MAX_DOUBLINGS);
        let pause = backoff.saturating_mul(1 << doublings);
        self.failed_at.is_none_or(|failed| now >= failed.saturating_add(pause))
    }

    /// Returns the request for a page; `None` if one is pending. It carries the client's capabilities,
    /// because the tools that a modern server lists may depend on them.
    pub(super) fn request_page(
        &mut self,
        (revision, capabilities): (Option<Revision>, Option<&Value>),
        page: RequestedPage,
        changes: u64,
    ) -> Option<Action<'static>> {
        if self.pending.is_some() {
            return None;
        }
        if page == RequestedPage::First {
            self.discard_pages();
            self.changes = changes;
        }
        let id = format!("{PREFIX}{}", self.number);
        self.number = self.number.wrapping_add(1);
        let mut params = serde_json::Map::new();
        if let Some(cursor) = self.pages.cursor() {
            params.insert("cursor".into(), cursor.into());
        }
        if revision.is_none_or(|revision| revision.era() == Era::Modern) {
            let revision = revision.unwrap_or(Revision::LATEST);
            params.insert("_meta".into(), modern_meta(revision, capabilities));
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params });
        let header = Header::own("tools/list", Some(RequestId::String(id.as_str().into())));
        self.pending = Some(id);
        let bytes = request.to_string().into_bytes();
        Some(Action::request(Purpose::ListTools, header, bytes))
    }

    /// Returns the response if a server message answers a pending or abandoned gateway request.
    pub(super) fn match_response(&mut self, message: &[u8]) -> Option<ToolListResponse> {
        if self.pending.is_none() && self.abandoned.is_empty() {
            return None;
        }
        // Only parse messages that contain the prefix: almost none do.
        memchr::memmem::find(message, PREFIX.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let id = tape.root().get("id").and_then(Node::as_str)?;
        if tape.root().get("method").is_some() {
            return None;
        }
        let message = message.to_vec();
        if self.pending.as_deref() == Some(&*id) {
            self.pending = None;
            return Some(ToolListResponse { message, is_late: false, changes: self.changes });
        }
        let index = self.abandoned.iter().position(|(abandoned, _)| *abandoned == id)?;
        let (_, changes) = self.abandoned.remove(index)?;
        Some(ToolListResponse { message, is_late: true, changes })
    }

    /// Ends the pending or abandoned request with this id; `None` if there is none.
    pub(super) fn fail(&mut self, id: &str, reason: &str) -> Option<FetchProgress> {
        if self.pending.take_if(|pending| pending == id).is_some() {
            return Some(not_listed(reason));
        }
        let index = self.abandoned.iter().position(|(abandoned, _)| abandoned == id)?;
        self.abandoned.remove(index);
        Some(FetchProgress::Ignored)
    }

    /// Adds a page to the list and fills the cache after the last one.
    pub(super) fn add_page(
        &mut self,
        reply: &ToolListResponse,
        (cache, limits): (&ToolSchemaCache, &Limits),
        server: &str,
        now: Duration,
    ) -> FetchProgress {
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(&reply.message, 1 << 16) else {
            return FetchProgress::Failed("the tool list cannot be parsed".to_owned());
        };
        let root = tape.root();
        let Some(result) = root.get("result") else {
            if reply.is_late {
                return FetchProgress::Ignored;
            }
            let reason = root.pointer("/error/message").and_then(Node::as_str);
            return not_listed(reason.as_deref().unwrap_or("no reason given"));
        };
        let Some(entries) = result.get("tools").filter(|node| node.kind() == Kind::Array) else {
            return FetchProgress::Failed("the server's tool list has no `tools`".to_owned());
        };
        let Ok(next) = next_cursor(result) else {
            return FetchProgress::Failed(
                "the `nextCursor` of the tool list is not a string".to_owned(),
            );
        };
        let list = ToolList::of(entries, limits);
        if reply.is_late {
            // A late response is used only if it is a complete list and no newer one is pending.
            return match (next, &self.pending) {
                (None, None) => {
                    let freshness = Freshness::of_result(result, now);
                    let mut discovery = cache.populate_with(server, &list.tools, freshness);
                    discovery.nameless = list.nameless;
                    FetchProgress::Complete(discovery)
                }
                _ => FetchProgress::Ignored,
            };
        }
        self.bytes = self.bytes.saturating_add(entries.raw().len());
        if self.bytes > MAX_LIST_BYTES {
            let limit = MAX_LIST_BYTES >> 20;
            let reason = format!("the server's tool list exceeds the limit of {limit} MiB");
            return FetchProgress::Failed(reason);
        }
        self.tools.extend(list.tools);
        // One more than the limit, so that the cache can report the excess.
        self.tools.truncate(limits.tools_per_server.saturating_add(1));
        self.nameless += list.nameless;
        match self.pages.follow(next.map(Cow::into_owned)) {
            Ok(true) => return FetchProgress::NextPage,
            Ok(false) => {}
            Err(reason) => {
                let reason = format!("the server's tool list does not end: {reason}");
                return FetchProgress::Failed(reason);
            }
        }
        self.clear_failure();
        let freshness = Freshness::of_result(result, now);
        let tools = std::mem::take(&mut self.tools);
        let mut discovery = cache.populate_with(server, &tools, freshness);
        discovery.nameless = self.nameless;
        FetchProgress::Complete(discovery)
    }

    /// Returns whether to request the list again after it changed during the fetch. Only one retry is
    /// allowed, so that constant changes do not cause constant requests.
    pub(super) fn start_retry(&mut self) -> bool {
        !std::mem::replace(&mut self.has_retried, true)
    }

    /// Allows a retry again, after an up-to-date list was received.
    pub(super) fn reset_retry(&mut self) {
        self.has_retried = false;
    }

    /// Clears the backoff after a complete list or a restart of the server.
    pub(super) fn clear_failure(&mut self) {
        self.failed_at = None;
        self.failures = 0;
    }

    /// Frees the pages of an unfinished list.
    fn discard_pages(&mut self) {
        self.tools = Vec::new();
        self.bytes = 0;
        self.nameless = 0;
        self.pages = ListPages::default();
    }

    /// Abandons the pending request and starts the backoff.
    pub(super) fn abandon(&mut self, now: Duration) {
        self.abandoned.extend(self.pending.take().map(|id| (id, self.changes)));
        if self.abandoned.len() > MAX_ABANDONED {
            self.abandoned.pop_front();
        }
        self.discard_pages();
        self.failed_at = Some(now);
        self.failures = self.failures.saturating_add(1);
    }
}

fn not_listed(reason: &str) -> FetchProgress {
    FetchProgress::Failed(format!("the server did not list its tools: {reason}"))
}

/// Returns whether a message may contain the id of a gateway request.
pub(super) fn may_contain_gateway_id(message: &[u8]) -> bool {
    let contains = |prefix: &str| memchr::memmem::find(message, prefix.as_bytes()).is_some();
    contains(PREFIX) || contains(subscription::PREFIX)
}

/// Returns whether an id is that of a gateway request, of this or another gateway.
pub(super) fn is_gateway_id(id: &str) -> bool {
    let number = id.strip_prefix(PREFIX).or_else(|| id.strip_prefix(subscription::PREFIX));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

pub(super) fn modern_meta(revision: Revision, capabilities: Option<&Value>) -> Value {
    json!({
        VERSION_KEY: revision.as_str(),
        CAPABILITIES_KEY: capabilities.unwrap_or(&json!({})),
        "io.modelcontextprotocol/clientInfo": {
            "name": "stickler",
            "version": env!("CARGO_PKG_VERSION"),
        },
    })
}
