//! Recognises, in the error text a server gives for a bad tool call, what it complains about.
//!
//! Servers say the same few things in the words of whatever library validates for them. Each
//! family of wordings has a file here; they are tried in order and the first that finds something
//! wins. A text that no family knows is not about the arguments as far as can be told, and yields
//! nothing: calling an ordinary failure a bad argument would mislead more than silence does.

mod ajv;
mod field_notes;
mod golang;
mod invalid_arguments;
mod issue_array;
mod json_schema;
mod lead_in;
mod named_parameter;
mod per_field;
mod place;
mod pydantic;
mod serde_text;
mod tokens;
mod unknown_tool;
mod zod_issues;
mod zod_text;
mod zod_union;

use lead_in::Message;

/// What a server's error text says is wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The kind of fault.
    pub about: About,
    /// JSON Pointer within the arguments (`/items/0/name`); empty when the text names no field.
    pub path: String,
}

/// The kind of fault that a text complains of. Type names are in the server's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum About {
    /// A required field was not sent.
    MissingField,
    /// A field was sent that the tool does not know.
    UnknownField,
    /// A value has the wrong type.
    WrongType {
        /// The type that the server wanted, when the text says so.
        expected: Option<String>,
        /// The type that the server got, when the text says so.
        received: Option<String>,
    },
    /// A value is not among the allowed ones.
    NotInEnum {
        /// The allowed values as the text lists them; empty when it does not.
        allowed: Vec<String>,
    },
    /// The server has no tool of that name.
    UnknownTool {
        /// The name that was called, when the text says so.
        name: Option<String>,
    },
    /// The arguments failed validation, and no more can be told.
    InvalidArguments,
}

/// Reads what `text`, a server's error text, complains about. Empty when the text is not about
/// the call's arguments.
pub(crate) fn recognise(text: &str) -> Vec<Complaint> {
    let message = Message::read(opening_of(text));
    FAMILIES
        .iter()
        .map(|family| family(&message))
        .find(|complaints| !complaints.is_empty())
        .map(without_repeats)
        .unwrap_or_default()
}

type Family = fn(&Message<'_>) -> Vec<Complaint>;

/// From the most to the least telltale; the last one answers for any text that says it is about
/// the arguments.
const FAMILIES: [Family; 10] = [
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

/// No validator needs more than this to say what is wrong; what follows is somebody's data.
const LONGEST_TEXT_READ: usize = 64 * 1024;

/// A text with more complaints than this helps nobody.
const MOST_COMPLAINTS: usize = 64;

fn opening_of(text: &str) -> &str {
    let limit = text.len().min(LONGEST_TEXT_READ);
    let end = (0..=limit).rev().find(|&end| text.is_char_boundary(end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

fn without_repeats(complaints: Vec<Complaint>) -> Vec<Complaint> {
    let mut distinct: Vec<Complaint> = Vec::new();
    for complaint in complaints {
        if !distinct.contains(&complaint) {
            distinct.push(complaint);
        }
        if distinct.len() == MOST_COMPLAINTS {
            break;
        }
    }
    distinct
}

#[cfg(test)]
mod tests;
