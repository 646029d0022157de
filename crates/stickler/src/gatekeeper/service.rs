//! The tool that validates calls without making them.

use serde_json::Value;

use super::Gatekeeper;
use crate::protocol::{Era, Revision};
use crate::tape::TapeBuffer;
use crate::tool_validation::{VALIDATION_TOOL_DESCRIPTION, ValidationRequest, validation_tool};
use crate::verdict::{Decision, Verdict};

/// The name under which the tool is announced: it must not be one that the server may have.
pub(super) const TOOL: &str = "stickler_validate";

/// The name that clients know from servers that validate themselves.
const ALIAS: &str = crate::tool_validation::DEFAULT_METHOD;

impl Gatekeeper {
    /// Whether a call that may go on is one that the gateway itself answers.
    pub(super) fn is_for_us(&self, verdict: &Verdict) -> bool {
        let Some(tool) = verdict.subject.tool.as_deref() else { return false };
        self.settings.announces
            && !self.server_validates
            && verdict.decision == Decision::Forward
            && (tool == TOOL || tool == ALIAS)
            && !self.server_has(tool)
    }

    /// Makes our tool known beside the server's own, so that its calls are checked like others.
    pub(super) fn register_service(&self) {
        if !self.settings.announces || self.server_validates {
            return;
        }
        for name in [TOOL, ALIAS] {
            if !self.validator.cache().tool_names(&self.server).iter().any(|known| known == name) {
                let _ = self.validator.cache().register(&self.server, &validation_tool(name));
            }
        }
    }

    /// Whether the server itself has a tool of that name.
    fn server_has(&self, tool: &str) -> bool {
        let known = self.validator.cache().get(&self.server, tool);
        known.is_some_and(|known| known.description.as_deref() != Some(VALIDATION_TOOL_DESCRIPTION))
    }

    /// The answer to a call of our tool.
    pub(super) fn serve(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let root = tape.root();
        let id = root.get("id")?.raw();
        let arguments = root.pointer("/params/arguments").map(|node| node.raw().as_bytes());
        let mut result = match ValidationRequest::read(arguments) {
            Ok(request) => request.answer(&request.judge(&self.validator, &self.server)),
            Err(refusal) => refusal.answer(),
        };
        if self.middleware.revision().is_none_or(|one: Revision| one.era() == Era::Modern) {
            result["resultType"] = "complete".into();
        }
        Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes())
    }
}

/// The entry of our tool in a list.
pub(super) fn entry() -> Value {
    validation_tool(TOOL).into()
}
