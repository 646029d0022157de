//! Answers, and whose they are.

use serde_json::Value;
use stickler::rules::json_rpc;

const PARSE_ERROR: i64 = json_rpc::PARSE_ERROR as i64;

/// What came of a question.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) outcome: Outcome,
    pub(super) millis: u64,
    /// The message as it came.
    pub(super) raw: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum Outcome {
    Result(Value),
    Error {
        code: i64,
        message: String,
        data: Value,
    },
    /// An HTTP status without a message.
    Status(u16),
    Silence,
    Gone(String),
}

/// Whose answer is waited for.
pub(super) enum Awaited {
    Id(u64),
    /// The same; a refusal that does not say whose answer it is counts too.
    Refusal(u64),
    /// An error that cannot say whose answer it is.
    Nobody,
}

impl Awaited {
    /// The outcome, when a message is the answer.
    pub(super) fn outcome(&self, mut message: Value) -> Option<Outcome> {
        let id = message.get("id").filter(|id| !id.is_null());
        let has_id = |wanted: &u64| id.is_some_and(|id| id.as_u64() == Some(*wanted));
        let refuses = id.is_none() && message.get("error").is_some();
        let is_answer = match self {
            Self::Id(wanted) => has_id(wanted),
            // Not a late answer to what was no question at all.
            Self::Refusal(wanted) => {
                has_id(wanted)
                    || (refuses && message["error"]["code"].as_i64() != Some(PARSE_ERROR))
            }
            Self::Nobody => refuses,
        };
        if !is_answer {
            return None;
        }
        if let Some(error) = message.get("error") {
            return Some(Outcome::Error {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
                data: error["data"].clone(),
            });
        }
        message.get_mut("result").map(|result| Outcome::Result(result.take()))
    }
}
