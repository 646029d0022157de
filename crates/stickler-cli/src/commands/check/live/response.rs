//! Responses and their correlation with requests.

use serde_json::Value;
use stickler::rules::json_rpc;

const PARSE_ERROR: i64 = json_rpc::PARSE_ERROR as i64;

/// The response to a request, or its absence.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) outcome: Outcome,
    pub(super) millis: u64,
    /// The message as received.
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
    Timeout,
    Exited(String),
}

/// The response that a request waits for.
pub(super) enum ExpectedResponse {
    Id(u64),
    /// The response with this id, or an error without an id.
    Rejection(u64),
    /// An error without an id.
    ErrorWithoutId,
}

impl ExpectedResponse {
    /// Returns the outcome if the message is the expected response.
    pub(super) fn outcome(&self, mut message: Value) -> Option<Outcome> {
        let id = message.get("id").filter(|id| !id.is_null());
        let matches_id = |id_sent: &u64| id.is_some_and(|id| id.as_u64() == Some(*id_sent));
        let is_error_without_id = id.is_none() && message.get("error").is_some();
        let is_match = match self {
            Self::Id(id_sent) => matches_id(id_sent),
            // A late parse error belongs to the malformed JSON that was sent before.
            Self::Rejection(id_sent) => {
                matches_id(id_sent)
                    || (is_error_without_id
                        && message["error"]["code"].as_i64() != Some(PARSE_ERROR))
            }
            Self::ErrorWithoutId => is_error_without_id,
        };
        if !is_match {
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
