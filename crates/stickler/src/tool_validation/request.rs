//! What a caller of the tool that validates asks.

use std::fmt;

use serde_json::{Value, json};

use super::{MAX_BATCH_SIZE, ValidationReport};
use crate::arguments::{McpValidator, ValidationResult};
use crate::tape::{Kind, Node, Tape, TapeBuffer};

/// One call, or several.
///
/// ```
/// use stickler::{McpValidator, ToolDefinition, ValidationConfig};
/// use stickler::tool_validation::ValidationRequest;
///
/// let validator = McpValidator::new(ValidationConfig::default());
/// let schema = serde_json::json!({ "type": "object", "required": ["path"] });
/// validator.cache().populate("files", &[ToolDefinition::new("stat").with_input_schema(schema)]);
///
/// let request = ValidationRequest::read(Some(br#"{"tool":"stat","arguments":{}}"#)).unwrap();
/// let answer = request.answer(&request.judge(&validator, "files"));
/// assert_eq!(answer["structuredContent"]["valid"], false);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationRequest {
    questions: Vec<ValidationQuestion>,
    is_batch: bool,
}

/// Is this call valid?
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationQuestion {
    /// The tool's name.
    pub tool: String,
    /// The arguments, as they were written; `None` where there are none.
    pub arguments: Option<String>,
}

/// A question that cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationRequestRefused {
    reason: String,
}

/// How deep arguments may nest that are only asked about.
const DEEPEST: usize = 1 << 16;

impl ValidationRequest {
    /// Reads the arguments of a call of the tool.
    pub fn read(arguments: Option<&[u8]>) -> Result<Self, ValidationRequestRefused> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(arguments.unwrap_or(b"{}"), DEEPEST);
        let root = tape.as_ref().ok().map(Tape::root);
        let calls = root.and_then(|root| root.get("calls"));
        let calls = calls.filter(|calls| calls.kind() == Kind::Array);
        let single = root.filter(|root| root.get("tool").is_some());
        match (calls, single) {
            (Some(calls), None) if calls.len() <= MAX_BATCH_SIZE => Ok(Self {
                questions: calls.elements().map(ValidationQuestion::read).collect(),
                is_batch: true,
            }),
            (Some(calls), None) => Err(ValidationRequestRefused {
                reason: format!("{} calls at once; {MAX_BATCH_SIZE} are allowed", calls.len()),
            }),
            (None, Some(call)) => {
                Ok(Self { questions: vec![ValidationQuestion::read(call)], is_batch: false })
            }
            _ => Err(ValidationRequestRefused {
                reason: "give either `tool` and `arguments`, or `calls`".to_owned(),
            }),
        }
    }

    /// The calls that are asked about.
    pub fn questions(&self) -> &[ValidationQuestion] {
        &self.questions
    }

    /// What the schemas say about each.
    pub fn judge(&self, validator: &McpValidator, server: &str) -> Vec<ValidationReport> {
        self.questions.iter().map(|question| question.judge(validator, server)).collect()
    }

    /// The result of the tool, from a report for each call; without the `resultType` that modern
    /// revisions want.
    pub fn answer(&self, reports: &[ValidationReport]) -> Value {
        let structured = match reports {
            [report] if !self.is_batch => json!(report),
            _ => json!({ "results": reports }),
        };
        json!({
            "content": [{ "type": "text", "text": structured.to_string() }],
            "structuredContent": structured,
        })
    }
}

impl ValidationQuestion {
    fn read(call: Node<'_>) -> Self {
        Self {
            tool: call.get("tool").and_then(Node::as_str).unwrap_or_default().into_owned(),
            arguments: call.get("arguments").map(|arguments| arguments.raw().to_owned()),
        }
    }

    /// The tool's name without the server's, where it is named as `server:tool`.
    pub fn tool_of(&self, server: &str) -> &str {
        let server = crate::discovery::server_of(server);
        let named = self.tool.strip_prefix(server).and_then(|rest| rest.strip_prefix(':'));
        named.unwrap_or(&self.tool)
    }

    /// What the tool's schema says about the call.
    pub fn judge(&self, validator: &McpValidator, server: &str) -> ValidationReport {
        let arguments = self.arguments.as_deref().map(str::as_bytes);
        let result = validator.validate_text(server, self.tool_of(server), arguments);
        // Only nesting can be wrong with a text that was read once.
        let too_deep = |error: crate::tape::SyntaxError| {
            ValidationResult::refused(
                vec![crate::arguments::ValidationError::whole(error.to_string())],
                false,
            )
        };
        ValidationReport::of(validator, server, &result.unwrap_or_else(too_deep))
    }
}

impl ValidationRequestRefused {
    /// The result of the tool that says so.
    pub fn answer(&self) -> Value {
        json!({ "content": [{ "type": "text", "text": self.reason }], "isError": true })
    }
}

impl fmt::Display for ValidationRequestRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ValidationRequestRefused {}
