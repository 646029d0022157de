//! The validation tool: checks a call without executing it.
//!
//! The gateway serves the tool for servers without `toolValidation`. For servers with it, results are
//! cached and calls that already fail schema validation are answered without the server.

use std::time::Duration;

use serde_json::Value;
use stickler::tape::{Node, TapeBuffer};
use stickler::tool_validation::{ValidationRequest, is_validation_tool, validation_tool};

use super::Connection;
use crate::protocol::{Era, Revision};
use crate::verdict::{Decision, Part};

/// The announced name of the tool, prefixed to avoid a clash with the server's tools.
pub(super) const TOOL: &str = "stickler_validate";

/// How long results of the gateway's tool are cached.
const RESULT_LIFETIME: Duration = Duration::from_secs(300);

const MAY_HAVE_CHANGED: &str = "the server's tools may have changed since they were listed";

/// Nesting limit for calls of the tool.
const MAX_DEPTH: usize = 1 << 16;

impl Connection {
    /// Returns whether the gateway answers a valid call itself.
    pub(super) fn is_gateway_tool(&self, call: &Part) -> bool {
        let Some(tool) = call.header.tool.as_deref() else { return false };
        self.settings.announce
            && !self.server_validates
            && call.decision == Decision::Forward
            && tool == TOOL
            && !self.server_has(tool)
    }

    /// Returns whether a call of the tool with that name asks for the validation of other calls.
    pub(super) fn is_validation_tool_name(&self, tool: &str) -> bool {
        let capability = self.server_capability.as_ref();
        tool == TOOL || capability.is_some_and(|capability| capability.method == tool)
    }

    /// Registers the gateway's tool next to the server's tools, so that its calls are validated too.
    pub(super) fn register_service(&self) {
        let cache = self.validator.cache();
        // Without a list from the server, the gateway's tool would count as the whole list.
        let is_known = cache.freshness(&self.server).is_some();
        if !self.settings.announce || self.server_validates || !is_known {
            return;
        }
        if !cache.tool_names(&self.server).iter().any(|known| known == TOOL) {
            let _ = cache.register(&self.server, &validation_tool(TOOL));
        }
    }

    /// Returns whether the server lists a tool of that name.
    fn server_has(&self, tool: &str) -> bool {
        let known = self.validator.cache().get(&self.server, tool);
        known.is_some_and(|known| !is_validation_tool(&known))
    }

    /// Returns the response to a call of the gateway's tool.
    pub(super) fn serve_validation(&mut self, message: &[u8], now: Duration) -> Option<Vec<u8>> {
        let validation = ValidationCall::read(message)?;
        if let Some(result) = self.validation_cache.get(validation.arguments, now) {
            return Some(validation.reply(result));
        }
        let is_stale = self.validator.cache().is_stale(&self.server, now);
        let result = match ValidationRequest::read(validation.arguments_bytes()) {
            Ok(request) => {
                let mut reports = request.validate(&self.validator, &self.server);
                for report in reports.iter_mut().filter(|_| is_stale) {
                    report.warnings.push(MAY_HAVE_CHANGED.to_owned());
                }
                request.answer(&reports)
            }
            Err(rejection) => rejection.answer(),
        };
        let result = self.with_result_type(result);
        // A result computed from a stale list is not cached.
        if !is_stale {
            let expires_at = now.saturating_add(RESULT_LIFETIME);
            self.validation_cache.insert(validation.arguments, &result, expires_at);
        }
        Some(validation.reply(&result))
    }

    /// Returns whether a call is directed at the server's validation tool.
    pub(super) fn is_server_validation(&self, call: &Part) -> bool {
        let tool = call.header.tool.as_deref();
        let capability =
            self.server_capability.as_ref().map(|capability| capability.method.as_str());
        capability.is_some() && capability == tool && call.decision == Decision::Forward
    }

    /// Answers a call of the server's validation tool if the server cannot add anything: the result
    /// is cached, or none of the calls in question match their schema.
    pub(super) fn answer_for_server(
        &mut self,
        call: &Part,
        message: &[u8],
        now: Duration,
    ) -> Option<Vec<u8>> {
        let validation = ValidationCall::read(message)?;
        if let Some(result) = self.validation_cache.get(validation.arguments, now) {
            return Some(validation.reply(result));
        }
        if let Ok(request) = ValidationRequest::read(validation.arguments_bytes())
            && !self.validator.cache().is_stale(&self.server, now)
        {
            let reports = request.validate(&self.validator, &self.server);
            if !reports.is_empty() && reports.iter().all(|report| !report.valid) {
                return Some(validation.reply(&self.with_result_type(request.answer(&reports))));
            }
        }
        if let Some(id) = &call.header.id {
            self.validation_cache.expect_result(id, validation.arguments);
        }
        None
    }

    /// Caches a result of the server's validation tool for as long as the server allows.
    pub(super) fn cache_validation_result(&mut self, answer: &Part, message: &[u8], now: Duration) {
        let Some(id) = answer.header.id.as_ref() else { return };
        let Some(arguments) = self.validation_cache.take_pending(id) else { return };
        let seconds =
            self.server_capability.as_ref().and_then(|capability| capability.cache_seconds);
        let mut buffer = TapeBuffer::new();
        let (Some(seconds), Ok(tape)) = (seconds, buffer.read(message, MAX_DEPTH)) else { return };
        let Some(result) = tape.root().get("result") else { return };
        // A failed validation may succeed the next time, so it is not cached.
        if result.get("isError").and_then(Node::as_bool) != Some(true) {
            let expires_at = now.saturating_add(Duration::from_secs(seconds));
            self.validation_cache.insert(&arguments, result.raw(), expires_at);
        }
    }

    fn with_result_type(&self, mut result: Value) -> String {
        if self.revision().is_none_or(|one: Revision| one.era() == Era::Modern) {
            result["resultType"] = "complete".into();
        }
        result.to_string()
    }
}

/// A call of a validation tool.
struct ValidationCall<'t> {
    id: &'t str,
    /// The raw arguments; empty if there are none.
    arguments: &'t str,
}

impl<'t> ValidationCall<'t> {
    fn read(message: &'t [u8]) -> Option<Self> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, MAX_DEPTH).ok()?;
        let text = |node: Node<'_>| str::from_utf8(message.get(node.span())?).ok();
        let id = tape.root().get("id").and_then(text)?;
        let arguments = tape.root().pointer("/params/arguments").and_then(text);
        Some(Self { id, arguments: arguments.unwrap_or_default() })
    }

    fn arguments_bytes(&self) -> Option<&'t [u8]> {
        Some(self.arguments.as_bytes()).filter(|arguments| !arguments.is_empty())
    }

    fn reply(&self, result: &str) -> Vec<u8> {
        let id = self.id;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
    }
}

/// Returns the definition of the gateway's tool.
pub(super) fn tool_definition() -> Value {
    validation_tool(TOOL).into()
}
