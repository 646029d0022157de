//! Answers on the wire: JSON-RPC errors, and tool results that carry help.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::arguments::{McpValidator, ValidationErrorKind, ValidationResult};
use crate::policy::AnswerForm;
use crate::protocol::{Era, Revision};
use crate::rules::{Code, MessageRule, json_rpc};
use crate::verdict::Finding;

/// The member of a result's `_meta` that holds the findings.
const VALIDATION_KEY: &str = "dev.stickler/validation";

/// Whom an answer is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reply<'r> {
    /// The id of what is answered, as it was written.
    pub(crate) id: Option<&'r str>,
    /// The revision that the answer is to be written in.
    pub(crate) revision: Option<Revision>,
}

/// A call that was refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallRefusal<'r> {
    pub(crate) validator: &'r McpValidator,
    pub(crate) server: &'r str,
    pub(crate) tool: &'r str,
    pub(crate) result: &'r ValidationResult,
    pub(crate) findings: &'r [Finding],
    pub(crate) repeats: Repetition,
    pub(crate) turn: u64,
}

/// How often the very same call has been refused, this time included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repetition {
    pub(crate) count: u32,
    /// From here on the answer is short; 0 for never.
    pub(crate) limit: u32,
}

/// A finding as its cause gets to see it: nothing of how it was found.
#[derive(Debug, Serialize)]
struct Told<'f> {
    rule: &'static str,
    path: &'f str,
    message: &'f str,
    expected: &'f str,
    received: &'f str,
}

#[derive(Debug, Serialize)]
struct Validation<'f> {
    findings: Vec<Told<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<Corrected<'f>>,
}

#[derive(Debug, Serialize)]
struct Corrected<'c> {
    name: &'c str,
    arguments: &'c RawValue,
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
        if let Some(suggestions) = refusal.unknown_tool() {
            let data = json!({
                "suggestions": suggestions,
                "available": refusal.validator.cache().tool_names(refusal.server),
                "help": refusal.help(),
            });
            let message = format!("Unknown tool: {}", shortened(refusal.tool));
            return self.error(json_rpc::INVALID_PARAMS, &message, &data);
        }
        match form {
            AnswerForm::JsonRpcError => {
                let message = format!(
                    "[{}] parameter validation failed for `{}`",
                    Code::InvalidArguments,
                    shortened(refusal.tool)
                );
                let mut data = json!(refusal.validation());
                data["help"] = refusal.help().into();
                self.error(json_rpc::INVALID_PARAMS, &message, &data)
            }
            AnswerForm::ToolResult => self.tool_result(&refusal.help(), &refusal.validation()),
            AnswerForm::Observation => {
                let CallRefusal { validator, server, tool, result, turn, .. } = *refusal;
                let mut observation = validator.build_retry_observation(server, tool, result, turn);
                observation.set_stdout(refusal.help());
                self.tool_result(&observation.to_json(), &refusal.validation())
            }
        }
    }

    fn tool_result(self, text: &str, validation: &Validation<'_>) -> Vec<u8> {
        let mut result = json!({
            "content": [{ "type": "text", "text": text }],
            "isError": true,
            "_meta": { VALIDATION_KEY: validation },
        });
        if self.revision.is_some_and(|revision| revision.era() == Era::Modern) {
            result["resultType"] = "complete".into();
        }
        self.write("result", &result)
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

impl<'r> CallRefusal<'r> {
    /// The help, more explicit when the same call comes again, and short when it will not stop.
    fn help(&self) -> String {
        let Self { validator, server, tool, result, .. } = *self;
        let Repetition { count, limit } = self.repeats;
        if count <= 1 {
            return validator.build_help_prompt(server, tool, result).into();
        }
        if limit > 0 && count >= limit {
            let problem = result.errors.first().map_or("", |error| error.message.as_str());
            return format!(
                "Refused again: `{tool}` has been called {count} times with the same arguments. \
                 {problem} Change the arguments, or do something else."
            );
        }
        let help = validator.build_full_help_prompt(server, tool, result);
        format!(
            "This exact call has been refused {count} times. Sending it again unchanged will not \
             help: change what is listed under Problems.\n\n{help}"
        )
    }

    fn unknown_tool(&self) -> Option<&'r [String]> {
        self.result.errors.iter().find_map(|error| match &error.kind {
            ValidationErrorKind::UnknownTool { suggestions, .. } => Some(suggestions.as_slice()),
            _ => None,
        })
    }

    fn validation(&self) -> Validation<'r> {
        let masked = self.validator.config().mask_values;
        let corrected = self.result.corrected.as_ref().filter(|_| !masked);
        let corrected =
            corrected.map(|call| Corrected { name: &call.name, arguments: &call.arguments });
        Validation { findings: told(self.findings), corrected }
    }
}

fn told(findings: &[Finding]) -> Vec<Told<'_>> {
    let told = findings.iter().map(|finding| Told {
        rule: finding.rule.as_str(),
        path: &finding.path,
        message: &finding.message,
        expected: &finding.expected,
        received: &finding.received,
    });
    told.collect()
}

/// A name of the peer's own, cut to a length that can be shown.
fn shortened(name: &str) -> String {
    crate::arguments::cut(name, 120)
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
