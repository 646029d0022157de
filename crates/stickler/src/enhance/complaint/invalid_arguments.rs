//! Texts that say the arguments are invalid, and no more.
//!
//! `Invalid request parameters`, `Invalid arguments for tool f`, `Missing arguments`; also whatever
//! follows a lead-in that blames the arguments, where no other family knew it.

use super::lead_in::Message;
use super::tokens::{after, ends_sentence, name};
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    let says_so =
        message.blames_the_call() || is_bare(message.body) || names_only_the_tool(message.body);
    says_so.then(|| place::at(String::new(), About::InvalidArguments)).into_iter().collect()
}

fn is_bare(body: &str) -> bool {
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

/// `Invalid arguments for tool f` with nothing after it.
fn names_only_the_tool(body: &str) -> bool {
    let openings =
        ["invalid arguments for tool ", "invalid arguments for ", "invalid parameters for tool "];
    let rest = openings.iter().find_map(|opening| after(body, opening));
    rest.and_then(name).is_some_and(|(_, rest)| ends_sentence(rest))
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    #[test]
    fn a_text_that_says_no_more_is_recognised_whole() {
        let invalid = Complaint { about: About::InvalidArguments, path: String::new() };
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
    fn a_longer_text_with_the_same_words_is_left() {
        for text in [
            "The court heard invalid arguments",
            "Invalid arguments were heard by the court",
            "Missing arguments weaken an essay",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
