//! The tool that validates calls without making them.

use std::time::Duration;

use serde_json::Value;
use stickler::tape::{Node, TapeBuffer};
use stickler::tool_validation::{ValidationRequest, is_validation_tool, validation_tool};

use super::Gatekeeper;
use crate::protocol::{Era, Revision};
use crate::verdict::{Decision, Part};

/// The name under which the tool is announced: it must not be one that the server may have.
pub(super) const TOOL: &str = "stickler_validate";

/// The name that clients know from servers that validate themselves.
const ALIAS: &str = stickler::tool_validation::DEFAULT_METHOD;

/// How long an answer of ours holds, as it is announced.
const OWN_ANSWERS_HOLD: Duration = Duration::from_secs(300);

const MAY_HAVE_CHANGED: &str = "the server's tools may have changed since they were listed";

/// How deep a call of the tool may nest.
const DEEPEST: usize = 1 << 16;

impl Gatekeeper {
    /// Whether a call that may go on is one that the gateway itself answers.
    pub(super) fn is_for_us(&self, call: &Part) -> bool {
        let Some(tool) = call.subject.tool.as_deref() else { return false };
        self.settings.announces
            && !self.server_validates
            && call.decision == Decision::Forward
            && (tool == TOOL || tool == ALIAS)
            && !self.server_has(tool)
    }

    /// Makes our tool known beside the server's own, so that its calls are checked like others.
    pub(super) fn register_service(&self) {
        let cache = self.validator.cache();
        // Beside nothing it would be the whole list.
        let is_known = cache.freshness(&self.server).is_some();
        if !self.settings.announces || self.server_validates || !is_known {
            return;
        }
        for name in [TOOL, ALIAS] {
            if !cache.tool_names(&self.server).iter().any(|known| known == name) {
                let _ = cache.register(&self.server, &validation_tool(name));
            }
        }
    }

    /// Whether the server itself has a tool of that name.
    fn server_has(&self, tool: &str) -> bool {
        let known = self.validator.cache().get(&self.server, tool);
        known.is_some_and(|known| !is_validation_tool(&known))
    }

    /// The answer to a call of our tool.
    pub(super) fn serve(&mut self, message: &[u8], now: Duration) -> Option<Vec<u8>> {
        let asked = Asked::read(message)?;
        if let Some(result) = self.answers.get(asked.arguments, now) {
            return Some(asked.reply(result));
        }
        let is_stale = self.validator.cache().is_stale(&self.server, now);
        let result = match ValidationRequest::read(asked.arguments_given()) {
            Ok(request) => {
                let mut reports = request.validate(&self.validator, &self.server);
                for report in reports.iter_mut().filter(|_| is_stale) {
                    report.warnings.push(MAY_HAVE_CHANGED.to_owned());
                }
                request.answer(&reports)
            }
            Err(refusal) => refusal.answer(),
        };
        let result = self.complete(result);
        // What was judged without a list holds only until there is one.
        if !is_stale {
            let holds_until = now.saturating_add(OWN_ANSWERS_HOLD);
            self.answers.keep(asked.arguments, &result, holds_until);
        }
        Some(asked.reply(&result))
    }

    /// Whether a call goes to the server's own validation.
    pub(super) fn is_for_deep_checks(&self, call: &Part) -> bool {
        let tool = call.subject.tool.as_deref();
        let deep = self.deep.as_ref().map(|deep| deep.method.as_str());
        deep.is_some() && deep == tool && call.decision == Decision::Forward
    }

    /// An answer in place of the server's own validation, where there is nothing for it to find
    /// out: it has answered that question already, or no call that is asked about even satisfies
    /// its schema.
    pub(super) fn spare_the_server(
        &mut self,
        call: &Part,
        message: &[u8],
        now: Duration,
    ) -> Option<Vec<u8>> {
        let asked = Asked::read(message)?;
        if let Some(result) = self.answers.get(asked.arguments, now) {
            return Some(asked.reply(result));
        }
        if let Ok(request) = ValidationRequest::read(asked.arguments_given())
            && !self.validator.cache().is_stale(&self.server, now)
        {
            let reports = request.validate(&self.validator, &self.server);
            if !reports.is_empty() && reports.iter().all(|report| !report.valid) {
                return Some(asked.reply(&self.complete(request.answer(&reports))));
            }
        }
        if let Some(id) = &call.subject.id {
            self.answers.expect(id, asked.arguments);
        }
        None
    }

    /// Keeps what the server's own validation has answered, as long as the server allows.
    pub(super) fn keep_answer(&mut self, answer: &Part, message: &[u8], now: Duration) {
        let Some(id) = answer.subject.id.as_ref() else { return };
        let Some(question) = self.answers.take_question(id) else { return };
        let seconds = self.deep.as_ref().and_then(|deep| deep.cache_seconds);
        let mut buffer = TapeBuffer::new();
        let (Some(seconds), Ok(tape)) = (seconds, buffer.read(message, DEEPEST)) else { return };
        let Some(result) = tape.root().get("result") else { return };
        // A question that could not be answered may be one that can be the next time.
        if result.get("isError").and_then(Node::as_bool) != Some(true) {
            let holds_until = now.saturating_add(Duration::from_secs(seconds));
            self.answers.keep(&question, result.raw(), holds_until);
        }
    }

    fn complete(&self, mut result: Value) -> String {
        if self.middleware.revision().is_none_or(|one: Revision| one.era() == Era::Modern) {
            result["resultType"] = "complete".into();
        }
        result.to_string()
    }
}

/// A call of a tool that validates.
struct Asked<'t> {
    id: &'t str,
    /// As they were written; empty where there are none.
    arguments: &'t str,
}

impl<'t> Asked<'t> {
    fn read(message: &'t [u8]) -> Option<Self> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, DEEPEST).ok()?;
        let text = |node: Node<'_>| str::from_utf8(message.get(node.span())?).ok();
        let id = tape.root().get("id").and_then(text)?;
        let arguments = tape.root().pointer("/params/arguments").and_then(text);
        Some(Self { id, arguments: arguments.unwrap_or_default() })
    }

    fn arguments_given(&self) -> Option<&'t [u8]> {
        Some(self.arguments.as_bytes()).filter(|arguments| !arguments.is_empty())
    }

    fn reply(&self, result: &str) -> Vec<u8> {
        let id = self.id;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
    }
}

/// The entry of our tool in a list.
pub(super) fn entry() -> Value {
    validation_tool(TOOL).into()
}
