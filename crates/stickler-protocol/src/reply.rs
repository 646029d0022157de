//! Answers on the wire: JSON-RPC errors, and the results of calls that were refused.

use serde_json::{Value, json};
use stickler::internal::told;
use stickler::rules::{Code, MessageRule, json_rpc};
use stickler::{CallAnswer, CallRefusal};

use crate::policy::AnswerForm;
use crate::protocol::{Era, Revision};
use crate::verdict::Finding;

/// Whom an answer is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reply<'r> {
    /// The id of what is answered, as it was written.
    pub(crate) id: Option<&'r str>,
    /// The revision that the answer is to be written in.
    pub(crate) revision: Option<Revision>,
}

/// A JSON-RPC error for whoever cannot be answered by a gatekeeper. The id is JSON, as it was
/// written.
pub fn error_reply(id: Option<&str>, code: i32, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    Reply { id, revision: None }.write("error", &error)
}

impl Reply<'_> {
    /// The error for a message that does not go on.
    pub(crate) fn refusal(self, refusal: &Finding, findings: &[Finding]) -> Vec<u8> {
        let code = code_of(refusal.rule);
        let more = match findings.iter().filter(|one| one.rule == refusal.rule).count() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!("{}: {}{more}", heading(code), refusal.message);
        let id = match refusal.rule {
            // The id belongs to the request that came first, and so does its answer.
            MessageRule::DuplicateId => None,
            _ => self.id,
        };
        Reply { id, ..self }.error(code, &message, &json!({ "findings": told(findings) }))
    }

    /// The error that a requester gets in place of an answer that was refused.
    pub(crate) fn replacement(self, refusal: &Finding) -> Vec<u8> {
        let code = match refusal.rule {
            MessageRule::InvalidResult => Code::InvalidResult,
            _ => Code::Protocol,
        };
        let message = format!("[{code}] the answer was refused: {}", refusal.message);
        let data = json!({ "findings": told(std::slice::from_ref(refusal)) });
        self.error(json_rpc::INTERNAL_ERROR, &message, &data)
    }

    /// The error for a request that nobody will answer any more.
    pub(crate) fn gone(self, code: Code, reason: &str, method: &str) -> Vec<u8> {
        let message = format!("[{code}] {reason}");
        self.error(json_rpc::INTERNAL_ERROR, &message, &json!({ "method": method }))
    }

    /// The answer to a call that was not made.
    pub(crate) fn call_refusal(self, refusal: &CallRefusal<'_>, form: AnswerForm) -> Vec<u8> {
        match refusal.answer(form) {
            CallAnswer::Error { code, message, data } => self.error(code, &message, &data),
            CallAnswer::Result(mut result) => {
                if self.revision.is_some_and(|revision| revision.era() == Era::Modern) {
                    result["resultType"] = "complete".into();
                }
                self.write("result", &result)
            }
        }
    }

    pub(crate) fn error(self, code: i32, message: &str, data: &Value) -> Vec<u8> {
        self.write("error", &json!({ "code": code, "message": message, "data": data }))
    }

    fn write(self, outcome: &str, value: &Value) -> Vec<u8> {
        let id = match self.id {
            Some(id) => format!("\"id\":{id},"),
            // JSON-RPC wants null where the id could not be read; from 2025-11-25 on the schema
            // wants the member left out.
            None if self.revision.is_some_and(|one| one < Revision::V2025_11_25) => {
                "\"id\":null,".to_owned()
            }
            None => String::new(),
        };
        format!("{{\"jsonrpc\":\"2.0\",{id}\"{outcome}\":{value}}}").into_bytes()
    }
}

/// The code that a broken rule is answered with.
fn code_of(rule: MessageRule) -> i32 {
    rule.rule().and_then(|rule| rule.json_rpc).unwrap_or(json_rpc::INVALID_REQUEST)
}

/// JSON-RPC's own words for a code.
fn heading(code: i32) -> &'static str {
    match code {
        json_rpc::PARSE_ERROR => "Parse error",
        json_rpc::METHOD_NOT_FOUND => "Method not found",
        json_rpc::INVALID_PARAMS => "Invalid params",
        json_rpc::INTERNAL_ERROR => "Internal error",
        json_rpc::HEADER_MISMATCH => "Header mismatch",
        _ => "Invalid request",
    }
}
