//! Validates one input: a call, or something that is not a call.

use stickler::tape::{Kind, Node, SyntaxError, SyntaxErrorKind, TapeBuffer};
use stickler::{McpValidator, ValidationResult};

use super::SERVER;

/// An input and its validation result.
pub(in crate::commands) enum CheckedInput {
    /// A tool call, with its arguments as written.
    Call { tool: String, arguments: Option<String>, result: ValidationResult },
    /// Not a tool call.
    NotACall { kind: NotACall, message: String, expected: String },
}

#[derive(Clone, Copy)]
pub(in crate::commands) enum NotACall {
    InvalidJson,
    InvalidCall,
}

impl NotACall {
    pub(in crate::commands) fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidCall => "invalid_call",
        }
    }
}

impl CheckedInput {
    pub(in crate::commands) fn is_valid(&self) -> bool {
        matches!(self, Self::Call { result, .. } if result.is_valid)
    }
}

/// Validates a tool name with separate arguments.
pub(in crate::commands) fn check_parts(
    validator: &McpValidator,
    tool: &str,
    args: Option<&str>,
) -> CheckedInput {
    let too_long = args.is_some_and(|args| args.len() > validator.config().limits.message_bytes);
    if too_long {
        return self::too_long(validator.config().limits.message_bytes);
    }
    match validator.validate_text(SERVER, tool, args.map(str::as_bytes)) {
        Ok(result) => {
            CheckedInput::Call { tool: tool.to_owned(), arguments: args.map(str::to_owned), result }
        }
        Err(error) => not_json(&error, args.unwrap_or_default().as_bytes()),
    }
}

/// Validates a line that should be a call.
pub(in crate::commands) fn check_line(validator: &McpValidator, line: &[u8]) -> CheckedInput {
    let mut buffer = TapeBuffer::new();
    let tape = match buffer.read(line, validator.config().limits.message_depth) {
        Ok(tape) => tape,
        Err(error) => return not_json(&error, line),
    };
    let (tool, arguments) = match parts(tape.root()) {
        Ok(parts) => parts,
        Err(message) => return not_a_call(message),
    };
    let result = match arguments {
        Some(arguments) => validator.validate_node(SERVER, &tool, arguments),
        None => validator.validate(SERVER, &tool, &serde_json::json!({})),
    };
    CheckedInput::Call { tool, arguments: arguments.map(|node| node.raw().to_owned()), result }
}

pub(in crate::commands) fn too_long(limit: usize) -> CheckedInput {
    CheckedInput::NotACall {
        kind: NotACall::InvalidJson,
        message: format!("The input is longer than {limit} bytes and was not read."),
        expected: format!("at most {limit} bytes of JSON"),
    }
}

/// Returns name and arguments of `{"name":…,"arguments":…}` or of a `tools/call` request.
fn parts(root: Node<'_>) -> Result<(String, Option<Node<'_>>), &'static str> {
    if root.kind() != Kind::Object {
        return Err("A call must be an object.");
    }
    let call = match root.get("method") {
        None => root,
        Some(method) if method.as_str().as_deref() == Some("tools/call") => {
            root.get("params").ok_or("The `tools/call` request has no `params`.")?
        }
        Some(_) => return Err("The request is not a `tools/call`."),
    };
    if call.kind() != Kind::Object {
        return Err("The `params` of a `tools/call` request must be an object.");
    }
    let name = call.get("name").ok_or("The call has no `name`.")?;
    let name = name.as_str().ok_or("The `name` of a call must be a string.")?;
    Ok((name.into_owned(), call.get("arguments")))
}

fn not_a_call(message: &str) -> CheckedInput {
    CheckedInput::NotACall {
        kind: NotACall::InvalidCall,
        message: message.to_owned(),
        expected: "{\"name\": …, \"arguments\": {…}} or a `tools/call` request".to_owned(),
    }
}

fn not_json(error: &SyntaxError, text: &[u8]) -> CheckedInput {
    let message = if text.iter().all(u8::is_ascii_whitespace) {
        "The line is empty.".to_owned()
    } else if error.kind() == SyntaxErrorKind::TooDeep {
        format!("The input cannot be read: {error}.")
    } else {
        format!("The input is not JSON: {error}.")
    };
    CheckedInput::NotACall {
        kind: NotACall::InvalidJson,
        message,
        expected: "a JSON text".to_owned(),
    }
}
