//! Questions that the gateway itself asks the server, which the client never sees.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::tape::{Kind, Node, TapeBuffer};
use stickler::{Discovery, Freshness, Limits, ToolDefinition, ToolList, ToolSchemaCache};

use super::subscription;
use crate::headers::{CAPABILITIES_KEY, VERSION_KEY};
use crate::protocol::{Era, Revision};
use crate::session::next_cursor;

/// What our ids begin with.
const PREFIX: &str = "stickler:tools:";

/// More pages than this are no list.
const MOST_PAGES: usize = 1000;

/// The list that is being asked for.
#[derive(Debug, Default)]
pub(super) struct OwnRequests {
    /// The number of the next question.
    number: u64,
    /// The id of the question that waits for its answer.
    open: Option<String>,
    /// How often the tools had changed when the list was asked for.
    changes: u64,
    /// The cursor of the page that was asked for last; `None` for the first page.
    cursor: Option<String>,
    pages: usize,
    tools: Vec<ToolDefinition>,
    /// Entries of the list that name no tool.
    nameless: usize,
    failed_at: Option<Duration>,
    /// The list is asked for once more, because it changed under way.
    is_again: bool,
    /// Questions that were given up; their answers may still come.
    late: VecDeque<(String, u64)>,
}

/// So many questions that were given up are remembered.
const MOST_LATE: usize = 16;

/// An answer to a question of ours.
#[derive(Debug)]
pub(super) struct Reply {
    message: Vec<u8>,
    /// Its question was given up before.
    is_late: bool,
    /// How often the tools had changed when the list was asked for.
    pub(super) changes: u64,
}

/// How far the list has come.
#[derive(Debug)]
pub(super) enum Progress {
    NextPage(String),
    /// It came too late to be of use.
    Nothing,
    Learnt(Discovery),
    Failed(String),
}

impl OwnRequests {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Whether the server may be asked: not right after it has failed to answer.
    pub(super) fn may_ask(&self, now: Duration, pause: Duration) -> bool {
        self.failed_at.is_none_or(|failed| now >= failed.saturating_add(pause))
    }

    /// The request for a page; `None` when one is under way. What a modern server lists may depend on what
    /// its client can do.
    pub(super) fn ask(
        &mut self,
        (revision, capabilities): (Option<Revision>, Option<&Value>),
        cursor: Option<&str>,
        changes: u64,
    ) -> Option<Vec<u8>> {
        if self.open.is_some() {
            return None;
        }
        if cursor.is_none() {
            self.tools.clear();
            self.nameless = 0;
            self.pages = 0;
            self.changes = changes;
        }
        self.cursor = cursor.map(str::to_owned);
        let id = format!("{PREFIX}{}", self.number);
        self.number = self.number.wrapping_add(1);
        let mut params = serde_json::Map::new();
        if let Some(cursor) = cursor {
            params.insert("cursor".into(), cursor.into());
        }
        if revision.is_none_or(|revision| revision.era() == Era::Modern) {
            let revision = revision.unwrap_or(Revision::LATEST);
            params.insert("_meta".into(), modern_meta(revision, capabilities));
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params });
        self.open = Some(id);
        Some(request.to_string().into_bytes())
    }

    /// Whether a message of the server's answers us.
    pub(super) fn recognise(&mut self, message: &[u8]) -> Option<Reply> {
        if self.open.is_none() && self.late.is_empty() {
            return None;
        }
        // Nearly no message mentions an id of ours; only those are looked into.
        memchr::memmem::find(message, PREFIX.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let id = tape.root().get("id").and_then(Node::as_str)?;
        if tape.root().get("method").is_some() {
            return None;
        }
        let message = message.to_vec();
        if self.open.as_deref() == Some(&*id) {
            self.open = None;
            return Some(Reply { message, is_late: false, changes: self.changes });
        }
        let index = self.late.iter().position(|(late, _)| *late == id)?;
        let (_, changes) = self.late.remove(index)?;
        Some(Reply { message, is_late: true, changes })
    }

    /// Takes a page in.
    pub(super) fn learn(
        &mut self,
        reply: &Reply,
        (cache, limits): (&ToolSchemaCache, &Limits),
        server: &str,
        now: Duration,
    ) -> Progress {
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(&reply.message, 1 << 16) else {
            return Progress::Failed("the tool list cannot be read".to_owned());
        };
        let root = tape.root();
        let Some(result) = root.get("result") else {
            if reply.is_late {
                return Progress::Nothing;
            }
            let reason = root.pointer("/error/message").and_then(Node::as_str);
            let reason = reason.as_deref().unwrap_or("no reason given");
            return Progress::Failed(format!("the server did not list its tools: {reason}"));
        };
        let Some(entries) = result.get("tools").filter(|node| node.kind() == Kind::Array) else {
            return Progress::Failed("the server's tool list has no `tools`".to_owned());
        };
        let Ok(next) = next_cursor(result) else {
            return Progress::Failed("the `nextCursor` of its tool list is no string".to_owned());
        };
        let list = ToolList::of(entries, limits);
        if reply.is_late {
            // Worth something only as a whole list, and while no newer one is being asked for.
            return match (next, &self.open) {
                (None, None) => {
                    let freshness = Freshness::of_result(result, now);
                    let mut learnt = cache.populate_with(server, &list.tools, freshness);
                    learnt.nameless = list.nameless;
                    Progress::Learnt(learnt)
                }
                _ => Progress::Nothing,
            };
        }
        self.tools.extend(list.tools);
        self.nameless += list.nameless;
        self.pages += 1;
        if let Some(cursor) = next {
            return self.turn_page(&cursor);
        }
        self.failed_at = None;
        let freshness = Freshness::of_result(result, now);
        let tools = std::mem::take(&mut self.tools);
        let mut learnt = cache.populate_with(server, &tools, freshness);
        learnt.nameless = self.nameless;
        Progress::Learnt(learnt)
    }

    /// Goes on to the next page. What has been seen of a list that does not end is not the list:
    /// tools that it lacks may well be there.
    fn turn_page(&self, next: &str) -> Progress {
        let reason = if self.cursor.as_deref() == Some(next) {
            "a page has itself for its next page".to_owned()
        } else if self.pages >= MOST_PAGES {
            format!("it has more than {MOST_PAGES} pages")
        } else {
            return Progress::NextPage(next.to_owned());
        };
        Progress::Failed(format!("the server's tool list does not end: {reason}"))
    }

    /// A list was learnt that has changed since it was asked for: whether to ask once more. A server
    /// whose tools change all the time is not asked all the time.
    pub(super) fn try_again(&mut self) -> bool {
        !std::mem::replace(&mut self.is_again, true)
    }

    /// A list was learnt that holds.
    pub(super) fn settle(&mut self) {
        self.is_again = false;
    }

    /// The server that failed to answer is no longer the one that would be asked.
    pub(super) fn forget_failure(&mut self) {
        self.failed_at = None;
    }

    /// Nothing will come of it.
    pub(super) fn give_up(&mut self, now: Duration) {
        self.late.extend(self.open.take().map(|id| (id, self.changes)));
        if self.late.len() > MOST_LATE {
            self.late.pop_front();
        }
        self.tools.clear();
        self.failed_at = Some(now);
    }
}

/// Whether such an id may stand somewhere in a message.
pub(super) fn mentions_own_id(message: &[u8]) -> bool {
    let stands = |prefix: &str| memchr::memmem::find(message, prefix.as_bytes()).is_some();
    stands(PREFIX) || stands(subscription::PREFIX)
}

/// Whether an id is one that a gateway makes for a question of its own.
pub(super) fn is_own_id(id: &str) -> bool {
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
