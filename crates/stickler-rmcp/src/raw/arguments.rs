//! Responses to calls with arguments that are not an object.
//!
//! rmcp cannot pass such arguments to a handler, so the raw layer answers them, with the same help
//! that [`Validated`](crate::Validated) provides.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use stickler::tape::{Node, TapeBuffer, splice};
use stickler::{
    AnswerForm, CallAnswer, CallRejection, Era, Finding, McpValidator, MessageRule, Revision,
    Severity,
};
use stickler_protocol::Verdict;

use crate::server::{Occurrence, SessionState, TURN_KEY};

/// The server's tools, as cached by the validator.
#[derive(Clone)]
pub(crate) struct KnownTools {
    pub(crate) server: String,
    pub(crate) validator: Arc<McpValidator>,
    pub(crate) answer: AnswerForm,
    pub(crate) repeat_limit: u32,
    /// The session of the connection; `None` if each message may be of another session.
    pub(crate) session: Option<Arc<Mutex<SessionState>>>,
}

/// What to do with a call whose arguments are not an object.
pub(super) enum Resolution {
    /// Pass on this message, with repaired arguments.
    Repaired(Vec<u8>),
    /// Send this response; with its code if it is an error.
    Answer(Vec<u8>, Option<i32>),
}

impl KnownTools {
    /// Resolves a call that is rejected only because of the shape of its arguments; `None` for all other messages
    /// and for unknown tools.
    pub(super) fn resolve(
        &self,
        message: &[u8],
        verdict: &Verdict,
        revision: Option<Revision>,
    ) -> Option<Resolution> {
        let errors = || verdict.findings.iter().filter(|one| one.severity == Severity::Error);
        let is_about_arguments = |finding: &Finding| {
            finding.rule == MessageRule::BadParams && finding.path == "/params/arguments"
        };
        let is_call = verdict.header.method.as_deref() == Some("tools/call");
        if !is_call || errors().next().is_none() || !errors().all(is_about_arguments) {
            return None;
        }
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, self.validator.config().limits.message_depth).ok()?;
        let root = tape.root();
        let id = root.get("id")?.raw();
        let tool = root.pointer("/params/name").and_then(Node::as_str)?;
        let arguments = root.pointer("/params/arguments")?;
        let result = self.validator.validate_node(&self.server, &tool, arguments);
        if result.is_valid {
            let repaired = result.arguments()?.get().to_owned();
            let message = splice(tape.text(), vec![(arguments.span(), repaired)]);
            return Some(Resolution::Repaired(message.into_bytes()));
        }
        let turn = root.pointer("/params/_meta").and_then(|meta| meta.get(TURN_KEY));
        let occurrence =
            self.occurrence(&tool, arguments.raw(), turn.and_then(|turn| turn.raw().parse().ok()));
        let rejection = CallRejection::new(&self.validator, &self.server, &tool, &result)
            .repeated(occurrence.count, self.repeat_limit)
            .in_turn(occurrence.turn);
        let (outcome, value, code) = match rejection.answer(self.answer) {
            CallAnswer::Result(mut result) => {
                if revision.is_none_or(|revision| revision.era() == Era::Modern) {
                    result["resultType"] = Value::from("complete");
                }
                ("result", result, None)
            }
            CallAnswer::Error { code, message, data } => {
                let error = serde_json::json!({ "code": code, "message": message, "data": data });
                ("error", error, Some(code))
            }
        };
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{outcome}\":{value}}}");
        Some(Resolution::Answer(answer.into_bytes(), code))
    }
}

impl KnownTools {
    fn occurrence(&self, tool: &str, arguments: &str, turn: Option<u64>) -> Occurrence {
        match &self.session {
            Some(session) => {
                let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
                session.reject(tool, arguments, turn)
            }
            None => SessionState::default().reject(tool, arguments, turn),
        }
    }
}

impl fmt::Debug for KnownTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownTools").field("server", &self.server).finish_non_exhaustive()
    }
}
