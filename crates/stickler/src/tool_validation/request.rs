//! Arguments of the validation tool, and the result that it returns.

use std::fmt;

use serde_json::{Value, json};

use super::{MAX_BATCH_SIZE, ValidationReport};
use crate::arguments::{McpValidator, ValidationResult};
use crate::tape::{Kind, Node, Tape, TapeBuffer};

/// One or several calls to validate.
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
/// let answer = request.answer(&request.validate(&validator, "files"));
/// assert_eq!(answer["structuredContent"]["valid"], false);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationRequest {
    calls: Vec<CallToValidate>,
    is_batch: bool,
}

/// A call that is validated without being made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallToValidate {
    /// Name of the tool.
    pub tool: String,
    /// The arguments as JSON text; `None` if the call does not have arguments.
    pub arguments: Option<String>,
}

/// The arguments of the validation tool are invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationRequestError {
    reason: String,
}

/// Maximum nesting of the arguments to parse. Validation applies the configured limit.
const MAX_ARGUMENTS_DEPTH: usize = 1 << 16;

impl ValidationRequest {
    /// Parses the arguments of the validation tool.
    pub fn read(arguments: Option<&[u8]>) -> Result<Self, ValidationRequestError> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(arguments.unwrap_or(b"{}"), MAX_ARGUMENTS_DEPTH);
        let root = tape.as_ref().ok().map(Tape::root);
        let calls = root.and_then(|root| root.get("calls"));
        let calls = calls.filter(|calls| calls.kind() == Kind::Array);
        let single = root.filter(|root| root.get("tool").is_some());
        match (calls, single) {
            (Some(calls), None) if calls.len() <= MAX_BATCH_SIZE => Ok(Self {
                calls: calls.elements().map(CallToValidate::read).collect(),
                is_batch: true,
            }),
            (Some(calls), None) => Err(ValidationRequestError {
                reason: format!(
                    "the request contains {} calls; at most {MAX_BATCH_SIZE} are allowed",
                    calls.len()
                ),
            }),
            (None, Some(call)) => {
                Ok(Self { calls: vec![CallToValidate::read(call)], is_batch: false })
            }
            _ => Err(ValidationRequestError {
                reason: "either `tool` and `arguments`, or `calls` is required".to_owned(),
            }),
        }
    }

    /// Returns the calls to validate.
    pub fn calls(&self) -> &[CallToValidate] {
        &self.calls
    }

    /// Validates each call against its schema.
    pub fn validate(&self, validator: &McpValidator, server: &str) -> Vec<ValidationReport> {
        self.calls.iter().map(|call| call.validate(validator, server)).collect()
    }

    /// Returns the result of the tool for the reports, without the `resultType` that revisions
    /// since 2026-07-28 require.
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

impl CallToValidate {
    fn read(call: Node<'_>) -> Self {
        Self {
            tool: call.get("tool").and_then(Node::as_str).unwrap_or_default().into_owned(),
            arguments: call.get("arguments").map(|arguments| arguments.raw().to_owned()),
        }
    }

    /// Returns the name of the tool without the prefix in `server:tool`.
    pub fn tool_of(&self, server: &str) -> &str {
        let server = crate::discovery::server_of(server);
        let unprefixed = self.tool.strip_prefix(server).and_then(|rest| rest.strip_prefix(':'));
        unprefixed.unwrap_or(&self.tool)
    }

    /// Validates the call against the schema of the tool.
    pub fn validate(&self, validator: &McpValidator, server: &str) -> ValidationReport {
        let arguments = self.arguments.as_deref().map(str::as_bytes);
        let result = validator.validate_text(server, self.tool_of(server), arguments);
        // The text was parsed before, so the only possible error is the nesting limit.
        let too_deep = |error: crate::tape::SyntaxError| {
            ValidationResult::rejected(
                vec![crate::arguments::ValidationError::whole(error.to_string())],
                false,
            )
        };
        ValidationReport::of(validator, server, &result.unwrap_or_else(too_deep))
    }
}

impl ValidationRequestError {
    /// Returns the error as the result of the tool.
    pub fn answer(&self) -> Value {
        json!({ "content": [{ "type": "text", "text": self.reason }], "isError": true })
    }
}

impl fmt::Display for ValidationRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ValidationRequestError {}
