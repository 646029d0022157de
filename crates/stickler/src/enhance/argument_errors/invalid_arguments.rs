//! Recognises texts that report invalid arguments without details.
//!
//! `Invalid request parameters`, `Invalid arguments for tool f`, `Missing arguments`; also any text
//! with a prefix about the arguments that the other recognisers do not handle.

use super::prefix::ErrorMessage;
use super::tokens::{ends_sentence, strip_prefix_ignore_case, take_name};
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let is_recognised = message.is_about_the_call()
        || is_generic(message.body)
        || names_only_the_tool(message.body);
    is_recognised
        .then(|| field_path::argument_error(String::new(), ErrorKind::InvalidArguments))
        .into_iter()
        .collect()
}

fn is_generic(body: &str) -> bool {
    const TEXTS: [&str; 13] = [
        "invalid request parameters",
        "invalid arguments",
        "invalid tool arguments",
        "invalid parameters",
        "invalid params",
        "invalid tools/call request",
        "input validation error",
        "input validation failed",
        "missing arguments",
        "missing required arguments",
        "missing required parameters",
        "no arguments provided",
        "arguments are required",
    ];
    let body = body.trim_end_matches(['.', '!', ':', ' ']);
    TEXTS.iter().any(|text| text.eq_ignore_ascii_case(body))
}

/// `Invalid arguments for tool f` without details.
fn names_only_the_tool(body: &str) -> bool {
    let openings =
        ["invalid arguments for tool ", "invalid arguments for ", "invalid parameters for tool "];
    let rest = openings.iter().find_map(|opening| strip_prefix_ignore_case(body, opening));
    rest.and_then(take_name).is_some_and(|(_, rest)| ends_sentence(rest))
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    #[test]
    fn text_without_details_is_recognised() {
        let invalid = ArgumentError { kind: ErrorKind::InvalidArguments, path: String::new() };
        for text in [
            "Invalid request parameters",
            "invalid arguments.",
            "Missing arguments",
            "MCP error -32602: Invalid params",
            "Invalid arguments for tool f",
            "Invalid arguments for tool f: something is off",
        ] {
            assert_eq!(recognise(text), std::slice::from_ref(&invalid), "{text}");
        }
    }

    #[test]
    fn longer_text_with_the_same_words_is_ignored() {
        for text in [
            "The court heard invalid arguments",
            "Invalid arguments were heard by the court",
            "Missing arguments weaken an essay",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
