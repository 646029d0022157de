//! Grades responses to invalid requests.

use serde_json::Value;

use super::response::{Outcome, Response};

/// How useful a response is for correcting the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    /// A valid request was answered.
    Answered,
    /// Rejected with the error code for this case.
    Rejected,
    /// Rejected, and the response names the invalid field.
    Names,
    /// Rejected without naming the field.
    Vague,
    /// No response.
    Silent,
    /// Accepted as if it were valid.
    Accepted,
    /// Failed like a valid call.
    Failing,
    /// The server exited.
    Died,
}

impl Grade {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Rejected => "rejected",
            Self::Failing => "fails like a valid call",
            Self::Names => "names the field",
            Self::Vague => "vague",
            Self::Silent => "silent",
            Self::Accepted => "accepted a wrong call",
            Self::Died => "died",
        }
    }
}

/// Grades the response to an invalid request. A response that contains one of the words names the field.
pub(super) fn of(response: &Response, words: &[String], clear_code: Option<i64>) -> Grade {
    match &response.outcome {
        Outcome::Timeout => Grade::Silent,
        Outcome::Exited(_) => Grade::Died,
        Outcome::Status(_) => Grade::Vague,
        Outcome::Result(result) if result["isError"] != true => Grade::Accepted,
        Outcome::Error { code, .. } if Some(*code) == clear_code => Grade::Rejected,
        _ if words.iter().any(|word| contains_word(&response_text(response), word)) => Grade::Names,
        _ => Grade::Vague,
    }
}

/// Returns the text of a response.
pub(super) fn response_text(response: &Response) -> String {
    match &response.outcome {
        Outcome::Result(result) => content(result),
        Outcome::Error { message, data, .. } if data.is_null() => message.clone(),
        Outcome::Error { message, data, .. } => format!("{message} {data}"),
        Outcome::Status(status) => format!("HTTP status {status}"),
        Outcome::Timeout => String::new(),
        Outcome::Exited(reason) => reason.clone(),
    }
}

/// Returns a one-line summary of a response, including its kind.
pub(super) fn summary(response: &Response) -> String {
    let words = describe(response);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn describe(response: &Response) -> String {
    match &response.outcome {
        Outcome::Error { code, message, .. } => format!("error {code}: {message}"),
        Outcome::Result(result) if result["isError"] == true => {
            format!("isError: {}", content(result))
        }
        Outcome::Result(_) => "a result".to_owned(),
        Outcome::Timeout => "no response".to_owned(),
        Outcome::Status(_) | Outcome::Exited(_) => response_text(response),
    }
}

fn content(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether a text contains a name as a whole word.
fn contains_word(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

#[cfg(test)]
mod tests {
    use super::{Grade, contains_word, of};
    use crate::commands::check::live::response::{Outcome, Response};
    use serde_json::{Value, json};

    fn grade(outcome: Outcome) -> Grade {
        of(&Response { outcome, millis: 0, raw: Vec::new() }, &["path".to_owned()], None)
    }

    fn error(message: &str, data: Value) -> Outcome {
        Outcome::Error { code: -32602, message: message.to_owned(), data }
    }

    #[test]
    fn responses_are_graded_by_their_content() {
        let result = |is_error: bool, text: &str| {
            Outcome::Result(json!({ "isError": is_error, "content": [{ "text": text }] }))
        };
        assert_eq!(grade(result(true, "`path` is required")), Grade::Names);
        assert_eq!(grade(result(true, "invalid arguments")), Grade::Vague);
        assert_eq!(grade(result(false, "path")), Grade::Accepted);
        assert_eq!(grade(error("bad", json!({ "path": ["path"] }))), Grade::Names);
        assert_eq!(grade(error("bad", Value::Null)), Grade::Vague);
        assert_eq!(grade(Outcome::Timeout), Grade::Silent);
        assert_eq!(grade(Outcome::Exited("x".to_owned())), Grade::Died);
    }

    #[test]
    fn names_match_whole_words() {
        assert!(contains_word("at .path:", "path") && contains_word("path", "path"));
        assert!(!contains_word("filepath", "path") && !contains_word("path_1", "path"));
        assert!(!contains_word("", "path") && !contains_word("x", ""));
    }
}
