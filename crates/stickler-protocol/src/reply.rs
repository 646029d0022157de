//! JSON-RPC errors and results that answer rejected messages.

use std::sync::Arc;

use serde_json::{Value, json};
use stickler::internal::reported_findings;
use stickler::rules::{Code, MessageRule, json_rpc};
use stickler::{CallAnswer, CallRejection};

use crate::connection::PendingRequest;
use crate::envelope::{Header, RequestId};
use crate::policy::AnswerForm;
use crate::protocol::{Era, Revision};
use crate::verdict::{Finding, Reply};

/// The target of a response: the request id and the revision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Responder<'r> {
    /// The id of the request, as raw JSON.
    pub(crate) id: Option<&'r str>,
    /// The revision of the response.
    pub(crate) revision: Option<Revision>,
}

/// Returns a JSON-RPC error for a request that never reached a [`Connection`](crate::Connection). The
/// id is raw JSON.
pub fn error_reply(id: Option<&str>, code: i32, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    Responder { id, revision: None }.write("error", &error)
}

impl Responder<'_> {
    /// Returns the error for a rejected message.
    pub(crate) fn rejection(self, rejection: &Finding, findings: &[Finding]) -> Reply {
        let code = code_of(rejection.rule);
        let more = match findings.iter().filter(|one| one.rule == rejection.rule).count() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!("{}: {}{more}", heading(code), rejection.message);
        let id = match rejection.rule {
            // The id belongs to the earlier request, which still gets its own response.
            MessageRule::DuplicateId => None,
            _ => self.id,
        };
        Responder { id, ..self }.error(
            code,
            &message,
            &json!({ "findings": reported_findings(findings) }),
        )
    }

    /// Returns the error that replaces a rejected response.
    pub(crate) fn replacement(self, rejection: &Finding) -> Vec<u8> {
        let code = match rejection.rule {
            MessageRule::InvalidResult => Code::InvalidResult,
            _ => Code::Protocol,
        };
        let message = format!("[{code}] the response was rejected: {}", rejection.message);
        let data = json!({ "findings": reported_findings(std::slice::from_ref(rejection)) });
        self.error(json_rpc::INTERNAL_ERROR, &message, &data).bytes
    }

    /// Returns the error for an abandoned request.
    pub(crate) fn abandoned(pending: &PendingRequest, code: Code, reason: &str) -> Reply {
        let responder = Responder { id: Some(&pending.id), revision: pending.revision };
        let message = format!("[{code}] {reason}");
        let data = json!({ "method": pending.method });
        let mut reply = responder.error(json_rpc::INTERNAL_ERROR, &message, &data);
        let header = Arc::make_mut(&mut reply.header);
        header.method = Some(pending.method.clone());
        header.tool.clone_from(&pending.tool);
        reply
    }

    /// Returns the response to a rejected call.
    pub(crate) fn call_rejection(self, rejection: &CallRejection<'_>, form: AnswerForm) -> Reply {
        match rejection.answer(form) {
            CallAnswer::Error { code, message, data } => self.error(code, &message, &data),
            CallAnswer::Result(mut result) => {
                if self.revision.is_some_and(|revision| revision.era() == Era::Modern) {
                    result["resultType"] = "complete".into();
                }
                let mut reply = self.reply(None, self.write("result", &result));
                Arc::make_mut(&mut reply.header).is_failed_call = result["isError"] == true;
                reply
            }
        }
    }

    pub(crate) fn error(self, code: i32, message: &str, data: &Value) -> Reply {
        let error = json!({ "code": code, "message": message, "data": data });
        self.reply(Some(code), self.write("error", &error))
    }

    fn reply(self, code: Option<i32>, bytes: Vec<u8>) -> Reply {
        let id = self.id.and_then(|id| RequestId::parse(id.as_bytes()));
        Reply::new(Header::response(id, code), bytes)
    }

    fn write(self, outcome: &str, value: &Value) -> Vec<u8> {
        let id = match self.id {
            Some(id) => format!("\"id\":{id},"),
            // JSON-RPC requires null if the id could not be read; the schemas since 2025-11-25
            // require the member to be absent.
            None if self.revision.is_some_and(|one| one < Revision::V2025_11_25) => {
                "\"id\":null,".to_owned()
            }
            None => String::new(),
        };
        format!("{{\"jsonrpc\":\"2.0\",{id}\"{outcome}\":{value}}}").into_bytes()
    }
}

/// Returns the JSON-RPC error code for a rule.
fn code_of(rule: MessageRule) -> i32 {
    rule.rule().and_then(|rule| rule.json_rpc).unwrap_or(json_rpc::INVALID_REQUEST)
}

/// Returns the JSON-RPC name of an error code.
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
