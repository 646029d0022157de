//! How clear an answer to something wrong is.

use serde_json::Value;

use super::talk::{Outcome, Reply};

/// What an answer is worth to whoever has to correct something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    /// A right question, answered.
    Answered,
    /// A refusal that says what is wrong.
    Names,
    /// A refusal that does not.
    Vague,
    /// No answer.
    Silent,
    /// As if nothing were wrong.
    Accepted,
    /// The server ended.
    Died,
}

impl Grade {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Names => "names the field",
            Self::Vague => "vague",
            Self::Silent => "silent",
            Self::Accepted => "accepted a wrong call",
            Self::Died => "died",
        }
    }
}

/// Grades the answer to something wrong; an answer with one of the words in it is clear.
pub(super) fn of(reply: &Reply, words: &[String], clear_code: Option<i64>) -> Grade {
    match &reply.outcome {
        Outcome::Silence => Grade::Silent,
        Outcome::Gone(_) => Grade::Died,
        Outcome::Status(_) => Grade::Vague,
        Outcome::Result(result) if result["isError"] != true => Grade::Accepted,
        Outcome::Error { code, .. } if Some(*code) == clear_code => Grade::Names,
        _ if words.iter().any(|word| mentions(&told(reply), word)) => Grade::Names,
        _ => Grade::Vague,
    }
}

/// The words of an answer.
pub(super) fn told(reply: &Reply) -> String {
    match &reply.outcome {
        Outcome::Result(result) => content(result),
        Outcome::Error { message, data, .. } if data.is_null() => message.clone(),
        Outcome::Error { message, data, .. } => format!("{message} {data}"),
        Outcome::Status(status) => format!("HTTP status {status}"),
        Outcome::Silence => String::new(),
        Outcome::Gone(reason) => reason.clone(),
    }
}

/// The same in a few words, with what kind of answer it is.
pub(super) fn shortly(reply: &Reply) -> String {
    let words = in_words(reply);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn in_words(reply: &Reply) -> String {
    match &reply.outcome {
        Outcome::Error { code, message, .. } => format!("error {code}: {message}"),
        Outcome::Result(result) if result["isError"] == true => {
            format!("isError: {}", content(result))
        }
        Outcome::Result(_) => "a result".to_owned(),
        Outcome::Silence => "nothing".to_owned(),
        Outcome::Status(_) | Outcome::Gone(_) => told(reply),
    }
}

fn content(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether a text has a name in it, as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
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
    use super::{Grade, mentions, of};
    use crate::commands::check::live::talk::{Outcome, Reply};
    use serde_json::{Value, json};

    fn grade(outcome: Outcome) -> Grade {
        of(&Reply { outcome, millis: 0, raw: Vec::new() }, &["path".to_owned()], None)
    }

    fn error(message: &str, data: Value) -> Outcome {
        Outcome::Error { code: -32602, message: message.to_owned(), data }
    }

    #[test]
    fn answers_by_their_words() {
        let result = |is_error: bool, text: &str| {
            Outcome::Result(json!({ "isError": is_error, "content": [{ "text": text }] }))
        };
        assert_eq!(grade(result(true, "`path` is required")), Grade::Names);
        assert_eq!(grade(result(true, "invalid arguments")), Grade::Vague);
        assert_eq!(grade(result(false, "path")), Grade::Accepted);
        assert_eq!(grade(error("bad", json!({ "path": ["path"] }))), Grade::Names);
        assert_eq!(grade(error("bad", Value::Null)), Grade::Vague);
        assert_eq!(grade(Outcome::Silence), Grade::Silent);
        assert_eq!(grade(Outcome::Gone("x".to_owned())), Grade::Died);
    }

    #[test]
    fn names_are_words() {
        assert!(mentions("at .path:", "path") && mentions("path", "path"));
        assert!(!mentions("filepath", "path") && !mentions("path_1", "path"));
        assert!(!mentions("", "path") && !mentions("x", ""));
    }
}
