//! Recognises argument errors in the error text that a server returns for a tool call.
//!
//! Servers report the same few errors in the wording of their validation library. Each library or
//! style has a recogniser in its own file. The recognisers are tried in order, and the first one
//! that finds errors determines the result. Unknown texts yield no errors: reporting an ordinary
//! failure as an invalid argument would mislead the caller.

mod ajv;
mod field_message;
mod field_path;
mod golang;
mod invalid_arguments;
mod issue_array;
mod json_schema;
mod named_parameter;
mod per_field;
mod prefix;
mod pydantic;
mod python_signature;
mod serde_text;
mod tokens;
mod unknown_tool;
mod zod_issues;
mod zod_text;
mod zod_union;

use prefix::ErrorMessage;

/// An error in the arguments of a call, as reported by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// JSON Pointer into the arguments (`/items/0/name`); empty if the text does not name a field.
    pub path: String,
}

/// The kind of an argument error. Type names are copied from the text of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum ErrorKind {
    /// A required field is missing.
    MissingField,
    /// A field is unknown to the tool.
    UnknownField,
    /// A value has the wrong type.
    WrongType {
        /// The expected type, if the text contains it.
        expected: Option<String>,
        /// The received type, if the text contains it.
        received: Option<String>,
    },
    /// A value is not one of the allowed values.
    NotInEnum {
        /// The allowed values as listed in the text; empty if it does not list them.
        allowed: Vec<String>,
    },
    /// The server does not have the tool.
    UnknownTool {
        /// The called name, if the text contains it.
        name: Option<String>,
    },
    /// The arguments are invalid; the text does not contain more.
    InvalidArguments,
}

/// Returns the argument errors in `text`, the error text of a server. Empty if the text is not
/// about the arguments of the call.
pub(crate) fn recognise(text: &str) -> Vec<ArgumentError> {
    let message = ErrorMessage::read(truncated(text));
    RECOGNISERS
        .iter()
        .map(|recogniser| recogniser(&message))
        .find(|errors| !errors.is_empty())
        .map(deduplicated)
        .unwrap_or_default()
}

/// Like [`recognise`], for a tool with these fields. Also recognises texts that are about the arguments
/// only if the name of the tool or its fields confirm it.
pub(crate) fn recognise_for(text: &str, tool: &str, fields: &[String]) -> Vec<ArgumentError> {
    let errors = recognise(text);
    if errors.is_empty() {
        return python_signature::recognise(&ErrorMessage::read(truncated(text)), tool, fields);
    }
    errors
}

type Recogniser = fn(&ErrorMessage<'_>) -> Vec<ArgumentError>;

/// From the most to the least specific format. The last one accepts any text that is about the
/// arguments.
const RECOGNISERS: [Recogniser; 10] = [
    zod_issues::recognise,
    pydantic::recognise,
    json_schema::recognise,
    ajv::recognise,
    golang::recognise,
    serde_text::recognise,
    unknown_tool::recognise,
    per_field::recognise,
    named_parameter::recognise,
    invalid_arguments::recognise,
];

/// Maximum length of the text that is examined. Longer texts contain data, not errors.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Maximum number of errors per text. More would not help the caller.
const MAX_ERRORS: usize = 64;

fn truncated(text: &str) -> &str {
    let limit = text.len().min(MAX_TEXT_BYTES);
    let end = (0..=limit).rev().find(|&end| text.is_char_boundary(end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

fn deduplicated(errors: Vec<ArgumentError>) -> Vec<ArgumentError> {
    let mut distinct: Vec<ArgumentError> = Vec::new();
    for error in errors {
        if !distinct.contains(&error) {
            distinct.push(error);
        }
        if distinct.len() == MAX_ERRORS {
            break;
        }
    }
    distinct
}

#[cfg(test)]
mod tests;
