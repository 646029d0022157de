//! The tool that validates calls without making them.

use serde_json::{Value, json};

use super::Gatekeeper;
use super::announce::MOST_CALLS;
use crate::arguments::{ValidationError, ValidationResult};
use crate::discovery::ToolDefinition;
use crate::protocol::{Era, Revision};
use crate::tape::{Kind, Node, TapeBuffer};
use crate::verdict::{Decision, Verdict};

/// The name under which the tool is announced: it must not be one that the server may have.
pub(super) const TOOL: &str = "stickler_validate";

/// The name that clients know from servers that validate themselves.
const ALIAS: &str = "validate";

const DESCRIPTION: &str = "Checks the arguments of a tool call without making the call. Takes one \
    call as `tool` and `arguments`, or several as `calls`.";

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
                let _ = self.validator.cache().register(&self.server, &definition(name));
            }
        }
    }

    /// Whether the server itself has a tool of that name.
    fn server_has(&self, tool: &str) -> bool {
        let known = self.validator.cache().get(&self.server, tool);
        known.is_some_and(|known| known.description.as_deref() != Some(DESCRIPTION))
    }

    /// The answer to a call of our tool.
    pub(super) fn serve(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let root = tape.root();
        let id = root.get("id")?.raw();
        let arguments = root.pointer("/params/arguments");
        let structured = self.answer(arguments);
        let mut result = json!({
            "content": [{ "type": "text", "text": structured.to_string() }],
            "structuredContent": structured,
        });
        if let Some(error) = structured.get("error") {
            result["content"][0]["text"] = error.clone();
            result["isError"] = true.into();
            result.as_object_mut()?.remove("structuredContent");
        }
        if self.middleware.revision().is_none_or(|one: Revision| one.era() == Era::Modern) {
            result["resultType"] = "complete".into();
        }
        Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes())
    }

    fn answer(&self, arguments: Option<Node<'_>>) -> Value {
        let calls = arguments.and_then(|arguments| arguments.get("calls"));
        let single = arguments.filter(|arguments| arguments.get("tool").is_some());
        match (calls.filter(|calls| calls.kind() == Kind::Array), single) {
            (Some(calls), None) if calls.len() <= MOST_CALLS => {
                json!({ "results": calls.elements().map(|call| self.judge(call)).collect::<Vec<_>>() })
            }
            (Some(calls), None) => {
                json!({ "error": format!("{} calls at once; {MOST_CALLS} are allowed", calls.len()) })
            }
            (None, Some(call)) => self.judge(call),
            _ => json!({ "error": "give either `tool` and `arguments`, or `calls`" }),
        }
    }

    fn judge(&self, call: Node<'_>) -> Value {
        let name = call.get("tool").and_then(Node::as_str).unwrap_or_default();
        let name = name.strip_prefix(&format!("{}:", self.server)).unwrap_or(&name);
        let result = match call.get("arguments") {
            Some(arguments) => self.validator.validate_node(&self.server, name, arguments),
            None => self
                .validator
                .validate_text(&self.server, name, None)
                .unwrap_or_else(|_| ValidationResult::default()),
        };
        self.report(&result)
    }

    fn report(&self, result: &ValidationResult) -> Value {
        let known = self.validator.cache().freshness(&self.server).is_some();
        let unchecked = result.unchecked.clone().or_else(|| {
            (!known).then(|| "the server's tools are not known yet; nothing was checked".to_owned())
        });
        let corrected = result.corrected.as_ref().filter(|_| !self.validator.config().mask_values);
        let corrected = corrected.map(|call| {
            let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or_default();
            json!({ "name": call.name, "arguments": arguments })
        });
        let suggestions: Vec<&String> =
            result.errors.iter().flat_map(ValidationError::suggestions).collect();
        let details: Vec<Value> = result
            .errors
            .iter()
            .map(|error| {
                json!({
                    "path": error.path,
                    "kind": error.kind.name(),
                    "message": error.message,
                    "expected": error.expected,
                    "received": error.received,
                })
            })
            .collect();
        json!({
            "valid": result.is_valid,
            "errors": result.errors.iter().map(|error| &error.message).collect::<Vec<_>>(),
            "warnings": unchecked.into_iter().collect::<Vec<_>>(),
            "suggestions": suggestions,
            "details": { "level": "syntax", "errors": details, "corrected": corrected },
        })
    }
}

/// The entry of our tool in a list.
pub(super) fn entry() -> Value {
    definition(TOOL).into()
}

/// Plain optional properties: some model APIs refuse a choice at the root.
fn definition(name: &str) -> ToolDefinition {
    let tool = json!({ "type": "string", "description": "The name of the tool" });
    let arguments = json!({ "description": "The arguments that the call would have" });
    ToolDefinition::new(name).with_description(DESCRIPTION).with_input_schema(json!({
        "type": "object",
        "properties": {
            "tool": tool,
            "arguments": arguments,
            "calls": {
                "type": "array",
                "maxItems": MOST_CALLS,
                "description": "Several calls at once, in place of `tool` and `arguments`",
                "items": {
                    "type": "object",
                    "properties": { "tool": tool, "arguments": arguments },
                    "required": ["tool"],
                    "additionalProperties": false,
                },
            },
        },
        "additionalProperties": false,
    }))
}
