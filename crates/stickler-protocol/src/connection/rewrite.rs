//! Changes to checked messages: gateway responses to client requests, additions to server messages,
//! and removal of messages that belong to gateway requests. Each applies to a single message and to
//! the messages of a batch.

use std::borrow::Cow;
use std::time::Duration;

use stickler::ErrorEnhancer;
use stickler::tape::{Node, TapeBuffer};

use super::inspect::combine_decisions;
use super::tool_fetch::{is_gateway_id, may_contain_gateway_id};
use super::{Actions, Connection};
use crate::envelope::{Header, RequestId};
use crate::side::Side;
use crate::verdict::{Decision, Part, Reply, Verdict};

/// Nesting limit for a message that was already checked.
const MAX_DEPTH: usize = 1 << 16;

impl Connection {
    /// Replaces decisions of a verdict, for a single message or for each message of a batch.
    pub(super) fn rewrite_parts(
        &mut self,
        mut verdict: Verdict,
        message: &[u8],
        mut change: impl FnMut(&mut Self, &Part, &[u8]) -> Option<Decision>,
    ) -> Verdict {
        if verdict.parts.is_empty() {
            let Verdict { decision, header, .. } = verdict;
            let part = Part { decision, header };
            let changed = change(self, &part, message);
            verdict.decision = changed.unwrap_or(part.decision);
            verdict.header = part.header;
            return verdict;
        }
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(message, MAX_DEPTH) else { return verdict };
        let mut is_changed = false;
        for (node, part) in tape.root().elements().zip(&mut verdict.parts) {
            if let Some(decision) = change(self, part, node.raw().as_bytes()) {
                part.decision = decision;
                is_changed = true;
            }
        }
        if is_changed {
            verdict.decision = combine_decisions(tape.root(), &verdict.parts);
        }
        verdict
    }

    /// Returns the gateway's response to a client request that does not need to reach the server.
    pub(super) fn gateway_answer(
        &mut self,
        part: &Part,
        message: &[u8],
        now: Duration,
    ) -> Option<Reply> {
        let id = part.header.id.as_ref();
        // A new request with this id replaces any earlier one that was still expected.
        if let Some(id) = id {
            self.validation_cache.take_pending(id);
        }
        let answer = if self.is_gateway_tool(part) {
            self.serve_validation(message, now)?
        } else if self.is_server_validation(part) {
            self.answer_for_server(part, message, now)?
        } else {
            return None;
        };
        if let Some(id) = id {
            self.pending.of_mut(Side::Client).complete(id);
        }
        Some(Reply::new(Header::response(id.cloned(), None), answer))
    }

    /// Returns the changed decision for a server message; `None` if it is forwarded unchanged.
    pub(super) fn rewrite_server_message(
        &mut self,
        part: &Part,
        message: &[u8],
        now: Duration,
        out: &mut Actions<'_>,
    ) -> Option<Decision> {
        if part.decision != Decision::Forward {
            return None;
        }
        if belongs_to_gateway(part, message) {
            // Messages of a batch were not matched before. Duplicates and strays are dropped too.
            self.handle_gateway_message(message, now, out);
            return Some(Decision::Drop);
        }
        let method = part.header.method.as_deref()?;
        match method {
            "tools/list" => {
                self.register_service();
                self.validation_cache.clear();
                out.extend(self.subscription_request());
            }
            "tools/call" => {
                self.cache_validation_result(part, message, now);
                return self.enhance(part, message, now).map(Decision::Rewrite);
            }
            "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated" => self.validation_cache.clear(),
            _ => {}
        }
        self.announce(method, message).map(Decision::Rewrite)
    }

    /// Returns the response to a failed call with details from the tool's schema; `None` if it is
    /// forwarded unchanged.
    fn enhance(&self, part: &Part, message: &[u8], now: Duration) -> Option<Vec<u8>> {
        let tool = part.header.tool.as_deref().filter(|_| part.header.is_failed_call)?;
        // An outdated schema could advise the opposite of what the server just said.
        if self.validator.cache().is_stale(&self.server, now) {
            return None;
        }
        let enhancer = ErrorEnhancer::of(&self.validator);
        match enhancer.enhance_reply(&self.server, tool, message) {
            Cow::Owned(extended) => Some(extended),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Returns whether a server message belongs to a gateway request, which clients never see.
fn belongs_to_gateway(part: &Part, message: &[u8]) -> bool {
    match (part.header.method.as_deref(), &part.header.id) {
        // A response that matches no pending client request.
        (None, Some(RequestId::String(id))) => is_gateway_id(id),
        (Some("notifications/cancelled" | "notifications/progress"), _) => {
            if !may_contain_gateway_id(message) {
                return false;
            }
            let mut buffer = TapeBuffer::new();
            let Ok(tape) = buffer.read(message, MAX_DEPTH) else { return false };
            let params = tape.root().get("params");
            let named = params
                .and_then(|params| params.get("requestId").or_else(|| params.get("progressToken")));
            named.and_then(Node::as_str).is_some_and(|id| is_gateway_id(&id))
        }
        _ => false,
    }
}
